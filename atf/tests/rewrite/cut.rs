//! Tests which events and details a cut keeps or adds, and the manifest that it writes.

use std::fs;
use std::path::Path;

use atf::manifest::{Cut, Symbol};
use atf::rewrite::{CutOptions, Report, cut};
use atf::session::{SessionReader, ThreadEntry};
use atf::spans::CallStack;
use atf::write::{Detail, Event, SessionWriter, WriteOptions};
use atf::{ErrorKind, EventKind, Wire};

use crate::{Places, count, files, session_of, thread_of};

/// An event's time, kind, function and depth, and its detail's payload.
type Short = (u64, u32, u64, u32, Option<Vec<u8>>);

const CALL: u32 = 1;
const RETURN: u32 = 2;

/// Creates events in which function 1 calls 2, which calls 3, 4 and 5 one after another. Some
/// events have details.
fn events() -> Vec<Short> {
    vec![
        (100, CALL, 1, 1, None),
        (110, CALL, 2, 2, Some(vec![2; 5])),
        (120, CALL, 3, 3, Some(vec![3; 6])),
        (130, RETURN, 3, 3, None),
        (140, CALL, 4, 3, Some(vec![4; 7])),
        (150, RETURN, 4, 3, Some(vec![5; 8])),
        (160, CALL, 5, 3, None),
        (170, RETURN, 5, 3, None),
        (180, RETURN, 2, 2, None),
        (190, RETURN, 1, 1, Some(vec![1])),
    ]
}

fn write(path: &Path, wire: Wire, threads: &[Vec<Short>]) {
    let options = WriteOptions::default().wire(wire);
    let writer = SessionWriter::create(path, &options).unwrap();
    for (id, events) in (0..).zip(threads) {
        let mut thread = writer.thread(id).unwrap();
        for (timestamp_ns, kind, function_id, depth, payload) in events {
            let kind = EventKind::from(*kind);
            let detail = kind.detail_type();
            let event = Event::new(*timestamp_ns, *function_id, kind, *depth);
            match payload {
                Some(payload) => thread
                    .write_with_detail(&event, &Detail::new(detail, payload))
                    .map(drop)
                    .unwrap(),
                None => thread.write(&event).map(drop).unwrap(),
            }
        }
        thread.finalize().unwrap();
    }
    writer.set_symbols(vec![Symbol::new(2, "parse")]);
    writer.finalize().unwrap();
}

/// Returns a thread's events with the payloads of their details.
fn read(path: &Path, thread: usize) -> Vec<Short> {
    let session = SessionReader::open(path).unwrap();
    let thread = session.threads()[thread].open().unwrap();
    let events = thread.index().events();
    events
        .map(|event| {
            let event = event.unwrap();
            let found = thread.detail_of(&event).unwrap().found();
            let payload = found.map(|found| {
                let detail = thread.detail().unwrap();
                detail.payload(&found, 100).unwrap()
            });
            (
                event.timestamp_ns,
                event.event_kind.into(),
                event.function_id,
                event.call_depth.unwrap_or(0),
                payload,
            )
        })
        .collect()
}

fn cut_to(path: &Path, out: &Path, from_ns: u64, to_ns: u64) -> Report {
    let options = CutOptions::default().from_ns(from_ns).to_ns(to_ns);
    cut(path, out, &options).unwrap()
}

/// Writes a session to `all`, and cuts it to `part`.
fn cut_of(wire: Wire, threads: &[Vec<Short>], from_ns: u64, to_ns: u64) -> (Places, Report) {
    let places = Places::new();
    write(&places.path("all"), wire, threads);
    let report = cut_to(&places.path("all"), &places.path("part"), from_ns, to_ns);
    (places, report)
}

fn cuts(path: &Path) -> Vec<Option<Cut>> {
    let session = SessionReader::open(path).unwrap();
    let manifest = session.manifest().unwrap();
    assert!(manifest.problems.is_empty(), "{:?}", manifest.problems);
    manifest.threads.iter().map(|thread| thread.cut).collect()
}

/// Clears the depths, which wire version 2 does not record.
fn recorded(wire: Wire, mut events: Vec<Short>) -> Vec<Short> {
    if !wire.records_call_depth() {
        events.iter_mut().for_each(|event| event.3 = 0);
    }
    events
}

