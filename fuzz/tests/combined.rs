//! Damages each file in two or three places at once: fields of its header and footer, and its end.
//! Readers must refuse the file or return some or all of the written events, from the first. Two
//! decoders that share no code must still agree, as must followers and readers.
//!
//! If only one number is wrong, a redundant one is still correct. Fuzzing found bugs that need two
//! wrong numbers; this test tries all such combinations.

use std::fs;
use std::panic::{self, AssertUnwindSafe};

use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexEvent, IndexReader};
use atf_fuzz::{differential, readers, scratch};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};

const RECORD: usize = 64;
/// The number of combinations for each kind of file.
const COMBINATIONS: usize = 13976;

#[derive(Debug, Clone)]
enum Fault {
    /// Adds a number to the 32-bit number at an offset.
    Add(usize, u32),
    Append(Vec<u8>),
    /// Removes bytes from the end.
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

/// Returns the faults in a record at an offset: each of its 32-bit numbers is one too large or one
/// too small.
fn faults_of(record: usize) -> impl Iterator<Item = Fault> {
    let numbers = (record..record + RECORD).step_by(4);
    numbers.flat_map(|offset| [1, u32::MAX].map(|number| Fault::Add(offset, number)))
}

/// Returns combinations of faults: all pairs, and all triples of a header number and a footer
/// number that are one too large, and a damaged end.
fn combinations(size: usize, is_placeholder: bool) -> Vec<Vec<Fault>> {
    let header = || faults_of(0).filter(|_| !is_placeholder);
    let footer = || faults_of(size - RECORD);
    let appended = [1, 24, 32, 64].map(|size| [vec![0; size], vec![0xee; size]]);
    let appended = appended.into_iter().flatten().map(Fault::Append);
    let ends = appended.chain([1, 31, 32, 33].map(Fault::Cut));
    let ends: Vec<_> = ends.collect();
    // The end comes last, because the other faults' offsets refer to the original file.
    let all: Vec<_> = header().chain(footer()).chain(ends.clone()).collect();
    let pairs = all.iter().enumerate().flat_map(|(place, one)| {
        let others = all[place..].iter();
        others.map(|other| vec![one.clone(), other.clone()])
    });
    let is_more = |fault: &Fault| matches!(fault, Fault::Add(_, 1));
    let mut triples = Vec::new();
    for first in header().filter(is_more) {
        for second in footer().filter(is_more) {
            let place = |end: &Fault| vec![first.clone(), second.clone(), end.clone()];
            triples.extend(ends.iter().map(place));
        }
    }
    pairs.chain(triples).collect()
}

/// Calls `check` with a damaged file for each combination of faults. Returns the number of
/// combinations.
fn damage(bytes: &[u8], is_placeholder: bool, check: impl Fn(&[u8])) -> usize {
    let combinations = combinations(bytes.len(), is_placeholder);
    for faults in &combinations {
        let mut damaged = bytes.to_vec();
        faults.iter().for_each(|fault| fault.apply(&mut damaged));
        let checked = panic::catch_unwind(AssertUnwindSafe(|| check(&damaged)));
        assert!(checked.is_ok(), "{faults:?}: {damaged:02x?}");
    }
    combinations.len()
}

/// Checks that a reader refuses a damaged index file or returns a prefix of its events.
fn check_index(written: &[EventRecord], bytes: &[u8]) {
    let Ok(index) = IndexReader::from_bytes(bytes) else {
        return;
    };
    let found: Result<Vec<_>, _> = index.events_in(..).collect();
    let found = found.expect("bytes in memory can be read");
    let is_same = |(found, written): (&IndexEvent, &EventRecord)| {
        found.timestamp_ns == written.timestamp_ns
            && found.function_id == written.function_id
            && u32::from(found.event_kind) == u32::from(written.kind)
            && found.call_depth.is_none_or(|depth| depth == written.depth)
            && found.detail_seq == written.detail_seq
    };
    let is_right = found.len() <= written.len() && found.iter().zip(written).all(is_same);
    assert!(is_right, "{found:?} instead of {written:?}");
}

/// Checks that a reader refuses a damaged detail file or returns a prefix of its events.
fn check_detail(written: &[DetailRecord], bytes: &[u8]) {
    let Ok(detail) = DetailReader::from_bytes(bytes) else {
        return;
    };
    let record = |event: atf::Result<DetailEvent>| {
        let event = event?;
        Ok(DetailRecord {
            event_type: event.header.event_type.into(),
            index_seq: event.header.index_seq,
            timestamp: event.header.timestamp,
            payload: detail.payload(&event, usize::MAX)?,
        })
    };
    let found: atf::Result<Vec<_>> = detail.events_in(..).map(record).collect();
    let found = found.expect("bytes in memory can be read");
    let is_start = written.starts_with(&found);
    assert!(is_start, "{found:?} instead of {written:?}");
}

/// Compares the decoders, and all ways of reading a session whose only thread has this file.
fn check_all(name: &str, others: &[(&str, Vec<u8>)], bytes: &[u8]) {
    differential(bytes);
    let session = scratch();
    let folder = session.path().join("thread_7");
    fs::create_dir(&folder).expect("we own this folder");
    let file = [(name, bytes.to_vec())];
    for (name, bytes) in file.iter().chain(others) {
        fs::write(folder.join(name), bytes).expect("we own this folder");
    }
    readers(session.path());
}

#[test]
fn combined_faults_in_an_index_file() {
    let mut count = 0;
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 3);
        let check = |bytes: &[u8]| {
            check_index(&file.events, bytes);
            check_all("index.atf", &[], bytes);
        };
        count += damage(&file.bytes(), false, check);
        count += damage(&file.clone().placeholder().bytes(), true, check);
    }
    assert_eq!(count, COMBINATIONS);
}

#[test]
fn combined_faults_in_a_detail_file() {
    let mut count = 0;
    for version in [1, 2] {
        let file = DetailFile::finalized(version, 3);
        let others = [("index.atf", IndexFile::finalized(version, 3).bytes())];
        let check = |bytes: &[u8]| {
            check_detail(&file.events, bytes);
            check_all("detail.atf", &others, bytes);
        };
        count += damage(&file.bytes(), false, check);
        count += damage(&file.clone().placeholder().bytes(), true, check);
    }
    assert_eq!(count, COMBINATIONS);
}
