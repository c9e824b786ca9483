//! Tests mistakes within one file: in its header, events or footer.

use atf_conformance::Verdict::{Accept, Recover, Reject};

use super::{assert_rules, each, each_breaks};
use crate::support::files::{DetailRecord, EventRecord, IndexFile, crc32_ieee, padded, patched};
use crate::support::trace::event;
use crate::support::{DETAIL, INDEX, Outcome, T, Trace, call};

#[test]
fn huge_footer_counts_are_rejected_without_allocating() {
    for count in [1_000_000_000, u64::MAX, u64::MAX / 32 + 1] {
        each_breaks(INDEX, "ATF-IFTR-002", Reject, |t| {
            t.index(|file| file.footer_count = count);
        });
        each_breaks(DETAIL, "ATF-DFTR-002", Reject, |t| {
            t.detail(|file| file.footer_count = count);
        });
    }
}

#[test]
fn a_footer_count_that_is_one_too_high_does_not_turn_the_footer_into_an_event() {
    each_breaks(INDEX, "ATF-IFTR-002", Reject, |t| {
        t.index(|file| file.footer_count = 7);
    });
}

#[test]
fn header_and_footer_that_claim_more_events_than_fit_on_the_disk_are_rejected() {
    each_breaks(INDEX, "ATF-IFTR-002", Reject, |t| {
        t.index(|file| {
            file.header_count = 9;
            file.footer_count = 9;
            file.bytes_written = 9 * 32;
            file.footer_offset = 64 + 9 * 32;
        });
    });
}

#[test]
fn a_footer_offset_that_overflows_does_not_hide_the_footer() {
    each_breaks(INDEX, "ATF-IHDR-015", Accept, |t| {
        t.index(|file| file.footer_offset = u64::MAX - 63);
    });
}

#[test]
fn an_events_offset_before_or_after_the_events_is_rejected() {
    for offset in [0, 63, 320, 321, u64::MAX] {
        each_breaks(INDEX, "ATF-IHDR-007", Reject, |t| {
            t.index(|file| file.events_offset = offset);
        });
    }
    for offset in [0, 63, 525, 526, u64::MAX] {
        each_breaks(DETAIL, "ATF-DHDR-005", Reject, |t| {
            t.detail(|file| file.events_offset = offset);
        });
    }
}

#[test]
fn a_crash_between_footer_and_header_rewrite_makes_no_phantom_events() {
    each_breaks(INDEX, "ATF-IHDR-017", Recover, |t| {
        t.index(|file| *file = file.clone().placeholder());
    });
    each_breaks(DETAIL, "ATF-DHDR-012", Recover, |t| {
        t.detail(|file| *file = file.clone().placeholder());
    });
}

#[test]
fn a_first_timestamp_that_begins_like_a_footer_is_an_event() {
    // In little-endian order, 0x41544932 is "2ITA".
    let edit = |t: &mut Trace| {
        t.without_details();
        t.events(|events| {
            for (event, seq) in events.iter_mut().zip(0..) {
                event.timestamp_ns = 0x0004_62d5_4154_4932 + seq;
            }
        });
    };
    each(edit, |outcome| {
        assert_rules(outcome, INDEX, &[]);
        assert_eq!(outcome.report(INDEX).events, Some(6));
    });
    let unfinalized = |t: &mut Trace| {
        edit(t);
        t.index(|file| *file = file.clone().placeholder());
        t.cut(INDEX, 256);
    };
    each(unfinalized, |outcome| {
        assert_rules(outcome, INDEX, &["ATF-IFTR-001"]);
        assert_eq!(outcome.report(INDEX).events, Some(6));
    });
}

#[test]
fn a_footer_torn_at_any_byte_is_not_an_event() {
    for size in 1..64 {
        each(
            |t| t.cut(INDEX, 256 + size),
            |outcome| {
                assert_rules(outcome, INDEX, &["ATF-IFTR-001", "ATF-IFTR-012"]);
                assert_eq!(outcome.report(INDEX).events, Some(6));
                assert_eq!(outcome.verdict(INDEX), Recover);
            },
        );
        each(
            |t| t.cut(DETAIL, 461 + size),
            |outcome| {
                assert_rules(outcome, DETAIL, &["ATF-DFTR-001", "ATF-DFTR-012"]);
                assert_eq!(outcome.report(DETAIL).details, Some(3));
                assert_eq!(outcome.verdict(DETAIL), Recover);
            },
        );
    }
}

