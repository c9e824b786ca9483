//! Valid sessions that readers often misread.

use crate::corpus::recipe::{Recipe, whole};
use crate::corpus::trace::{
    DETAIL, INDEX, MANIFEST, OTHER, T, Trace, call, event, record, ret, thread,
};
use atf_samples::files::{DetailFile, crc32c};

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        whole(
            "session-of-no-events",
            &["ATF-IHDR-016", "ATF-IFTR-007", "ATF-MANI-008", "ATF-RDER-013"],
            "One thread that never called anything: all times are 0.",
            |t| {
                alone(t);
                t.events(Vec::clear);
                manifest(t, "7", (0, 0));
            },
        )
        .flag("empty-thread"),
        whole(
            "session-of-one-event",
            &["ATF-IFTR-002"],
            "One call that never returned. The first event is also the last.",
            |t| {
                alone(t);
                t.events(|events| events.truncate(1));
                manifest(t, "7", (T, T));
            },
        ),
        whole(
            "session-of-all-kinds",
            &["ATF-IEVT-002", "ATF-IEVT-004", "ATF-LINK-007"],
            "Calls, returns and exceptions, nested, recursive, and unwound over two frames. Each has a detail.",
            all_kinds,
        ),
        whole(
            "session-of-many-threads",
            &["ATF-SESS-001", "ATF-SESS-004", "ATF-MANI-006", "ATF-RDER-004"],
            "Threads 0, 2, 10 and 4294967295, ordered by number and not by folder name.",
            many_threads,
        ),
        whole(
            "session-of-ties",
            &["ATF-IEVT-001", "ATF-RDER-004"],
            "Three threads whose events share timestamps: the order is by time, then thread, then position.",
            ties,
        )
        .flag("ties"),
        whole(
            "session-of-details-in-two-threads",
            &["ATF-LINK-001", "ATF-LINK-003", "ATF-RDER-004"],
            "Two threads with details: a link refers to the detail file of its own thread.",
            details_in_two,
        ),
        whole(
            "session-of-stacks",
            &["ATF-DPAY-001", "ATF-DPAY-002"],
            "Stacks of 0, 1, 127, 128, 255 and 256 bytes.",
            stacks,
        ),
        whole(
            "session-of-opaque-payloads",
            &["ATF-DPAY-002"],
            "Payloads of 0, 1, 99 and 100 bytes with types that no source defines. The 100 bytes have the shape of a \
             function payload.",
            opaque,
        )
        .also(DETAIL, "ATF-DEVT-003")
        .flag("opaque-payload"),
        whole(
            "session-of-extremes",
            &["ATF-IEVT-001", "ATF-RDER-011"],
            "An event at time 0 and one at the greatest u64, with the smallest and the largest function_id.",
            extremes,
        )
        .flag("wide-numbers"),
        whole(
            "footer-that-fits-the-other-order",
            &["ATF-IFTR-003", "ATF-IFTR-007"],
            "Two events, the first at time 64, which is also the section's length: the numbers are also consistent \
             in the detail footer's order.",
            |t| {
                alone(t);
                t.events(|events| *events = vec![call(64, 1, 1), ret(1000, 1, 1)]);
                manifest(t, "7", (64, 1000));
            },
        )
        .flag("footer-field-order"),
        whole(
            "index-by-another-name",
            &["ATF-IHDR-002", "ATF-RDER-010"],
            "A file is identified by its magic; S2 also uses this extension.",
            |t| t.rename(INDEX, "thread_7/index.ati2"),
        )
        .of("thread_7/index.ati2"),
        whole(
            "detail-by-another-name",
            &["ATF-DHDR-002", "ATF-RDER-010"],
            "A file is identified by its magic; S2 also uses this extension.",
            |t| t.rename(DETAIL, "thread_7/detail.atd2"),
        )
        .of("thread_7/detail.atd2"),
        whole(
            "session-of-a-minimal-manifest",
            &["ATF-MANI-003", "ATF-MANI-011"],
            "Readers ignore keys that no schema has, even with deeply nested values.",
            |t| {
                let text = r#"{"x": {"threads": [{"id": 1}]}, "threads": [{"id": 9, "y": [1.5e300, null]}, {"id": 7}]}"#;
                t.put(MANIFEST, text);
            },
        )
        .also(MANIFEST, "ATF-MANI-011"),
    ]
}

/// Keeps only thread 7, without details.
pub(super) fn alone(trace: &mut Trace) {
    trace.without_details();
    trace.remove("thread_9");
}

