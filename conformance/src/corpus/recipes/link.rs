//! Recipes for the rules on links. Events 0, 2 and 3 of the index link to detail events 0, 1 and 2,
//! which begin at 64, 188 and 329. An index event's `detail_seq` is at 28 in version 1 and at 16 in
//! version 2; a detail event's `index_seq` is at 8.

use crate::Verdict::{Accept, Reject};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, T, Trace};

pub(super) fn recipes() -> Vec<Recipe> {
    [both_ways(), same_moment(), headers()]
        .into_iter()
        .flatten()
        .collect()
}

fn both_ways() -> Vec<Recipe> {
    vec![
        holds("ATF-LINK-001", "there and back").titled("links in both directions"),
        meets(
            "ATF-LINK-001",
            "to an event that another bit leads astray",
            |t| {
                t.patch(DETAIL, 188 + 8, &[3]);
            },
        )
        .also(DETAIL, "ATF-DFTR-004")
        .titled("to an event whose own link a flipped bit changed")
        .note("The checksum shows that detail.atf is damaged, so it proves no link of index.atf wrong.")
        .asks("ATF-RDER-003"),
        breaks("ATF-LINK-001", "to an event behind the last", |t| {
            t.details(|details| details.truncate(2));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .flag("links-dangling")
        .titled("to an event past the last"),
        breaks("ATF-LINK-001", "to another's event", |t| {
            t.events(|events| events[5].detail_seq = Some(2));
        })
        .at_field(INDEX, "events[5].detail_seq", Accept)
        .flag("links-duplicated")
        .also(INDEX, "ATF-LINK-005")
        .titled("to the detail of another event"),
        breaks("ATF-LINK-001", "without a detail file", |t| {
            t.remove(DETAIL);
            t.index(|file| file.flags = 0);
            t.replace(
                "manifest.json",
                r#""id": 7, "has_detail": true"#,
                r#""id": 7"#,
            );
        })
        .at_field(INDEX, "events[0].detail_seq", Accept)
        .times(3),
        meets(
            "ATF-LINK-002",
            "two events, two links, not finalized",
            |t| {
                t.events(|events| events[3].detail_seq = None);
                t.cut(DETAIL, 329);
            },
        )
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DHDR-009")
        .titled("two events, two links, unfinalized"),
        breaks(
            "ATF-LINK-002",
            "two events, three links, not finalized",
            |t| {
                t.cut(DETAIL, 329);
            },
        )
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DHDR-009")
        .titled("two events, three links, unfinalized"),
        holds("ATF-LINK-003", "back and there").titled("links in both directions"),
        meets(
            "ATF-LINK-003",
            "to an event that another bit leads astray",
            |t| {
                t.patch_field("events[2].detail_seq", &[3]);
            },
        )
        .also(INDEX, "ATF-IFTR-004")
        .titled("to an event whose own link a flipped bit changed")
        .note("The checksum shows that index.atf is damaged, so it proves no link of detail.atf wrong.")
        .asks("ATF-RDER-003"),
        breaks("ATF-LINK-003", "to an event that links to none", |t| {
            t.events(|events| events[3].detail_seq = None);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .titled("to an event without a link"),
        breaks("ATF-LINK-003", "to an event behind the last", |t| {
            t.details(|details| details[2].index_seq = 6);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .also(INDEX, "ATF-LINK-001")
        .titled("to an event past the last"),
        meets(
            "ATF-LINK-004",
            "four events, the last with a link, not finalized",
            |t| {
                t.cut(INDEX, 64 + 4 * 32);
            },
        )
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IHDR-014")
        .titled("four events, the last with a link, unfinalized"),
        breaks("ATF-LINK-004", "three events, not finalized", |t| {
            t.cut(INDEX, 64 + 3 * 32);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IHDR-014")
        .titled("three events, unfinalized"),
        breaks("ATF-LINK-004", "a hole in its place, no checksum", |t| {
            t.hole(160, 32);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .also(INDEX, "ATF-IEVT-006")
        .also(INDEX, "ATF-IFTR-006"),
        holds("ATF-LINK-005", "0, 1, 2"),
        breaks("ATF-LINK-005", "0, 2, 1 though each leads back", |t| {
            t.events(|events| {
                events[2].detail_seq = Some(2);
                events[3].detail_seq = Some(1);
            });
            t.details(|details| details.swap(1, 2));
            t.detail(|file| file.index_seqs = (0, 3));
        })
        .at_field(INDEX, "events[2].detail_seq", Accept)
        .times(2)
        .titled("0, 2, 1, each with a matching link back"),
    ]
}

/// Tests the fields that must match in an index event and its detail event.
fn same_moment() -> Vec<Recipe> {
    vec![
        holds("ATF-LINK-006", "to the nanosecond"),
        breaks("ATF-LINK-006", "a nanosecond later", |t| {
            t.details(|details| details[1].timestamp = T + 2001);
        })
        .at(DETAIL, "events[1].timestamp", 188 + 16, Accept),
        holds("ATF-LINK-007", "3 for a call, 4 for a return"),
        meets("ATF-LINK-007", "any for an exception", |t| {
            t.events(|events| {
                events[4].detail_seq = events[3].detail_seq.take();
                events[4].timestamp_ns = T + 3000;
            });
            t.details(|details| details[2].index_seq = 4);
        }),
        breaks("ATF-LINK-007", "4 for a call", |t| {
            t.details(|details| details[0].event_type = 4);
        })
        .at(DETAIL, "events[0].event_type", 64 + 4, Accept),
        breaks("ATF-LINK-007", "3 for a return", |t| {
            t.details(|details| details[1].event_type = 3);
        })
        .at(DETAIL, "events[1].event_type", 188 + 4, Accept),
        holds("ATF-LINK-011", "the same function"),
        meets("ATF-LINK-011", "a payload of another shape", |t| {
            t.details(|details| details[1].payload = vec![0; 99]);
        })
        .also(DETAIL, "ATF-DPAY-002"),
        breaks("ATF-LINK-011", "another function", |t| {
            t.events(|events| events[2].function_id += 1);
        })
        .at(DETAIL, "events[1].payload.function_id", 188 + 24, Accept),
    ]
}

fn headers() -> Vec<Recipe> {
    vec![
        holds("ATF-LINK-008", "the same"),
        breaks("ATF-LINK-008", "the other one", other_version)
            .at(DETAIL, "header.version", 5, Reject)
            .titled("the other wire version"),
        holds("ATF-LINK-009", "7"),
        breaks("ATF-LINK-009", "8", |t| t.detail(|file| file.thread_id = 8))
            .at(DETAIL, "header.thread_id", 12, Accept)
            .only(&[2]),
        breaks("ATF-LINK-009", "8, as its events have", |t| {
            t.detail(|file| file.thread_id = 8);
            t.patch_detail(64, &[124]);
        })
        .at(DETAIL, "header.thread_id", 12, Accept)
        .only(&[1])
        .titled("8, as in its events"),
        meets("ATF-LINK-010", "another arch in both", |t| {
            t.patch(INDEX, 6, &[2]);
            t.patch(DETAIL, 6, &[2]);
        }),
        breaks("ATF-LINK-010", "another arch", |t| t.patch(DETAIL, 6, &[2])).at(
            DETAIL,
            "header.arch",
            6,
            Accept,
        ),
        breaks("ATF-LINK-010", "another os", |t| t.patch(DETAIL, 7, &[2])).at(
            DETAIL,
            "header.os",
            7,
            Accept,
        ),
    ]
}

/// Adds a valid detail file of the other wire version.
fn other_version(trace: &mut Trace) {
    trace.take(DETAIL, &Trace::clean(3 - trace.version));
}
