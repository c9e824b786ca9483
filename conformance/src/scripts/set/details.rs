//! Threads with details.

use super::{
    Builder, CALL, EXCEPTION, Index, MODULE, RETURN, Recipe, details, event, events, nested, noise,
    registers, type_of,
};

pub(super) const RECIPES: &[Recipe] = &[
    Recipe::new(
        "one-detail",
        &[
            "ATF-LINK-001",
            "ATF-LINK-003",
            "ATF-IHDR-018",
            "ATF-DFTR-002",
        ],
        "One event with details, and the flag for a detail file.",
        |script| details(script, [(event(CALL, 0, 1, 1), vec![0x00, 0xff])]),
    ),
    Recipe::new(
        "empty-payload",
        &["ATF-DEVT-001", "ATF-DFTR-003"],
        "Details without payloads: total_length is 24, so the events are smaller than a footer.",
        |script| details(script, (0..3).map(|seq| (nested(seq), Vec::new()))),
    ),
    Recipe::new(
        "odd-payloads",
        &["ATF-DEVT-002", "ATF-DFTR-003", "ATF-DHDR-010"],
        "Payloads of 1 to 65 bytes, without padding or alignment.",
        |script| noisy(script, 1..=65),
    ),
    Recipe::new(
        "registers-and-stack",
        &[
            "ATF-DPAY-001",
            "ATF-DPAY-002",
            "ATF-DPAY-003",
            "ATF-LINK-011",
        ],
        "Calls and returns with registers and stack snapshots of 0 to 256 bytes.",
        |script| {
            let events = (0..).map(nested).zip([0, 1, 17, 255, 256]);
            let payload = |event: Index, size| registers(event.function_id, u64::MAX - 3, size);
            let events = events.map(|(event, size)| (event, payload(event, size)));
            details(script, events)
        },
    ),
    Recipe::new(
        "64-kib-payload",
        &["ATF-DEVT-002", "ATF-DFTR-004"],
        "Payloads of 65,535 and 65,536 bytes between two small ones.",
        |script| noisy(script, [3, 65_535, 65_536, 5]),
    ),
    Recipe::new(
        "1-mib-payload",
        &["ATF-DEVT-002", "ATF-DFTR-004"],
        "A payload larger than any buffer, between two small ones.",
        |script| noisy(script, [3, 1 << 20, 5]),
    ),
    Recipe::new(
        "own-types",
        &["ATF-DEVT-003", "ATF-LINK-007"],
        "Event types that no table lists, with opaque payloads.",
        |script| {
            script.open(0);
            for (depth, event_type) in [0, 1, 2, 5, 255, 256, 65_535].into_iter().enumerate() {
                let exception = event(EXCEPTION, 10 * depth as u64, 1, 1);
                script.detailed(0, exception, event_type, noise(depth));
            }
            script.finalize(0)
        },
    ),
    Recipe::new(
        "1000-details",
        &["ATF-DFTR-004", "ATF-LINK-005", "ATF-LINK-006"],
        "Every second of 2,000 events has registers and stack: the buffers of both files are flushed.",
        |script| {
            script.open(0);
            for seq in 0..2000 {
                let event = nested(seq);
                match seq % 2 {
                    1 => {
                        let stack = u16::try_from(seq % 257).unwrap_or(0);
                        let payload = registers(event.function_id, seq, stack);
                        script.detailed(0, event, type_of(event), payload)
                    }
                    _ => script.event(0, event),
                };
            }
            script.finalize(0)
        },
    ),
    Recipe::new(
        "details-in-the-middle",
        &["ATF-DHDR-011", "ATF-DFTR-007", "ATF-LINK-005"],
        "The first and last events have no details, so the times and range in detail.atf differ.",
        |script| {
            script.open(0);
            for seq in 0..9 {
                let event = nested(seq);
                match seq {
                    3 | 4 | 6 => script.detailed(0, event, type_of(event), noise(7)),
                    _ => script.event(0, event),
                };
            }
            script.finalize(0)
        },
    ),
    Recipe::new(
        "detail-after-65536-events",
        &["ATF-DHDR-011", "ATF-LINK-003"],
        "A detail whose event's position needs more than 16 bits.",
        |script| {
            events(script.open(0), 0..65_536);
            let last = nested(65_536);
            script.detailed(0, last, type_of(last), noise(7));
            script.finalize(0)
        },
    ),
    Recipe::new(
        "footers-in-payloads",
        &["ATF-DFTR-003", "ATF-DEVT-002"],
        "Payloads that look like footers and headers.",
        |script| {
            let payloads = [&b"2DTA"[..], b"2ITA", b"ATD2", b"ATI2"].map(|magic| {
                let mut payload = magic.to_vec();
                payload.resize(64, 0);
                payload
            });
            details(script, (0..).map(nested).zip(payloads))
        },
    ),
    Recipe::new(
        "extremes-with-details",
        &["ATF-LINK-006", "ATF-DFTR-007"],
        "Details at timestamp 0 and at the greatest u64.",
        |script| {
            let at = |timestamp_ns, event_kind| Index {
                timestamp_ns,
                function_id: MODULE | u64::from(u32::MAX),
                ..event(event_kind, 0, 1, 1)
            };
            details(
                script,
                [(at(0, CALL), noise(8)), (at(u64::MAX, RETURN), noise(9))],
            )
        },
    ),
];

/// Adds events with payloads of these sizes.
fn noisy(script: &mut Builder, sizes: impl IntoIterator<Item = usize>) -> &mut Builder {
    details(script, (0..).map(nested).zip(sizes.into_iter().map(noise)))
}
