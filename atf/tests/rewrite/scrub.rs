//! Tests that a scrubbed trace contains no memory of the traced program.

use atf::detail::FunctionPayload;
use atf::rewrite::{ScrubOptions, scrub};
use atf::session::SessionReader;
use atf::thread::ThreadReader;

use crate::{Places, count, files, left_paths, session_of, thread_of};
use atf_samples::files::{Bytes, DetailFile, DetailRecord, EventRecord, IndexFile, patched};

const SECRET: &[u8; 8] = b"hunter2!";
const T: u64 = 5_000_000;
const FUNCTION: u64 = 0x0644_4fc1_0000_0001;

/// Creates a detail whose registers, stack and reserved bytes are filled with the secret.
fn call(index_seq: u64, function_id: u64, stack: u16) -> DetailRecord {
    let mut payload = Bytes::default();
    payload.u64(function_id);
    payload.raw(&SECRET.repeat(11));
    payload.u16(stack).raw(&SECRET[..2]);
    let stack = SECRET.iter().copied().cycle().take(stack.into());
    payload.raw(&stack.collect::<Vec<u8>>());
    DetailRecord::new(3, index_seq, T + index_seq, payload.0)
}

fn opaque(index_seq: u64, size: usize) -> DetailRecord {
    let payload = SECRET.iter().copied().cycle().take(size).collect();
    DetailRecord::new(9, index_seq, T + index_seq, payload)
}

fn event(seq: u64, detail_seq: Option<u64>) -> EventRecord {
    let kind = 1 + u8::try_from(seq % 2).unwrap();
    EventRecord::new(T + seq, FUNCTION + seq % 2, kind, detail_seq)
}

/// Writes a thread that contains the secret in every possible place, and `tail` at the end of its
/// files.
fn plant(places: &Places, folder: &str, version: u8, tail: &[u8], has_footer: bool) {
    let links = [Some(0), None, Some(1), Some(2), Some(4), Some(5), Some(99)];
    let events = links
        .into_iter()
        .zip(0..)
        .map(|(link, seq)| event(seq, link));
    let index = IndexFile::new(version, events.collect());
    let records = vec![
        call(0, FUNCTION, 0),
        call(2, FUNCTION, 256),
        opaque(3, 3),
        // No event refers to these two details: the first is an orphan, and the event of the second
        // links to a different detail.
        call(1, FUNCTION, 64),
        opaque(4, 500),
        // This is the payload of a call to the function whose id is the secret.
        call(5, u64::from_le_bytes(*SECRET), 8),
        opaque(0, 40),
    ];
    let detail = DetailFile::new(version, records);
    let files = if has_footer {
        [index.bytes(), detail.bytes()]
    } else {
        // The last reserved bytes of the detail header contain the secret too.
        let detail = detail.placeholder().without_footer();
        let detail = patched(&detail, 60, &SECRET[..4]);
        [index.placeholder().without_footer(), detail]
    };
    let [index, detail] = files.map(|bytes| [&bytes[..], tail].concat());
    places.put_thread(folder, index, detail);
    for side in [
        "orphans.atf",
        "salvaged.atf",
        "orphans-2.atf",
        "ring.atf",
        "core.7",
    ] {
        places.put(&format!("in/{folder}/{side}"), SECRET);
    }
}

/// Creates a session of threads that end in different ways.
fn session(version: u8) -> Places {
    let places = Places::new();
    let zeros = [0; 4096];
    let tails: [Vec<u8>; 4] = [
        SECRET[..7].to_vec(),
        [&zeros[..], SECRET].concat(),
        [&[0; 32][..], SECRET, SECRET, SECRET, SECRET, &zeros[..]].concat(),
        SECRET.repeat(9),
    ];
    for (number, tail) in tails.iter().enumerate() {
        plant(&places, &format!("thread_{number}"), version, tail, true);
        let id = number + 4;
        // Without a footer, complete events in the tail would count as events too.
        if number < 3 {
            plant(&places, &format!("thread_{id}"), version, tail, false);
        }
    }
    places.put_thread("thread_8", SECRET.repeat(50), SECRET.repeat(50));
    for name in [
        "recovery.json",
        "unreadable/thread_8/index.atf",
        "renamed/index.atf",
        "notes.txt",
    ] {
        places.put(&format!("in/{name}"), SECRET);
    }
    let manifest = r#"{"format_version":"2.1","threads":[],"note":"hunter2!","modules":[
        {"module_id":105140161,"path":"/home/hunter2!/bin/d","hunter2!":1}]}"#;
    places.put("in/manifest.json", manifest);
    places
}