/// Up to three bytes of a footer's magic could be part of an event, but are too short to be an
/// event.
#[test]
fn a_footer_torn_at_any_byte_with_a_placeholder_header_is_not_an_event() {
    for size in 1..64 {
        let edit = |t: &mut Trace| {
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 256 + size);
        };
        each(edit, |outcome| {
            assert_rules(outcome, INDEX, &["ATF-IFTR-001", "ATF-IFTR-012"]);
            assert_eq!(outcome.report(INDEX).events, Some(6));
        });
    }
}

#[test]
fn a_tail_of_64_kib_of_zeros_has_no_events() {
    let zeros = [0; 64 << 10];
    each_breaks(INDEX, "ATF-IFTR-011", Recover, |t| {
        t.index(|file| *file = file.clone().placeholder());
        t.cut(INDEX, 256);
        t.append(INDEX, &zeros);
    });
    let detail = |t: &mut Trace| {
        t.detail(|file| *file = file.clone().placeholder());
        t.cut(DETAIL, 461);
        t.append(DETAIL, &zeros);
    };
    each(detail, |outcome| {
        assert_rules(outcome, DETAIL, &["ATF-DFTR-001", "ATF-DFTR-011"]);
        assert_eq!(outcome.report(DETAIL).details, Some(3));
    });
}

#[test]
fn the_layout_of_one_version_with_the_number_of_the_other_is_rejected_by_name() {
    for (layout, number) in [(2, 1), (1, 2)] {
        let file = IndexFile::finalized(layout, 32).bytes();
        let mut trace = Trace::clean(number);
        trace.put(INDEX, patched(&file, 5, &[number]));
        let outcome = Outcome::of_trace(&trace);
        assert_rules(&outcome, INDEX, &["ATF-IHDR-005"]);
        let finding = outcome.finding(INDEX, "ATF-IHDR-005").unwrap();
        let layout = format!("the layout of wire version {layout}");
        assert!(finding.message.contains(&layout), "{}", finding.message);
        assert_eq!(outcome.verdict(INDEX), Reject);
    }
}

#[test]
fn a_checksum_mismatch_is_rejected_and_the_ieee_checksum_is_named() {
    each_breaks(INDEX, "ATF-IFTR-004", Reject, |t| {
        t.index(|file| file.checksum ^= 1 << 31);
    });
    each_breaks(DETAIL, "ATF-DFTR-004", Reject, |t| {
        t.detail(|file| file.checksum ^= 1 << 31);
    });
    let ieee = |t: &mut Trace| t.index(|file| file.checksum = crc32_ieee(&file.section()));
    each(ieee, |outcome| {
        assert_rules(outcome, INDEX, &["ATF-IFTR-005"]);
        let finding = outcome.finding(INDEX, "ATF-IFTR-005").unwrap();
        assert!(finding.message.contains("IEEE"), "{}", finding.message);
        assert_eq!(outcome.verdict(INDEX), Reject);
    });
}

#[test]
fn last_details_smaller_than_a_footer_are_not_lost_without_a_footer() {
    let edit = |t: &mut Trace| {
        t.details(|details| {
            details
                .iter_mut()
                .for_each(|detail| detail.payload.truncate(3));
        });
        t.detail(|file| *file = file.clone().placeholder());
        t.cut(DETAIL, 64 + 3 * 27);
    };
    each(edit, |outcome| {
        assert_rules(outcome, DETAIL, &["ATF-DFTR-001", "ATF-DPAY-002"]);
        assert_eq!(outcome.report(DETAIL).details, Some(3));
        assert_eq!(outcome.verdict(INDEX), Accept);
    });
}

#[test]
fn impossible_lengths_are_rejected_at_their_offset() {
    let lengths = [
        (0, "ATF-DEVT-001", "events[0].total_length", 64),
        (23, "ATF-DEVT-001", "events[0].total_length", 64),
        // The payload is read as the next event. Its length comes from a function_id that begins
        // with 1.
        (24, "ATF-DEVT-001", "events[1].total_length", 64 + 24),
        (398, "ATF-DEVT-002", "events[0].total_length", 64),
        (462, "ATF-DEVT-002", "events[0].total_length", 64),
        (u32::MAX, "ATF-DEVT-002", "events[0].total_length", 64),
    ];
    for (length, rule, field, offset) in lengths {
        each(
            |t| t.patch_detail(64, &length.to_le_bytes()),
            |outcome| {
                let finding = outcome.finding(DETAIL, rule).unwrap();
                assert_eq!(finding.place.field, field);
                assert_eq!(finding.place.offset, Some(offset));
                assert_eq!(outcome.verdict(DETAIL), Reject);
                // The rejection of one file does not prove that the other file's links are wrong.
                assert_eq!(outcome.verdict(INDEX), Accept);
            },
        );
    }
}

