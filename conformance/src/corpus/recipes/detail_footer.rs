//! Recipes for the rules on the detail footer and the end of the detail file. The footer begins at
//! 461. Fields and offsets, from the table in S2: magic at 0, checksum at 4, `event_count` at 8,
//! `bytes_length` at 16, `time_start_ns` at 24, `time_end_ns` at 32, reserved at 40.

use crate::Verdict::{Accept, Recover, Reject};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, Trace};
use atf_samples::files::crc32_ieee;

pub(super) fn recipes() -> Vec<Recipe> {
    [numbers(), checksum(), fields(), missing()]
        .into_iter()
        .flatten()
        .collect()
}

fn numbers() -> Vec<Recipe> {
    vec![
        holds("ATF-DFTR-002", "3"),
        breaks("ATF-DFTR-002", "one too many", |t| {
            t.detail(|file| file.footer_count = 4);
        })
        .at(DETAIL, "footer.event_count", 469, Reject),
        breaks("ATF-DFTR-002", "one too few", |t| {
            t.detail(|file| file.footer_count = 2);
        })
        .at(DETAIL, "footer.event_count", 469, Reject)
        .or_read(|t| t.survive(DETAIL, &[124, 141]))
        .note("The footer's count is authoritative, so a reader may stop there."),
        holds("ATF-DFTR-003", "397"),
        breaks("ATF-DFTR-003", "a byte more", |t| {
            t.detail(|file| file.footer_bytes = 398);
        })
        .at(DETAIL, "footer.bytes_length", 477, Reject),
        breaks("ATF-DFTR-003", "that of the file", |t| {
            t.detail(|file| file.footer_bytes = 461);
        })
        .at(DETAIL, "footer.bytes_length", 477, Reject)
        .titled("the length of header and events"),
        holds("ATF-DFTR-013", "2DTA"),
        breaks("ATF-DFTR-013", "that of an index footer", |t| {
            t.patch(DETAIL, 461, b"2ITA");
        })
        .at(DETAIL, "footer.magic", 461, Reject)
        .titled("the magic of an index footer"),
        breaks("ATF-DFTR-013", "where only its numbers say", |t| {
            t.detail(|file| *file = file.clone().placeholder());
            t.patch(DETAIL, 461, &[0; 4]);
        })
        .at(DETAIL, "footer.magic", 461, Reject)
        .titled("zeros, and only the footer's numbers identify it"),
        breaks("ATF-DFTR-013", "an event in its place", |t| {
            let event = t.file(DETAIL)[64..188].to_vec();
            t.cut(DETAIL, 461);
            t.append(DETAIL, &event);
        })
        .at(DETAIL, "footer.magic", 461, Reject)
        .also(DETAIL, "ATF-DFTR-003")
        .or_read(|t| t.continue_events(DETAIL, &[124, 141, 132, 124]))
        .titled("an event in the footer's place")
        .note("The header, which is written last, gives the end of the three events correctly."),
        breaks(
            "ATF-DFTR-013",
            "nonsense where the length alone says",
            |t| {
                t.detail(|file| file.header_count = 4);
                t.patch(DETAIL, 461, &[0x55; 64]);
            },
        )
        .at(DETAIL, "footer.magic", 461, Reject)
        .also(DETAIL, "ATF-DFTR-003")
        .also(DETAIL, "ATF-DHDR-009")
        .titled("nonsense, and only the header's bytes_length identifies the footer")
        .note("By that length the events end 64 bytes before the end of the file, where a footer belongs."),
    ]
}

fn checksum() -> Vec<Recipe> {
    vec![
        meets("ATF-DFTR-004", "0, not computed", |t| {
            t.detail(|file| file.checksum = 0);
        })
        .also(DETAIL, "ATF-DFTR-006"),
        breaks("ATF-DFTR-004", "one bit off", |t| {
            t.detail(|file| file.checksum ^= 1);
        })
        .at(DETAIL, "footer.checksum", 465, Reject),
        holds("ATF-DFTR-005", "the CRC-32C"),
        breaks("ATF-DFTR-005", "the IEEE CRC-32", |t| {
            t.detail(|file| file.checksum = crc32_ieee(&file.section()));
        })
        .at(DETAIL, "footer.checksum", 465, Reject),
        meets(
            "ATF-DFTR-006",
            "0, the CRC-32C of no events",
            Trace::clear_detail,
        ),
        breaks("ATF-DFTR-006", "0", |t| t.detail(|file| file.checksum = 0))
            .at(DETAIL, "footer.checksum", 465, Accept)
            .asks("ATF-RDER-005"),
    ]
}

