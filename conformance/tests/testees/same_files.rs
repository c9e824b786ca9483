//! Tests that the reference and the writer in C, which share no code, write equal files. The kit grades the files of
//! each with tolerances, such as of a placeholder's values.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use atf_conformance::reference;
use atf_conformance::scripts::scripts;
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::programs;

/// Returns the thread files below a folder. A placeholder's `footer_offset` may be 0 or 64, so 64
/// is changed to 0.
fn thread_files(folder: &Path, aborts: bool) -> BTreeMap<String, Vec<u8>> {
    let entries = WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "atf"));
    files
        .map(|entry| {
            let name = entry.path().strip_prefix(folder).unwrap();
            let mut bytes = fs::read(entry.path()).unwrap();
            if aborts && name.ends_with("index.atf") && bytes[40..48] == 64_u64.to_le_bytes() {
                bytes[40..48].fill(0);
            }
            (name.to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

#[test]
fn the_reference_and_the_writer_in_c_write_the_same_bytes_for_each_script() {
    let Some(c) = programs::c() else {
        return;
    };
    let mut count = 0;
    for one in [1, 2].into_iter().flat_map(scripts) {
        let folder = TempDir::new().unwrap();
        let [own, other] = ["reference", "c"].map(|name| folder.path().join(name));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&other).unwrap();
        let script = folder.path().join("script");
        fs::write(&script, one.script.to_string()).unwrap();
        reference::writer::write(&one.script, &own).unwrap();
        let mut writer = Command::new(c.folder().join("writer"));
        programs::succeeds(writer.arg(&script).arg(&other));
        let aborts = one.script.aborts();
        let (own, other) = (thread_files(&own, aborts), thread_files(&other, aborts));
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&own), names(&other), "{}", one.name);
        for (name, bytes) in &own {
            let mut pairs = bytes.iter().zip(&other[name]);
            let differs = pairs.position(|(own, other)| own != other);
            let sizes = (bytes.len(), other[name].len());
            assert_eq!((differs, sizes.0), (None, sizes.1), "{}: {name}", one.name);
            count += 1;
        }
    }
    assert!(count > 100, "only {count} files");
}
