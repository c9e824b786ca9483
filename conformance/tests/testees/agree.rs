//! Tests that implementations that share no code agree: they return equal documents and write equal
//! files.
//!
//! The kit compares each implementation with the expected result, whereas these tests compare the
//! implementations with one another.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use atf_conformance::corpus::{self, Case, Subject};
use atf_conformance::reference;
use atf_conformance::scripts::scripts;
use serde_json::{Value, json};
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::programs::{self, Testee};

/// Returns a program's document for a path. If the path is rejected, keeps only the kind and the
/// verdict.
fn document(testee: &Testee, program: &str, path: &Path) -> Value {
    let mut command = Command::new(testee.folder().join(program));
    let output = command.arg(path).output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    let document: Value = said.unwrap_or_else(|error| panic!("{path:?}: {error}: {output:?}"));
    let refuses = document["verdict"] == "reject";
    assert_eq!(output.status.code(), Some(i32::from(refuses)), "{path:?}");
    short(document)
}

fn short(document: Value) -> Value {
    if document["verdict"] == "reject" {
        json!({"kind": document["kind"], "verdict": "reject"})
    } else {
        document
    }
}

#[test]
fn readers_that_share_no_code_agree_on_each_case() {
    let testees = [
        (Some(programs::interpreter()), "atf-interpreter"),
        (programs::c(), "reader"),
        (programs::cpp(), "reader"),
    ];
    let readers = testees
        .iter()
        .filter_map(|(testee, program)| Some((testee.as_ref()?, *program)));
    let readers: Vec<_> = readers.collect();
    let cases = corpus::cases();
    let sessions = cases.iter().filter(|case| case.subject == Subject::Session);
    let sessions = sessions.count();
    assert!(sessions > 100, "only {sessions} sessions");
    assert!(cases.len() - sessions > 300, "only {} cases", cases.len());
    let half = cases.len().div_ceil(2);
    std::thread::scope(|scope| {
        for part in cases.chunks(half) {
            scope.spawn(|| part.iter().for_each(|case| agree_on(case, &readers)));
        }
    });
}

/// Checks that all readers return the same document for a case.
fn agree_on(case: &Case, readers: &[(&Testee, &str)]) {
    let folder = TempDir::new().unwrap();
    case.write(folder.path()).unwrap();
    let path = folder.path().join(&case.path);
    let own = short(reference::read(&path));
    for (testee, program) in readers {
        let other = document(testee, program, &path);
        let folder = testee.folder();
        assert_eq!(own, other, "{}: {folder:?} {program}", case.name);
    }
}

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
