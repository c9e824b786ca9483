//! Recipes for the rules on the index header. Fields and offsets, from the tables in S0 and S2:
//!
//! | offset | field         | offset | field                                        |
//! |--------|---------------|--------|----------------------------------------------|
//! | 0      | magic         | 20     | reserved (version 1), `event_size` (version 2) |
//! | 4      | endian        | 24     | `event_size` (1), u64 `event_count` (2)          |
//! | 5      | version       | 28     | u32 `event_count` (1)                          |
//! | 6, 7   | arch, os      | 32     | `events_offset`                                |
//! | 8      | flags         | 40     | `footer_offset`                                |
//! | 12     | `thread_id`     | 48, 56 | `time_start_ns`, `time_end_ns`                   |
//! | 16     | `clock_type`    |        |                                              |

use crate::Verdict::{Accept, Recover, Reject};

use atf::{Arch, Clock, IndexFlags, Os, Wire};

use crate::corpus::recipe::{Recipe, breaks, first_unknown, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, MANIFEST, OTHER, T, Trace};
use atf_samples::files::crc32c;

pub(super) fn recipes() -> Vec<Recipe> {
    [start(), layout(), platform(), repeated()]
        .into_iter()
        .flatten()
        .collect()
}

fn start() -> Vec<Recipe> {
    vec![
        meets("ATF-IHDR-001", "64 bytes", |t| {
            t.without_details();
            t.cut(INDEX, 64);
        })
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IHDR-014"),
        breaks("ATF-IHDR-001", "63 bytes", |t| t.cut(INDEX, 63)).at(INDEX, "header", 63, Reject),
        meets("ATF-IHDR-001", "no bytes", |t| {
            t.without_details();
            t.cut(INDEX, 0);
        })
        .also(INDEX, "ATF-IFTR-001")
        .may(&[Recover, Reject])
        .flag("no-bytes")
        .titled("an empty file"),
        breaks("ATF-IHDR-001", "no bytes beside finalized details", |t| {
            t.cut(INDEX, 0);
        })
        .at(INDEX, "header", 0, Reject)
        .of("")
        .flag("no-bytes")
        .titled("an empty file next to finalized details"),
        holds("ATF-IHDR-002", "ATI2"),
        breaks("ATF-IHDR-002", "ATI1", |t| t.patch(INDEX, 0, b"ATI1")).at(
            INDEX,
            "header.magic",
            0,
            Reject,
        ),
        breaks("ATF-IHDR-002", "that of a detail file", |t| {
            t.patch(INDEX, 0, b"ATD2");
        })
        .at(INDEX, "header.magic", 0, Reject)
        .titled("the magic of a detail file")
        // Read the whole session, because a single file is identified by its magic.
        .of(""),
        holds("ATF-IHDR-003", "1"),
        breaks("ATF-IHDR-003", "0", |t| t.patch(INDEX, 4, &[0])).at(
            INDEX,
            "header.endian",
            4,
            Reject,
        ),
        breaks("ATF-IHDR-003", "2, big-endian", |t| t.patch(INDEX, 4, &[2])).at(
            INDEX,
            "header.endian",
            4,
            Reject,
        ),
        holds("ATF-IHDR-004", "1 and 2"),
        breaks("ATF-IHDR-004", "0", |t| t.patch(INDEX, 5, &[0])).at(
            INDEX,
            "header.version",
            5,
            Reject,
        ),
        breaks(
            "ATF-IHDR-004",
            first_unknown(Wire::VERSIONS).to_string(),
            |t| {
                t.patch(INDEX, 5, &[first_unknown(Wire::VERSIONS)]);
            },
        )
        .at(INDEX, "header.version", 5, Reject),
    ]
}

