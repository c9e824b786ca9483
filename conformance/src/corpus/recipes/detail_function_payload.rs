//! Recipes for the rules on the function payload of a detail. The payload begins 24 bytes into the
//! event. Fields and offsets, from the table in S1: `function_id` at 0, registers from 8 to 96,
//! `stack_size` at 96, reserved at 98, the stack at 100.

use crate::Verdict::Accept;

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, T, Trace, record};

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        meets("ATF-DPAY-001", "256 bytes", |t| stack(t, 256)),
        breaks("ATF-DPAY-001", "257 bytes", |t| stack(t, 257)).at(
            DETAIL,
            "events[0].payload.stack_size",
            64 + 24 + 96,
            Accept,
        ),
        breaks("ATF-DPAY-001", "the greatest u16", |t| stack(t, u16::MAX)).at(
            DETAIL,
            "events[0].payload.stack_size",
            64 + 24 + 96,
            Accept,
        ),
        holds("ATF-DPAY-002", "100 bytes and no stack"),
        meets("ATF-DPAY-002", "any payload of another type", |t| {
            t.details(|details| {
                details[0].event_type = 9;
                details[0].payload.truncate(5);
            });
        })
        .also(DETAIL, "ATF-DEVT-003")
        .also(DETAIL, "ATF-LINK-007"),
        breaks("ATF-DPAY-002", "99 bytes", |t| {
            t.details(|details| details[0].payload.truncate(99));
        })
        .at(DETAIL, "events[0].payload", 64 + 24, Accept),
        breaks("ATF-DPAY-002", "a byte more than stack_size says", |t| {
            t.details(|details| details[0].payload.push(0));
        })
        .at(DETAIL, "events[0].payload", 64 + 24, Accept),
        breaks("ATF-DPAY-002", "none", |t| {
            t.details(|details| details[0].payload.clear());
        })
        .at(DETAIL, "events[0].payload", 64 + 24, Accept)
        .titled("no payload"),
        holds("ATF-DPAY-003", "0"),
        breaks("ATF-DPAY-003", "the highest bit", |t| {
            t.patch_detail(188 + 24 + 99, &[0x80]);
        })
        .at(DETAIL, "events[1].payload._reserved", 188 + 24 + 98, Accept),
    ]
}

/// Gives the first detail event a stack of `size` bytes.
fn stack(trace: &mut Trace, size: u16) {
    trace.details(|details| details[0] = record(3, 0, T, 1, size));
}
