//! Tests that every way of reading a file reports the file's problems after the last event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::merge::Merge;
use atf::{Checksum, Error, ErrorKind};

use crate::counted::Counted;
use atf_samples::files::{DetailFile, IndexFile, crc32_ieee};

fn counted(bytes: Vec<u8>) -> (IndexReader, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let index = IndexReader::from_source(Counted(bytes, Arc::clone(&count))).unwrap();
    (index, count)
}

/// Creates a file with a flipped bit in event 5's function.
fn flipped(version: u8) -> Vec<u8> {
    let mut bytes = IndexFile::finalized(version, 3000).bytes();
    bytes[64 + 32 * 5 + 8] ^= 0x10;
    bytes
}

/// Returns the names of the problems after `events` good events. All ways of reading the file must
/// report the same problems.
fn told(bytes: &[u8], events: usize) -> Vec<String> {
    let in_memory = || IndexReader::from_bytes(bytes).unwrap();
    let at_positions = || counted(bytes.to_vec()).0;
    let names = |found: Vec<Result<(), Error>>| {
        let (good, told) = found.split_at(events);
        assert!(good.iter().all(Result::is_ok));
        let name = |error: &Result<(), Error>| {
            let kind = format!("{:?}", error.as_ref().unwrap_err().kind());
            kind.split([' ', '{']).next().unwrap_or_default().to_owned()
        };
        told.iter().map(name).collect::<Vec<_>>()
    };
    let nothing = |event: Result<_, Error>| event.map(drop);
    let of_events = |index: &IndexReader| names(index.events().map(nothing).collect());
    let expected = of_events(&in_memory());
    assert_eq!(of_events(&at_positions()), expected);
    assert_eq!(
        names(at_positions().events().rev().map(nothing).collect()),
        expected
    );
    let merge = || Merge::new([(7, at_positions())]);
    let merged = |event: Result<_, Error>| event.map(drop);
    assert_eq!(names(merge().events().map(merged).collect()), expected);
    let mut folded = Vec::new();
    merge()
        .events()
        .for_each(|event| folded.push(event.map(drop)));
    assert_eq!(names(folded), expected);
    let in_memory = Merge::new([(7, in_memory())]);
    assert_eq!(names(in_memory.events().map(merged).collect()), expected);
    let parts = merge()
        .partitions(3)
        .into_iter()
        .flatten()
        .map(merged)
        .collect::<Vec<_>>();
    assert_eq!(names(parts), expected);
    expected
}

#[test]
fn an_intact_file_ends_without_a_problem() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 3000);
        assert_eq!(told(&file.bytes(), 3000), [""; 0]);
        // Without a checksum, no event can be proven wrong, so there are no known problems.
        let unchecked = IndexFile {
            checksum: 0,
            ..file
        };
        assert_eq!(told(&unchecked.bytes(), 3000), [""; 0]);
    }
}

#[test]
fn a_checksum_mismatch_is_reported_after_the_last_event() {
    for version in [1, 2] {
        assert_eq!(told(&flipped(version), 3000), ["ChecksumMismatch"]);
    }
}

#[test]
fn the_checksum_of_another_polynomial_is_reported_after_the_last_event() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 3000);
        file.checksum = crc32_ieee(&file.section());
        assert_eq!(told(&file.bytes(), 3000), ["IeeeChecksum"]);
    }
}

#[test]
fn a_file_without_a_footer_is_reported_with_its_trailing_bytes() {
    for version in [1, 2] {
        let mut bytes = IndexFile::finalized(version, 100)
            .placeholder()
            .without_footer();
        assert_eq!(told(&bytes, 100), ["NotFinalized"]);
        bytes.extend([1; 7]);
        assert_eq!(told(&bytes, 100), ["NotFinalized"]);
        let index = IndexReader::from_bytes(bytes).unwrap();
        let kind = ErrorKind::NotFinalized {
            is_cut: false,
            trailing_bytes: 7,
            zero_tail_bytes: 0,
        };
        let problems = index.problems();
        assert_eq!(problems[0].kind(), &kind);
        assert_eq!(problems[0].offset(), Some(64 + 32 * 100));
        let end = "7 trailing bytes are not a whole event (at 0xcc0)";
        assert!(problems[0].to_string().ends_with(end), "{}", problems[0]);
    }
}

#[test]
fn a_single_byte_after_the_last_event_is_in_the_singular() {
    let file = IndexFile::finalized(2, 100).placeholder().without_footer();
    let index = IndexReader::from_bytes([&file[..], &[1]].concat()).unwrap();
    let problem = index.problems()[0].to_string();
    let expected = "; 1 trailing byte is not a whole event (at 0xcc0)";
    assert!(problem.ends_with(expected), "{problem}");
}

