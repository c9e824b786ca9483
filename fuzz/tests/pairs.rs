//! Damages each file in two places at once: fields of its header and footer, and its end. Two
//! decoders that share no code must still agree, and followers with readers.
//!
//! A single fault leaves another number that tells the truth. Fuzzing found bugs where two numbers
//! were wrong; this test tries all such pairs.

use std::fs;
use std::panic::{self, AssertUnwindSafe};

use atf_fuzz::{differential, readers};
use atf_samples::files::{DetailFile, IndexFile};

const RECORD: usize = 64;
/// The number of pairs for each kind of file.
const PAIRS: usize = 7832;

/// A fault.
#[derive(Debug, Clone)]
enum Fault {
    /// Adds a number to the 32-bit number at an offset.
    Add(usize, u32),
    /// Appends bytes.
    Append(Vec<u8>),
    /// Removes bytes at the end.
    Cut(usize),
}

impl Fault {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Add(offset, number) => {
                let place = &mut bytes[*offset..offset + 4];
                let value = u32::from_le_bytes(place.try_into().expect("4 bytes"));
                place.copy_from_slice(&value.wrapping_add(*number).to_le_bytes());
            }
            Self::Append(more) => bytes.extend(more),
            Self::Cut(size) => bytes.truncate(bytes.len() - size),
        }
    }
}

/// Returns the faults of a record at an offset: each of its 32-bit numbers is one more or one less.
fn faults_of(record: usize) -> impl Iterator<Item = Fault> {
    let numbers = (record..record + RECORD).step_by(4);
    numbers.flat_map(|offset| [1, u32::MAX].map(|number| Fault::Add(offset, number)))
}

/// Applies all pairs of faults to a file, calls `check` with each result, and returns the number of
/// pairs.
fn try_pairs(bytes: &[u8], is_placeholder: bool, check: impl Fn(&[u8])) -> usize {
    let header = (!is_placeholder).then(|| faults_of(0));
    let footer = faults_of(bytes.len() - RECORD);
    let appended = [1, 24, 32, 64].map(|size| [vec![0; size], vec![0xee; size]]);
    let appended = appended.into_iter().flatten().map(Fault::Append);
    // The end comes last, because the other faults are at offsets of the whole file.
    let mut faults: Vec<_> = header.into_iter().flatten().chain(footer).collect();
    let ends = appended.chain([1, 31, 32, 33].map(Fault::Cut));
    faults.extend(ends);
    let mut count = 0;
    for (place, one) in faults.iter().enumerate() {
        for other in &faults[place..] {
            let mut damaged = bytes.to_vec();
            one.apply(&mut damaged);
            other.apply(&mut damaged);
            let checked = panic::catch_unwind(AssertUnwindSafe(|| check(&damaged)));
            assert!(checked.is_ok(), "{one:?}, {other:?}: {damaged:02x?}");
            count += 1;
        }
    }
    count
}

/// Compares the decoders, and all ways to read a session whose only thread has this file.
fn check_all(name: &str, others: &[(&str, Vec<u8>)], bytes: &[u8]) {
    differential(bytes);
    let session = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let session = session.expect("a place for files");
    let folder = session.path().join("thread_7");
    fs::create_dir(&folder).expect("a folder of our own");
    let file = [(name, bytes.to_vec())];
    for (name, bytes) in file.iter().chain(others) {
        fs::write(folder.join(name), bytes).expect("a folder of our own");
    }
    readers(session.path());
}

#[test]
fn pairs_of_faults_in_an_index_file() {
    let mut count = 0;
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 3);
        let check = |bytes: &[u8]| check_all("index.atf", &[], bytes);
        count += try_pairs(&file.bytes(), false, check);
        count += try_pairs(&file.placeholder().bytes(), true, check);
    }
    assert_eq!(count, PAIRS);
}

#[test]
fn pairs_of_faults_in_a_detail_file() {
    let mut count = 0;
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 3);
        let others = [("index.atf", IndexFile::finalized(version, 3).bytes())];
        let check = |bytes: &[u8]| check_all("detail.atf", &others, bytes);
        count += try_pairs(&file.bytes(), false, check);
        count += try_pairs(&file.placeholder().bytes(), true, check);
    }
    assert_eq!(count, PAIRS);
}