fn fields() -> Vec<Recipe> {
    vec![
        meets(
            "ATF-DFTR-007",
            "0 and 0 without events",
            Trace::clear_detail,
        ),
        breaks("ATF-DFTR-007", "a nanosecond early", |t| {
            t.detail(|file| file.footer_times.0 -= 1);
        })
        .at(DETAIL, "footer.time_start_ns", 485, Accept),
        breaks("ATF-DFTR-007", "a nanosecond late", |t| {
            t.detail(|file| file.footer_times.1 += 1);
        })
        .at(DETAIL, "footer.time_end_ns", 493, Accept),
        holds("ATF-DFTR-008", "zeros"),
        breaks("ATF-DFTR-008", "the last byte", |t| {
            t.patch(DETAIL, 524, &[1]);
        })
        .at(DETAIL, "footer.reserved", 501, Accept),
        holds("ATF-DFTR-009", "the end"),
        breaks("ATF-DFTR-009", "one byte", |t| t.append(DETAIL, &[0]))
            .at(DETAIL, "footer", 525, Accept),
        breaks("ATF-DFTR-009", "a second footer", |t| {
            let footer = t.file(DETAIL)[461..].to_vec();
            t.append(DETAIL, &footer);
        })
        .at(DETAIL, "footer", 525, Accept),
    ]
}

