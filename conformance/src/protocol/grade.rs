//! Which differences between documents are in their data, and which in labels alone.

use serde_json::Value;

use super::compare::Step;
use crate::results::Grade;

/// Whether a difference is in the data or in a label.
///
/// `header` is the header that is expected in the file that the difference is in.
pub(super) fn grade(
    steps: &[Step],
    expected: Option<&Value>,
    got: Option<&Value>,
    header: Option<&Value>,
) -> Grade {
    let keys: Vec<&str> = steps.iter().filter_map(Step::key).collect();
    let is_empty = |value: Option<&Value>| value.is_none_or(Value::is_null);
    let is_label = match keys.as_slice() {
        [.., "verdict"] => !holds_events(expected) && !holds_events(got),
        [
            ..,
            "derived",
            "count_source" | "checksum" | "trailing_bytes" | "manifest",
        ] => true,
        // A session without events has no times.
        [.., "derived", "time_start_ns" | "time_end_ns"] => is_empty(expected),
        // Which footer is shown is a label, what it says is not.
        [.., "footer"] => is_empty(expected) || is_empty(got),
        // Until the file is finalized, these say nothing of it.
        [
            ..,
            "header",
            "flags" | "event_count" | "bytes_length" | "footer_offset" | "index_seq_start"
            | "index_seq_end" | "time_start_ns" | "time_end_ns",
        ] => header.is_some_and(is_placeholder),
        // A thread or a file of one that gives no event either way.
        ["threads"] | ["threads", "index" | "detail"] => {
            !holds_events(expected) && !holds_events(got)
        }
        _ => false,
    };
    match is_label {
        true => Grade::Label,
        false => Grade::Data,
    }
}

/// Whether a document or a part of one gives any event.
#[must_use]
pub fn holds_events(document: Option<&Value>) -> bool {
    let Some(document) = document else {
        return false;
    };
    let has_events = |file: &Value| {
        let events = file.get("events").and_then(Value::as_array);
        events.is_some_and(|events| !events.is_empty())
    };
    let thread = |thread: &Value| {
        let mut files = ["index", "detail"].into_iter();
        files.any(|name| thread.get(name).is_some_and(has_events))
    };
    let threads = document.get("threads").and_then(Value::as_array);
    has_events(document)
        || thread(document)
        || threads.is_some_and(|threads| threads.iter().any(thread))
}

/// Whether a header is one of a file that was not finalized: without counts and times.
fn is_placeholder(header: &Value) -> bool {
    let is_zero = |name: &str| {
        header
            .get(name)
            .is_none_or(|value| *value == 0 || *value == "0")
    };
    [
        "event_count",
        "bytes_length",
        "time_start_ns",
        "time_end_ns",
    ]
    .into_iter()
    .all(is_zero)
}