/// Replaces the kind of the events that open calls.
fn opened_by(kind: EventKind, mut events: Vec<Short>) -> Vec<Short> {
    let calls = events.iter_mut().filter(|event| event.1 == CALL);
    calls.for_each(|event| event.1 = kind.into());
    events
}

/// A call is repeated with the kind of event that opened it. The spec defines one such kind, but an
/// edition may define more.
#[test]
fn open_calls_are_repeated_at_the_start_and_return_at_the_end() {
    let kinds = EventKind::MEMBERS.iter().filter(|kind| kind.opens_call());
    for (wire, kind) in kinds.flat_map(|kind| Wire::ALL.iter().map(move |wire| (*wire, *kind))) {
        let (places, report) = cut_of(wire, &[opened_by(kind, events())], 125, 165);
        let part = places.path("part");
        let expected = vec![
            (125, CALL, 1, 1, None),
            (125, CALL, 2, 2, None),
            (125, CALL, 3, 3, None),
            (130, RETURN, 3, 3, None),
            (140, CALL, 4, 3, Some(vec![4; 7])),
            (150, RETURN, 4, 3, Some(vec![5; 8])),
            (160, CALL, 5, 3, None),
            (165, RETURN, 5, 3, None),
            (165, RETURN, 2, 2, None),
            (165, RETURN, 1, 1, None),
        ];
        assert_eq!(read(&part, 0), recorded(wire, opened_by(kind, expected)));
        assert_eq!(cuts(&part), [Some(Cut::new(125, 165, 3, 3))]);
        assert_eq!(report.losses(), 0);
        let cut = serde_json::to_value(cuts(&part)[0]).unwrap();
        assert_eq!(thread_of(&report)["cut"], cut);
        let text = report.to_string();
        let line = "10 events, 2 details, with 3 repeated calls and 3 added returns";
        assert!(text.contains(line), "{text}");
        let session = SessionReader::open(&part).unwrap();
        let manifest = session.manifest().unwrap();
        let times = (manifest.time_start_ns, manifest.time_end_ns);
        assert_eq!(times, (Some(125), Some(165)));
        assert_eq!(session.symbols().function(2).name, Some("parse"));
        assert_eq!(places.names(), ["all", "part"], "nothing else is left");
    }
}

#[test]
fn both_ends_of_the_range_are_included() {
    let (places, _) = cut_of(Wire::V1, &[events()], 140, 150);
    let expected = [
        (140, CALL, 1, 1, None),
        (140, CALL, 2, 2, None),
        (140, CALL, 4, 3, Some(vec![4; 7])),
        (150, RETURN, 4, 3, Some(vec![5; 8])),
        (150, RETURN, 2, 2, None),
        (150, RETURN, 1, 1, None),
    ];
    assert_eq!(read(&places.path("part"), 0), expected);
}

