//! Decides whether documents differ in data or only in labels.

use serde_json::Value;

use super::step::Step;
use crate::results::Grade;

/// Returns whether the difference is in data or in a label.
///
/// `header` is the expected header of the file with the difference.
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
        // In a session without events, these times are undefined.
        [.., "derived", "time_start_ns" | "time_end_ns"] => is_empty(expected),
        // The presence of a footer is a label, but its content is data.
        [.., "footer"] => is_empty(expected) || is_empty(got),
        // These values have no meaning in an unfinalized file.
        [
            ..,
            "header",
            "flags" | "event_count" | "bytes_length" | "footer_offset" | "index_seq_start"
            | "index_seq_end" | "time_start_ns" | "time_end_ns",
        ] => header.is_some_and(is_placeholder),
        // If neither document has events, a missing thread or file is only a difference in labels.
        ["threads"] | ["threads", "index" | "detail"] => {
            !holds_events(expected) && !holds_events(got)
        }
        _ => false,
    };
    if is_label { Grade::Label } else { Grade::Data }
}

/// Returns whether a document, or a part of one, contains any events.
#[must_use]
pub fn holds_events(document: Option<&Value>) -> bool {
    let Some(document) = document else {
        return false;
    };
    let has_events = |file: &Value| file["events"].as_array().is_some_and(|it| !it.is_empty());
    let thread = |thread: &Value| has_events(&thread["index"]) || has_events(&thread["detail"]);
    let threads = document["threads"].as_array();
    has_events(document) || thread(document) || threads.into_iter().flatten().any(thread)
}

/// Returns whether a header has neither counts nor times and therefore belongs to an unfinalized
/// file.
fn is_placeholder(header: &Value) -> bool {
    let is_zero = |name: &str| {
        let value = header.get(name);
        value.is_none_or(|value| *value == 0 || *value == "0")
    };
    ["event_count", "bytes_length"].into_iter().all(is_zero)
        && ["time_start_ns", "time_end_ns"].into_iter().all(is_zero)
}