/// The events before the impossible length are complete. The number of events after it is unknown.
#[test]
fn an_impossible_length_without_a_footer_ends_the_surviving_events_and_is_named() {
    let edit = |t: &mut Trace| {
        t.cut(DETAIL, 461);
        t.patch(DETAIL, 188, &23_u32.to_le_bytes());
    };
    each(edit, |outcome| {
        assert_rules(outcome, DETAIL, &["ATF-DFTR-001", "ATF-DFTR-010"]);
        let finding = outcome.finding(DETAIL, "ATF-DFTR-010").unwrap();
        assert_eq!(finding.place.offset, Some(188));
        assert!(
            finding.message.contains("total_length is 23"),
            "{}",
            finding.message
        );
        assert_eq!(outcome.report(DETAIL).details, Some(1));
        assert_eq!(outcome.verdict(DETAIL), Recover);
    });
}

#[test]
fn a_truncated_file_is_distinguished_from_an_unfinalized_one() {
    let message = |edit: fn(&mut Trace), version| {
        let mut trace = Trace::clean(version);
        edit(&mut trace);
        let outcome = Outcome::of_trace(&trace);
        outcome
            .finding(INDEX, "ATF-IFTR-001")
            .unwrap()
            .message
            .clone()
    };
    for version in [1, 2] {
        let cut = message(|t| t.cut(INDEX, 64 + 5 * 32), version);
        assert!(cut.contains("5 of 6 events are left"), "{cut}");
        let footer_only = message(|t| t.cut(INDEX, 256), version);
        assert!(footer_only.contains("truncated"), "{footer_only}");
        let crash = |t: &mut Trace| {
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 256);
        };
        let crash = message(crash, version);
        assert!(crash.contains("not finalized"), "{crash}");
    }
}

#[test]
fn a_wrong_detail_count_is_rejected_only_in_the_footer() {
    each_breaks(DETAIL, "ATF-DFTR-002", Reject, |t| {
        t.detail(|file| file.footer_count = 2);
    });
    each_breaks(DETAIL, "ATF-DHDR-009", Accept, |t| {
        t.detail(|file| file.header_count = 2);
    });
}

/// The bytes of a torn detail are not an event, but they are not a reason to reject the file
/// either.
#[test]
fn a_detail_torn_at_any_byte_keeps_the_details_before_it() {
    for size in 0..132 {
        let edit = |t: &mut Trace| {
            t.details(|details| {
                details.push(DetailRecord {
                    index_seq: 4,
                    ..details[2].clone()
                });
            });
            t.detail(|file| *file = file.clone().placeholder());
            let whole = padded(&t.file(DETAIL)[..461 + size], 0);
            t.put(DETAIL, whole);
        };
        each(edit, |outcome| {
            assert_eq!(outcome.report(DETAIL).details, Some(3));
            assert_eq!(outcome.verdict(DETAIL), Recover);
        });
    }
}

#[test]
fn a_block_of_zeros_is_a_hole_and_later_events_keep_their_positions() {
    let edit = |t: &mut Trace| {
        t.without_details();
        let event = |seq: u64| call(T + seq, 1, 1 + u32::try_from(seq).unwrap());
        t.events(|events| *events = (0..400).map(event).collect::<Vec<EventRecord>>());
        t.index(|file| *file = file.clone().placeholder());
        t.cut(INDEX, 64 + 32 * 400);
        t.patch(INDEX, 4096, &[0; 4096]);
    };
    each(edit, |outcome| {
        assert_rules(outcome, INDEX, &["ATF-IEVT-006", "ATF-IFTR-001"]);
        let finding = outcome.finding(INDEX, "ATF-IEVT-006").unwrap();
        assert_eq!((finding.place.offset, finding.count), (Some(4096), 128));
        assert_eq!(finding.place.field, "events[126]");
        assert_eq!(outcome.report(INDEX).events, Some(400));
        assert_eq!(outcome.verdict(INDEX), Recover);
    });
}

