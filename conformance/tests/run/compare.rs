//! Tests the comparison of two documents.

use atf_conformance::protocol::{Mismatch, differences};
use atf_conformance::results::Grade;

use serde_json::{Value, json};

fn first_difference(expected: &Value, got: &Value, ignored: &[&str]) -> Option<Mismatch> {
    differences(expected, got, ignored).into_iter().next()
}

fn place(expected: &Value, got: &Value) -> Option<String> {
    first_difference(expected, got, &[]).map(|mismatch| mismatch.place())
}

#[test]
fn registers_are_compared_although_their_keys_start_with_x() {
    let [one, other] = ["1", "2"].map(|register| json!({"x_regs": [register]}));
    assert_eq!(place(&one, &other).as_deref(), Some("x_regs[0]"));
    assert_eq!(place(&one, &json!({})).as_deref(), Some("x_regs"));
}

#[test]
fn the_first_difference_is_named() {
    let expected = json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}], "footer": null});
    #[rustfmt::skip]
    let answers = [
        (json!({"footer": 1, "events": [{"t": "1"}, {"t": "9"}, {"t": "8"}]}), "events[1].t"),
        (json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}]}), "footer"),
        (json!({"events": [{"t": "1"}, {"t": "2"}], "footer": null}), "events[2]"),
        (json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}, {}], "footer": null}), "events[3]"),
        (json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}], "footer": null, "more": 1}), "more"),
    ];
    for (got, at) in answers {
        assert_eq!(place(&expected, &got).as_deref(), Some(at));
    }
}

#[test]
fn kinds_of_values_are_distinguished() {
    for (expected, got) in [
        (json!(1), json!("1")),
        (json!(0), json!(null)),
        (json!(1), json!(true)),
        (json!([]), json!({})),
        (json!(1), json!(1.5)),
        (json!(1), json!(1.0)),
        (json!(u64::MAX), json!(u64::MAX - 1)),
    ] {
        let mismatch = first_difference(&json!({ "a": expected }), &json!({ "a": got }), &[]);
        assert_eq!(mismatch.unwrap().place(), "a", "{expected} {got}");
    }
}

#[test]
fn a_missing_key_is_not_null() {
    let values = |expected: Value, got: Value| {
        let mismatch = first_difference(&expected, &got, &[]).unwrap();
        (mismatch.expected, mismatch.got)
    };
    let (null, nothing) = (json!({"a": null}), json!({}));
    let is_null = Some("null".to_owned());
    assert_eq!(
        values(null.clone(), nothing.clone()),
        (is_null.clone(), None)
    );
    assert_eq!(values(nothing, null), (None, is_null));
}

#[test]
fn ignored_keys_are_ignored_on_both_sides() {
    let (with, without) = (json!({"a": {"function": {"sp": 1}}}), json!({"a": {}}));
    assert_eq!(first_difference(&with, &without, &["function"]), None);
    assert_eq!(first_difference(&without, &with, &["function"]), None);
}

/// Returns the places and grades of all differences.
fn all(expected: &Value, got: &Value) -> Vec<(String, Grade)> {
    let found = differences(expected, got, &[]);
    found.iter().map(|it| (it.place(), it.grade)).collect()
}

#[test]
fn twenty_elements_of_a_long_array_are_reported_and_the_rest_are_counted() {
    let events = |first: u64| (first..first + 100).collect::<Vec<_>>();
    let (expected, got) = (json!({"events": events(0)}), json!({"events": events(1)}));
    let found = all(&expected, &got);
    assert_eq!(found.len(), 21);
    assert_eq!(found[19].0, "events[19]");
    assert_eq!(found[20].0, "events[80 more]");
}

#[test]
fn twenty_unexpected_keys_or_threads_are_reported_and_the_others_counted() {
    let keys = (0..50).map(|seq| (format!("{seq:02}"), json!(1)));
    let expected = json!({"header": {"arch": 1}});
    let got =
        json!({"header": Value::Object(keys.chain([("arch".to_owned(), json!(1))]).collect())});
    let found = differences(&expected, &got, &[]);
    let places: Vec<_> = found.iter().map(Mismatch::place).collect();
    assert_eq!(places.len(), 21);
    assert_eq!(places[19..], ["header.19", "header[30 more]"]);
    assert_eq!(found[20].expected.as_deref(), Some("\"1 keys\""));
    assert_eq!(found[20].got.as_deref(), Some("\"51 keys\""));

    let thread = |id: u32, events: &[u8]| json!({"thread_id": id, "index": {"events": events}});
    let empty = (0..50).map(|id| thread(id, &[]));
    let empty: Vec<_> = empty.collect();
    let session = |threads: &[Value]| json!({"threads": threads});
    let found = all(&session(&[]), &session(&empty));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], ("threads[30 more]".to_owned(), Grade::Label));
    // If one of the uncounted threads has events, they are false events.
    let one_holds = [&empty[..], &[thread(50, &[1])]].concat();
    let found = all(&session(&[]), &session(&one_holds));
    assert_eq!(found[20], ("threads[31 more]".to_owned(), Grade::Data));
}

