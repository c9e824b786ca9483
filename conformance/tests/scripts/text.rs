//! Tests parsing and printing scripts, and reporting errors in them.

use atf_conformance::scripts::{Detail, Index, Open, Operation, Script, ScriptError};

const SCRIPT: &str = "\
open thread=7 wire=1 clock=3 arch=2 os=4
index thread=7 ts=1000 fn=18446744073709551615 kind=1 depth=4294967295 detail=0
detail thread=7 index=0 ts=1000 type=65535 flags=1 payload=00ff
index thread=7 ts=1000 fn=0 kind=3 depth=0 detail=-
finalize thread=7
";

#[test]
fn each_value_is_parsed_by_its_key() {
    let script: Script = SCRIPT.parse().unwrap();
    let expected = [
        Operation::Open(Open {
            thread_id: 7,
            wire: 1,
            clock_type: 3,
            arch: 2,
            os: 4,
        }),
        Operation::Index(Index {
            thread_id: 7,
            timestamp_ns: 1000,
            function_id: u64::MAX,
            event_kind: 1,
            call_depth: u32::MAX,
            detail_seq: Some(0),
        }),
        Operation::Detail(Detail {
            thread_id: 7,
            index_seq: 0,
            timestamp: 1000,
            event_type: 65_535,
            flags: 1,
            payload: vec![0x00, 0xff],
        }),
        Operation::Index(Index {
            thread_id: 7,
            timestamp_ns: 1000,
            function_id: 0,
            event_kind: 3,
            call_depth: 0,
            detail_seq: None,
        }),
        Operation::Finalize(7),
    ];
    assert_eq!(script.operations(), expected);
    assert_eq!(script.to_string(), SCRIPT);
}

#[test]
fn comments_and_empty_lines_are_skipped_but_count_as_lines() {
    let text = format!("# open thread=x\n\n{SCRIPT}\n# end");
    assert_eq!(text.parse::<Script>(), SCRIPT.parse());
    let error = format!("# one\n\n{SCRIPT}stop")
        .parse::<Script>()
        .unwrap_err();
    assert_eq!((error.line, error.column), (8, 1));
}

/// Returns the error of a script that opens thread 1 in version 1 and continues with `line`.
#[track_caller]
fn error(line: &str) -> ScriptError {
    let open = "open thread=1 wire=1 clock=3 arch=2 os=4";
    let parsed = format!("{open}\n{line}\n").parse::<Script>();
    parsed.unwrap_err()
}

#[test]
fn an_error_has_line_column_and_the_expected_text() {
    #[rustfmt::skip]
    let mistakes = [
        ("Index thread=1", 1, "\"Index\", expected open, index, detail, finalize, flush, close, space, abort or kill"),
        (" abort", 1, "\"\", expected open"),
        ("finalize", 9, "\"\", expected thread="),
        ("finalize  thread=1", 10, "\"\", expected thread="),
        ("finalize id=1", 10, "\"id=1\", expected thread="),
        ("finalize thread=", 17, "thread is \"\", expected a decimal number"),
        ("finalize thread=+1", 17, "thread is \"+1\", expected a decimal number"),
        ("finalize thread=0x1", 17, "thread is \"0x1\", expected a decimal number"),
        ("finalize thread=4294967296", 17, "thread is 4294967296, expected 0 to 4294967295"),
        ("finalize thread=1 now", 19, "expected the end of the line"),
        ("index thread=1 ts=18446744073709551616 fn=0 kind=1 depth=1 detail=-", 19, "ts is 18446744073709551616, expected 0 to 18446744073709551615"),
        ("index thread=1 ts=1 fn=0 kind=4 depth=1 detail=-", 31, "kind is 4, expected 1 to 3"),
        ("index thread=1 ts=1 fn=0 kind=1 depth=1 detail=none", 48, "detail is \"none\""),
        ("index thread=1 fn=0 ts=1 kind=1 depth=1 detail=-", 16, "\"fn=0\", expected ts="),
        ("detail thread=1 index=0 ts=1 type=3 flags=0 payload=0", 53, "an odd number of digits"),
        ("detail thread=1 index=0 ts=1 type=3 flags=0 payload=00FF", 55, "lowercase hex"),
        ("detail thread=1 index=0 ts=1 type=3 flags=0 payload=0\u{e9}0", 53, "lowercase hex"),
        ("open thread=2 wire=3 clock=3 arch=2 os=4", 20, "wire is 3, expected 1 to 2"),
    ];
    for (line, column, message) in mistakes {
        let error = error(line);
        assert_eq!((error.line, error.column), (2, column), "{line}: {error}");
        assert!(error.message.contains(message), "{line}: {error}");
    }
    let shown = error("finalize id=1").to_string();
    assert_eq!(shown, "line 2, column 10: \"id=1\", expected thread=");
}

#[test]
fn an_impossible_order_is_rejected_at_its_line() {
    #[rustfmt::skip]
    let mistakes = [
        ("open thread=1 wire=1 clock=3 arch=2 os=4", 2, "thread 1 is opened twice"),
        ("open thread=2 wire=2 clock=3 arch=2 os=4", 2, "the same in every open"),
        ("open thread=2 wire=1 clock=1 arch=2 os=4", 2, "the same in every open"),
        ("finalize thread=2", 2, "thread 2 is not open"),
        ("finalize thread=1\nflush thread=1", 3, "thread 1 is finalized"),
        ("finalize thread=1\nEVENT0", 3, "thread 1 is finalized"),
        ("abort\nfinalize thread=1", 2, "abort must be the last operation"),
        ("kill\nfinalize thread=1", 2, "kill must be the last operation"),
        ("close thread=1\nflush thread=1", 3, "thread 1 is closed"),
        ("EVENT-", 2, "expected finalize thread=1, close thread=1, abort or kill after this"),
        ("EVENT1\nDETAIL index=0 ts=5 REST\nabort", 2, "detail is 1, expected 0"),
        ("EVENT0\nabort", 3, "expected the details of the previous event"),
        ("EVENT0", 2, "the details of this event are missing"),
        ("DETAIL index=0 ts=5 REST\nabort", 2, "the previous event has no details"),
        ("EVENT0\nDETAIL index=0 ts=6 REST\nabort", 3, "ts is 6, expected 5"),
        ("EVENT0\nDETAIL index=1 ts=5 REST\nabort", 3, "index is 1, expected 0"),
        ("EVENT-\nindex thread=1 ts=4 fn=1 kind=1 depth=1 detail=-\nabort", 3, "ts is 4, less than the previous 5"),
    ];
    for (rest, line, message) in mistakes {
        let rest = rest.replace("EVENT", "index thread=1 ts=5 fn=1 kind=1 depth=1 detail=");
        let rest = rest.replace("DETAIL", "detail thread=1");
        let rest = rest.replace("REST", "type=3 flags=0 payload=");
        let error = error(&rest);
        assert_eq!(error.line, line, "{rest}: {error}");
        assert!(error.message.contains(message), "{rest}: {error}");
    }
    for nothing in ["", "# nothing\n", "abort\n"] {
        let error = nothing.parse::<Script>().unwrap_err();
        assert_eq!(error.message, "no thread is opened");
    }
}