#[test]
fn the_smallest_length_can_be_too_long_but_not_too_short() {
    // The last detail event, at offset 329, now ends 14 bytes before the footer. The bytes after
    // the event contain a length of 24.
    each(
        |t| {
            t.patch(DETAIL, 329, &118_u32.to_le_bytes());
            t.patch(DETAIL, 447, &24_u32.to_le_bytes());
        },
        |outcome| {
            assert!(outcome.finding(DETAIL, "ATF-DEVT-002").is_some());
            assert!(outcome.finding(DETAIL, "ATF-DEVT-001").is_none());
        },
    );
}

#[test]
fn bytes_between_the_last_event_and_a_misplaced_footer_are_counted() {
    each(
        |t| {
            let mut bytes = t.file(INDEX).to_vec();
            bytes.splice(256..256, [7; 5]);
            t.put(INDEX, bytes);
        },
        |outcome| {
            let finding = outcome.finding(INDEX, "ATF-IFTR-010").unwrap();
            assert_eq!(
                finding.message,
                "5 bytes between the last event and the footer"
            );
            assert_eq!(finding.place.offset, Some(256));
        },
    );
    // Without extra bytes, there is no finding.
    each(
        |t| {
            t.index(|file| file.footer_count = 7);
        },
        |outcome| {
            assert!(outcome.finding(INDEX, "ATF-IFTR-002").is_some());
            assert!(outcome.finding(INDEX, "ATF-IFTR-010").is_none());
        },
    );
}

#[test]
fn depths_next_to_an_unknown_kind_are_not_checked() {
    let kinds = [1, 9, 2, 9, 3, 9, 1];
    let mut trace = Trace::clean(1);
    trace.events(|events| {
        let depth = |kind| if kind == 9 { 7 } else { 5 };
        let one = |(kind, time): (u8, u64)| event(kind, T + time, 1, depth(kind));
        *events = kinds.into_iter().zip(0..).map(one).collect();
    });
    let outcome = Outcome::of_trace(&trace);
    let finding = outcome.finding(INDEX, "ATF-IEVT-002").unwrap();
    assert_eq!(finding.count, 3);
    assert!(outcome.finding(INDEX, "ATF-IEVT-004").is_none());
}

#[test]
fn depths_follow_from_the_previous_event() {
    // Kinds are 1 for call, 2 for return and 3 for exception. Each row has the kind and depth of an
    // event, and those of the next event.
    for (first, from, second, follows) in [
        (1, 4, 1, 5),
        (1, 4, 2, 4),
        (1, 4, 3, 4),
        (2, 4, 1, 4),
        (3, 4, 1, 4),
        (2, 4, 2, 3),
        (2, 4, 3, 3),
        (3, 4, 2, 3),
    ] {
        for depth in 2..=6 {
            let mut trace = Trace::clean(1);
            trace.events(|events| {
                *events = vec![event(first, T, 1, from), event(second, T + 1, 1, depth)];
            });
            let outcome = Outcome::of_trace(&trace);
            let finding = outcome.finding(INDEX, "ATF-IEVT-004");
            let at = format!("{first} at {from}, {second} at {depth}");
            assert_eq!(finding.is_none(), depth == follows, "{at}");
            if let Some(finding) = finding {
                let message = format!("{depth}, expected {follows} after the previous event");
                assert_eq!(finding.message, message, "{at}");
                assert_eq!(finding.place.field, "events[1].call_depth");
            }
        }
    }
}

#[test]
fn the_reason_for_a_missing_footer_is_given_if_it_is_known() {
    let said = |edit: &dyn Fn(&mut Trace)| {
        let mut trace = Trace::clean(1);
        edit(&mut trace);
        let outcome = Outcome::of_trace(&trace);
        outcome
            .finding(INDEX, "ATF-IFTR-001")
            .unwrap()
            .message
            .clone()
    };
    let placeholder = said(&|t| {
        t.index(|file| *file = file.clone().placeholder());
        t.cut(INDEX, 256);
    });
    assert_eq!(placeholder, "no footer: the file was not finalized");
    let all = said(&|t| t.cut(INDEX, 256));
    let afterwards = "no footer: the file was truncated or damaged after it was finalized";
    assert_eq!(all, afterwards);
    let some = said(&|t| t.cut(INDEX, 192));
    assert_eq!(some, format!("{afterwards}; 4 of 6 events are left"));
    let more = said(&|t| {
        t.index(|file| file.header_count = 2);
        t.cut(INDEX, 256);
    });
    assert_eq!(more, "no footer; the header counts only 2 of 6 events");
}