#[test]
fn no_byte_of_a_secret_is_in_any_file() {
    for version in [1, 2] {
        for drop_details in [false, true] {
            let places = session(version);
            let options = ScrubOptions::default()
                .drop_details(drop_details)
                .module_names_only(true);
            scrub(places.path("in"), places.path("out"), &options).unwrap();
            let out = files(&places.path("out"));
            assert!(out.len() >= 8, "{:?}", out.keys());
            for (name, bytes) in &out {
                // Look for any four consecutive bytes of the secret, including those that wrap
                // around from its end to its start.
                let twice = SECRET.repeat(2);
                for part in (0..8).map(|at| &twice[at..at + 4]) {
                    let found = bytes.windows(4).position(|window| window == part);
                    assert_eq!(found, None, "wire {version}: {part:?} in {name}");
                }
            }
        }
    }
}

#[test]
fn functions_times_kinds_links_and_module_paths_stay() {
    for version in [1, 2] {
        let places = session(version);
        places.scrub("out");
        let scrubbed = SessionReader::open(places.path("out")).unwrap();
        let module = &scrubbed.manifest().unwrap().modules[0];
        assert_eq!(module.path.as_deref(), Some("/home/hunter2!/bin/d"));
        for number in 0..7 {
            let folder = format!("out/thread_{number}");
            let thread = ThreadReader::open(places.path(&folder)).unwrap();
            let detail = thread.detail().unwrap();
            let events: Vec<_> = thread.index().events_in(..).map(Result::unwrap).collect();
            let links: Vec<_> = events.iter().map(|event| event.detail_seq).collect();
            let expected = [Some(0), None, Some(1), Some(2), Some(3), Some(4), None];
            assert_eq!(links[..7], expected, "{folder}");
            for (seq, event) in (0_u64..7).zip(&events) {
                assert_eq!(event.timestamp_ns, T + seq);
                assert_eq!(event.function_id, FUNCTION + seq % 2);
                assert_eq!(u64::from(event.event_kind.0), 1 + seq % 2);
            }
            assert_eq!(detail.event_count(), 5);
            let owners = [(0, 3), (2, 3), (3, 9), (4, 9), (5, 3)];
            for (seq, (index_seq, event_type)) in (0..).zip(owners) {
                let found = detail.get(seq).unwrap().unwrap();
                assert_eq!(found.header.index_seq, index_seq);
                assert_eq!(found.header.timestamp, T + index_seq);
                assert_eq!(found.header.event_type.0, event_type);
                let payload = detail.function_payload(&found).unwrap();
                // All registers are 0, and there is no stack.
                let function_id = FUNCTION + index_seq % 2;
                let expected = FunctionPayload::default().function_id(function_id);
                match event_type {
                    3 => assert_eq!(payload, Some(expected)),
                    _ => assert_eq!(found.header.total_length, 24),
                }
            }
        }
    }
}

#[test]
fn the_report_lists_dropped_content() {
    let places = session(1);
    let report = places.scrub("out");
    let thread = thread_of(&report);
    assert_eq!(count(&thread, "payload_scrubbed"), 3);
    assert_eq!(count(&thread, "payload_emptied"), 2);
    assert_eq!(count(&thread, "link_to_nothing"), 1);
    assert_eq!(count(&thread, "ring_left_over"), 1);
    let mut dropped = thread["dropped"].as_array().unwrap().iter();
    let orphans = dropped.find(|dropped| dropped["count"] == 2);
    let sizes = 24 + 100 + 64 + 24 + 40;
    assert_eq!(orphans.unwrap()["size"], sizes);
    let session = session_of(&report);
    let mut threads = session["threads"].as_array().unwrap().iter();
    let unread = threads.find(|thread| thread["folder"] == "thread_8");
    assert!(unread.unwrap().get("not_recovered").is_some());
    let left = left_paths(session);
    for name in [
        "recovery.json",
        "unreadable",
        "notes.txt",
        "thread_0/core.7",
    ] {
        assert!(left.iter().any(|path| path == name), "{name}");
    }
    assert_eq!(places.names(), ["in", "out"]);
}

#[test]
fn the_largest_payload_of_a_call_keeps_its_function() {
    let index = IndexFile::new(1, vec![event(0, Some(0))]);
    let detail = DetailFile::new(1, vec![call(0, FUNCTION, u16::MAX)]);
    let places = Places::new();
    places.put_thread("thread_7", index.bytes(), detail.bytes());
    let report = places.scrub("out");
    let thread = thread_of(&report);
    assert_eq!(count(&thread, "payload_scrubbed"), 1, "{report}");
    let thread = ThreadReader::open(places.path("out/thread_7")).unwrap();
    let detail = thread.detail().unwrap();
    let found = detail.get(0).unwrap().unwrap();
    let payload = detail.function_payload(&found).unwrap().unwrap();
    assert_eq!((payload.function_id, payload.stack.len()), (FUNCTION, 0));
}
