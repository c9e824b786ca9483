//! Programs that end before finalizing all threads, or that use a thread after finalizing it.

use super::{Builder, CALL, Index, Recipe, event, events, nested, noise, registers, type_of};

const CUT: &[&str] = &[
    "ATF-IFTR-001",
    "ATF-IFTR-010",
    "ATF-IFTR-011",
    "ATF-IFTR-012",
];
const LATE: &[&str] = &[
    "ATF-IFTR-001",
    "ATF-IFTR-002",
    "ATF-IFTR-009",
    "ATF-IFTR-010",
];
const CUT_DETAILS: &[&str] = &[
    "ATF-IFTR-001",
    "ATF-DFTR-001",
    "ATF-DFTR-010",
    "ATF-DFTR-011",
    "ATF-LINK-002",
    "ATF-LINK-004",
];

pub(super) const RECIPES: &[Recipe] = &[
    Recipe::new(
        "abort-at-once",
        CUT,
        "No events: the file may be missing or have a placeholder header.",
        |script| cut(script, 0),
    ),
    Recipe::new(
        "abort-after-1",
        CUT,
        "One event after a placeholder header, and no footer.",
        |script| cut(script, 1),
    ),
    Recipe::new(
        "abort-after-3",
        CUT,
        "Three complete events: the last two are exactly as long as a footer.",
        |script| cut(script, 3),
    ),
    Recipe::new(
        "abort-after-5000",
        CUT,
        "Full buffers have already been written; the last, partial buffer must be written too.",
        |script| cut(script, 5000),
    ),
    Recipe::new(
        "abort-with-details",
        CUT_DETAILS,
        "Linked events and details, and no footers.",
        |script| {
            script.open(0);
            for seq in 0..500 {
                let event = nested(seq);
                match seq % 3 {
                    0 => {
                        let payload = registers(event.function_id, seq, 64);
                        script.detailed(0, event, type_of(event), payload)
                    }
                    _ => script.event(0, event),
                };
            }
            script.abort()
        },
    ),
    Recipe::new(
        "abort-with-small-details",
        CUT_DETAILS,
        "Details that end within the last 64 bytes of the file, where a footer would be.",
        |script| {
            script.open(0);
            for seq in 0..3 {
                script.detailed(0, nested(seq), type_of(nested(seq)), noise(1));
            }
            script.abort()
        },
    ),
    Recipe::new(
        "abort-with-footer-magic",
        CUT,
        "A timestamp contains the footer's magic at the offset of an empty file's footer.",
        |script| {
            script.open(0);
            for high in 1..=2_u64 {
                let event = Index {
                    timestamp_ns: high << 32 | u64::from(u32::from_le_bytes(*b"2ITA")),
                    ..event(CALL, 0, 1, 1)
                };
                script.event(0, event);
            }
            script.abort()
        },
    ),
    Recipe::new(
        "abort-one-of-two",
        CUT_DETAILS,
        "One thread is finalized and must stay finalized; the other is open.",
        |script| {
            script.open(1).open(2);
            for seq in 0..10 {
                for thread in [1, 2] {
                    script.detailed(thread, nested(seq), type_of(nested(seq)), noise(20));
                }
            }
            script.finalize(1).event(2, nested(10)).abort()
        },
    ),
    Recipe::new(
        "abort-two",
        CUT_DETAILS,
        "Two threads are open; one of them has details.",
        |script| {
            script.open(1).open(2);
            for seq in 0..10 {
                script.event(1, nested(seq));
                script.detailed(2, nested(seq), type_of(nested(seq)), noise(20));
            }
            script.abort()
        },
    ),
    Recipe::new(
        "finalize-twice",
        LATE,
        "The second finalize must leave the files as they are: one footer, and nothing counted twice.",
        |script| whole(script, 10).finalize(0),
    ),
    Recipe::new(
        "late-event",
        LATE,
        "An event after finalize may be refused or recorded, but the finalized events must stay readable.",
        |script| whole(script, 10).event(0, nested(10)),
    ),
    Recipe::new(
        "late-events",
        LATE,
        "So many events after finalize that a writer that still buffers them writes some of them.",
        |script| {
            whole(script, 10);
            events(script, 10..5000).finalize(0)
        },
    ),
    Recipe::new(
        "late-event-of-one-of-two",
        LATE,
        "An event after finalize must not end the other thread, which continues.",
        |script| {
            whole(script.open(1), 10);
            script.event(1, nested(0)).event(0, nested(10));
            script.event(1, nested(1)).finalize(1)
        },
    ),
];

/// Finalizes thread 0 after `count` events.
fn whole(script: &mut Builder, count: u64) -> &mut Builder {
    events(script.open(0), 0..count).finalize(0)
}

/// Adds `count` events to thread 0 and does not finalize the thread.
fn cut(script: &mut Builder, count: u64) -> &mut Builder {
    events(script.open(0), 0..count).abort()
}
