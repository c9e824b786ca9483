//! Threads without details.

use super::{Builder, CALL, EXCEPTION, Index, RETURN, Recipe, event, nested};

pub(super) const RECIPES: &[Recipe] = &[
    Recipe::new(
        "no-event",
        &["ATF-IFTR-007", "ATF-IHDR-016", "ATF-IFTR-003"],
        "A thread without events: only header and footer, all times 0.",
        |script| one_thread(script, []),
    ),
    Recipe::new(
        "one-event",
        &["ATF-IFTR-002", "ATF-IFTR-004", "ATF-IHDR-014"],
        "One event, which is both the first and the last.",
        |script| one_thread(script, [event(CALL, 0, 1, 1)]),
    ),
    Recipe::new(
        "call-and-return",
        &["ATF-IEVT-001", "ATF-IEVT-003", "ATF-IEVT-004"],
        "A call and its return, which repeats the depth.",
        |script| one_thread(script, [event(CALL, 0, 1, 1), event(RETURN, 1000, 1, 1)]),
    ),
    Recipe::new(
        "exception",
        &["ATF-IEVT-002", "ATF-IEVT-004"],
        "A call that ends with an exception, inside a call that returns.",
        |script| {
            let events = [
                event(CALL, 0, 1, 1),
                event(CALL, 10, 2, 2),
                event(EXCEPTION, 20, 2, 2),
                event(RETURN, 30, 1, 1),
            ];
            one_thread(script, events)
        },
    ),
    Recipe::new(
        "5000-events",
        &["ATF-IFTR-002", "ATF-IFTR-004", "ATF-IEVT-001"],
        "160,000 bytes of events: buffers are flushed, and the checksum covers all of them.",
        |script| one_thread(script, (0..5000).map(nested)),
    ),
    Recipe::new(
        "4096-events",
        &["ATF-IFTR-003", "ATF-IFTR-004"],
        "131,072 bytes of events: power-of-two buffers are empty when the footer is written.",
        |script| one_thread(script, (0..4096).map(nested)),
    ),
    Recipe::new(
        "65537-events",
        &["ATF-IFTR-002", "ATF-IHDR-014", "ATF-IEVT-004"],
        "Endless recursion: the number of events and the last depth need more than 16 bits.",
        |script| {
            let calls = (1..=65_537).map(|depth| event(CALL, depth.into(), 1, depth));
            one_thread(script, calls)
        },
    ),
    Recipe::new(
        "equal-timestamps",
        &["ATF-IEVT-001"],
        "Events with the same timestamp keep their order.",
        |script| one_thread(script, (0..40).map(|seq| event(CALL, 0, 1 + seq, 1))),
    ),
    Recipe::new(
        "extreme-timestamps",
        &["ATF-IEVT-001", "ATF-IFTR-007", "ATF-IHDR-016"],
        "Timestamps from 0 to the greatest u64, across the sign bits of 32 and 64 bits.",
        |script| {
            let call = |timestamp_ns| Index {
                timestamp_ns,
                ..event(CALL, 0, 1, 1)
            };
            one_thread(script, EXTREMES.map(call))
        },
    ),
    Recipe::new(
        "footer-magic-as-timestamp",
        &["ATF-IFTR-003"],
        "The timestamps' lower halves are the footer's magic, and most other fields are 0.",
        |script| {
            let call = |high: u64| Index {
                timestamp_ns: high << 32 | u64::from(u32::from_le_bytes(*b"2ITA")),
                function_id: 0,
                ..event(CALL, 0, 0, 0)
            };
            one_thread(script, [1, 2].map(call))
        },
    ),
    Recipe::new(
        "extreme-functions",
        &["ATF-IFTR-004"],
        "Functions from 0 to the greatest u64.",
        |script| {
            let call = |function_id| Index {
                function_id,
                ..event(CALL, 0, 1, 1)
            };
            one_thread(script, EXTREMES.map(call))
        },
    ),
    Recipe::new(
        "extreme-depths",
        &["ATF-IEVT-004", "ATF-IEVT-005"],
        "Depths up to the greatest u32; wire version 2 does not store them.",
        |script| {
            let depths = [1, 255, 256, 65_535, 65_536, 1 << 31, u32::MAX];
            one_thread(script, depths.map(|depth| event(CALL, 0, 1, depth)))
        },
    ),
];

const EXTREMES: [u64; 9] = [
    0,
    1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX,
];

/// Adds these events to thread 0 and finalizes the thread.
fn one_thread(script: &mut Builder, events: impl IntoIterator<Item = Index>) -> &mut Builder {
    script.open(0);
    for event in events {
        script.event(0, event);
    }
    script.finalize(0)
}