/// Adds a manifest with these threads and times.
pub(super) fn manifest(trace: &mut Trace, ids: &str, (start, end): (u64, u64)) {
    let threads: Vec<_> = ids
        .split(' ')
        .map(|id| format!(r#"{{"id": {id}}}"#))
        .collect();
    let threads = threads.join(", ");
    let text = format!(
        r#"{{"format_version": "2.0", "threads": [{threads}], "time_start_ns": {start}, "time_end_ns": {end}, "clock_type": 3}}"#
    );
    trace.put(MANIFEST, text);
}

/// Replaces the events with those of a small program, including every event kind.
fn all_kinds(trace: &mut Trace) {
    let steps = [
        (1, 1, 1),
        (1, 2, 2),
        (1, 2, 3),
        (2, 2, 3),
        (2, 2, 2),
        (1, 3, 2),
        (1, 4, 3),
        (3, 4, 3),
        (3, 3, 2),
        (1, 5, 2),
        (2, 5, 2),
        (2, 1, 1),
    ];
    let times = || (T..).step_by(100);
    let events = || times().zip(steps);
    trace.remove("thread_9");
    trace.events(|all| {
        let made = events().map(|(time, (kind, symbol, depth))| event(kind, time, symbol, depth));
        *all = made.collect();
        for (event, seq) in all.iter_mut().zip(0..) {
            event.detail_seq = Some(seq);
        }
    });
    trace.details(|all| {
        let made = (0..).zip(events()).map(|(seq, (time, (kind, symbol, _)))| {
            let event_type = if kind == 1 { 3 } else { 4 };
            record(event_type, seq, time, symbol, 0)
        });
        *all = made.collect();
    });
    manifest(trace, "7", (T, T + 1100));
}

fn many_threads(trace: &mut Trace) {
    let version = trace.version;
    trace.remove("thread_7");
    trace.remove("thread_9");
    for (position, id) in (0..).zip([0, 2, 10, u32::MAX]) {
        let start = T + 10 - position;
        let events = vec![call(start, 1, 1), ret(T + 20 + position, 1, 1)];
        let path = format!("thread_{id}/index.atf");
        trace.put_index(&path, &thread(version, id, events));
    }
    manifest(trace, "10 4294967295 0 2", (T + 7, T + 23));
}

fn ties(trace: &mut Trace) {
    let version = trace.version;
    trace.remove("thread_7");
    trace.remove("thread_9");
    for id in [1, 2, 3] {
        let events = vec![
            call(T, 1, 1),
            call(T + u64::from(id % 2), 2, 2),
            ret(T + 1, 2, 2),
            ret(T + 1, 1, 1),
        ];
        let path = format!("thread_{id}/index.atf");
        trace.put_index(&path, &thread(version, id, events));
    }
    manifest(trace, "1 2 3", (T, T + 1));
}

fn details_in_two(trace: &mut Trace) {
    let version = trace.version;
    let mut events = vec![call(T + 50, 4, 1), call(T + 60, 5, 2), ret(T + 4000, 5, 2)];
    (events[1].detail_seq, events[2].detail_seq) = (Some(0), Some(1));
    let mut index = thread(version, 9, events);
    index.flags = 1;
    let mut detail = DetailFile::of(
        version,
        vec![record(3, 1, T + 60, 5, 3), record(4, 2, T + 4000, 5, 0)],
    );
    detail.thread_id = 9;
    detail.checksum = crc32c(&detail.section());
    trace.put_index(OTHER, &index);
    trace.put_detail("thread_9/detail.atf", &detail);
    manifest(trace, "7 9", (T, T + 5000));
}

fn stacks(trace: &mut Trace) {
    let sizes = [0, 1, 127, 128, 255, 256];
    trace.remove("thread_9");
    trace.events(|events| {
        let made = (0..6).map(|seq| call(T + seq, 1 + seq, 1 + u32::try_from(seq).unwrap_or(0)));
        *events = made.collect();
        for (event, seq) in events.iter_mut().zip(0..) {
            event.detail_seq = Some(seq);
        }
    });
    trace.details(|details| {
        let made = (0..6)
            .zip(sizes)
            .map(|(seq, size)| record(3, seq, T + seq, 1 + seq, size));
        *details = made.collect();
    });
    manifest(trace, "7", (T, T + 5));
}

fn opaque(trace: &mut Trace) {
    trace.remove("thread_9");
    trace.events(|events| {
        *events = (0..4)
            .map(|seq| event(3, T + seq, 1, 4 - u32::try_from(seq).unwrap_or(0)))
            .collect();
        for (event, seq) in events.iter_mut().zip(0..) {
            event.detail_seq = Some(seq);
        }
    });
    trace.details(|details| {
        let made = (0..4).zip([(0, 0), (1, 1), (5, 99), (u16::MAX, 100)]);
        *details = made
            .map(|(seq, (event_type, size))| {
                let mut detail = record(event_type, seq, T + seq, 1, 0);
                detail.payload.truncate(size);
                detail
            })
            .collect();
    });
    manifest(trace, "7", (T, T + 3));
}

fn extremes(trace: &mut Trace) {
    trace.without_details();
    trace.remove("thread_9");
    trace.events(|events| {
        let mut first = call(0, 0, 1);
        first.function_id = 0;
        let mut middle = call((1 << 53) + 1, 0, 2);
        middle.function_id = 1 << 63;
        let mut last = call(u64::MAX, 0, 3);
        last.function_id = u64::MAX;
        *events = vec![first, middle, last];
    });
    manifest(trace, "7", (0, u64::MAX));
}