#[test]
fn a_long_key_is_shortened() {
    let got = json!({"k".repeat(1_000_000): "v".repeat(1_000_000)});
    let found = differences(&json!({}), &got, &[]);
    let [mismatch] = found.as_slice() else {
        panic!("{}", found.len());
    };
    assert_eq!(mismatch.place(), format!("{}…", "k".repeat(200)));
    let value = format!("\"{}…", "v".repeat(199));
    assert_eq!(mismatch.got.as_ref(), Some(&value));
}

#[test]
fn labels_are_distinguished_from_data() {
    let file = |count: &str| {
        json!({
            "kind": "index",
            "verdict": "recover",
            "header": {"event_count": 0, "time_start_ns": "0", "time_end_ns": "0", "arch": 1},
            "events": [{"timestamp_ns": "1"}],
            "footer": null,
            "derived": {"event_count": count, "count_source": "file_size",
                        "checksum": "not_checked", "trailing_bytes": "0"},
        })
    };
    let of_file = |pointer: &str, value: Value| {
        let mut got = file("1");
        *got.pointer_mut(pointer).unwrap() = value;
        all(&file("1"), &got)
    };
    for (pointer, value, grade) in [
        ("/derived/count_source", json!("footer"), Grade::Label),
        ("/derived/checksum", json!("good"), Grade::Label),
        ("/derived/trailing_bytes", json!("1"), Grade::Label),
        ("/derived/event_count", json!("2"), Grade::Data),
        ("/footer", json!({"event_count": "1"}), Grade::Label),
        // A placeholder's numbers have no meaning yet.
        ("/header/event_count", json!(1), Grade::Label),
        ("/header/arch", json!(2), Grade::Data),
        ("/events/0/timestamp_ns", json!("2"), Grade::Data),
        ("/events", json!([]), Grade::Data),
    ] {
        let found = of_file(pointer, value);
        assert_eq!(found.len(), 1, "{pointer}: {found:?}");
        assert_eq!(found[0].1, grade, "{pointer}");
    }
    let mut finalized = file("1");
    finalized["header"]["event_count"] = json!(1);
    let found = all(&finalized, &file("1"));
    assert_eq!(found, [("header.event_count".to_owned(), Grade::Data)]);
}

#[test]
fn threads_are_compared_by_their_ids_and_a_refused_file_is_one_difference() {
    let thread = |id: u32, events: usize| {
        let events = vec![json!({"timestamp_ns": "1"}); events];
        json!({"thread_id": id, "detail": null,
               "index": {"kind": "index", "verdict": "accept", "events": events}})
    };
    let refused = |id: u32| json!({"thread_id": id, "detail": null, "index": {"kind": "index", "verdict": "reject"}});
    let session = |threads: &[Value]| json!({"kind": "session", "threads": threads});
    let differ = |expected: &[Value], got: &[Value]| all(&session(expected), &session(got));
    let is = |place: &str, grade| vec![(place.to_owned(), grade)];
    let both = [thread(7, 2), thread(9, 0)];
    assert_eq!(differ(&both, &both), []);
    assert_eq!(differ(&both, &both[1..]), is("threads[0]", Grade::Data));
    assert_eq!(differ(&both, &both[..1]), is("threads[1]", Grade::Label));
    let phantom = differ(&both[1..], &both);
    assert_eq!(phantom, is("threads[0]", Grade::Data));
    let verdict = "threads[0].index.verdict";
    let loses = differ(&both, &[refused(7), thread(9, 0)]);
    assert_eq!(loses, is(verdict, Grade::Data));
    let loses_nothing = differ(&[refused(7)], &[thread(7, 0)]);
    assert_eq!(loses_nothing, is(verdict, Grade::Label));
    let turned = [thread(9, 0), thread(7, 2)];
    assert_eq!(differ(&both, &turned), is("threads", Grade::Label));
}
