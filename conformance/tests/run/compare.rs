//! Where two documents differ first.

use atf_conformance::protocol::first_difference;
use serde_json::{Value, json};

fn place(expected: &Value, got: &Value) -> Option<String> {
    first_difference(expected, got, &[]).map(|mismatch| mismatch.place())
}

#[test]
fn values_count_and_their_form_does_not() {
    let expected = json!({"a": 1, "b": {"c": "2", "d": [null, 3]}});
    let got: Value =
        serde_json::from_str(r#"{ "b" : {"d": [null, 3.0], "c": "2"}, "x_b": 7, "a": 1 }"#)
            .unwrap();
    assert_eq!(place(&expected, &got), None);
}

#[test]
fn registers_count_though_their_key_begins_as_own_keys_do() {
    let [one, other] = ["1", "2"].map(|register| json!({"x_regs": [register]}));
    assert_eq!(place(&one, &other).as_deref(), Some("x_regs[0]"));
    assert_eq!(place(&one, &json!({})).as_deref(), Some("x_regs"));
}

#[test]
fn the_first_difference_is_named() {
    let expected = json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}], "footer": null});
    let differ = |got: Value| place(&expected, &got);
    let got = json!({"footer": 1, "events": [{"t": "1"}, {"t": "9"}, {"t": "8"}]});
    assert_eq!(differ(got).as_deref(), Some("events[1].t"));
    let got = json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}]});
    assert_eq!(differ(got).as_deref(), Some("footer"));
    let got = json!({"events": [{"t": "1"}, {"t": "2"}], "footer": null});
    assert_eq!(differ(got).as_deref(), Some("events[2]"));
    let got = json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}, {}], "footer": null});
    assert_eq!(differ(got).as_deref(), Some("events[3]"));
    let got = json!({"events": [{"t": "1"}, {"t": "2"}, {"t": "3"}], "footer": null, "more": 1});
    assert_eq!(differ(got).as_deref(), Some("more"));
}

#[test]
fn kinds_of_values_are_told_apart() {
    for (expected, got) in [
        (json!(1), json!("1")),
        (json!(0), json!(null)),
        (json!(1), json!(true)),
        (json!([]), json!({})),
        (json!(1), json!(1.5)),
        (json!(u64::MAX), json!(u64::MAX - 1)),
    ] {
        let mismatch = first_difference(&json!({ "a": expected }), &json!({ "a": got }), &[]);
        assert_eq!(mismatch.unwrap().place(), "a", "{expected} {got}");
    }
}

#[test]
fn a_missing_key_is_not_null() {
    let mismatch = first_difference(&json!({"a": null}), &json!({}), &[]).unwrap();
    assert_eq!(
        (mismatch.expected.as_deref(), mismatch.got),
        (Some("null"), None)
    );
    let mismatch = first_difference(&json!({}), &json!({"a": null}), &[]).unwrap();
    assert_eq!(
        (mismatch.expected, mismatch.got.as_deref()),
        (None, Some("null"))
    );
}

#[test]
fn what_is_ignored_is_ignored_on_both_sides() {
    let (with, without) = (json!({"a": {"function": {"sp": 1}}}), json!({"a": {}}));
    assert_eq!(first_difference(&with, &without, &["function"]), None);
    assert_eq!(first_difference(&without, &with, &["function"]), None);
}
