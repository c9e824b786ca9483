//! Recipes for the rules on the index footer and the end of the index file. The footer begins at
//! 256. Fields and offsets, from the tables in S0 and S2: magic at 0, checksum at 4, `event_count`
//! at 8, `time_start_ns` at 16, `time_end_ns` at 24, `bytes_written` at 32, reserved at 40.

use crate::Verdict::{Accept, Recover, Reject};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{INDEX, T, Trace};
use atf_samples::files::{crc32_ieee, crc32c};

pub(super) fn recipes() -> Vec<Recipe> {
    [numbers(), checksum(), fields(), missing()]
        .into_iter()
        .flatten()
        .collect()
}

fn numbers() -> Vec<Recipe> {
    vec![
        holds("ATF-IFTR-002", "6"),
        breaks("ATF-IFTR-002", "one too many", |t| {
            t.index(|file| file.footer_count = 7);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-one-too-many"),
        breaks("ATF-IFTR-002", "one too few", |t| {
            t.index(|file| file.footer_count = 5);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .or_read(|t| t.survive(INDEX, &[32; 5]))
        .note("The footer's count is authoritative, so a reader may stop there."),
        holds("ATF-IFTR-003", "192"),
        breaks("ATF-IFTR-003", "a byte more", |t| {
            t.index(|file| file.bytes_written = 193);
        })
        .at(INDEX, "footer.bytes_written", 288, Reject),
        breaks("ATF-IFTR-003", "an event less", |t| {
            t.index(|file| file.bytes_written = 160);
        })
        .at(INDEX, "footer.bytes_written", 288, Reject),
        holds("ATF-IFTR-013", "2ITA"),
        breaks("ATF-IFTR-013", "where the header says", |t| {
            t.patch(INDEX, 256, b"2ITB");
        })
        .at(INDEX, "footer.magic", 256, Reject)
        .titled("wrong magic at the header's footer_offset"),
        breaks("ATF-IFTR-013", "where only its numbers say", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.patch(INDEX, 256, &[0; 4]);
        })
        .at(INDEX, "footer.magic", 256, Reject)
        .or_read(|t| t.continue_events(INDEX, &[32; 8]))
        .titled("zeros, and only the footer's numbers identify it")
        .note("Without the magic, the formula for files without a footer counts its 64 bytes as two events."),
        breaks("ATF-IFTR-013", "a wrong count too", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.patch(INDEX, 256, b"2ITB");
            t.patch(INDEX, 264, &[7]);
        })
        .at(INDEX, "footer.magic", 256, Reject)
        .also(INDEX, "ATF-IFTR-002")
        .or_read(|t| t.continue_events(INDEX, &[32; 8]))
        .titled("wrong, and so is the count, but the length is right"),
        breaks("ATF-IFTR-013", "two events in its place", |t| {
            let events = t.file(INDEX)[64..128].to_vec();
            t.cut(INDEX, 256);
            t.append(INDEX, &events);
        })
        .at(INDEX, "footer.magic", 256, Reject)
        .also(INDEX, "ATF-IFTR-002")
        .also(INDEX, "ATF-IFTR-003")
        .or_read(|t| t.continue_events(INDEX, &[32; 8]))
        .titled("two events in the footer's place")
        .note("The header, which is written last, gives the end of the six events correctly."),
    ]
}

fn checksum() -> Vec<Recipe> {
    vec![
        meets("ATF-IFTR-004", "0, not computed", |t| {
            t.index(|file| file.checksum = 0);
        })
        .also(INDEX, "ATF-IFTR-006"),
        breaks("ATF-IFTR-004", "one bit off", |t| {
            t.index(|file| file.checksum ^= 1);
        })
        .at(INDEX, "footer.checksum", 260, Reject),
        breaks("ATF-IFTR-004", "of header and events", |t| {
            let checksum = crc32c(&t.file(INDEX)[..256]);
            t.index(|file| file.checksum = checksum);
        })
        .at(INDEX, "footer.checksum", 260, Reject)
        .titled("computed over header and events"),
        holds("ATF-IFTR-005", "the CRC-32C"),
        breaks("ATF-IFTR-004", "not 0 without events", |t| {
            t.clear_index();
            t.index(|file| file.checksum = 1);
        })
        .at(INDEX, "footer.checksum", 64 + 4, Reject)
        .note("The CRC-32C of no bytes is 0."),
        breaks("ATF-IFTR-005", "the IEEE CRC-32", |t| {
            t.index(|file| file.checksum = crc32_ieee(&file.section()));
        })
        .at(INDEX, "footer.checksum", 260, Reject),
        meets(
            "ATF-IFTR-006",
            "0, the CRC-32C of no events",
            Trace::clear_index,
        ),
        breaks("ATF-IFTR-006", "0", |t| t.index(|file| file.checksum = 0))
            .at(INDEX, "footer.checksum", 260, Accept)
            .asks("ATF-RDER-005"),
    ]
}

fn fields() -> Vec<Recipe> {
    vec![
        meets("ATF-IFTR-007", "0 and 0 without events", Trace::clear_index),
        breaks("ATF-IFTR-007", "a nanosecond early", |t| {
            t.index(|file| file.footer_times.0 -= 1);
        })
        .at(INDEX, "footer.time_start_ns", 272, Accept),
        breaks("ATF-IFTR-007", "a nanosecond late", |t| {
            t.index(|file| file.footer_times.1 += 1);
        })
        .at(INDEX, "footer.time_end_ns", 280, Accept),
        breaks("ATF-IFTR-007", "a time without events", |t| {
            t.clear_index();
            t.index(|file| file.footer_times = (T, T));
        })
        .at(INDEX, "footer.time_start_ns", 64 + 16, Recover)
        .times(2)
        // Without events, only the footer distinguishes a rewritten header from a placeholder.
        .also(INDEX, "ATF-IHDR-017"),
        holds("ATF-IFTR-008", "zeros"),
        breaks("ATF-IFTR-008", "the last byte", |t| {
            t.patch(INDEX, 319, &[1]);
        })
        .at_field(INDEX, "footer.reserved", Accept),
        holds("ATF-IFTR-009", "the end"),
        breaks("ATF-IFTR-009", "one byte", |t| t.append(INDEX, &[0]))
            .at(INDEX, "footer", 320, Accept),
        breaks("ATF-IFTR-009", "four zeros", |t| {
            t.append(INDEX, &[0; 4]);
        })
        .at(INDEX, "footer", 320, Accept)
        .titled("four zeros")
        .note("With 28 reserved bytes, as in S0 and S1, they belong to the footer."),
        breaks("ATF-IFTR-009", "a second footer", |t| {
            let footer = t.file(INDEX)[256..].to_vec();
            t.append(INDEX, &footer);
        })
        .at(INDEX, "footer", 320, Accept),
    ]
}

fn missing() -> Vec<Recipe> {
    vec![
        holds("ATF-IFTR-001", "a footer"),
        breaks("ATF-IFTR-001", "never finalized", Trace::unfinalize_index)
        .at(INDEX, "footer", 256, Recover)
        .asks("ATF-RDER-001"),
        breaks("ATF-IFTR-001", "cut behind the header rewrite", |t| {
            t.cut(INDEX, 256);
        })
        .at(INDEX, "footer", 256, Recover)
        .titled("truncated after the header was rewritten"),
        breaks("ATF-IFTR-001", "64 zeros and a byte after the header rewrite", |t| {
            zeroed(t, 1);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-010")
        .titled("64 zeros where the header proves a footer, followed by another byte")
        .note("The footer never reached the disk. Bytes after a footer are no reason to refuse the file."),
        breaks("ATF-IFTR-001", "64 zeros and 40 bytes after the header rewrite", |t| {
            zeroed(t, 40);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-010")
        .titled("64 zeros where the header proves a footer, followed by 40 other bytes"),
        breaks("ATF-IFTR-001", "64 zeros after the header rewrite", |t| {
            zeroed(t, 0);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-011")
        .titled("64 zeros where the header proves a footer"),
        breaks(
            "ATF-IFTR-001",
            "under a placeholder whose flag was set early",
            |t| {
                t.unfinalize_index();
                t.patch(INDEX, 8, &[1]);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .titled("missing, and the placeholder header has its flag set already")
        .note("The placeholder's count of 0 and footer_offset of 64 agree, but prove nothing."),
        breaks(
            "ATF-IFTR-001",
            "under a header whose place and count do not fit",
            |t| {
                t.index(|file| file.header_count = 2);
                t.cut(INDEX, 256);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .titled("missing, and the header's footer_offset and count disagree"),
        meets("ATF-IFTR-010", "six whole events", |t| t.cut(INDEX, 256))
            .also(INDEX, "ATF-IFTR-001")
            .titled("six complete events"),
        breaks("ATF-IFTR-010", "31 bytes of the sixth", |t| {
            t.cut(INDEX, 255);
        })
        .at(INDEX, "events", 224, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IHDR-014"),
        breaks("ATF-IFTR-010", "one byte of the sixth", |t| {
            t.cut(INDEX, 225);
        })
        .at(INDEX, "events", 224, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IHDR-014"),
        breaks("ATF-IFTR-010", "half of the sixth in front of zeros", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 240);
            t.append(INDEX, &[0; 48]);
        })
        .at(INDEX, "events", 224, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .flag("zero-tail")
        .titled("half of the sixth, followed by zeros")
        .note("Its kind is 0 because it was never written: a time and a function alone do not make an event."),
        breaks("ATF-IFTR-010", "five bytes after zeros", |t| {
            t.unfinalize_index();
            after_zeros(t);
        })
        .at(INDEX, "events", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("zero-tail")
        .titled("five bytes after two events' worth of zeros")
        .note("The zeros are not between two events, so they are not a gap but trailing bytes."),
        breaks("ATF-IFTR-010", "five bytes after an event of kind 0 and zeros", |t| {
            t.events(|events| events[5].kind = 0);
            t.unfinalize_index();
            after_zeros(t);
            t.survive(INDEX, &[32; 5]);
        })
        .at(INDEX, "events", 224, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("zero-tail")
        .note("The sixth event is torn, too: the zeros after it show that its end was never written."),
        breaks("ATF-IFTR-010", "an event of kind 0 before five zeros", |t| {
            t.events(|events| events[5].kind = 0);
            t.unfinalize_index();
            t.append(INDEX, &[0; 5]);
            t.survive(INDEX, &[32; 5]);
        })
        .at(INDEX, "events", 224, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .note("Five zeros show as well as an event's worth that the file was longer than what was written."),
        meets(
            "ATF-IFTR-010",
            "an event of kind 4 in front of zeros",
            |t| {
                t.events(|events| events[5].kind = 4);
                t.unfinalize_index();
                t.append(INDEX, &[0; 32]);
            },
        )
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .also(INDEX, "ATF-IEVT-002")
        .titled("an event of kind 4, followed by zeros"),
        meets(
            "ATF-IFTR-010",
            "an event of kind 0 with nothing after it",
            |t| {
                t.events(|events| events[5].kind = 0);
                t.unfinalize_index();
            },
        )
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IEVT-002")
        .titled("an event of kind 0 at the end of the file"),
        meets("ATF-IFTR-011", "an event whose last byte is not 0", Trace::unfinalize_index)
        .also(INDEX, "ATF-IFTR-001"),
        breaks("ATF-IFTR-011", "an event's worth of zeros", |t| {
            t.unfinalize_index();
            t.append(INDEX, &[0; 32]);
        })
        .at(INDEX, "events", 256, Recover)
        .also(INDEX, "ATF-IFTR-001"),
        meets("ATF-IFTR-012", "none of its bytes", |t| t.cut(INDEX, 256))
            .also(INDEX, "ATF-IFTR-001")
            .titled("no byte of the footer"),
        breaks("ATF-IFTR-012", "its first byte", |t| t.cut(INDEX, 257))
            .at(INDEX, "footer", 256, Recover)
            .also(INDEX, "ATF-IFTR-001"),
        breaks("ATF-IFTR-012", "all but its last byte", |t| {
            t.cut(INDEX, 319);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001"),
        breaks("ATF-IFTR-012", "40 of its bytes after two events of zeros", |t| {
            t.hole(192, 64);
            t.cut(INDEX, 256 + 40);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IEVT-006")
        .note("The header proves where the footer was, so the zeros are a gap between the events and the footer."),
        breaks("ATF-IFTR-012", "8 bytes before 32 zeros", |t| {
            torn(t, 8, 32);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("8 of its bytes, followed by 32 zeros")
        .note("The zeros were not written, so they are no count that differs from six."),
        breaks("ATF-IFTR-012", "2 bytes before 30 zeros", |t| {
            torn(t, 2, 30);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("2 of its bytes, followed by 30 zeros"),
        breaks("ATF-IFTR-012", "24 bytes before 40 zeros", |t| {
            torn(t, 24, 40);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .flag("zero-tail")
        .titled("24 of its bytes, followed by 40 zeros")
        .note("The file has room for the whole footer, but its length was not written."),
        breaks("ATF-IFTR-012", "32 bytes with another count", |t| {
            t.index(|file| file.footer_count = 7);
            torn(t, 32, 32);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .flag("zero-tail")
        .titled("32 of its bytes, with a wrong count")
        .note("Its magic and the time of the first event identify it."),
        breaks("ATF-IFTR-012", "40 bytes with another length", |t| {
            t.index(|file| {
                file.bytes_written = 224;
                *file = file.clone().placeholder();
            });
            t.cut(INDEX, 256 + 40);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("40 of its bytes, with a wrong length"),
        breaks("ATF-IFTR-012", "40 bytes with another magic", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.patch(INDEX, 256, b"2ITB");
            t.cut(INDEX, 256 + 40);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("40 of its bytes, with a wrong magic"),
        breaks("ATF-IFTR-012", "40 bytes with a time but no events", |t| {
            t.clear_index();
            t.index(|file| {
                file.footer_times = (T, T);
                *file = file.clone().placeholder();
            });
            t.cut(INDEX, 64 + 40);
        })
        .at(INDEX, "footer", 64, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("40 of its bytes, with times although there are no events"),
    ]
}

/// Leaves the first `size` bytes of the footer, followed by zeros, after a placeholder.
fn torn(trace: &mut Trace, size: usize, zeros: usize) {
    trace.index(|file| *file = file.clone().placeholder());
    trace.cut(INDEX, 256 + size);
    trace.append(INDEX, &vec![0; zeros]);
}

/// Replaces the footer by zeros and `size` other bytes.
fn zeroed(trace: &mut Trace, size: usize) {
    trace.cut(INDEX, 256);
    trace.append(INDEX, &[0; 64]);
    trace.append(INDEX, &vec![0x55; size]);
}

/// Appends two events' worth of zeros and the first bytes of an event.
fn after_zeros(trace: &mut Trace) {
    let torn = trace.file(INDEX)[64..69].to_vec();
    trace.append(INDEX, &[0; 64]);
    trace.append(INDEX, &torn);
}
