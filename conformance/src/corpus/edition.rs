//! Writes and verifies the corpus as a folder, for review and for use without this crate.
//!
//! ```text
//! corpus.json                 edition, flags, names of all cases
//! v1/SHA256SUMS               checksums of all files below v1, for sha256sum -c
//! v1/CASE/case.json           description of the case
//! v1/CASE/expected.json       the document that a reader must return
//! v1/CASE/dump.txt            every byte of its files, by field; of a session, only files that differ
//!                             from the clean session's
//! v1/CASE/files/…             its files; only case.json lists symlinks and empty folders
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Case, FLAGS, json};
use crate::rules::table::CORPUS_EDITION;
use crate::scripts;

/// Returns all files of the corpus, by path within its folder.
#[must_use]
pub fn files(cases: &[Case]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for case in cases {
        files.extend(case_files(case));
    }
    let sums = ["v1", "v2"].map(|wire| (format!("{wire}/SHA256SUMS"), sums(&files, wire)));
    files.extend(sums);
    files.insert("corpus.json".to_owned(), json::text(&list(cases)));
    files
}

/// Returns a case's files, with their paths within the corpus's folder.
fn case_files(case: &Case) -> Vec<(String, Vec<u8>)> {
    let at = |name: &str| format!("{}/{name}", case.name);
    let mut files = vec![
        (at("case.json"), json::text(&about(case))),
        (at("expected.json"), json::text(&case.expected)),
        (at("dump.txt"), case.dump.clone().into_bytes()),
    ];
    let own = case.files.iter();
    files.extend(own.map(|(path, bytes)| (at(&format!("files/{path}")), bytes.clone())));
    files
}

/// Returns a case's description, the content of `case.json`.
#[must_use]
pub fn about(case: &Case) -> Value {
    let sizes: BTreeMap<_, _> = (case.files.iter())
        .map(|(path, bytes)| (path, bytes.len()))
        .collect();
    let broken = case.broken.iter();
    let broken: Vec<_> = broken
        .map(|(file, rule)| json!({"file": file, "rule": rule}))
        .collect();
    json!({
        "name": case.name,
        "wire": case.wire,
        "rules": case.rules,
        "class": case.class,
        "subject": case.subject,
        "path": case.path,
        "flags": case.flags,
        "note": case.note,
        "sources": case.sources,
        "files": sizes,
        "folders": case.folders,
        "symlinks": case.symlinks,
        "verdicts": case.verdicts,
        "because": case.because,
        "file_verdicts": case.file_verdicts,
        "optional": case.optional,
        "broken": broken,
        "place": case.place,
    })
}

fn list(cases: &[Case]) -> Value {
    let names: Vec<_> = cases.iter().map(|case| &case.name).collect();
    let flags: BTreeMap<_, _> = FLAGS.iter().map(|flag| (flag.name, flag.note)).collect();
    json!({"edition": CORPUS_EDITION.version, "flags": flags, "cases": names})
}

/// Returns the digest that identifies an edition of the corpus. The digest covers the cases, their
/// files, the flags and the writer scripts.
#[must_use]
pub fn digest(cases: &[Case]) -> String {
    let mut text = String::new();
    let mut add = |name: &str, bytes: &[u8]| {
        let _ = writeln!(text, "{}  {name}", sha256(bytes));
    };
    for (path, bytes) in files(cases) {
        if path != "corpus.json" {
            add(&path, &bytes);
        }
    }
    for flag in FLAGS {
        add(flag.name, flag.note.as_bytes());
    }
    for one in scripts::all() {
        add(&one.name, one.operations().as_bytes());
    }
    sha256(text.as_bytes())
}

/// Lists the checksums of the files below a folder, with paths relative to it.
fn sums(files: &BTreeMap<String, Vec<u8>>, folder: &str) -> Vec<u8> {
    let mut text = String::new();
    for (path, bytes) in files {
        let below = path
            .strip_prefix(folder)
            .and_then(|path| path.strip_prefix('/'));
        if let Some(path) = below {
            let _ = writeln!(text, "{}  {path}", sha256(bytes));
        }
    }
    text.into_bytes()
}

/// Returns the SHA-256 of the bytes in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    super::document::hex(&Sha256::digest(bytes))
}

/// Formats JSON as in the corpus's files: a value that fits on one line is written on one line.
#[must_use]
pub fn text(value: &Value) -> String {
    String::from_utf8_lossy(&json::text(value)).into_owned()
}

