//! Follows files with arbitrary contents that grow in arbitrary steps.

use std::ops::Range;

use atf::follow::Polled;
use atf::index::IndexReader;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{FollowedDetail, FollowedIndex};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};

/// Generates numbers that look like parts of a footer, and arbitrary ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        2 => Just(0x4154_4932),
        2 => Just(0x4154_4432),
        3 => 0..12_u64,
        3 => (0..12_u64).prop_map(|count| 32 * count),
        4 => any::<u64>(),
    ]
}

fn event() -> impl Strategy<Value = EventRecord> {
    let link = prop_oneof![Just(None), (0..9_u64).prop_map(Some)];
    (number(), number(), 0..4_u8, 0..3_u32, link).prop_map(
        |(timestamp_ns, function_id, kind, depth, detail_seq)| EventRecord {
            timestamp_ns,
            function_id,
            kind,
            depth,
            detail_seq,
        },
    )
}

fn detail() -> impl Strategy<Value = DetailRecord> {
    let payload = prop_oneof![
        vec(any::<u8>(), 0..90),
        vec(Just(0_u8), 0..90),
        Just(DetailFile::finalized(1, 2).footer()),
    ];
    (any::<u16>(), 0..9_u64, number(), payload).prop_map(
        |(event_type, index_seq, timestamp, payload)| {
            DetailRecord::new(event_type, index_seq, timestamp, payload)
        },
    )
}

/// Splits `size` bytes into pieces of these sizes, which are used in turn.
fn ranges(pieces: &[usize], size: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut start) = (Vec::new(), 0);
    for piece in pieces.iter().cycle() {
        let end = (start + piece).min(size);
        ranges.push(start..end);
        start = end;
        if start == size {
            break;
        }
    }
    ranges
}

/// Changes two consecutive events so that they look like a valid or nearly valid footer at their
/// offset.
fn imitate_footer(events: &mut [EventRecord], seq: usize, mistake: u64) {
    let Some([first, second]) = events.get_mut(seq..seq + 2) else {
        return;
    };
    first.timestamp_ns = 0x4154_4932;
    first.function_id = seq as u64 + mistake % 2;
    second.timestamp_ns = 32 * (seq as u64 + mistake / 2);
    second.function_id = 0;
    (second.kind, second.depth, second.detail_seq) = (0, 0, Some(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// At any time, the events returned so far are a prefix of those that a reader finds in the
    /// complete file.
    #[test]
    fn events_of_any_content_are_returned_once_each_and_in_order(
        version in 1..=2_u8,
        mut events in vec(event(), 0..12),
        imitations in vec((0..12_usize, 0..4_u64), 0..3),
        pieces in vec(1..150_usize, 1..40),
        room in prop_oneof![Just(0_u64), 0..700_u64],
    ) {
        for (seq, mistake) in imitations {
            imitate_footer(&mut events, seq, mistake);
        }
        let file = IndexFile { thread_id: 0, checksum: 0, ..IndexFile::new(version, events) };
        let bytes = file.clone().placeholder().bytes();
        let mut followed = FollowedIndex::new();
        followed.written.resize(room);
        followed.drain();
        for range in ranges(&pieces, bytes.len()) {
            followed.written.patch(range.start as u64, &bytes[range.clone()]);
            followed.drain();
            let written = followed.written.bytes();
            if range.end % 32 == 0 && let Ok(reader) = IndexReader::from_bytes(written) {
                prop_assert!(followed.events.len() as u64 <= reader.event_count());
            }
        }
        followed.written.resize(bytes.len() as u64);
        followed.written.patch(0, &file.header());
        let reader = IndexReader::from_bytes(file.bytes()).unwrap();
        let read: Vec<_> = reader.events_in(..).map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), file.events.len());
        prop_assert_eq!(&followed.events[..], &read[..followed.events.len()]);
        // A footer finalizes a file even if the header still looks like a placeholder.
        followed.drain();
        prop_assert_eq!(followed.drain(), Polled::Finalized);
        prop_assert_eq!(followed.events, read);
    }

    #[test]
    fn details_of_any_content_are_returned_once_each_and_in_order(
        version in 1..=2_u8,
        events in vec(detail(), 0..9),
        pieces in vec(1..150_usize, 1..40),
        room in prop_oneof![Just(0_u64), 0..900_u64],
    ) {
        let file = DetailFile::new(version, events);
        let bytes = file.clone().placeholder().bytes();
        let mut followed = FollowedDetail::new();
        followed.written.resize(room);
        followed.drain();
        for range in ranges(&pieces, bytes.len()) {
            followed.written.patch(range.start as u64, &bytes[range]);
            followed.drain();
        }
        followed.written.resize(bytes.len() as u64);
        followed.written.patch(0, &file.header());
        prop_assert_eq!(followed.drain(), Polled::Finalized);
        prop_assert_eq!(followed.records(), file.events);
    }
}
