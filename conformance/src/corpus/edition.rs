//! Writes and verifies the corpus as a folder, for review and for use without this crate.
//!
//! ```text
//! corpus.json             edition, and the tables
//! v1/index_footer.json    the cases of one record and wire version
//! ```
//!
//! [`copy`] expands cases into files:
//!
//! ```text
//! v1/CASE/case.json       description of the case
//! v1/CASE/expected.json   the document that a reader must return
//! v1/CASE/alternatives.json other correct documents, if any
//! v1/CASE/dump.txt        every byte of its files, by field; of a session, only files that differ
//!                         from the clean session's; not of a large case
//! v1/CASE/files/…         its files, symlinks and folders
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use serde_json::json;
use walkdir::{DirEntry, WalkDir};

use super::{Case, FLAGS, at, table, write_files};
use crate::rules::CORPUS_EDITION;
use crate::scripts;

pub use super::json::text;
pub use crate::hex::sha256;

/// The list of tables.
const LIST: &str = "corpus.json";

/// Returns all files of the corpus, by path within its folder.
#[must_use]
pub fn files(cases: &[Case]) -> BTreeMap<String, String> {
    let mut tables: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for case in cases {
        tables.entry(table::path(case)).or_default().push(case);
    }
    let list = json!({
        "edition": CORPUS_EDITION.version,
        "tables": tables.keys().collect::<Vec<_>>(),
    });
    let tables = tables.into_iter();
    let tables = tables.map(|(path, cases)| (path, table::table(&cases)));
    let list = (LIST.to_owned(), list);
    let files = tables.chain([list]);
    files.map(|(path, value)| (path, text(&value))).collect()
}

/// Returns a case's expanded files, with their paths within the folder that [`copy`] writes.
fn case_files(case: &Case) -> BTreeMap<String, Vec<u8>> {
    let at = |name: &str| format!("{}/{name}", case.name);
    let texts = [
        ("case.json", text(&table::about(case).into())),
        ("expected.json", text(&case.expected)),
    ];
    let dump = (!case.is_large()).then(|| ("dump.txt", case.dump()));
    let others = case.alternatives.clone();
    let others = (!others.is_empty()).then(|| ("alternatives.json", text(&others.into())));
    let texts = texts.into_iter().chain(dump).chain(others);
    let texts = texts.map(|(name, text)| (at(name), text.into_bytes()));
    let own = case.files.iter();
    let own = own.map(|(path, bytes)| (at(&format!("files/{path}")), bytes.clone()));
    own.chain(texts).collect()
}

/// Returns the digest that identifies an edition of the corpus. The digest covers the cases, their
/// files, the flags and the writer scripts.
#[must_use]
pub fn digest(cases: &[Case]) -> String {
    let mut text = String::new();
    let mut add = |name: &str, bytes: &[u8]| {
        let _ = writeln!(text, "{}  {name}", sha256(bytes));
    };
    for (path, table) in files(cases) {
        if path != LIST {
            add(&path, table.as_bytes());
        }
    }
    for flag in FLAGS.iter() {
        add(flag.name, flag.note.as_bytes());
    }
    for one in scripts::all() {
        add(&one.name, one.operations().as_bytes());
    }
    sha256(text.as_bytes())
}

/// Compares a folder with the corpus and describes the differences: files that are missing or
/// unreadable, files with other content, and then files that are not part of the corpus.
#[must_use]
pub fn verify(folder: &Path, cases: &[Case]) -> Vec<String> {
    let files = files(cases);
    let mut differences = Vec::new();
    for (path, text) in &files {
        match fs::read(folder.join(path)) {
            Err(error) => differences.push(format!("{path}: {error}")),
            Ok(found) if found == text.as_bytes() => {}
            Ok(found) => {
                let same = found.iter().zip(text.bytes());
                let same = same.take_while(|(found, expected)| *found == expected);
                let lines = same.filter(|(_, expected)| *expected == b'\n').count();
                let line = lines + 1;
                differences.push(format!("{path}:{line}: differs from the corpus"));
            }
        }
    }
    let unknown = unknown(folder, &files).into_iter();
    differences.extend(unknown.map(|path| format!("{path}: not part of the corpus")));
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
    let unknown = unknown(folder, &files);
    if !unknown.is_empty() && !folder.join(LIST).is_file() {
        let why = format!(
            "{}: contains other files below v1 or v2, and no corpus.json",
            folder.display()
        );
        return Err(io::Error::other(why));
    }
    for path in unknown {
        let path = folder.join(path);
        fs::remove_file(&path).map_err(at(&path))?;
        // Remove folders that are now empty.
        let mut above = path.parent();
        while let Some(parent) = above.filter(|parent| *parent != folder) {
            if fs::remove_dir(parent).is_err() {
                break;
            }
            above = parent.parent();
        }
    }
    let files = files.into_iter();
    let files = files.map(|(path, text)| (path, text.into_bytes()));
    write_files(folder, &files.collect())
}

/// Lists the other files below `v1` and `v2` in a folder, using `/` in paths on every platform.
fn unknown(folder: &Path, files: &BTreeMap<String, String>) -> Vec<String> {
    let below = |name: &str| WalkDir::new(folder.join(name)).sort_by_file_name();
    let entries = ["v1", "v2"].into_iter().flat_map(below);
    let entries = entries.filter_map(Result::ok);
    let relative = |entry: DirEntry| {
        let path = entry.path().strip_prefix(folder).ok()?;
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/")).filter(|path| !files.contains_key(path))
    };
    let others = entries.filter(|entry| !entry.file_type().is_dir());
    others.filter_map(relative).collect()
}

/// Writes cases into a folder, with their symlinks and empty folders.
///
/// # Errors
///
/// Returns the file system's error, with the path.
pub fn copy(folder: &Path, cases: &[Case]) -> io::Result<()> {
    for case in cases {
        write_files(folder, &case_files(case))?;
        let files = folder.join(&case.name).join("files");
        fs::create_dir_all(&files).map_err(at(&files))?;
        super::write(&files, &BTreeMap::new(), &case.folders, &case.symlinks)?;
    }
    Ok(())
}