/// A difference between a folder and the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The file is missing or unreadable.
    Missing {
        /// The path in the folder.
        path: String,
        /// The error.
        why: String,
    },
    /// The file's bytes differ.
    Other {
        /// The path in the folder.
        path: String,
        /// The offset of the first byte that differs, from the start of the file.
        offset: usize,
        /// The expected SHA-256, followed by the actual one.
        sums: [String; 2],
    },
    /// A file that is not part of the corpus.
    Unknown {
        /// The path in the folder.
        path: String,
    },
}

/// Compares a folder with the corpus and returns the differences, sorted by path.
#[must_use]
pub fn verify(folder: &Path, cases: &[Case]) -> Vec<Difference> {
    let files = files(cases);
    let mut differences = Vec::new();
    for (path, bytes) in &files {
        let path = path.clone();
        match fs::read(folder.join(&path)) {
            Err(error) => {
                let why = error.to_string();
                differences.push(Difference::Missing { path, why });
            }
            Ok(found) if found == *bytes => {}
            Ok(found) => {
                let same = found
                    .iter()
                    .zip(bytes)
                    .take_while(|(left, right)| left == right);
                differences.push(Difference::Other {
                    path,
                    offset: same.count(),
                    sums: [sha256(bytes), sha256(&found)],
                });
            }
        }
    }
    let unknown = on_disk(folder)
        .into_iter()
        .filter(|path| !files.contains_key(path));
    differences.extend(unknown.map(|path| Difference::Unknown { path }));
    differences
}

/// Writes the corpus into a folder. Removes files that an older edition left below `v1` and `v2`.
///
/// # Errors
///
/// Returns the file system's error with the path. Also returns an error if the folder contains
/// anything other than a corpus.
pub fn generate(folder: &Path, cases: &[Case]) -> io::Result<()> {
    let files = files(cases);
    let unknown: Vec<_> = (on_disk(folder).into_iter())
        .filter(|path| !files.contains_key(path))
        .collect();
    if !unknown.is_empty() && !folder.join("corpus.json").is_file() {
        let why = format!(
            "{}: contains other files below v1 or v2, and no corpus.json",
            folder.display()
        );
        return Err(io::Error::other(why));
    }
    for path in unknown {
        let path = folder.join(path);
        fs::remove_file(&path).map_err(|error| named(&path, &error))?;
        // Remove folders that are now empty.
        let mut above = path.parent();
        while let Some(parent) = above.filter(|parent| *parent != folder) {
            if fs::remove_dir(parent).is_err() {
                break;
            }
            above = parent.parent();
        }
    }
    super::write(folder, &files, &[], &BTreeMap::new())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Lists the files below `v1` and `v2` in a folder, using `/` in paths on every platform.
fn on_disk(folder: &Path) -> Vec<String> {
    let below = |name: &str| {
        let walk = walkdir::WalkDir::new(folder.join(name)).sort_by_file_name();
        let entries = walk.into_iter().filter_map(Result::ok);
        let files = entries.filter(|entry| !entry.file_type().is_dir());
        files
            .map(walkdir::DirEntry::into_path)
            .collect::<Vec<PathBuf>>()
    };
    let relative = |path: PathBuf| {
        let path = path.strip_prefix(folder).ok()?;
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/"))
    };
    let paths = ["v1", "v2"].into_iter().flat_map(below);
    paths.filter_map(relative).collect()
}

/// Writes cases into a folder, with their symlinks and empty folders.
///
/// # Errors
///
/// Returns the file system's error, with the path.
pub fn copy(folder: &Path, cases: &[Case]) -> io::Result<()> {
    for case in cases {
        let own: BTreeMap<_, _> = case_files(case).into_iter().collect();
        super::write(folder, &own, &[], &BTreeMap::new())?;
        let files = folder.join(&case.name).join("files");
        fs::create_dir_all(&files).map_err(|error| named(&files, &error))?;
        super::write(&files, &BTreeMap::new(), &case.folders, &case.symlinks)?;
    }
    Ok(())
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { path, why } => write!(f, "{path}: {why}"),
            Self::Other {
                path,
                offset,
                sums: [expected, found],
            } => write!(
                f,
                "{path}: differs from byte {offset} on; SHA-256 {found}, expected {expected}"
            ),
            Self::Unknown { path } => write!(f, "{path}: not part of the corpus"),
        }
    }
}
