//! Recipes for the rules on detail events. The events begin at 64, 188 and 329; the last one ends
//! at 461. The fields are at these offsets, from the tables in S1 and S2: `total_length` at 0,
//! `event_type` at 4, flags at 6, `index_seq` at 8, `thread_id` at 12 in version 1, timestamp at
//! 16.

use crate::Verdict::{Accept, Recover, Reject};

use atf::DetailEventType;

use crate::corpus::recipe::{Recipe, breaks, first_unknown, holds, meets};
use crate::corpus::trace::{DETAIL, Trace};
use atf_samples::files::DetailRecord;

pub(super) fn recipes() -> Vec<Recipe> {
    [lengths(), fields()].into_iter().flatten().collect()
}

/// Tests impossible lengths. The links to events after such a length are not checked.
fn lengths() -> Vec<Recipe> {
    vec![
        meets("ATF-DEVT-001", "24", |t| {
            t.details(|details| details[0].payload.clear());
        })
        .also(DETAIL, "ATF-DPAY-002"),
        meets("ATF-DEVT-001", "24 at the footer", |t| {
            t.details(|details| details[2].payload.clear());
        })
        .also(DETAIL, "ATF-DPAY-002")
        .titled("24, right before the footer"),
        breaks("ATF-DEVT-001", "23", |t| length(t, 188, 23, &[124])).at(
            DETAIL,
            "events[1].total_length",
            188,
            Reject,
        ),
        breaks("ATF-DEVT-001", "0", |t| length(t, 64, 0, &[])).at(
            DETAIL,
            "events[0].total_length",
            64,
            Reject,
        ),
        holds("ATF-DEVT-002", "up to the footer"),
        breaks("ATF-DEVT-002", "one byte into the footer", |t| {
            length(t, 329, 133, &[124, 141]);
        })
        .at(DETAIL, "events[2].total_length", 329, Reject),
        breaks("ATF-DEVT-002", "past the end of the file", |t| {
            length(t, 329, u32::MAX, &[124, 141]);
        })
        .at(DETAIL, "events[2].total_length", 329, Reject),
        breaks("ATF-DEVT-002", "one byte before the footer", |t| {
            length(t, 329, 131, &[124, 141, 131]);
        })
        .at(DETAIL, "events[3]", 460, Reject)
        .also(DETAIL, "ATF-DPAY-002")
        .may(&[Accept, Recover, Reject])
        .note(
            "The byte between the last event and the footer belongs to no event, so none is lost.",
        ),
    ]
}

fn fields() -> Vec<Recipe> {
    vec![
        holds("ATF-DEVT-003", "types 3 and 4"),
        breaks(
            "ATF-DEVT-003",
            first_unknown(DetailEventType::MEMBERS).to_string(),
            |t| {
                t.details(|details| {
                    details[0].event_type = first_unknown(DetailEventType::MEMBERS).into();
                });
            },
        )
        .at(DETAIL, "events[0].event_type", 68, Accept)
        .also(DETAIL, "ATF-LINK-007"),
        breaks("ATF-DEVT-003", "2, of an exception", |t| {
            t.events(|events| events[4].detail_seq = Some(3));
            let timestamp = 1_234_567_000_004_000;
            t.details(|details| {
                details.push(DetailRecord {
                    event_type: 2,
                    index_seq: 4,
                    timestamp,
                    payload: vec![1, 2, 3],
                });
            });
        })
        .at(DETAIL, "events[3].event_type", 465, Accept)
        .titled("2, for an exception"),
        holds("ATF-DEVT-004", "7").only(&[1]),
        breaks("ATF-DEVT-004", "8", |t| t.patch_detail(188 + 12, &[8]))
            .at(DETAIL, "events[1].thread_id", 200, Accept)
            .only(&[1]),
        holds("ATF-DEVT-005", "0"),
        breaks("ATF-DEVT-005", "the highest bit", |t| {
            t.patch_detail(188 + 7, &[0x80]);
        })
        .at(DETAIL, "events[1].flags", 194, Accept),
    ]
}

/// Changes an event's length. `events` are the sizes of the events that a reader then finds by
/// following the lengths.
fn length(trace: &mut Trace, offset: usize, total_length: u32, events: &[usize]) {
    trace.patch_detail(offset, &total_length.to_le_bytes());
    trace.survive(DETAIL, events);
}
