//! Times that do not fit in signed 64-bit numbers.

use atf_analyze::Options;
use atf_export::Form;

use crate::{CALL, FORMS, RETURN, exported, write_session};

/// 2⁶³.
const LATE: u64 = 1 << 63;
const NOTE: &str =
    "2 events after 9223372036854775807 ns, the latest time that an export can contain";

#[test]
fn events_from_2_to_the_63_on_are_left_out_and_counted_in_every_form() {
    let events = &[
        (LATE - 10, 1, CALL),
        (LATE - 4, 1, RETURN),
        (LATE - 3, 1, CALL),
        (LATE, 1, RETURN),
        (LATE + 5, 3, CALL),
    ];
    let (_folder, session) = write_session(&[(0, events)]);
    for form in FORMS {
        let (out, summary) = exported(&session, &Options::default(), form);
        assert_eq!((summary.late_events, summary.is_whole()), (2, false));
        let text = String::from_utf8_lossy(&out);
        assert_eq!(text.matches(NOTE).count(), 1, "{form:?}: {text}");
        assert!(!text.contains("0x3"), "{form:?}: {text}");
        // If the range ends earlier, nothing is missing from it.
        let (out, summary) = exported(
            &session,
            &Options {
                to_ns: LATE - 1,
                ..Options::default()
            },
            form,
        );
        assert_eq!((summary.late_events, summary.is_whole()), (0, true));
        assert!(!String::from_utf8_lossy(&out).contains(NOTE));
    }
    // The second call is cut off at the end: 2 ns.
    let (folded, _) = exported(&session, &Options::default(), Form::Folded);
    let folded = String::from_utf8(folded).unwrap();
    assert_eq!(folded.lines().next(), Some("main 8"));
}

/// Perfetto reads times as signed numbers, so the times of notes must not be too large either.
#[test]
fn a_trace_that_is_too_late_has_only_notes() {
    let (_folder, session) = write_session(&[(0, &[(LATE, 1, CALL), (LATE + 9, 1, RETURN)])]);
    let (csv, _) = exported(&session, &Options::default(), FORMS[5]);
    let csv = String::from_utf8(csv).unwrap();
    let rows: Vec<_> = csv.lines().skip(1).collect();
    let note = format!("42,0,,,,,,,,,\"{NOTE}\"");
    assert_eq!(rows, [note]);
    let (trace, _) = exported(&session, &Options::default(), Form::Perfetto);
    // timestamp (8): 2⁶³ - 1.
    let time = b"\x40\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
    assert!(trace.windows(time.len()).any(|bytes| bytes == time));
}
