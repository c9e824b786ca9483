//! Mistakes that real implementations make in a single file: header, events, footer.

use crate::Verdict::{Accept, Recover, Reject};

use crate::corpus::recipe::{Recipe, breaks, meets};
use crate::corpus::trace::{DETAIL, INDEX, MANIFEST, T, Trace, call};
use atf_samples::files::{IndexFile, crc32_ieee};

pub(super) fn recipes() -> Vec<Recipe> {
    let tables = [
        counts(),
        places(),
        elsewhere(),
        ruined(),
        crashes(),
        layouts(),
        lengths(),
        holes(),
    ];
    tables.into_iter().flatten().collect()
}

fn counts() -> Vec<Recipe> {
    vec![
        breaks("ATF-IFTR-002", "a billion", |t| {
            index_count(t, 1_000_000_000);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file"),
        breaks("ATF-IFTR-002", "the greatest u64", |t| {
            index_count(t, u64::MAX);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file"),
        breaks(
            "ATF-IFTR-002",
            "a count whose bytes wrap to one event",
            |t| {
                index_count(t, u64::MAX / 32 + 2);
            },
        )
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file")
        .titled("a count whose size in bytes wraps to one event")
        .note("Times 32, it is 2⁶⁴ + 32."),
        breaks("ATF-IFTR-002", "a count whose bytes wrap to none", |t| {
            index_count(t, 1 << 59);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file")
        .titled("a count whose size in bytes wraps to 0")
        .note("Times 32, it is 2⁶⁴."),
        breaks("ATF-DFTR-002", "a billion", |t| {
            detail_count(t, 1_000_000_000);
        })
        .at(DETAIL, "footer.event_count", 469, Reject)
        .flag("count-beyond-file"),
        breaks("ATF-DFTR-002", "the greatest u64", |t| {
            detail_count(t, u64::MAX);
        })
        .at(DETAIL, "footer.event_count", 469, Reject)
        .flag("count-beyond-file"),
        breaks(
            "ATF-IFTR-002",
            "header and footer claim more than the disk took",
            |t| {
                t.index(|file| {
                    file.header_count = 9;
                    file.footer_count = 9;
                    file.bytes_written = 9 * 32;
                    file.footer_offset = 64 + 9 * 32;
                });
            },
        )
        .at(INDEX, "footer.event_count", 264, Reject)
        .also(INDEX, "ATF-IFTR-003")
        .also(INDEX, "ATF-IHDR-014")
        .flag("full-disk")
        .titled("header and footer claim more events than fit on the disk"),
        breaks("ATF-DHDR-009", "one too few", |t| {
            t.detail(|file| file.header_count = 2);
        })
        .at(DETAIL, "header.event_count", 28, Accept)
        .flag("detail-count-lies"),
    ]
}

fn index_count(trace: &mut Trace, count: u64) {
    trace.index(|file| file.footer_count = count);
}

fn detail_count(trace: &mut Trace, count: u64) {
    trace.detail(|file| file.footer_count = count);
}

fn places() -> Vec<Recipe> {
    vec![
        breaks(
            "ATF-IHDR-015",
            "2^64 - 64, which wraps when the footer is added",
            |t| {
                t.index(|file| file.footer_offset = u64::MAX - 63);
            },
        )
        .at(INDEX, "header.footer_offset", 40, Accept)
        .flag("offset-wraps"),
        breaks("ATF-IHDR-007", "0", |t| events_offset(t, 0))
            .at(INDEX, "header.events_offset", 32, Reject)
            .flag("events-offset-outside"),
        breaks("ATF-IHDR-007", "the end of the file", |t| {
            events_offset(t, 320);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .flag("events-offset-outside"),
        breaks("ATF-IHDR-007", "the greatest u64", |t| {
            events_offset(t, u64::MAX);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .flag("events-offset-outside"),
        breaks("ATF-DHDR-005", "0", |t| details_offset(t, 0))
            .at(DETAIL, "header.events_offset", 20, Reject)
            .flag("events-offset-outside"),
        breaks("ATF-DHDR-005", "the end of the file", |t| {
            details_offset(t, 525);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .flag("events-offset-outside"),
        breaks("ATF-DHDR-005", "the greatest u64", |t| {
            details_offset(t, u64::MAX);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .flag("events-offset-outside"),
    ]
}

fn events_offset(trace: &mut Trace, offset: u64) {
    trace.index(|file| file.events_offset = offset);
}

fn details_offset(trace: &mut Trace, offset: u64) {
    trace.detail(|file| file.events_offset = offset);
}

/// Footers that no header mentions and that are followed by other bytes.
fn elsewhere() -> Vec<Recipe> {
    vec![
        breaks("ATF-IHDR-017", "a footer before 100 other bytes", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.append(INDEX, &[0x55; 100]);
        })
        .at(INDEX, "header", 0, Recover)
        .also(INDEX, "ATF-IFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and 100 bytes after the footer"),
        breaks("ATF-IHDR-017", "five events, a footer and a byte", |t| {
            t.without_details();
            t.events(|events| events.truncate(5));
            t.index(|file| *file = file.clone().placeholder());
            t.append(INDEX, &[0x55]);
        })
        .at(INDEX, "header", 0, Recover)
        .also(INDEX, "ATF-IFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and a byte after the footer of an odd number of events"),
        breaks("ATF-IHDR-017", "two footers", |t| {
            let footer = t.file(INDEX)[256..].to_vec();
            t.index(|file| *file = file.clone().placeholder());
            t.append(INDEX, &footer);
        })
        .at(INDEX, "header", 0, Recover)
        .also(INDEX, "ATF-IFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and a copy of the footer after the footer")
        .note("The copy in the last 64 bytes is damaged: its numbers do not match its offset."),
        breaks(
            "ATF-IFTR-002",
            "one too many under a placeholder before other bytes",
            |t| {
                t.index(|file| {
                    *file = file.clone().placeholder();
                    file.footer_count = 7;
                });
                t.append(INDEX, &[0x55; 100]);
            },
        )
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("crash-before-header")
        .titled("one too many, with a placeholder header and 100 bytes after the footer"),
        breaks(
            "ATF-IFTR-003",
            "a byte more under a placeholder before other bytes",
            |t| {
                t.index(|file| {
                    *file = file.clone().placeholder();
                    file.bytes_written = 193;
                });
                t.append(INDEX, &[0x55; 100]);
            },
        )
        .at(INDEX, "footer.bytes_written", 288, Reject)
        .flag("crash-before-header")
        .titled("a byte more, with a placeholder header and 100 bytes after the footer"),
        breaks("ATF-DHDR-012", "a footer before 100 other bytes", |t| {
            t.detail(|file| *file = file.clone().placeholder());
            t.append(DETAIL, &[0x55; 100]);
        })
        .at(DETAIL, "header", 0, Recover)
        .also(DETAIL, "ATF-DFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and 100 bytes after the footer"),
        breaks("ATF-DHDR-012", "two footers", |t| {
            let footer = t.file(DETAIL)[461..].to_vec();
            t.detail(|file| *file = file.clone().placeholder());
            t.append(DETAIL, &footer);
        })
        .at(DETAIL, "header", 0, Recover)
        .also(DETAIL, "ATF-DFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and a copy of the footer after the footer")
        .note("The copy in the last 64 bytes is damaged: its length does not match its offset."),
        breaks(
            "ATF-DFTR-002",
            "one too many under a placeholder before other bytes",
            |t| {
                t.detail(|file| {
                    *file = file.clone().placeholder();
                    file.footer_count = 4;
                });
                t.append(DETAIL, &[0x55; 100]);
            },
        )
        .at(DETAIL, "footer.event_count", 469, Reject)
        .flag("crash-before-header")
        .titled("one too many, with a placeholder header and 100 bytes after the footer"),
        breaks(
            "ATF-DFTR-003",
            "a byte more under a placeholder before other bytes",
            |t| {
                t.detail(|file| {
                    *file = file.clone().placeholder();
                    file.footer_bytes = 398;
                });
                t.append(DETAIL, &[0x55; 100]);
            },
        )
        .at(DETAIL, "footer.bytes_length", 477, Reject)
        .flag("crash-before-header")
        .titled("a byte more, with a placeholder header and 100 bytes after the footer"),
    ]
}

/// Footers with several faults, whose remains are still not events.
fn ruined() -> Vec<Recipe> {
    vec![
        breaks("ATF-IFTR-002", "with magic and start time alone", |t| {
            ruin(t, b"2ITA");
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .also(INDEX, "ATF-IFTR-003")
        .or_read(|t| t.continue_events(INDEX, &[32; 8]))
        .flag("crash-before-header")
        .titled(
            "wrong, and so are the length and the reserved bytes, but not magic and start time",
        ),
        breaks("ATF-IFTR-013", "with its start time alone", |t| {
            ruin(t, b"2ITB");
        })
        .at(INDEX, "footer.magic", 256, Reject)
        .also(INDEX, "ATF-IFTR-002")
        .also(INDEX, "ATF-IFTR-003")
        .or_read(|t| t.continue_events(INDEX, &[32; 8]))
        .flag("crash-before-header")
        .titled("wrong, and so is all else but the start time"),
        breaks("ATF-IFTR-012", "its start time alone before zeros", |t| {
            ruin(t, b"2ITB");
            t.cut(INDEX, 256 + 24);
            t.append(INDEX, &[0; 40]);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .flag("crash-before-header")
        .titled("24 of its bytes with only the start time right, followed by 40 zeros"),
        breaks("ATF-IFTR-012", "its start time alone between zeros", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.patch(INDEX, 256, &[0; 16]);
            t.cut(INDEX, 256 + 24);
            t.append(INDEX, &[0; 40]);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .flag("crash-before-header")
        .titled("16 zeros, its start time, and 40 zeros"),
        breaks(
            "ATF-IFTR-003",
            "half of it in the middle of the file",
            |t| {
                let event = t.file(INDEX)[64..96].to_vec();
                t.index(|file| *file = file.clone().placeholder());
                t.cut(INDEX, 256 + 32);
                for _ in 0..3 {
                    t.append(INDEX, &event);
                }
            },
        )
        .at(INDEX, "footer.bytes_written", 288, Reject)
        .or_read(|t| t.continue_events(INDEX, &[32; 10]))
        .flag("crash-before-header")
        .titled("missing: the footer's first half precedes three other events")
        .note("Its magic, count and start time identify it. Events after a footer are lost."),
        breaks("ATF-IHDR-017", "two whole footers", |t| {
            let event = t.file(INDEX)[64..96].to_vec();
            let mut again = t.clone();
            again.index(|file| {
                (file.footer_count, file.bytes_written) = (9, 9 * 32);
            });
            let footer = again.file(INDEX)[256..].to_vec();
            t.index(|file| *file = file.clone().placeholder());
            t.append(INDEX, &event);
            t.append(INDEX, &footer);
        })
        .at(INDEX, "header", 0, Recover)
        .also(INDEX, "ATF-IFTR-009")
        .flag("crash-before-header")
        .titled("a placeholder, and a footer, an event and another footer after the events")
        .note("The second footer counts the first as two events."),
        breaks("ATF-IFTR-010", "a damaged magic without events", |t| {
            t.clear_index();
            t.index(|file| *file = file.clone().placeholder());
            t.patch(INDEX, 64, b"2ITB");
        })
        .at(INDEX, "events", 64, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .may(&[Recover, Reject])
        .flag("zero-tail")
        .titled("a footer whose magic is damaged, in a file without events")
        .note("Nothing but zeros follows: it may be the beginning of an event."),
    ]
}

/// Leaves only the start time of the footer right, and its magic if it is in `magic`.
fn ruin(trace: &mut Trace, magic: &[u8; 4]) {
    trace.index(|file| {
        (file.footer_count, file.bytes_written) = (7, 225);
        *file = file.clone().placeholder();
    });
    trace.patch(INDEX, 256, magic);
    trace.patch(INDEX, 319, &[1]);
}

fn crashes() -> Vec<Recipe> {
    vec![
        meets(
            "ATF-IFTR-013",
            "a first timestamp that begins as a footer",
            |t| {
                magic_times(t, 0);
            },
        )
        .flag("timestamp-like-footer")
        .titled("a first timestamp that begins like a footer"),
        breaks(
            "ATF-IFTR-001",
            "and a first timestamp that begins as a footer",
            |t| {
                magic_times(t, 0);
                t.unfinalize_index();
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .flag("timestamp-like-footer")
        .titled("missing, and the first timestamp begins like a footer"),
        breaks(
            "ATF-IFTR-001",
            "and a last event with the length of a footer",
            |t| {
                t.without_details();
                t.events(|events| {
                    for (event, seq) in events.iter_mut().zip(1..) {
                        event.timestamp_ns = 10 * seq;
                    }
                    events[5].timestamp_ns = 4 * 32;
                });
                t.unfinalize_index();
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .also(MANIFEST, "ATF-MANI-008")
        .flag("timestamp-like-footer")
        .titled("missing, and the last time is the length of a footer for four events"),
        breaks(
            "ATF-IFTR-001",
            "and a first time of 0 to which the last event links",
            |t| {
                linked_to_first_time(t, 0, 0);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-LINK-002")
        .also(MANIFEST, "ATF-MANI-008")
        .only(&[2])
        .flag("timestamp-like-footer")
        .titled(
            "missing, the first time is 0, and the last event begins like a footer with this time",
        ),
        breaks(
            "ATF-IFTR-001",
            "and a last event that links 2^32 past the first time",
            |t| {
                linked_to_first_time(t, T, T ^ (1 << 32));
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-LINK-002")
        .also(INDEX, "ATF-LINK-005")
        .only(&[2])
        .flag("timestamp-like-footer")
        .titled("missing, and the last event begins like a footer whose time is 2³² off"),
        whole_footer_of_events()
            .only(&[1])
            .also(INDEX, "ATF-IEVT-003")
            .also(INDEX, "ATF-IEVT-004"),
        whole_footer_of_events()
            .only(&[2])
            .also(INDEX, "ATF-IEVT-005"),
        meets(
            "ATF-IFTR-013",
            "a last timestamp that begins as a footer",
            |t| magic_times(t, 5),
        )
        .flag("timestamp-like-footer")
        .titled("a last timestamp that begins like a footer"),
        breaks(
            "ATF-IFTR-001",
            "and a last timestamp that begins as a footer",
            |t| {
                magic_times(t, 5);
                t.unfinalize_index();
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .flag("timestamp-like-footer")
        .titled("missing, and the last timestamp begins like a footer"),
        breaks(
            "ATF-IFTR-001",
            "and a last event that begins as a footer",
            |t| {
                magic_times(t, 5);
                t.patch_event(224 + 8, &5_u64.to_le_bytes());
                t.cut(INDEX, 256);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .flag("timestamp-like-footer")
        .titled("missing, and the last event begins like a footer for five events")
        .note("The rewritten header proves that six events precede the footer."),
        breaks(
            "ATF-IFTR-001",
            "and an earlier event that begins as a footer",
            |t| {
                magic_times(t, 4);
                t.patch_event(192 + 8, &4_u64.to_le_bytes());
                t.cut(INDEX, 256);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .flag("timestamp-like-footer")
        .titled(
            "missing, and 64 bytes before the end an event begins like a footer for four events",
        )
        .note("The rewritten header proves that six events precede the footer."),
        breaks(
            "ATF-IFTR-012",
            "and a last event that begins as a footer",
            |t| {
                magic_times(t, 5);
                t.patch_event(224 + 8, &5_u64.to_le_bytes());
                t.cut(INDEX, 256 + 20);
            },
        )
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("timestamp-like-footer")
        .titled("20 of its bytes, and the last event begins like a footer for five events")
        .note("The rewritten header proves that six events precede the footer."),
        breaks("ATF-IFTR-012", "32 of its bytes under a placeholder", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 256 + 32);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("cut-in-footer")
        .titled("32 of its bytes, with a placeholder header"),
        breaks("ATF-IFTR-012", "63 of its bytes under a placeholder", |t| {
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 256 + 63);
        })
        .at(INDEX, "footer", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("cut-in-footer")
        .titled("63 of its bytes, with a placeholder header"),
        breaks("ATF-IFTR-011", "64 KiB of zeros", |t| {
            t.unfinalize_index();
            t.append(INDEX, &[0; 64 << 10]);
        })
        .at(INDEX, "events", 256, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("zero-tail"),
        breaks("ATF-DFTR-011", "64 KiB of zeros", |t| {
            t.unfinalize_detail();
            t.append(DETAIL, &[0; 64 << 10]);
        })
        .at(DETAIL, "events", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .flag("zero-tail"),
        breaks(
            "ATF-DFTR-001",
            "and the last events are smaller than a footer",
            |t| {
                t.details(|details| {
                    for detail in details {
                        detail.payload.truncate(3);
                    }
                });
                t.detail(|file| *file = file.clone().placeholder());
                t.cut(DETAIL, 64 + 3 * 27);
            },
        )
        .at(DETAIL, "footer", 64 + 3 * 27, Recover)
        .also(DETAIL, "ATF-DPAY-002")
        .flag("small-last-details")
        .titled("missing, and the last events are smaller than a footer"),
        breaks("ATF-DFTR-010", "100 bytes of a fourth", |t| {
            t.detail(|file| *file = file.clone().placeholder());
            let part = t.file(DETAIL)[329..329 + 100].to_vec();
            t.cut(DETAIL, 461);
            t.append(DETAIL, &part);
        })
        .at(DETAIL, "events", 461, Recover)
        .also(DETAIL, "ATF-DFTR-001"),
    ]
}

/// Makes timestamps, from that of event `from` on, increase from a number that ends in 0x41544932. In little-endian order, it
/// begins with the bytes "2ITA".
fn magic_times(trace: &mut Trace, from: usize) {
    trace.without_details();
    trace.events(|events| {
        for (event, seq) in events.iter_mut().skip(from).zip(0..) {
            event.timestamp_ns = 0x0004_62d5_4154_4932 + seq;
        }
    });
    // The manifest's time range covers all threads.
    let last = 0x0004_62d5_4154_4932_u64 + 5 - from as u64;
    trace.replace(MANIFEST, "1234567000099000", &last.to_string());
}

/// Removes the footer after a last event that begins like one.
fn linked_to_first_time(trace: &mut Trace, first: u64, link: u64) {
    magic_times(trace, 5);
    trace.events(|events| {
        events[0].timestamp_ns = first;
        events[5].detail_seq = Some(link);
    });
    trace.unfinalize_index();
}

fn whole_footer_of_events() -> Recipe {
    meets("ATF-IFTR-013", "two events that are a whole footer", |t| {
        let before = vec![call(T, 1, 1), call(T + 1000, 2, 2)];
        let footer = IndexFile::of(t.version, before).footer();
        t.patch_event(128, &footer);
    })
    .also(INDEX, "ATF-IEVT-001")
    .also(INDEX, "ATF-IEVT-002")
    .also(INDEX, "ATF-LINK-001")
    .also(INDEX, "ATF-LINK-005")
    .also(DETAIL, "ATF-LINK-003")
    .flag("timestamp-like-footer")
    .titled("two events whose bytes are a whole footer for the events before them")
    .note("The header and the footer at the end agree on six events.")
}

fn layouts() -> Vec<Recipe> {
    vec![
        breaks(
            "ATF-IHDR-005",
            "the layout of version 2 with 32 events",
            |t| layout(t, 2),
        )
        .at(INDEX, "header.version", 5, Reject)
        .must_reject(OTHER_LAYOUT)
        .only(&[1])
        .flag("other-layout"),
        breaks(
            "ATF-IHDR-005",
            "the layout of version 1 with 32 events",
            |t| layout(t, 1),
        )
        .at(INDEX, "header.version", 5, Reject)
        .must_reject(OTHER_LAYOUT)
        .only(&[2])
        .flag("other-layout"),
        breaks("ATF-IFTR-004", "the highest bit off", |t| {
            t.index(|file| file.checksum ^= 1 << 31);
        })
        .at(INDEX, "footer.checksum", 260, Reject)
        .flag("wrong-checksum"),
        breaks("ATF-IFTR-004", "one bit of an event flipped", |t| {
            t.patch(INDEX, 96 + 8, &[3]);
        })
        .at(INDEX, "footer.checksum", 260, Reject)
        .flag("wrong-checksum"),
        breaks("ATF-DFTR-004", "one bit of a payload flipped", |t| {
            t.patch(DETAIL, 64 + 24 + 80, &[0xba]);
        })
        .at(DETAIL, "footer.checksum", 465, Reject)
        .flag("wrong-checksum"),
        breaks("ATF-IFTR-005", "the IEEE CRC-32 of one event", |t| {
            t.without_details();
            t.events(|events| events.truncate(1));
            t.index(|file| file.checksum = crc32_ieee(&file.section()));
        })
        .at(INDEX, "footer.checksum", 64 + 32 + 4, Reject)
        .flag("ieee-checksum"),
    ]
}

/// The reason to reject a file in the other version's layout.
const OTHER_LAYOUT: &str = "Counts, kinds and links are decoded from the wrong bytes and look right: \
    with 32 events, a version 2 header passes version 1's event_size check.";

/// Adds an index file of 32 events in another version's layout, with the trace's version number.
fn layout(trace: &mut Trace, layout: u8) {
    let version = trace.version;
    trace.put_index(INDEX, &IndexFile::finalized(layout, 32));
    trace.patch(INDEX, 5, &[version]);
}

fn lengths() -> Vec<Recipe> {
    vec![
        breaks("ATF-DEVT-001", "24, with a payload behind it", |t| {
            length(t, 24, &[24]);
        })
        .at(DETAIL, "events[1].total_length", 64 + 24, Reject)
        .also(DETAIL, "ATF-DPAY-002")
        .flag("impossible-length")
        .titled("24, followed by a payload")
        .note("The payload is then read as an event whose length is 1."),
        breaks("ATF-DEVT-001", "23 of the first event", |t| {
            length(t, 23, &[]);
        })
        .at(DETAIL, "events[0].total_length", 64, Reject)
        .flag("impossible-length"),
        breaks(
            "ATF-DEVT-002",
            "one byte into the footer, from the first event",
            |t| {
                length(t, 398, &[]);
            },
        )
        .at(DETAIL, "events[0].total_length", 64, Reject)
        .flag("impossible-length"),
        breaks("ATF-DEVT-002", "the greatest u32", |t| {
            length(t, u32::MAX, &[]);
        })
        .at(DETAIL, "events[0].total_length", 64, Reject)
        .flag("impossible-length"),
        breaks("ATF-DEVT-002", "one byte past the end of the file", |t| {
            length(t, 462, &[]);
        })
        .at(DETAIL, "events[0].total_length", 64, Reject)
        .flag("impossible-length"),
        breaks(
            "ATF-DFTR-010",
            "a length of 23 in a file without a footer",
            |t| {
                t.cut(DETAIL, 461);
                t.patch(DETAIL, 188, &23_u32.to_le_bytes());
                t.survive(DETAIL, &[124]);
            },
        )
        .at(DETAIL, "events", 188, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(INDEX, "ATF-LINK-002")
        .flag("impossible-length")
        .note("The events before it are complete; how many followed is unknown."),
    ]
}

fn length(trace: &mut Trace, total_length: u32, events: &[usize]) {
    trace.patch_detail(64, &total_length.to_le_bytes());
    trace.survive(DETAIL, events);
}

fn holes() -> Vec<Recipe> {
    vec![
        breaks("ATF-IEVT-006", "a block of 4096 bytes", |t| {
            t.without_details();
            let event = |seq: u64| call(T + seq, 1, 1 + u32::try_from(seq).unwrap_or_default());
            t.events(|events| *events = (0..256).map(event).collect());
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 64 + 32 * 256);
            t.patch(INDEX, 4096, &[0; 4096]);
        })
        .at(INDEX, "events[126]", 4096, Recover)
        .times(128)
        .also(INDEX, "ATF-IFTR-001")
        .flag("hole"),
        breaks("ATF-DHDR-012", "a placeholder and one small event", |t| {
            t.events(|events| {
                for event in events {
                    event.detail_seq = event.detail_seq.filter(|seq| *seq == 0);
                }
            });
            t.details(|details| {
                details.truncate(1);
                details[0].payload.truncate(3);
            });
            t.detail(|file| *file = file.clone().placeholder());
        })
        .at(DETAIL, "header", 0, Recover)
        .also(DETAIL, "ATF-DPAY-002")
        .flag("crash-before-header"),
    ]
}