#[test]
fn a_single_wrong_time_does_not_cut_off_other_events() {
    let places = Places::new();
    let (path, out) = (places.path("session"), places.path("cut"));
    // The wrong time is also the last of a block that a rewrite reads at once.
    for (at, count) in [(2, 6), (2046, 2050)] {
        let mut events: Vec<Short> = (0..count).map(|at| (100 + at, CALL, 1, 0, None)).collect();
        write(&path, Wire::V2, std::slice::from_ref(&events));
        events[at].0 = 1 << 62;
        let index = path.join("thread_0/index.atf");
        let mut bytes = fs::read(&index).unwrap();
        bytes[64 + 32 * at..][..8].copy_from_slice(&events[at].0.to_le_bytes());
        fs::write(&index, bytes).unwrap();
        cut_to(&path, &out, 100, 5000);
        assert_eq!(read(&out, 0), events);
        fs::remove_dir_all(&path).unwrap();
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_thread_is_cut_only_where_it_continues() {
    let thread = |times: &[(u64, u32, u64)]| -> Vec<Short> {
        let event = |(ns, kind, id): &(u64, u32, u64)| (*ns, *kind, *id, 1, None);
        times.iter().map(event).collect()
    };
    let threads = [
        // These threads end before the range, end inside it with an open call, and begin after it,
        // respectively.
        thread(&[(10, CALL, 1), (20, CALL, 2)]),
        thread(&[(10, CALL, 1), (60, CALL, 3)]),
        thread(&[(200, CALL, 4)]),
        // This thread has no event inside the range, but has an open call.
        thread(&[(10, CALL, 5), (300, RETURN, 5)]),
    ];
    let (places, _) = cut_of(Wire::V1, &threads, 50, 100);
    let part = places.path("part");
    let expected = [
        thread(&[]),
        thread(&[(50, CALL, 1), (60, CALL, 3)]),
        thread(&[]),
        thread(&[(50, CALL, 5), (100, RETURN, 5)]),
    ];
    for (id, expected) in expected.iter().enumerate() {
        assert_eq!(&read(&part, id), expected, "thread {id}");
    }
    let added = cuts(&part).into_iter().map(|cut| {
        let cut = cut.unwrap();
        (cut.calls, cut.returns)
    });
    assert_eq!(added.collect::<Vec<_>>(), [(0, 0), (1, 0), (0, 0), (1, 1)]);
}

#[test]
fn a_cut_of_a_cut_states_which_events_were_added() {
    let (places, _) = cut_of(Wire::V1, &[events()], 125, 165);
    for (name, from_ns, to_ns, expected) in [
        ("same", 125, 165, Cut::new(125, 165, 3, 3)),
        ("wider", 0, u64::MAX, Cut::new(125, 165, 3, 3)),
        ("inside", 135, 155, Cut::new(135, 155, 2, 2)),
        ("left", 100, 155, Cut::new(125, 155, 3, 2)),
        ("right", 135, 200, Cut::new(135, 165, 2, 3)),
    ] {
        let out = places.path(name);
        cut_to(&places.path("part"), &out, from_ns, to_ns);
        assert_eq!(cuts(&out), [Some(expected)], "{name}");
        // Make the same cut directly from the whole trace.
        let (from_ns, to_ns) = (expected.from_ns, expected.to_ns);
        let (direct, _) = cut_of(Wire::V1, &[events()], from_ns, to_ns);
        assert_eq!(read(&out, 0), read(&direct.path("part"), 0), "{name}");
    }
}

#[test]
fn threads_are_selected_and_the_manifest_stays() {
    let places = Places::new();
    write(&places.path("all"), Wire::V2, &vec![events(); 3]);
    let manifest = places.path("all/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let old =
        "\"modules\": [{\"module_id\": 3, \"path\": \"/bin/p\"}], \"x_vendor\": {\"a\": [1, 2]},\n";
    let anchors =
        "\"timing_anchors\": [{\"host_time_ns\": 5, \"media_time\": 6, \"media_timescale\": 7}],";
    let loss = "\"name\": \"main\", \"lost_events\": {\"count\": 4, \"first_ns\": 120, \"last_ns\": 130}, \"id\": 1,";
    let text = text.replacen('{', &format!("{{{old}{anchors}"), 1);
    std::fs::write(&manifest, text.replace("\"id\": 1,", loss)).unwrap();
    let options = CutOptions::default().from_ns(125).threads([1, 2].into());
    cut(places.path("all"), places.path("part"), &options).unwrap();
    let session = SessionReader::open(places.path("part")).unwrap();
    let ids = session.threads().iter().map(ThreadEntry::id);
    assert_eq!(ids.collect::<Vec<_>>(), [1, 2]);
    let new = session.manifest().unwrap();
    let listed = new.threads.iter().map(|it| (it.id, it.name.as_deref()));
    let expected = [(1, Some("main")), (2, None)];
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    assert_eq!(new.threads[0].lost_events.unwrap().count, 4);
    assert_eq!(new.modules[0].path.as_deref(), Some("/bin/p"));
    assert_eq!(new.timing_anchors[0].host_time_ns, 5);
    let text = std::fs::read_to_string(places.path("part/manifest.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["x_vendor"], serde_json::json!({"a": [1, 2]}));
}

#[test]
fn a_segment_without_events_stays_if_the_tracer_lost_some_in_it() {
    let places = Places::new();
    let second = places.path("all/pid_1_segment_000002");
    for (lost, to_ns, segments) in [
        (r#""lost_events""#, 500, 2),
        (r#""lost_events""#, 124, 1),
        (r#""unknown""#, 500, 1),
    ] {
        write(&places.path("all/pid_1"), Wire::V1, &[events()]);
        write(&second, Wire::V1, &[Vec::new()]);
        let manifest = second.join("manifest.json");
        let text = fs::read_to_string(&manifest).unwrap();
        let loss = format!(r#"{{{lost}: {{"count": 500, "first_ns": 125, "last_ns": 900}},"#);
        fs::write(&manifest, text.replacen('{', &loss, 1)).unwrap();
        let part = places.path("part");
        cut_to(&places.path("all"), &part, 100, to_ns);
        assert_eq!(fs::read_dir(&part).unwrap().count(), segments);
        fs::remove_dir_all(places.path("all")).unwrap();
        fs::remove_dir_all(part).unwrap();
    }
}

#[test]
fn damage_is_repaired_and_reported_as_in_a_recovery() {
    let places = Places::new();
    let path = places.path("all");
    write(&path, Wire::V1, &[events()]);
    // The last event is torn, and the file has no footer.
    let index = path.join("thread_0/index.atf");
    let bytes = std::fs::read(&index).unwrap();
    std::fs::write(&index, &bytes[..64 + 32 * 9 + 16]).unwrap();
    let report = cut_to(&path, &places.path("part"), 165, 175);
    let expected = [
        (165, CALL, 1, 1, None),
        (165, CALL, 2, 2, None),
        (165, CALL, 5, 3, None),
        (170, RETURN, 5, 3, None),
        (175, RETURN, 2, 2, None),
        (175, RETURN, 1, 1, None),
    ];
    assert_eq!(read(&places.path("part"), 0), expected);
    let text = report.to_string();
    assert!(text.contains("a torn event"), "{text}");
    assert!(report.losses() > 0, "the header counts more events: {text}");
}

#[test]
fn details_outside_the_range_are_not_orphans() {
    let (places, report) = cut_of(Wire::V1, &[events()], 135, 145);
    let thread = thread_of(&report);
    assert!(thread.get("dropped").is_none(), "{report}");
    assert!(thread.get("notes").is_none(), "{report}");
    let names: Vec<_> = files(&places.path("part")).into_keys().collect();
    let expected = ["manifest.json", "thread_0/detail.atf", "thread_0/index.atf"];
    assert_eq!(names, expected);
}

#[test]
fn calls_dropped_because_too_many_are_open_are_reported() {
    let deep = CallStack::LIMIT as u64 + 3;
    let calls = (0..deep).map(|at| (at, CALL, 7, u32::try_from(at).unwrap(), None));
    let end = [(deep + 10, RETURN, 7, 0, None)];
    let calls = calls.chain(end).collect();
    let (places, report) = cut_of(Wire::V2, &[calls], deep + 5, deep + 20);
    assert_eq!(read(&places.path("part"), 0).len() as u64, deep - 3 + 1);
    assert_eq!(report.losses(), 1, "{report}");
    assert!(report.to_string().contains("3 calls"), "{report}");
}

#[test]
fn a_thread_without_a_folder_is_missing_unless_the_cut_omits_it() {
    let places = Places::new();
    write(&places.path("all"), Wire::V1, &[events(), events()]);
    fs::remove_dir_all(places.path("all").join("thread_1")).unwrap();
    let all = CutOptions::default();
    for (options, name, missing) in [
        (all.clone(), "part", 1),
        (all.clone().threads([1].into()), "none", 1),
        (all.threads([0].into()), "other", 0),
    ] {
        let report = cut(places.path("all"), places.path(name), &options).unwrap();
        let manifest = &session_of(&report)["manifest"];
        let found = (count(manifest, "thread_missing"), report.losses());
        assert_eq!(found, (missing, missing), "{name}: {report}");
    }
}

#[test]
fn a_refused_cut_leaves_nothing_behind() {
    let places = Places::new();
    write(&places.path("all"), Wire::V1, &[events()]);
    let refused = |path: &str, from_ns, to_ns| {
        let options = CutOptions::default().from_ns(from_ns).to_ns(to_ns);
        let error = cut(places.path(path), places.path("part"), &options).unwrap_err();
        assert_eq!(places.names(), ["all"]);
        error.kind().clone()
    };
    assert_eq!(refused("all/thread_0", 0, 9), ErrorKind::NotASession);
    let backwards = ErrorKind::OutOfRange {
        found: 8,
        min: 9,
        max: u64::MAX,
    };
    assert_eq!(refused("all", 9, 8), backwards);
}
