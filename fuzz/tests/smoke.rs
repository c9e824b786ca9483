//! Every target's body on real files and on damaged ones. A body that panics fails the test.

use std::fs;
use std::path::{Path, PathBuf};

/// A target's body.
type Body = fn(&[u8]);

/// Feeds a file as it is, cut at many lengths, and with single bits flipped.
fn feed(body: Body, path: &Path) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    body(&bytes);
    let step = (bytes.len() / 64).max(1);
    for end in (0..bytes.len()).step_by(step) {
        body(&bytes[..end]);
    }
    let mut damaged = bytes.clone();
    for at in (0..bytes.len()).step_by(step).chain(0..bytes.len().min(64)) {
        damaged[at] ^= 1 << (at % 8);
        body(&damaged);
        damaged[at] = bytes[at];
    }
}

/// All files below a folder of the repository with that name's ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new("..").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the repository's own folder") {
            let path = entry.expect("as above").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no {ending} below {folder}");
    found
}

#[test]
fn index_files_never_panic() {
    files("samples", "index.atf")
        .iter()
        .for_each(|path| feed(atf_fuzz::index, path));
}

#[test]
fn detail_files_never_panic() {
    files("samples", "detail.atf")
        .iter()
        .for_each(|path| feed(atf_fuzz::detail, path));
}

#[test]
fn manifests_never_panic() {
    files("samples", "manifest.json")
        .iter()
        .for_each(|path| feed(atf_fuzz::manifest, path));
}

#[test]
fn spec_files_never_panic() {
    files("spec/records", ".yaml")
        .iter()
        .for_each(|path| feed(atf_fuzz::spec_yaml, path));
}

/// Inputs that drive the targets that make things up: bytes from a seed, of many sizes.
fn made_up(body: Body, rounds: u64) {
    for seed in 0..rounds {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let bytes: Vec<u8> = (0..16 + seed % 700)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Small numbers are frequent, as in what a fuzzer finds.
                let [byte, choice, ..] = state.to_le_bytes();
                if choice < 128 { byte & 3 } else { byte }
            })
            .collect();
        body(&bytes);
    }
}

#[test]
fn writers_take_any_sequence_of_operations() {
    made_up(atf_fuzz::writer, 3000);
}

#[test]
fn sessions_are_recovered_whatever_they_hold() {
    made_up(atf_fuzz::recover, 700);
}

#[test]
fn sessions_are_checked_whatever_they_hold() {
    made_up(atf_fuzz::checker, 300);
}

#[test]
fn the_c_api_reads_what_the_rust_api_reads() {
    for ending in ["index.atf", "detail.atf"] {
        files("samples", ending)
            .iter()
            .for_each(|path| feed(atf_fuzz::capi, path));
    }
}
