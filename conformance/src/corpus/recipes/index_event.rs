//! Recipes for the rules on index events. Event k begins at 64 + 32 k. Fields and offsets, from the
//! tables in S0 and S2: `timestamp_ns` at 0, `function_id` at 8; in version 1 `thread_id` at 16,
//! `event_kind` at 20, `call_depth` at 24, `detail_seq` at 28; in version 2 `detail_seq` at 16,
//! `event_kind` at 24, 7 reserved bytes at 25.

use crate::Verdict::{Accept, Recover};

use atf::EventKind;

use crate::corpus::recipe::{Recipe, breaks, first_unknown, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, MANIFEST, T};

/// Makes a recipe with an all-zero event. The checksum proves that the event was really written.
/// Such an event has time 0, an unknown kind, and a link to the first detail.
fn written_zeros(name: &'static str) -> Recipe {
    meets("ATF-IEVT-006", name, |t| t.patch_event(96, &[0; 32]))
        .also(INDEX, "ATF-IEVT-001")
        .also(INDEX, "ATF-IEVT-002")
        .also(INDEX, "ATF-LINK-001")
        .also(INDEX, "ATF-LINK-005")
        .of("")
        .titled("one event of zeros under a good checksum")
        .note("A good checksum proves that no event is missing.")
}