#[test]
fn a_file_truncated_after_it_was_finalized_lacks_events() {
    let mut bytes = IndexFile::finalized(1, 100).bytes();
    bytes.truncate(64 + 32 * 60);
    assert_eq!(told(&bytes, 60), ["NotFinalized", "EventsMissing"]);
    let index = IndexReader::from_bytes(bytes.clone()).unwrap();
    let text = index.problems()[0].to_string();
    assert!(
        text.ends_with(
            "no footer: the file was truncated or damaged after it was finalized (at 0x7c0)"
        ),
        "{text}"
    );
}

#[test]
fn zeros_are_a_gap_unless_a_checksum_confirms_them() {
    let with_zeros = |checksum: fn(&[u8]) -> u32| {
        let file = IndexFile::finalized(1, 100);
        let mut section = file.section();
        section[32 * 40..32 * 43].fill(0);
        let file = IndexFile {
            checksum: checksum(&section),
            ..file
        };
        [file.header(), section, file.footer()].concat()
    };
    let unchecked = with_zeros(|_| 0);
    assert_eq!(told(&unchecked, 100), ["Gap"]);
    let index = IndexReader::from_bytes(unchecked).unwrap();
    assert_eq!(index.holes().count(), 1);
    index.scan().unwrap();
    let problem = &index.problems()[0];
    assert_eq!(problem.kind(), &ErrorKind::Gap { count: 3 });
    assert_eq!(problem.offset(), Some(64 + 32 * 40));

    let checked = with_zeros(crc32c::crc32c);
    assert_eq!(told(&checked, 100), [""; 0]);
    let index = IndexReader::from_bytes(checked).unwrap();
    assert_eq!(index.holes().count(), 0, "the zeros were written");
}

#[test]
fn a_damaged_footer_is_reported_field_by_field() {
    let file = IndexFile {
        footer_count: 99,
        ..IndexFile::finalized(2, 100)
    };
    assert_eq!(told(&file.bytes(), 100), ["CountDoesNotFit"]);
}

#[test]
fn a_partial_read_knows_whether_the_events_were_verified() {
    for version in [1, 2] {
        let (index, _) = counted(flipped(version));
        assert!(index.get(5).unwrap().is_some());
        assert_eq!(index.events_in(..).filter(Result::is_err).count(), 0);
        assert_eq!(index.known_checksum(), None, "no pass has compared it");
        assert!(index.problems().is_empty());
        assert_eq!(index.events().filter(Result::is_err).count(), 1);
        assert!(matches!(index.known_checksum(), Some(Checksum::Bad { .. })));
        assert_eq!(index.problems().len(), 1);
    }
}

#[test]
fn a_pass_over_all_events_reads_each_byte_once() {
    let bytes = IndexFile::finalized(1, 20_000).bytes();
    let size = bytes.len() as u64;
    let (index, read) = counted(bytes);
    let opened = read.load(Ordering::Relaxed);
    assert_eq!(index.events().filter(Result::is_ok).count(), 20_000);
    assert_eq!(index.known_checksum(), Some(Checksum::Good));
    assert!(index.scan().unwrap().is_ordered());
    let passed = read.load(Ordering::Relaxed) - opened;
    assert!(passed <= size, "{passed} of {size} bytes");
}

#[test]
fn details_end_with_their_problems() {
    for version in [1, 2] {
        let kinds = |bytes: Vec<u8>| {
            let detail = DetailReader::from_bytes(bytes).unwrap();
            let told = detail.events().filter_map(Result::err);
            let told: Vec<_> = told.map(|error| error.kind().clone()).collect();
            assert_eq!(detail.events_in(..).filter(Result::is_err).count(), 0);
            let problems = detail.problems().unwrap();
            let problems: Vec<_> = problems.iter().map(|error| error.kind().clone()).collect();
            assert_eq!(problems, told);
            told
        };
        let file = DetailFile::finalized(version, 20);
        assert_eq!(kinds(file.bytes()), []);
        let mut flipped = file.bytes();
        flipped[64 + 24] ^= 1;
        assert!(matches!(
            kinds(flipped)[..],
            [ErrorKind::ChecksumMismatch { .. }]
        ));
        let cut = file.bytes()[..64 + 40].to_vec();
        assert!(matches!(
            kinds(cut)[..],
            [
                ErrorKind::NotFinalized { .. },
                ErrorKind::EventsMissing { .. }
            ]
        ));
    }
}
