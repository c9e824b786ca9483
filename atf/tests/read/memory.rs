//! Tests the guarantees of `docs/safety.md` for events and payloads that look like parts of the
//! format. Such contents are possible, because a traced program's memory may contain anything, even
//! a trace.

use std::fs;

use atf::Completeness;
use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use proptest::prelude::*;

use crate::{details, events, expected};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile, padded, ring_after};

/// Generates all or part of a magic, a header, a footer whose numbers may match, or zeros.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let whole = (1..3_u8, 0..4_u64, any::<bool>(), 0..8_usize).prop_map(
        |(version, count, is_last, what)| {
            let mut index = IndexFile::finalized(version, count);
            let mut detail = DetailFile::finalized(version, count);
            if is_last {
                (index, detail) = (index.placeholder(), detail.placeholder());
            }
            match what {
                0 => index.header(),
                1 => index.section(),
                2 => index.footer(),
                3 => detail.header(),
                4 => detail.section(),
                5 => detail.footer(),
                6 => [b"2DTA".to_vec(), vec![0; 60]].concat(),
                _ => vec![0; 64],
            }
        },
    );
    (whole, 0..64_usize, 0..130_usize).prop_map(|(bytes, start, size)| {
        let start = start.min(bytes.len());
        let end = bytes.len().min(start + size);
        bytes[start..end].to_vec()
    })
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    let any = prop::collection::vec(any::<u8>(), 0..20);
    prop::collection::vec(prop_oneof![3 => part(), 1 => any], 0..4).prop_map(|parts| parts.concat())
}

fn detail_file() -> impl Strategy<Value = DetailFile> {
    let events = prop::collection::vec(payload(), 0..4);
    (1..3_u8, events, any::<bool>()).prop_map(|(version, payloads, is_finalized)| {
        let event = |(seq, payload): (u64, _)| DetailRecord::new(3, 3 * seq, 1000 + seq, payload);
        let file = DetailFile::new(version, (0..).zip(payloads).map(event).collect());
        if is_finalized {
            file
        } else {
            file.placeholder()
        }
    })
}

/// Generates an eight-byte number taken from such a part.
fn number() -> impl Strategy<Value = u64> {
    part().prop_map(|bytes| {
        bytes
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    })
}

/// The magic of an index footer.
const MAGIC: [u8; 4] = *b"2ITA";

/// Generates events from parts of the format. A quarter of the events begin like the footer that
/// could follow the events before them: with the magic and their number.
fn index_file() -> impl Strategy<Value = IndexFile> {
    let event = (number(), number(), 1..4_u8, any::<bool>(), 0..4_u8);
    let events = prop::collection::vec(event, 0..8);
    (1..3_u8, events, any::<bool>()).prop_map(|(version, mut events, is_finalized)| {
        for (timestamp_ns, .., part) in &mut events {
            if *part == 0 {
                *timestamp_ns = *timestamp_ns >> 32 << 32 | u64::from(u32::from_le_bytes(MAGIC));
            }
        }
        events.sort_unstable();
        let event = |(seq, (time, function, kind, has_link, part)): (u64, (_, _, _, bool, _))| {
            let function = if part == 0 { seq } else { function };
            EventRecord::new(time, function, kind, has_link.then_some(0x4154_4432))
        };
        let file = IndexFile::new(version, (0..).zip(events).map(event).collect());
        if is_finalized {
            file
        } else {
            file.placeholder()
        }
    })
}

