//! Tests that tables on a recording's clock equal those of a session that was written with the
//! recording's times.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use atf::clock::{MediaClock, MediaTime, TimingAnchor};
use atf::write::{Detail, Event, SessionWriter};
use atf::{DetailEventType, EventKind};
use atf_tables::{Error, Options, Session, Table};

const CALL: EventKind = EventKind::CALL;
const RETURN: EventKind = EventKind::RETURN;

/// The time, kind and function of each event of two threads.
const THREADS: [&[(u64, EventKind, u64)]; 2] = [
    &[
        (100, CALL, 1),
        (103, CALL, 2),
        (111, RETURN, 2),
        (117, CALL, 3),
        (131, RETURN, 3),
        (131, CALL, 2),
        (149, RETURN, 2),
        (152, RETURN, 1),
        (170, CALL, 4),
    ],
    &[
        (120, CALL, 2),
        (139, CALL, 1),
        (155, RETURN, 1),
        (160, RETURN, 2),
    ],
];

fn anchor(host_ns: u64, value: i64, timescale: i32) -> TimingAnchor {
    TimingAnchor::new(host_ns, MediaTime::new(value, timescale))
}

/// Writes the events, with details for calls, at the times that `time` returns.
fn session(anchors: &[TimingAnchor], time: impl Fn(u64) -> u64) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid_42");
    let writer = SessionWriter::create(&path, &Default::default()).unwrap();
    for (id, events) in (0..).zip(THREADS) {
        let mut thread = writer.thread(id).unwrap();
        for (timestamp_ns, kind, function) in events {
            let event = Event::new(time(*timestamp_ns), *function, *kind, 1);
            let detail = Detail::new(DetailEventType::FUNCTION_CALL, b"any");
            if *kind == CALL {
                thread.write_with_detail(&event, &detail).unwrap();
            } else {
                thread.write(&event).unwrap();
            }
        }
        thread.finalize().unwrap();
    }
    for anchor in anchors {
        writer.add_timing_anchor(*anchor).unwrap();
    }
    writer.finalize().unwrap();
    (folder, Session::open(path).unwrap())
}

fn rows(session: &Session, table: Table, options: &Options) -> Vec<Vec<ArrayRef>> {
    let stream = session.stream(table, options).unwrap();
    stream.map(|it| it.unwrap().columns().to_vec()).collect()
}

#[test]
fn tables_equal_those_with_converted_timestamps() {
    let anchors = |points: &[(u64, i64)]| -> Vec<_> {
        let points = points.iter();
        points
            .map(|(host_ns, ns)| anchor(*host_ns, *ns, 1_000_000_000))
            .collect()
    };
    // One recording begins after the first events and is first faster and then slower than the
    // trace's clock. The other begins after the last timestamp.
    let points = [(105, 0), (125, 30), (155, 40)];
    for anchors in [anchors(&points), anchors(&[(u64::MAX, -1)])] {
        check(&MediaClock::new(&anchors).unwrap());
    }
}

/// Compares all tables in many ranges.
fn check(clock: &MediaClock) {
    let (_trace, trace) = session(&[], |ns| ns);
    let (_media, media) = session(&[], |ns| clock.to_media_ns_or_zero(ns));
    let tables = [
        Table::Events,
        Table::Calls,
        Table::Details,
        Table::Threads,
        Table::Report,
        Table::Histogram,
    ];
    let starts = (0..=61).flat_map(|start| [0, 1, 9].map(|length| start..=start + length));
    let last = u64::MAX;
    let ends = [0..=last, 7..=last, last..=last, RangeInclusive::new(9, 8)];
    for range in starts.chain(ends) {
        for seqs in [None, Some(1..7)] {
            let mut options = Options::default();
            (options.from_ns, options.to_ns) = range.clone().into_inner();
            options.seqs = seqs;
            let mut on_media = options.clone();
            on_media.clock = Some(clock.clone());
            for table in tables {
                let found = rows(&trace, table, &on_media);
                assert_eq!(found, rows(&media, table, &options), "{table} {options:?}");
            }
        }
    }
    for table in tables {
        let [found, other] = [&trace, &media].map(|it| rows(it, table, &Options::default()));
        assert_ne!(found, other, "{table}");
    }
}

#[test]
fn sessions_without_a_single_recording_are_refused() {
    let refusal = |anchors: &[TimingAnchor]| {
        let (_folder, session) = session(anchors, |ns| ns);
        match session.media_clock() {
            Err(Error::Usage(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    let none = refusal(&[]);
    let why = "pid_42: clock=\"media\": the manifest has no timing anchors";
    assert!(none.ends_with(why), "{none}");
    let scales = refusal(&[anchor(100, 0, 600), anchor(1_000_000_100, 44_100, 44_100)]);
    assert!(scales.contains("timescales of 600 and 44100"), "{scales}");
    let back = refusal(&[anchor(100, 5, 600), anchor(200, 4, 600)]);
    assert!(back.contains("from different recordings"), "{back}");
    let late = refusal(&[anchor(101, 0, 600)]);
    assert!(late.contains("events begin before the recording"), "{late}");
    assert!(late.ends_with("with `atf cut --from 101`"), "{late}");
}