fn layout() -> Vec<Recipe> {
    vec![
        meets("ATF-IHDR-005", "31 in the reserved bytes", |t| {
            t.patch(INDEX, 20, &[31]);
        })
        .only(&[1])
        .also(INDEX, "ATF-IHDR-012"),
        breaks("ATF-IHDR-005", "32 in the reserved bytes", |t| {
            t.patch(INDEX, 20, &[32]);
        })
        .at(INDEX, "header.version", 5, Reject)
        .may(&[Accept, Recover, Reject])
        .note("Everything else has the version 1 layout, and readers ignore reserved bytes.")
        .only(&[1]),
        meets("ATF-IHDR-005", "an event_size of 1", |t| {
            t.patch(INDEX, 20, &[1]);
        })
        .only(&[2])
        .also(INDEX, "ATF-IHDR-006"),
        breaks("ATF-IHDR-005", "0 in the place of event_size", |t| {
            t.patch(INDEX, 20, &[0]);
        })
        .at(INDEX, "header.version", 5, Reject)
        .only(&[2]),
        holds("ATF-IHDR-006", "32"),
        breaks("ATF-IHDR-006", "31", |t| {
            t.patch_field("header.event_size", &[31]);
        })
        .at_field(INDEX, "header.event_size", Reject),
        breaks("ATF-IHDR-006", "33", |t| {
            t.patch_field("header.event_size", &[33]);
        })
        .at_field(INDEX, "header.event_size", Reject),
        meets("ATF-IHDR-007", "65, and the footer proves it", |t| {
            t.index(|file| {
                file.events_offset = 65;
                file.footer_offset = 257;
            });
            t.shift(INDEX, 1);
        })
        .titled("65, confirmed by the footer"),
        breaks("ATF-IHDR-007", "65, and the footer says otherwise", |t| {
            t.index(|file| file.events_offset = 65);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("65, contradicted by the footer"),
        breaks("ATF-IHDR-007", "63", |t| {
            t.index(|file| file.events_offset = 63);
        })
        .at(INDEX, "header.events_offset", 32, Reject),
        breaks("ATF-IHDR-007", "behind the end of the file", |t| {
            t.index(|file| file.events_offset = 321);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("past the end of the file"),
        breaks("ATF-IHDR-007", "32, and the footer proves it", |t| {
            t.index(|file| {
                (file.events_offset, file.header_count) = (32, 7);
                (file.footer_count, file.bytes_written) = (7, 7 * 32);
            });
            let checksum = crc32c(&t.file(INDEX)[32..256]);
            t.patch(INDEX, 256 + 4, &checksum.to_le_bytes());
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("32, confirmed by the footer")
        .note("The second half of the header is then the first of seven events."),
        breaks("ATF-IHDR-007", "0, not finalized", |t| {
            t.unfinalize_index();
            t.patch(INDEX, 32, &[0; 8]);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("0 in an unfinalized file"),
        breaks("ATF-IHDR-007", "32, not finalized", |t| {
            t.unfinalize_index();
            t.patch(INDEX, 32, &[32]);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("32 in an unfinalized file"),
        breaks("ATF-IHDR-007", "past the end, not finalized", |t| {
            t.unfinalize_index();
            t.patch(INDEX, 32, &257_u64.to_le_bytes());
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .titled("past the end of an unfinalized file"),
    ]
}

fn platform() -> Vec<Recipe> {
    vec![
        holds("ATF-IHDR-008", "1"),
        meets("ATF-IHDR-008", "2", |t| {
            t.patch(INDEX, 6, &[2]);
            t.patch(DETAIL, 6, &[2]);
        }),
        breaks("ATF-IHDR-008", "0", |t| t.patch(INDEX, 6, &[0]))
            .at(INDEX, "header.arch", 6, Accept)
            .also(DETAIL, "ATF-LINK-010"),
        breaks(
            "ATF-IHDR-008",
            first_unknown(Arch::MEMBERS).to_string(),
            |t| t.patch(INDEX, 6, &[first_unknown(Arch::MEMBERS)]),
        )
        .at(INDEX, "header.arch", 6, Accept)
        .also(DETAIL, "ATF-LINK-010"),
        meets("ATF-IHDR-009", "1", |t| t.platform(1, 1)),
        meets("ATF-IHDR-009", "5", |t| t.platform(5, 2)),
        breaks("ATF-IHDR-009", "0", |t| t.patch(INDEX, 7, &[0]))
            .at(INDEX, "header.os", 7, Accept)
            .also(DETAIL, "ATF-LINK-010"),
        breaks(
            "ATF-IHDR-009",
            first_unknown(Os::MEMBERS).to_string(),
            |t| t.patch(INDEX, 7, &[first_unknown(Os::MEMBERS)]),
        )
        .at(INDEX, "header.os", 7, Accept)
        .also(DETAIL, "ATF-LINK-010"),
        meets("ATF-IHDR-010", "1", |t| t.platform(3, 1)),
        holds("ATF-IHDR-010", "3"),
        breaks("ATF-IHDR-010", "0", |t| t.patch(INDEX, 16, &[0]))
            .at(INDEX, "header.clock_type", 16, Accept)
            .also(MANIFEST, "ATF-MANI-009")
            .also(OTHER, "ATF-SESS-005"),
        breaks(
            "ATF-IHDR-010",
            first_unknown(Clock::MEMBERS).to_string(),
            |t| t.patch(INDEX, 16, &[first_unknown(Clock::MEMBERS)]),
        )
        .at(INDEX, "header.clock_type", 16, Accept)
        .also(MANIFEST, "ATF-MANI-009")
        .also(OTHER, "ATF-SESS-005"),
        meets("ATF-IHDR-011", "boottime on Android", |t| t.platform(2, 3)),
        meets("ATF-IHDR-011", "qpc on Windows", |t| t.platform(5, 2)),
        breaks("ATF-IHDR-011", "mach_continuous on Linux", |t| {
            t.platform(4, 1);
        })
        .at(INDEX, "header.clock_type", 16, Accept)
        .also(OTHER, "ATF-IHDR-011"),
        breaks("ATF-IHDR-011", "boottime on macOS", |t| t.platform(3, 3))
            .at(INDEX, "header.clock_type", 16, Accept)
            .also(OTHER, "ATF-IHDR-011"),
        breaks("ATF-IHDR-011", "qpc on iOS", |t| t.platform(1, 2))
            .at(INDEX, "header.clock_type", 16, Accept)
            .also(OTHER, "ATF-IHDR-011"),
        breaks("ATF-IHDR-011", "qpc on Android", |t| t.platform(2, 2))
            .at(INDEX, "header.clock_type", 16, Accept)
            .also(OTHER, "ATF-IHDR-011"),
        breaks("ATF-IHDR-011", "mach_continuous on Windows", |t| {
            t.platform(5, 1);
        })
        .at(INDEX, "header.clock_type", 16, Accept)
        .also(OTHER, "ATF-IHDR-011"),
        holds("ATF-IHDR-012", "zeros"),
        breaks("ATF-IHDR-012", "the last of three bytes", |t| {
            t.patch(INDEX, 19, &[1]);
        })
        .at(INDEX, "header._reserved1", 17, Accept),
        breaks("ATF-IHDR-012", "the u32 of version 1", |t| {
            t.patch(INDEX, 23, &[1]);
        })
        .at(INDEX, "header._reserved2", 20, Accept)
        .only(&[1]),
        holds("ATF-IHDR-013", "has_detail_file"),
        breaks("ATF-IHDR-013", "the next bit", |t| {
            let next = first_unknown(IndexFlags::MEMBERS).next_power_of_two();
            t.index(|file| file.flags |= u32::from(next));
        })
        .at(INDEX, "header.flags", 8, Accept),
        breaks("ATF-IHDR-013", "the last bit", |t| {
            t.index(|file| file.flags = 1 << 31 | 1);
        })
        .at(INDEX, "header.flags", 8, Accept),
    ]
}

fn repeated() -> Vec<Recipe> {
    vec![
        holds("ATF-IHDR-014", "6"),
        breaks("ATF-IHDR-014", "5", |t| {
            t.index(|file| file.header_count = 5);
        })
        .at_field(INDEX, "header.event_count", Accept)
        .asks("ATF-RDER-002"),
        breaks("ATF-IHDR-014", "the greatest u32", |t| {
            t.index(|file| file.header_count = u32::MAX.into());
        })
        .at_field(INDEX, "header.event_count", Accept),
        holds("ATF-IHDR-015", "256"),
        breaks("ATF-IHDR-015", "255", |t| {
            t.index(|file| file.footer_offset = 255);
        })
        .at(INDEX, "header.footer_offset", 40, Accept),
        breaks("ATF-IHDR-015", "0", |t| {
            t.index(|file| file.footer_offset = 0);
        })
        .at(INDEX, "header.footer_offset", 40, Accept),
        meets("ATF-IHDR-016", "0 and 0 without events", Trace::clear_index),
        breaks("ATF-IHDR-016", "a nanosecond late", |t| {
            t.index(|file| file.header_times.0 += 1);
        })
        .at(INDEX, "header.time_start_ns", 48, Accept),
        breaks("ATF-IHDR-016", "a nanosecond early", |t| {
            t.index(|file| file.header_times.1 -= 1);
        })
        .at(INDEX, "header.time_end_ns", 56, Accept),
        breaks("ATF-IHDR-016", "both", |t| {
            t.index(|file| file.header_times = (T + 1, T + 2));
        })
        .at(INDEX, "header.time_start_ns", 48, Accept)
        .times(2),
        breaks("ATF-IHDR-016", "a time without events", |t| {
            t.clear_index();
            t.index(|file| file.header_times = (0, T));
        })
        .at(INDEX, "header.time_end_ns", 56, Accept),
        meets(
            "ATF-IHDR-017",
            "no event, a footer at 64 and no flag",
            Trace::clear_index,
        )
        .titled("no events, a footer at 64 and no flag"),
        breaks("ATF-IHDR-017", "a placeholder with footer_offset 64", |t| {
            t.index(|file| *file = file.clone().placeholder());
        })
        .at(INDEX, "header", 0, Recover),
        breaks("ATF-IHDR-017", "a placeholder with footer_offset 0", |t| {
            t.index(|file| {
                *file = file.clone().placeholder();
                file.footer_offset = 0;
            });
        })
        .at(INDEX, "header", 0, Recover),
        meets(
            "ATF-IHDR-018",
            "a detail file and no flag, not finalized",
            Trace::unfinalize_index,
        )
        .also(INDEX, "ATF-IFTR-001")
        .asks("ATF-RDER-006")
        .titled("a detail file and no flag, unfinalized"),
        meets(
            "ATF-IHDR-018",
            "the flag and no detail file, cut behind its events",
            |t| {
                t.patch(OTHER, 8, &[1]);
                t.cut(OTHER, 128);
            },
        )
        .also(OTHER, "ATF-IFTR-001")
        .titled("the flag and no detail file, truncated after the events"),
        breaks("ATF-IHDR-018", "a detail file and no flag", |t| {
            t.index(|file| file.flags = 0);
        })
        .at(INDEX, "header.flags", 8, Accept),
        breaks("ATF-IHDR-018", "the flag and no detail file", |t| {
            t.patch(OTHER, 8, &[1]);
        })
        .at(OTHER, "header.flags", 8, Accept),
    ]
}
