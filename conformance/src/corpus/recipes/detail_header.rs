//! Recipes for the rules on the detail header. Fields and offsets, from the table in S2: magic at
//! 0, endian at 4, version at 5, arch at 6, os at 7, flags at 8, `thread_id` at 12, reserved at 16,
//! and unaligned `events_offset` at 20, `event_count` at 28, `bytes_length` at 36,
//! `index_seq_start` at 44 and `index_seq_end` at 52; reserved at 60.

use crate::Verdict::{Accept, Recover, Reject};

use atf::{Arch, Os, Wire};

use crate::corpus::recipe::{Recipe, breaks, first_unknown, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, Trace};

pub(super) fn recipes() -> Vec<Recipe> {
    [start(), platform(), repeated()]
        .into_iter()
        .flatten()
        .collect()
}

fn start() -> Vec<Recipe> {
    vec![
        meets("ATF-DHDR-001", "64 bytes", |t| {
            t.detail(|file| *file = file.clone().placeholder());
            t.cut(DETAIL, 64);
        })
        .also(DETAIL, "ATF-DFTR-001")
        .also(INDEX, "ATF-LINK-002"),
        breaks("ATF-DHDR-001", "63 bytes", |t| t.cut(DETAIL, 63)).at(DETAIL, "header", 63, Reject),
        meets("ATF-DHDR-001", "no bytes", |t| {
            t.unfinalize_index();
            t.cut(DETAIL, 0);
        })
        .also(DETAIL, "ATF-DFTR-001")
        .also(INDEX, "ATF-IFTR-001")
        .may(&[Recover, Reject])
        .flag("no-bytes")
        .titled("an empty file"),
        breaks("ATF-DHDR-001", "no bytes beside a finalized index", |t| {
            t.cut(DETAIL, 0);
        })
        .at(DETAIL, "header", 0, Reject)
        .of("")
        .flag("no-bytes")
        .titled("an empty file next to a finalized index"),
        holds("ATF-DHDR-002", "ATD2"),
        breaks("ATF-DHDR-002", "ATD1", |t| t.patch(DETAIL, 0, b"ATD1")).at(
            DETAIL,
            "header.magic",
            0,
            Reject,
        ),
        breaks("ATF-DHDR-002", "an index file", |t| {
            let index = t.file(INDEX).to_vec();
            t.put(DETAIL, index);
        })
        .at(DETAIL, "header.magic", 0, Reject)
        // Read the whole session, because a single file is identified by its magic.
        .of(""),
        holds("ATF-DHDR-003", "1"),
        breaks("ATF-DHDR-003", "0", |t| t.patch(DETAIL, 4, &[0])).at(
            DETAIL,
            "header.endian",
            4,
            Reject,
        ),
        holds("ATF-DHDR-004", "1 and 2"),
        breaks("ATF-DHDR-004", "0", |t| t.patch(DETAIL, 5, &[0])).at(
            DETAIL,
            "header.version",
            5,
            Reject,
        ),
        breaks(
            "ATF-DHDR-004",
            first_unknown(Wire::VERSIONS).to_string(),
            |t| {
                t.patch(DETAIL, 5, &[first_unknown(Wire::VERSIONS)]);
            },
        )
        .at(DETAIL, "header.version", 5, Reject),
        meets("ATF-DHDR-005", "65, and the footer proves it", |t| {
            t.detail(|file| file.events_offset = 65);
            t.shift(DETAIL, 1);
        })
        .titled("65, confirmed by the footer"),
        breaks("ATF-DHDR-005", "65, and the footer says otherwise", |t| {
            t.detail(|file| file.events_offset = 65);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .titled("65, contradicted by the footer"),
        breaks("ATF-DHDR-005", "63", |t| {
            t.detail(|file| file.events_offset = 63);
        })
        .at(DETAIL, "header.events_offset", 20, Reject),
        breaks("ATF-DHDR-005", "60, and the events are there", |t| {
            t.detail(|file| file.events_offset = 60);
            t.shorten(DETAIL, 4);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .titled("60, where the events begin")
        .note("Without the last four reserved bytes, as in S1 and S4, the header has 60 bytes."),
        breaks("ATF-DHDR-005", "behind the end of the file", |t| {
            t.detail(|file| file.events_offset = 526);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .titled("past the end of the file"),
    ]
}

fn platform() -> Vec<Recipe> {
    vec![
        meets("ATF-DHDR-006", "2", |t| {
            t.patch(INDEX, 6, &[2]);
            t.patch(DETAIL, 6, &[2]);
        }),
        breaks("ATF-DHDR-006", "0", |t| t.patch(DETAIL, 6, &[0]))
            .at(DETAIL, "header.arch", 6, Accept)
            .also(DETAIL, "ATF-LINK-010"),
        breaks(
            "ATF-DHDR-006",
            first_unknown(Arch::MEMBERS).to_string(),
            |t| t.patch(DETAIL, 6, &[first_unknown(Arch::MEMBERS)]),
        )
        .at(DETAIL, "header.arch", 6, Accept)
        .also(DETAIL, "ATF-LINK-010"),
        meets("ATF-DHDR-007", "5, which S1 and S4 leave out", |t| {
            t.platform(5, 2);
        })
        .titled("5, which S1 and S4 do not list"),
        breaks(
            "ATF-DHDR-007",
            first_unknown(Os::MEMBERS).to_string(),
            |t| t.patch(DETAIL, 7, &[first_unknown(Os::MEMBERS)]),
        )
        .at(DETAIL, "header.os", 7, Accept)
        .also(DETAIL, "ATF-LINK-010"),
        holds("ATF-DHDR-008", "zeros"),
        breaks("ATF-DHDR-008", "flags", |t| t.patch(DETAIL, 11, &[0x80])).at(
            DETAIL,
            "header.flags",
            8,
            Accept,
        ),
        breaks("ATF-DHDR-008", "the u32 at 16", |t| {
            t.patch(DETAIL, 19, &[1]);
        })
        .at(DETAIL, "header._reserved1", 16, Accept),
        breaks("ATF-DHDR-008", "the last byte", |t| {
            t.patch(DETAIL, 63, &[1]);
        })
        .at(DETAIL, "header._reserved2", 60, Accept),
    ]
}

fn repeated() -> Vec<Recipe> {
    vec![
        holds("ATF-DHDR-009", "3"),
        breaks("ATF-DHDR-009", "4", |t| {
            t.detail(|file| file.header_count = 4);
        })
        .at(DETAIL, "header.event_count", 28, Accept)
        .asks("ATF-RDER-002"),
        holds("ATF-DHDR-010", "397"),
        breaks("ATF-DHDR-010", "398", |t| {
            t.detail(|file| file.header_bytes = 398);
        })
        .at(DETAIL, "header.bytes_length", 36, Accept),
        breaks("ATF-DHDR-010", "the greatest u64", |t| {
            t.detail(|file| file.header_bytes = u64::MAX);
        })
        .at(DETAIL, "header.bytes_length", 36, Accept),
        meets(
            "ATF-DHDR-011",
            "0 and 0 without events",
            Trace::clear_detail,
        ),
        breaks("ATF-DHDR-011", "its start", |t| {
            t.detail(|file| file.index_seqs.0 = 1);
        })
        .at(DETAIL, "header.index_seq_start", 44, Accept),
        breaks("ATF-DHDR-011", "one behind the last", |t| {
            t.detail(|file| file.index_seqs.1 = 4);
        })
        .at(DETAIL, "header.index_seq_end", 52, Accept)
        .titled("one past the last"),
        breaks("ATF-DHDR-011", "a range without events", |t| {
            t.clear_detail();
            t.detail(|file| file.index_seqs = (1, 1));
        })
        .at(DETAIL, "header.index_seq_start", 44, Accept)
        .times(2),
        meets("ATF-DHDR-012", "no event", Trace::clear_detail).titled("no events"),
        breaks("ATF-DHDR-012", "a placeholder", |t| {
            t.detail(|file| *file = file.clone().placeholder());
        })
        .at(DETAIL, "header", 0, Recover),
    ]
}
