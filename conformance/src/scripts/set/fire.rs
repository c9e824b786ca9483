//! Writers that are killed, that close threads without finalizing them, or that run out of disk
//! space.

use super::{Builder, Make, Recipe, events, nested, noise, registers, type_of};

const KEPT: &[&str] = &["ATF-WRTR-008"];
const FULL: &[&str] = &[
    "ATF-WRTR-005",
    "ATF-WRTR-001",
    "ATF-IFTR-002",
    "ATF-DFTR-002",
];

/// The size limit in bytes. It is not a multiple of the event size, so the last event fits only in
/// part.
const LIMIT: u64 = 4116;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe::new(
        "kill-at-once",
        KEPT,
        "Killed without a flush: whatever was written must be complete; the report notes how much.",
        |script| events(script.open(0), 0..100).kill(),
    ),
    Recipe::new(
        "kill-after-flush",
        KEPT,
        "All events were flushed before the kill. A writer that keeps them in memory loses them.",
        |script| events(script.open(0), 0..100).flush(0).kill(),
    ),
    Recipe::new(
        "kill-between-flushes",
        KEPT,
        "Events after the flush may be lost, but only complete ones.",
        |script| {
            events(script.open(0), 0..50).flush(0);
            events(script, 50..3000).kill()
        },
    ),
    Recipe::new(
        "kill-with-details",
        KEPT,
        "Flushed details survive with their events and links.",
        |script| {
            detailed(script.open(0), 0..60).flush(0);
            detailed(script, 60..90).kill()
        },
    ),
    Recipe::new(
        "kill-one-of-two",
        KEPT,
        "One thread is finalized and must stay finalized; the other is open at the kill.",
        |script| {
            in_both(script.open(1).open(2), 40);
            script.finalize(1).flush(2).kill()
        },
    ),
    Recipe::new(
        "close-after-3",
        KEPT,
        "Closed without finalizing: the events must be there, with or without a footer.",
        |script| events(script.open(0), 0..3).close(0),
    ),
    Recipe::new(
        "close-with-details",
        KEPT,
        "Closed with details: both files must be complete.",
        |script| detailed(script.open(0), 0..30).close(0),
    ),
    Recipe::new(
        "close-one-of-two",
        KEPT,
        "One thread is closed while another continues and is finalized.",
        |script| {
            in_both(script.open(1).open(2), 20);
            script.close(1).event(2, nested(20)).finalize(2)
        },
    ),
    full(
        "full-disk",
        "The disk fills up in the middle of an event, and stays full.",
        LIMIT,
        |script| events(script.open(0), 0..1000).finalize(0),
    ),
    full(
        "full-disk-at-the-footer",
        "All events fit, but the footer does not.",
        64 + 32 * 100,
        |script| events(script.open(0), 0..100).finalize(0),
    ),
    full(
        "full-disk-in-the-footer",
        "All events fit, but only half of the footer does.",
        64 + 32 * 100 + 32,
        |script| events(script.open(0), 0..100).finalize(0),
    ),
    full(
        "full-disk-of-few-events",
        "All events fit in one buffer, so only the flush before the header is rewritten fails.",
        64 + 32 * 5,
        |script| events(script.open(0), 0..10).finalize(0),
    ),
    full(
        "full-disk-at-close",
        "All events fit in one buffer, so only closing the file shows that they do not fit on the disk.",
        64 + 32 * 5,
        |script| events(script.open(0), 0..10).close(0),
    ),
    full(
        "full-disk-with-details",
        "The details reach the limit long before their events do.",
        LIMIT,
        |script| detailed(script.open(0), 0..90).finalize(0),
    ),
    full(
        "full-disk-recovers",
        "The disk fills up, then has space again: events lost in between are neither counted nor torn.",
        LIMIT,
        |script| {
            events(script.open(0), 0..1000).flush(0).space();
            events(script, 1000..1100).finalize(0)
        },
    ),
    full(
        "full-disk-recovers-with-details",
        "The disk fills up, then has space again: each event links to its own detail or to none.",
        LIMIT,
        |script| {
            detailed(script.open(0), 0..90).flush(0).space();
            detailed(script, 90..120).finalize(0)
        },
    ),
];

const fn full(name: &'static str, note: &'static str, limit: u64, make: Make) -> Recipe {
    Recipe {
        limit: Some(limit),
        ..Recipe::new(name, FULL, note, make)
    }
}

/// Adds this many events to each of the threads 1 and 2.
fn in_both(script: &mut Builder, count: u64) {
    for seq in 0..count {
        script.event(1, nested(seq)).event(2, nested(seq));
    }
}

/// Adds events to thread 0. Two out of three events have details.
fn detailed(script: &mut Builder, seqs: std::ops::Range<u64>) -> &mut Builder {
    for seq in seqs {
        let event = nested(seq);
        match seq % 3 {
            0 => {
                let payload = registers(event.function_id, seq, 64);
                script.detailed(0, event, type_of(event), payload)
            }
            1 => script.detailed(0, event, type_of(event), noise(11)),
            _ => script.event(0, event),
        };
    }
    script
}