/// Returns how many events of a truncated file are read. If one of the last two events begins like
/// a footer that could follow the events before it, it and the event after it are read as a footer:
/// a torn one or else, after other events, a damaged one. If the header counts the file's events,
/// neither is possible before the footer's stated offset, and no torn one after it.
fn readable(file: &IndexFile, cut: &[u8]) -> usize {
    let events = &cut[64..];
    let last = events.iter().rposition(|byte| *byte != 0);
    let data_size = last.map_or(0, |last| last + 1);
    let begins = |seq: usize| match file.events.get(seq) {
        Some(event) => {
            event.timestamp_ns.to_le_bytes().starts_with(&MAGIC) && event.function_id == seq as u64
        }
        None => true,
    };
    let whole = (events.len() / 32).min(file.events.len());
    let begun = data_size.div_ceil(32);
    let counted = usize::try_from(file.header_count).unwrap();
    let begins = |seq: &usize| begins(*seq) && *seq >= counted;
    let mut last = (begun.saturating_sub(2)..begun).filter(begins);
    let left = |seq: usize| events.len() - 32 * seq;
    let is_torn = |seq: &usize| left(*seq) < 64 || data_size - 32 * seq <= 32;
    let is_proven = file.header_count > 0 && 64 + data_size as u64 > file.footer_offset;
    let found = if is_proven {
        last.find(|seq| *seq > 0 && left(*seq) == 64)
    } else {
        let mut torn = last.clone().filter(is_torn);
        torn.next().or(last.find(|seq| *seq > 0))
    };
    found.map_or(whole, |seq| seq.min(whole))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file truncated at any byte yields exactly its complete events.
    #[test]
    fn a_truncated_detail_file_has_its_whole_events_whatever_they_hold(file in detail_file()) {
        let (bytes, places) = (file.bytes(), file.places());
        for size in 64..bytes.len() {
            let cut = DetailReader::from_bytes(&bytes[..size]).unwrap();
            let whole = places[1..].iter().filter(|end| **end <= size as u64).count();
            prop_assert_eq!(details(&cut), &file.events[..whole], "{} bytes", size);
            prop_assert!(!matches!(cut.completeness(), Completeness::Finalized), "{} bytes", size);
        }
    }

    #[test]
    fn a_truncated_index_file_has_its_whole_events_whatever_they_hold(file in index_file()) {
        let bytes = file.bytes();
        for size in 64..bytes.len() {
            let cut = IndexReader::from_bytes(&bytes[..size]).unwrap();
            let whole = readable(&file, &bytes[..size]);
            prop_assert_eq!(events(&cut), &expected(&file)[..whole], "{} bytes", size);
            prop_assert!(!matches!(cut.completeness(), Completeness::Finalized), "{} bytes", size);
        }
    }

    /// Zeros after the end, as in preallocated space, hide no events. A torn event may be mistaken
    /// for a complete one.
    #[test]
    fn zeros_after_a_cut_hide_no_detail_whatever_it_holds(file in detail_file()) {
        let (bytes, places) = (file.without_footer(), file.places());
        for size in 64..=bytes.len() {
            let cut = DetailReader::from_bytes(padded(&bytes[..size], 1024)).unwrap();
            let whole = places[1..].iter().filter(|end| **end <= size as u64).count();
            let read = cut.event_count();
            let whole = whole as u64;
            prop_assert!(read >= whole, "{} of {} at {} bytes", read, whole, size);
            prop_assert!(read <= whole + 1, "{} of {} at {} bytes", read, whole, size);
        }
    }

    /// A thread whose writer was killed has all its events, no matter how they are divided between
    /// the files and the kill journal.
    #[test]
    fn a_kill_journal_continues_the_files_whatever_they_hold(
        index in index_file(),
        detail in detail_file(),
        places in prop::array::uniform4(any::<prop::sample::Index>()),
    ) {
        let version = index.version;
        let index = index.placeholder();
        let detail = DetailFile::new(version, detail.events).placeholder();
        let files = [index.without_footer(), detail.without_footer()];
        // The journal's areas start between two events. Some of their bytes may already be in the
        // files.
        let starts = [
            64 + 32 * places[0].index(index.events.len() + 1),
            usize::try_from(detail.places()[places[1].index(detail.events.len() + 1)]).unwrap(),
        ];
        let ends = [0, 1].map(|it| starts[it] + places[2 + it].index(files[it].len() - starts[it] + 1));
        let folder = tempfile::tempdir().unwrap();
        let ring = ring_after(version, index.thread_id, [&files[0], &files[1]], starts);
        fs::write(folder.path().join("index.atf"), &files[0][..ends[0]]).unwrap();
        fs::write(folder.path().join("detail.atf"), &files[1][..ends[1]]).unwrap();
        fs::write(folder.path().join("ring.atf"), ring).unwrap();
        let thread = ThreadReader::open(folder.path()).unwrap();
        prop_assert!(thread.ring_error().is_none(), "{:?}", thread.ring_error());
        let whole = readable(&index, &files[0]);
        prop_assert_eq!(events(thread.index()), &expected(&index)[..whole]);
        prop_assert_eq!(details(thread.detail().unwrap()), &detail.events[..]);
    }

    /// A merge returns each thread's events, in time order.
    #[test]
    fn a_merge_has_all_events_whatever_they_hold(files in prop::collection::vec(index_file(), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let mut all = Vec::new();
        for (id, file) in (0..).zip(&files) {
            let path = folder.path().join(format!("thread_{id}"));
            fs::create_dir(&path).unwrap();
            fs::write(path.join("index.atf"), file.without_footer()).unwrap();
            let whole = readable(file, &file.without_footer());
            let events = expected(file).into_iter().take(whole);
            all.extend((0_u64..).zip(events).map(|(seq, event)| (id, seq, event)));
        }
        all.sort_by_key(|(thread, seq, event)| (event.timestamp_ns, *thread, *seq));
        let session = SessionReader::open(folder.path()).unwrap();
        let merge = session.merge();
        let merged = merge.events().filter_map(Result::ok);
        let merged: Vec<_> = merged.map(|it| (it.thread, it.seq, it.event)).collect();
        prop_assert_eq!(merged, all);
    }

    /// If there is a checksum, a flipped bit in the events is always detected.
    #[test]
    fn a_flipped_bit_is_reported_whatever_the_events_hold(
        detail in detail_file(),
        index in index_file(),
        place in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let flipped = |mut bytes: Vec<u8>, size: usize| {
            (size > 0).then(|| {
                bytes[64 + place.index(size)] ^= 1 << bit;
                bytes
            })
        };
        if let Some(bytes) = flipped(detail.bytes(), detail.section().len()) {
            let reader = DetailReader::from_bytes(bytes);
            prop_assert!(!reader.is_ok_and(|reader| reader.events().all(|event| event.is_ok())));
        }
        if let Some(bytes) = flipped(index.bytes(), index.section().len()) {
            let reader = IndexReader::from_bytes(bytes);
            prop_assert!(!reader.is_ok_and(|reader| reader.events().all(|event| event.is_ok())));
        }
    }
}
