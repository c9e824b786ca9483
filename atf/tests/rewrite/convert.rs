//! The other wire version, and back.

use atf::Wire;
use atf::rewrite::{ConvertOptions, What, convert};

use crate::support::{DetailFile, IndexFile, patched};
use crate::{Places, files};

#[test]
fn events_and_details_are_those_of_the_other_version_byte_for_byte() {
    let places = Places::new();
    places.put("in/thread_7/index.atf", IndexFile::finalized(1, 9).bytes());
    places.put(
        "in/thread_7/detail.atf",
        DetailFile::finalized(1, 3).bytes(),
    );
    let options = ConvertOptions::default();
    let there = convert(places.path("in"), places.path("2"), Wire::V2, &options).unwrap();
    let thread = there.threads().next().unwrap();
    assert_eq!(thread.notes.count(What::CallDepthLost), 9);
    let back = convert(places.path("2"), places.path("1"), Wire::V1, &options).unwrap();
    let thread = back.threads().next().unwrap();
    assert_eq!(thread.notes.count(What::CallDepthDerived), 9);

    for version in [2, 1] {
        let found = files(&places.path(&version.to_string()));
        let mut index = IndexFile::finalized(version, 9);
        // Calls and returns by turns: the depth that is counted is 1.
        index.events.iter_mut().for_each(|event| event.depth = 1);
        let detail = DetailFile::finalized(version, 3).section();
        let section = |name: &str| {
            let bytes = &found[name];
            bytes[64..bytes.len() - 64].to_vec()
        };
        assert_eq!(section("thread_7/index.atf"), index.section());
        assert_eq!(section("thread_7/detail.atf"), detail);
        assert_eq!(found["thread_7/index.atf"][5], version);
        assert_eq!(found["thread_7/detail.atf"][5], version);
    }
}

#[test]
fn a_thread_that_only_the_event_names_is_named_as_lost() {
    let places = Places::new();
    let index = IndexFile::finalized(1, 3).bytes();
    let index = patched(&index, 64 + 2 * 32 + 16, &8_u32.to_le_bytes());
    places.put("in/thread_7/index.atf", index);
    let options = ConvertOptions::default();
    let report = convert(places.path("in"), places.path("out"), Wire::V2, &options).unwrap();
    let thread = report.threads().next().unwrap();
    let lost = thread.notes.iter().find(|n| n.what == What::ThreadIdLost);
    let lost = lost.unwrap();
    assert_eq!((lost.count, lost.first[0].found.as_str()), (1, "8"));
    assert_eq!(lost.first[0].offset, Some(64 + 2 * 32 + 16));
}

#[test]
fn a_number_without_room_is_refused_and_nothing_is_left() {
    let places = Places::new();
    let index = IndexFile::finalized(1, 3).bytes();
    let index = patched(&index, 64 + 32 + 20, &300_u32.to_le_bytes());
    places.put("in/thread_7/index.atf", index);
    let options = ConvertOptions::default();
    let error = convert(places.path("in"), places.path("out"), Wire::V2, &options).unwrap_err();
    assert_eq!(error.field(), Some("event_kind"), "{error}");
    assert_eq!(places.names(), ["in"]);
}
