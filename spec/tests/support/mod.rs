//! Creates folders with specs and compiles them.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) fn broken() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

/// Copies the smallest spec with one of everything to a temporary folder.
pub(crate) fn base() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in atf_samples::tree(&broken().join("base")).expect("the base") {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, bytes).expect("a temporary file");
    }
    folder
}

/// Returns the compiler's faults for the spec in a folder: relative paths, fixed width, no colour.
pub(crate) fn faults(folder: &Path) -> String {
    let compiled = atf_spec::compile(folder);
    compiled.files.render(&compiled.faults, false)
}

/// Applies a diff to a folder's files: `--- PATH` names a file, and `@@` starts a change. The
/// change without its `+` lines must occur exactly once in that file.
///
/// # Panics
/// Panics if the change is missing from the file or occurs more than once.
pub(crate) fn change(folder: &Path, difference: &str) {
    for file in difference.split("--- ").skip(1) {
        let mut changes = file.split("@@\n");
        let name = changes.next().unwrap_or_default().trim_end();
        let path = folder.join(name);
        let mut text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        for change in changes {
            let side = |sign: char| -> String {
                let lines = change.split_inclusive('\n');
                let kept = lines.filter_map(|line| line.strip_prefix([' ', sign]));
                kept.collect()
            };
            let (old, new) = (side('-'), side('+'));
            let starts: Vec<usize> = text
                .match_indices(&old)
                .map(|(start, _)| start)
                .filter(|start| text[..*start].is_empty() || text[..*start].ends_with('\n'))
                .collect();
            let [start] = starts[..] else {
                panic!("{name} has {} of\n{old}", starts.len());
            };
            text.replace_range(start..start + old.len(), &new);
        }
        fs::write(&path, text).expect("a temporary file");
    }
}
