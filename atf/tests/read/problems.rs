//! Tests that every way of reading a file reports the file's problems after the last event.

use std::sync::atomic::Ordering;

use atf::index::IndexReader;
use atf::merge::Merge;
use atf::{Checksum, Error};

use crate::counted;
use atf_samples::files::IndexFile;

/// Checks that all ways of reading an index file end with the same problems, after the last event.
pub(crate) fn agree(bytes: &[u8]) {
    let in_memory = || IndexReader::from_bytes(bytes).unwrap();
    let at_positions = || IndexReader::from_source(counted(bytes.to_vec()).0).unwrap();
    let index = in_memory();
    let count = usize::try_from(index.event_count()).unwrap();
    let problems = |found: Vec<Result<(), Error>>| {
        let (good, problems) = found.split_at(count);
        assert!(good.iter().all(Result::is_ok));
        // Files in memory have no path.
        let kind = |error: &Result<(), Error>| error.as_ref().unwrap_err().kind().clone();
        problems.iter().map(kind).collect::<Vec<_>>()
    };
    let of_events = |index: &IndexReader| problems(index.events().map(|it| it.map(drop)).collect());
    let expected = of_events(&index);
    let known = index.problems();
    let known: Vec<_> = known.iter().map(|error| error.kind().clone()).collect();
    assert_eq!(expected, known);
    assert_eq!(of_events(&at_positions()), expected);
    let index = at_positions();
    let back = index.events().rev().map(|it| it.map(drop)).collect();
    assert_eq!(problems(back), expected);
    let merge = |index| Merge::new([(7, index)]);
    let merged = |merge: &Merge| problems(merge.events().map(|it| it.map(drop)).collect());
    assert_eq!(merged(&merge(at_positions())), expected);
    assert_eq!(merged(&merge(in_memory())), expected);
    let mut folded = Vec::new();
    merge(at_positions())
        .events()
        .for_each(|it| folded.push(it.map(drop)));
    assert_eq!(problems(folded), expected);
    let whole = merge(at_positions());
    let parts = whole.partitions(3).into_iter().flatten();
    assert_eq!(problems(parts.map(|it| it.map(drop)).collect()), expected);
}

#[test]
fn one_trailing_byte_is_reported_in_the_singular() {
    let open = IndexFile::finalized(1, 100).placeholder().without_footer();
    let index = IndexReader::from_bytes([&open[..], &[1]].concat()).unwrap();
    let problem = index.problems()[0].to_string();
    let end = "was not finalized; 1 trailing byte is not a whole event (at 0xcc0)";
    assert!(problem.ends_with(end), "{problem}");
}

#[test]
fn a_partial_read_shows_whether_the_events_were_verified() {
    for version in [1, 2] {
        // Flip a bit in event 5's function.
        let mut bytes = IndexFile::finalized(version, 3000).bytes();
        bytes[64 + 32 * 5 + 8] ^= 0x10;
        let index = IndexReader::from_source(counted(bytes).0).unwrap();
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
    let (source, counts) = counted(bytes);
    let index = IndexReader::from_source(source).unwrap();
    let opened = counts.bytes.load(Ordering::Relaxed);
    assert_eq!(index.events().filter(Result::is_ok).count(), 20_000);
    assert_eq!(index.known_checksum(), Some(Checksum::Good));
    assert!(index.scan().unwrap().is_ordered());
    let passed = counts.bytes.load(Ordering::Relaxed) - opened;
    assert!(passed <= size, "{passed} of {size} bytes");
}
