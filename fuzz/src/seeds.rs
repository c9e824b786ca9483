//! Turns the files of the conformance corpus and the samples into seeds, in each target's input format.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_conformance::corpus::{self, edition};

use crate::{TARGETS, packed, ring};

/// Seeds by target, then by name.
pub type Seeds = BTreeMap<&'static str, BTreeMap<String, Vec<u8>>>;

/// Collects the seeds of all targets from the repository at `root`.
///
/// # Errors
///
/// Returns an error if the samples or the spec cannot be read, or the corpus cannot be copied.
pub fn seeds(root: &Path) -> io::Result<Seeds> {
    let seeds = TARGETS.iter().map(|target| (target.name, BTreeMap::new()));
    let mut seeds: Seeds = seeds.collect();
    let mut add = |targets: &[&'static str], name: &str, bytes: &[u8]| {
        for target in targets {
            let of_target = seeds.get_mut(target).expect("the target is in the table");
            of_target.insert(name.to_owned(), bytes.to_vec());
        }
    };
    let corpus = tempfile::tempdir()?;
    edition::copy(corpus.path(), &corpus::cases())?;
    for folder in [corpus.path(), &root.join("samples")] {
        for path in files(folder)? {
            let Some(kind) = path.file_name().and_then(OsStr::to_str) else {
                continue;
            };
            let (name, bytes) = (name_of(&path, folder), fs::read(&path)?);
            match kind {
                INDEX_FILE => {
                    add(&["index", "differential", "capi", "writer"], &name, &bytes);
                    add(&["follow"], &name, &grown(false, &bytes));
                }
                DETAIL_FILE => {
                    add(&["detail", "differential", "capi"], &name, &bytes);
                    add(&["follow"], &name, &grown(true, &bytes));
                }
                MANIFEST_FILE => add(&["manifest"], &name, &bytes),
                _ => {}
            }
            let session = path.parent().filter(|_| kind == MANIFEST_FILE);
            if let Some(session) = session.and_then(packed::pack) {
                add(&["recover", "checker", "session"], &name, &session);
            }
            let detail = path.with_file_name(DETAIL_FILE);
            if kind == INDEX_FILE {
                let ring = ring::killed(&bytes, fs::read(detail).ok().as_deref());
                add(
                    &["ring", "recover", "session"],
                    &format!("{name}-killed"),
                    &ring,
                );
            }
        }
    }
    // An input begins with the number of the case, the role (read or validate), exit code 0, and a
    // choice between arbitrary bytes and the correct answer.
    for case in 0..u16::MAX / 64 {
        let [low, high] = case.to_le_bytes();
        add(&["answers"], &format!("case-{case}"), &[low, high, 1, 0, 0]);
    }
    for path in files(&root.join("spec"))? {
        if path.extension() == Some(OsStr::new("yaml")) {
            add(&["spec_yaml"], &name_of(&path, root), &fs::read(&path)?);
        }
    }
    Ok(seeds)
}

/// Writes all seeds below a folder, with one folder per target. Returns the number of seeds.
///
/// # Errors
///
/// Returns file system errors.
pub fn write(seeds: &Seeds, folder: &Path) -> io::Result<usize> {
    let mut count = 0;
    for (target, seeds) in seeds {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in seeds {
            fs::write(folder.join(name), bytes)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Returns an input for the target `follow` in which a file of arbitrary bytes grows by 64 bytes at
/// a time.
fn grown(is_detail: bool, bytes: &[u8]) -> Vec<u8> {
    let growth = [is_detail.into(), 0, 0, 0, 64, 64, 64, 64, 64, 64];
    [&growth, bytes].concat()
}

/// Turns a path into a name such as `v1--iftr-002-a-billion--thread_7--index.atf`.
fn name_of(path: &Path, folder: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    let parts = path.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("--")
}

/// Returns all files below a folder, sorted, without following symlinks.
///
/// # Errors
///
/// Returns file system errors.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
