//! Converts traces to the other wire version and back.

use atf::Wire;
use atf::detail::DetailReader;
use atf::rewrite::{ConvertOptions, convert};
use atf::thread::ThreadReader;

use crate::{Places, files, notes, thread_of, unlinked};
use atf_samples::files::{DetailFile, EventRecord, IndexFile, patched};

#[test]
fn a_number_that_does_not_fit_is_refused_and_leaves_nothing_behind() {
    let index = IndexFile::finalized(1, 3).bytes();
    let index = patched(&index, 64 + 32 + 20, &300_u32.to_le_bytes());
    let places = Places::with_index(index);
    let options = ConvertOptions::default();
    let error = convert(places.path("in"), places.path("out"), Wire::V2, &options).unwrap_err();
    assert_eq!(error.field(), Some("event_kind"), "{error}");
    assert_eq!(places.names(), ["in"]);
}

/// Creates event `seq` of a thread in which every third event has a detail.
fn event((seq, (kind, depth)): (u64, (u8, u32))) -> EventRecord {
    let time = 0x0004_62d5_3c8a_0000 + seq * 1000;
    let link = seq.is_multiple_of(3).then_some(seq / 3);
    EventRecord {
        depth,
        ..EventRecord::new(time, seq, kind, link)
    }
}

#[test]
fn both_files_match_the_other_version_and_come_back_from_it_byte_for_byte() {
    // The kinds and depths of the events: a nested call, a call that throws, and another tree.
    let kinds = [1, 1, 2, 1, 1, 3, 2, 2, 1, 2];
    let tree = kinds.into_iter().zip([1, 2, 2, 2, 3, 3, 2, 1, 1, 1]);
    let tree = IndexFile::new(1, (0..).zip(tree).map(event).collect());
    let mut other = IndexFile::finalized(2, 20);
    // Calls and returns alternate, so the computed depth is always 1.
    other.events.iter_mut().for_each(|event| event.depth = 1);
    for (index, details, own, there) in [
        (tree, DetailFile::finalized(1, 4), Wire::V1, Wire::V2),
        (other, DetailFile::finalized(2, 7), Wire::V2, Wire::V1),
    ] {
        let places = Places::new();
        places.put_thread("thread_7", index.bytes(), details.bytes());
        places.convert("in", "there", there);
        places.convert("there", "back", own);
        for (out, wire) in [("there", there), ("back", own)] {
            let found = files(&places.path(out));
            let index = IndexFile::new(wire.version(), index.events.clone());
            assert!(found["thread_7/index.atf"] == index.bytes(), "{out}");
            let details = DetailFile::new(wire.version(), details.events.clone());
            assert!(found["thread_7/detail.atf"] == details.bytes(), "{out}");
        }
    }
}

#[test]
fn depths_continue_from_a_segment_that_records_them() {
    let places = Places::new();
    for (version, folder, tree) in [
        (1, "pid_1", [(1, 1), (1, 2), (1, 3)]),
        (2, "pid_1_segment_000002", [(2, 0), (2, 0), (2, 0)]),
    ] {
        let events = (0..).zip(tree).map(event).collect();
        let index = unlinked(IndexFile::new(version, events)).bytes();
        places.put(&format!("in/{folder}/thread_7/index.atf"), index);
    }
    places.convert("in", "out", Wire::V1);
    let thread = ThreadReader::open(places.path("out/pid_1_segment_000002/thread_7")).unwrap();
    let events = thread.index().events();
    let depths: Vec<_> = events
        .map(|event| event.unwrap().call_depth.unwrap())
        .collect();
    assert_eq!(depths, [3, 2, 1]);
}

#[test]
fn a_link_beyond_32_bits_does_not_become_one_to_the_detail_of_its_lower_half() {
    const BEYOND: u64 = 1 << 32;
    let places = Places::new();
    let mut events = IndexFile::finalized(2, 6).events;
    events[0].detail_seq = Some(BEYOND);
    events[3].detail_seq = Some(BEYOND + 1);
    places.put("in/thread_7/index.atf", IndexFile::new(2, events).bytes());
    let mut details = DetailFile::finalized(2, 2).events;
    details[0].index_seq = BEYOND;
    let detail = DetailFile::new(2, details).bytes();
    places.put("in/thread_7/detail.atf", detail);
    let out = places.path("out");
    let report = places.convert("in", "out", Wire::V1);
    let thread = thread_of(&report);
    let places = notes(&thread, "link_to_nothing")[0]["first"]
        .as_array()
        .unwrap();
    let found: Vec<_> = places.iter().map(|place| &place["found"]).collect();
    assert_eq!(found, ["4294967296", "4294967297"]);
    assert_eq!((report.events(), report.details()), (6, 0));
    let reader = ThreadReader::open(out.join("thread_7")).unwrap();
    let mut events = reader.index().events_in(..);
    assert!(events.all(|event| event.unwrap().detail_seq.is_none()));

    // Both details are set aside unchanged, so they are still in version 2, with the field that
    // version 1 does not have.
    assert_eq!(thread["set_aside"][0]["count"], 2);
    let orphans = DetailReader::open(out.join("thread_7/orphans.atf")).unwrap();
    assert_eq!(orphans.wire(), Wire::V2);
    let seq = |place| orphans.get(place).unwrap().unwrap().header.index_seq;
    assert_eq!((seq(0), seq(1)), (BEYOND, 3));
}