fn missing() -> Vec<Recipe> {
    vec![
        holds("ATF-DFTR-001", "a footer"),
        breaks("ATF-DFTR-001", "never finalized", Trace::unfinalize_detail)
            .at(DETAIL, "footer", 461, Recover)
            .asks("ATF-RDER-001"),
        breaks("ATF-DFTR-001", "cut behind the header rewrite", |t| {
            t.cut(DETAIL, 461);
        })
        .at(DETAIL, "footer", 461, Recover)
        .titled("truncated after the header was rewritten"),
        breaks("ATF-DFTR-001", "64 zeros and a byte after the header rewrite", |t| {
            t.cut(DETAIL, 461);
            t.append(DETAIL, &[0; 64]);
            t.append(DETAIL, &[0x55]);
        })
        .at(DETAIL, "footer", 461, Recover)
        .also(DETAIL, "ATF-DFTR-010")
        .titled("64 zeros where the header proves a footer, followed by another byte")
        .note("The footer never reached the disk. Bytes after a footer are no reason to refuse the file."),
        breaks(
            "ATF-DFTR-001",
            "under a header whose length and count do not fit",
            |t| {
                t.detail(|file| file.header_bytes = 124);
                t.cut(DETAIL, 461);
            },
        )
        .at(DETAIL, "footer", 461, Recover)
        .titled("missing, and the header's length and count disagree")
        .note("An event does end at that length, but the count is three: trust neither."),
        breaks("ATF-DFTR-001", "a stack that ends as a footer", |t| {
            stack(t, &[0; 4], 64);
        })
        .at(DETAIL, "footer", 517, Recover)
        .asks("ATF-RDER-001")
        .titled("missing, and the last stack ends like a footer")
        .note("By the last event's length, these bytes belong to the event."),
        breaks(
            "ATF-DFTR-001",
            "a stack that ends as a footer whose numbers fit",
            |t| stack(t, &[3, 389, 1, 2], 64),
        )
        .at(DETAIL, "footer", 517, Recover)
        .asks("ATF-RDER-001")
        .titled("missing, and the last stack ends like a footer whose numbers match")
        .note("By the last event's length, these bytes belong to the event."),
        breaks(
            "ATF-DFTR-001",
            "a last length that ends inside a footer before another byte",
            |t| {
                t.detail(|file| *file = file.clone().placeholder());
                t.append(DETAIL, &[0x55]);
                t.patch(DETAIL, 329, &133_u32.to_le_bytes());
                inside(t, &[124, 141, 133], 462);
            },
        )
        .at(DETAIL, "footer", 462, Recover)
        .also(DETAIL, "ATF-DFTR-010")
        .also(DETAIL, "ATF-DPAY-002")
        .titled("inside the last event, and followed by another byte")
        .note("By the last event's length, the footer's first byte belongs to the event."),
        breaks(
            "ATF-DFTR-001",
            "a stack with a footer whose numbers fit before a torn event",
            |t| {
                stack(t, &[3, 389, 1, 2], 64);
                let torn = t.file(DETAIL)[64..164].to_vec();
                t.append(DETAIL, &torn);
            },
        )
        .at(DETAIL, "footer", 517, Recover)
        .also(DETAIL, "ATF-DFTR-010")
        .titled("missing, and a torn event follows a stack with a footer whose numbers match")
        .note("The torn event is no reason to take captured memory for the footer."),
        meets("ATF-DFTR-010", "three whole events", |t| t.cut(DETAIL, 461))
            .also(DETAIL, "ATF-DFTR-001")
            .titled("three complete events"),
        breaks("ATF-DFTR-010", "all but a byte of the third", |t| {
            t.cut(DETAIL, 460);
        })
        .at(DETAIL, "events", 329, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DHDR-009")
        .also(INDEX, "ATF-LINK-002"),
        breaks("ATF-DFTR-010", "ten bytes after 48 zeros", |t| {
            let torn = t.file(DETAIL)[64..74].to_vec();
            zeros(t, 48);
            t.append(DETAIL, &torn);
        })
        .at(DETAIL, "events", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .flag("zero-tail"),
        breaks("ATF-DFTR-010", "16 bytes of the third before zeros", |t| {
            t.unfinalize_detail();
            t.cut(DETAIL, 345);
            t.append(DETAIL, &[0; 461 - 345 + 24]);
        })
        .at(DETAIL, "events", 329, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DFTR-011")
        .also(INDEX, "ATF-LINK-002")
        .flag("zero-tail")
        .titled("16 bytes of the third, followed by zeros that continue after it")
        .note("Its length was written, but not its time."),
        meets("ATF-DFTR-010", "a time of 0 and a payload before zeros", |t| {
            t.details(|details| details[2].timestamp = 0);
            t.unfinalize_detail();
            t.append(DETAIL, &[0; 24]);
        })
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DFTR-011")
        .also(DETAIL, "ATF-LINK-006")
        .titled("an event at time 0 with a payload, followed by zeros"),
        breaks("ATF-DFTR-010", "one byte of the third", |t| {
            t.cut(DETAIL, 330);
        })
        .at(DETAIL, "events", 329, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DHDR-009")
        .also(INDEX, "ATF-LINK-002"),
        meets("ATF-DFTR-011", "23 zeros, which are a cut event", |t| {
            zeros(t, 23);
        })
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DFTR-010")
        .titled("23 zeros, a torn event"),
        breaks("ATF-DFTR-011", "24 zeros", |t| zeros(t, 24))
            .at(DETAIL, "events", 461, Recover)
            .also(DETAIL, "ATF-DFTR-001"),
        breaks(
            "ATF-DFTR-011",
            "24 zeros that end a stack as a footer ends",
            |t| {
                stack(t, &[0; 4], 40);
                t.append(DETAIL, &[0; 24]);
            },
        )
        .at(DETAIL, "events", 493, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .titled("24 zeros that continue a stack which ends like the start of a footer"),
        meets("ATF-DFTR-012", "none of its bytes", |t| t.cut(DETAIL, 461))
            .also(DETAIL, "ATF-DFTR-001")
            .titled("no byte of the footer"),
        breaks("ATF-DFTR-012", "its first byte", |t| t.cut(DETAIL, 462))
            .at(DETAIL, "footer", 461, Recover)
            .also(DETAIL, "ATF-DFTR-001"),
        breaks("ATF-DFTR-012", "all but its last byte", |t| {
            t.cut(DETAIL, 524);
        })
        .at(DETAIL, "footer", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001"),
        breaks("ATF-DFTR-012", "16 bytes before 64 zeros", |t| {
            t.detail(|file| *file = file.clone().placeholder());
            t.cut(DETAIL, 461 + 16);
            t.append(DETAIL, &[0; 64]);
        })
        .at(DETAIL, "footer", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(DETAIL, "ATF-DFTR-011")
        .flag("zero-tail")
        .titled("16 of its bytes, followed by 64 zeros")
        .note("The file has room for the whole footer, but its length was not written."),
        breaks("ATF-DFTR-012", "27 bytes that would be an event", |t| {
            let mut event = t.file(DETAIL)[64..91].to_vec();
            event[0] = 27;
            t.cut(DETAIL, 461);
            t.append(DETAIL, &event);
        })
        .at(DETAIL, "footer", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .or_read(|t| t.continue_events(DETAIL, &[124, 141, 132, 27]))
        .note("The header gives the end of the three events correctly."),
    ]
}

/// Makes an unfinalized file whose last event has a stack that consists of the first `size` bytes
/// of a footer with these numbers.
fn stack(trace: &mut Trace, numbers: &[u64; 4], size: u8) {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    let footer = b"2DTA\0\0\0\0"
        .iter()
        .copied()
        .chain(numbers)
        .chain([0; 24]);
    trace.detail(|file| {
        *file = file.clone().placeholder();
        let payload = &mut file.events[2].payload;
        payload.truncate(96);
        payload.extend([size, 0, 0, 0]);
        payload.extend(footer.take(size.into()));
    });
    trace.cut(DETAIL, 353 + 100 + usize::from(size));
}

/// Describes a file whose last event ends at `end`, inside the footer.
fn inside(trace: &mut Trace, sizes: &[usize], end: usize) {
    let rest = trace.file(DETAIL)[end..].to_vec();
    trace.cut(DETAIL, end);
    trace.append(DETAIL, &rest);
    trace.survive(DETAIL, sizes);
}

/// Replaces the footer with zeros.
fn zeros(trace: &mut Trace, count: usize) {
    trace.unfinalize_detail();
    trace.append(DETAIL, &vec![0; count]);
}
