//! Tests the messages of findings that depend on what else is known, and the depths that follow from the previous event.

use atf_conformance::corpus::trace::{INDEX, T, Trace, event};
use atf_samples::files::{IndexFile, crc32_ieee, patched};

use crate::outcome::Outcome;

/// Returns the message of a finding on the edited index, if there is one.
fn message(rule: &str, edit: impl Fn(&mut Trace)) -> Option<String> {
    let mut trace = Trace::clean(1);
    edit(&mut trace);
    let outcome = Outcome::of_trace(&trace);
    let finding = outcome.finding(INDEX, rule);
    finding.map(|finding| finding.message.clone())
}

/// A rule, a part of its message, and the edit that breaks it.
type Case = (&'static str, &'static str, fn(&mut Trace));

#[test]
fn a_message_states_what_else_is_known() {
    let afterwards = "no footer: the file was truncated or damaged after it was finalized";
    let cases: [Case; 7] = [
        (
            "ATF-IFTR-001",
            "no footer: the file was not finalized",
            |t| {
                t.index(|file| *file = file.clone().placeholder());
                t.cut(INDEX, 256);
            },
        ),
        ("ATF-IFTR-001", afterwards, |t| t.cut(INDEX, 256)),
        ("ATF-IFTR-001", "finalized; 4 of 6 events are left", |t| {
            t.cut(INDEX, 192);
        }),
        (
            "ATF-IFTR-001",
            "no footer; the header counts only 2 of 6 events",
            |t| {
                t.index(|file| file.header_count = 2);
                t.cut(INDEX, 256);
            },
        ),
        (
            "ATF-IFTR-010",
            "5 bytes between the last event and the footer",
            |t| {
                let mut bytes = t.file(INDEX).to_vec();
                bytes.splice(256..256, [7; 5]);
                t.put(INDEX, bytes);
            },
        ),
        ("ATF-IFTR-005", "the IEEE CRC-32", |t| {
            t.index(|file| file.checksum = crc32_ieee(&file.section()));
        }),
        ("ATF-IHDR-005", "the layout of wire version 2", |t| {
            t.put(
                INDEX,
                patched(&IndexFile::finalized(2, 32).bytes(), 5, &[1]),
            );
        }),
    ];
    for (rule, part, edit) in cases {
        let message = message(rule, edit).unwrap();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn depths_follow_from_the_previous_event() {
    // Kinds are 1 for call, 2 for return and 3 for exception. Each row has the kind and depth of an
    // event, and those of the next event. Nothing follows from an unknown kind.
    for (first, from, second, follows) in [
        (1, 4, 1, Some(5)),
        (1, 4, 2, Some(4)),
        (1, 4, 3, Some(4)),
        (2, 4, 1, Some(4)),
        (3, 4, 1, Some(4)),
        (2, 4, 2, Some(3)),
        (2, 4, 3, Some(3)),
        (3, 4, 2, Some(3)),
        (1, 4, 9, None),
        (9, 4, 1, None),
    ] {
        for depth in 2..=6 {
            let found = message("ATF-IEVT-004", |t| {
                t.events(|events| {
                    *events = vec![event(first, T, 1, from), event(second, T + 1, 1, depth)];
                });
            });
            let wrong = follows.filter(|follows| *follows != depth);
            let expected =
                wrong.map(|it| format!("{depth}, expected {it} after the previous event"));
            assert_eq!(found, expected, "{first} at {from}, {second} at {depth}");
        }
    }
}