/// Makes a recipe with a gap before a last event that has a time and nothing else.
fn before_a_time_alone() -> Recipe {
    let name = "one event before a time alone, not finalized";
    breaks("ATF-IEVT-006", name, |t| {
        t.unfinalize_index();
        t.patch(INDEX, 192, &[0; 64]);
        t.patch(INDEX, 224, &[7]);
    })
    .at(INDEX, "events[4]", 192, Recover)
    .also(INDEX, "ATF-IFTR-001")
    .also(INDEX, "ATF-LINK-001")
    .also(INDEX, "ATF-IEVT-001")
    .also(INDEX, "ATF-IEVT-002")
    .titled("one event before an event with nothing but a time, in an unfinalized file")
    .note("They are not the end of a footer: its length would be 128.")
}

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        holds("ATF-RDER-012", "neither thread_id nor call_depth")
            .only(&[2])
            .of(INDEX),
        meets("ATF-IEVT-001", "two events at one time", |t| {
            t.events(|events| events[1].timestamp_ns = T);
        }),
        breaks("ATF-IEVT-001", "back by a nanosecond", |t| {
            t.events(|events| events[1].timestamp_ns = T - 1);
        })
        .at(INDEX, "events[1].timestamp_ns", 96, Accept),
        holds("ATF-IEVT-002", "kinds 1, 2 and 3"),
        breaks("ATF-IEVT-002", "0", |t| {
            t.events(|events| events[4].kind = 0);
        })
        .at_field(INDEX, "events[4].event_kind", Accept),
        breaks(
            "ATF-IEVT-002",
            first_unknown(EventKind::MEMBERS).to_string(),
            |t| {
                t.events(|events| events[4].kind = first_unknown(EventKind::MEMBERS));
            },
        )
        .at_field(INDEX, "events[4].event_kind", Accept),
        breaks("ATF-IEVT-002", "a call in the lowest byte only", |t| {
            t.patch_event(192 + 21, &[1]);
        })
        .at(INDEX, "events[4].event_kind", 192 + 20, Accept)
        .only(&[1])
        .titled("a known kind in the lowest byte only"),
        holds("ATF-IEVT-003", "7").only(&[1]),
        breaks("ATF-IEVT-003", "8", |t| t.patch_event(224 + 16, &[8]))
            .at(INDEX, "events[5].thread_id", 224 + 16, Accept)
            .only(&[1]),
        holds("ATF-IEVT-004", "a call at 1 and one within")
            .only(&[1])
            .titled("a call at depth 1 and a nested one"),
        meets("ATF-IEVT-004", "a trace that begins within a call", |t| {
            t.events(|events| events.iter_mut().for_each(|event| event.depth += 7));
        })
        .only(&[1])
        .titled("a trace that begins inside a call"),
        breaks("ATF-IEVT-004", "a return one deeper than its call", |t| {
            t.events(|events| events[5].depth = 2);
        })
        .at(INDEX, "events[5].call_depth", 224 + 24, Accept)
        .only(&[1]),
        breaks("ATF-IEVT-004", "a return at 0", |t| {
            t.events(|events| events[5].depth = 0);
        })
        .at(INDEX, "events[5].call_depth", 224 + 24, Accept)
        .only(&[1])
        .titled("a return at depth 0"),
        breaks("ATF-IEVT-004", "calls and returns from 0 on", |t| {
            t.events(|events| events.iter_mut().for_each(|event| event.depth -= 1));
        })
        .at(INDEX, "events[0].call_depth", 64 + 24, Accept)
        .times(2)
        .only(&[1])
        .titled("depths that start at 0"),
        holds("ATF-IEVT-005", "zeros").only(&[2]),
        breaks("ATF-IEVT-005", "the last byte", |t| {
            t.patch_event(64 + 31, &[1]);
        })
        .at(INDEX, "events[0]._reserved", 64 + 25, Accept)
        .only(&[2]),
        meets(
            "ATF-IEVT-006",
            "zeros but for its time and its lack of a link",
            |t| {
                t.patch_event(96 + 8, &[0; 8]);
                t.patch_event(96 + 24, &[0]);
            },
        )
        .only(&[2])
        .also(INDEX, "ATF-IEVT-002")
        .titled("zeros except for the time and the value for no link"),
        meets(
            "ATF-IEVT-006",
            "zeros but for its time, thread and lack of a link",
            |t| {
                t.patch_event(96 + 8, &[0; 8]);
                t.patch_event(96 + 20, &[0; 8]);
            },
        )
        .only(&[1])
        .also(INDEX, "ATF-IEVT-002")
        .also(INDEX, "ATF-IEVT-004")
        .titled("zeros except for time, thread and the value for no link"),
        meets(
            "ATF-IEVT-006",
            "a time of 0 and a function, no checksum",
            |t| {
                t.without_details();
                t.events(|events| events[0].timestamp_ns = 0);
                t.index(|file| file.checksum = 0);
                t.replace(MANIFEST, "1234566999999000", "0");
            },
        )
        .also(INDEX, "ATF-IFTR-006")
        .titled("a time of 0 with a function and no checksum"),
        breaks("ATF-IEVT-006", "one event, no checksum", |t| t.hole(96, 32))
            .at(INDEX, "events[1]", 96, Recover)
            .also(INDEX, "ATF-IFTR-006"),
        breaks("ATF-IEVT-006", "two events, no checksum", |t| {
            t.hole(96, 64);
        })
        .at(INDEX, "events[1]", 96, Recover)
        .times(2)
        .also(INDEX, "ATF-IFTR-006")
        .also(DETAIL, "ATF-LINK-004"),
        breaks("ATF-IEVT-006", "the first event, no checksum", |t| {
            t.hole(64, 32);
        })
        .at(INDEX, "events[0]", 64, Recover)
        .also(INDEX, "ATF-IFTR-006")
        .also(DETAIL, "ATF-LINK-004"),
        breaks("ATF-IEVT-006", "the last event, no checksum", |t| {
            t.hole(224, 32);
        })
        .at(INDEX, "events[5]", 224, Recover)
        .also(INDEX, "ATF-IFTR-006"),
        before_a_time_alone()
            .only(&[1])
            .also(INDEX, "ATF-IEVT-003")
            .also(INDEX, "ATF-IEVT-004"),
        before_a_time_alone().only(&[2]),
        written_zeros("one event under a good checksum")
            .only(&[1])
            .also(INDEX, "ATF-IEVT-003")
            .also(INDEX, "ATF-IEVT-004"),
        written_zeros("one event under a good checksum").only(&[2]),
    ]
}
