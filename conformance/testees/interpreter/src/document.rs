//! The document of a file, as the conformance protocol defines it.

use atf_spec::layout::Wire;
use serde_json::{Map, Value, json};

use crate::file::File;

impl File<'_> {
    /// Returns the document of the file.
    #[must_use]
    pub fn document(&self) -> Value {
        decode(self).document
    }
}

/// A decoded file.
pub(crate) struct Decoded {
    pub(crate) document: Value,
    pub(crate) wire: Wire,
    /// The events. `None` is a hole: zeros that no checksum covers.
    pub(crate) events: Vec<Option<Event>>,
}

/// The fields of an event that a session needs.
pub(crate) struct Event {
    /// When it happened. Used only for index events.
    pub(crate) timestamp_ns: u64,
    /// The position of the event in the other file that it links to.
    pub(crate) link: Option<u64>,
}

/// Returns the document and the events of a file.
pub(crate) fn decode(file: &File<'_>) -> Decoded {
    let is_index = file.grammar.name == "index";
    let footer_at = Some(file.value("footer_at")).filter(|at| *at < file.bytes.len() as u64);
    let footer = footer_at.map(|at| file.view("footer", at));
    let is_hole = |at: u64| is_index && file.call("is_hole", &[at]) != 0;
    let event = |at: u64| {
        let view = file.view("event", at);
        (!is_hole(at)).then(|| Event {
            timestamp_ns: view.number("timestamp_ns"),
            link: view.link(if is_index { "detail_seq" } else { "index_seq" }),
        })
    };
    let events: Vec<_> = file.events().map(event).collect();
    let is_whole = file.value("is_finalized") != 0 && events.iter().all(Option::is_some);
    let checksum = match footer.map(|footer| footer.number("checksum")) {
        None => "not_checked",
        Some(0) => "absent",
        Some(_) => "good",
    };
    let counted = if is_index { "file_size" } else { "framing" };
    let rest = (file.bytes.len() as u64).saturating_sub(file.value("end"));
    let document = json!({
        "kind": file.grammar.name,
        "verdict": if is_whole { "accept" } else { "recover" },
        "header": file.view("header", 0).document(),
        "footer": footer.map(|footer| footer.document()),
        "derived": {
            "event_count": events.len().to_string(),
            "count_source": if footer.is_some() { "footer" } else { counted },
            "checksum": checksum,
            "trailing_bytes": rest.to_string(),
        },
        "events": file.events().map(|at| event_document(file, at)).collect::<Vec<_>>(),
    });
    Decoded {
        document,
        wire: file.wire,
        events,
    }
}

fn event_document(file: &File<'_>, at: u64) -> Map<String, Value> {
    let view = file.view("event", at);
    let mut event = view.document();
    if view.field("total_length").is_some() {
        let payload_at = at.saturating_add(file.size("event"));
        let end = at.saturating_add(view.number("total_length"));
        event.insert("payload".to_owned(), hex(file, payload_at, end).into());
        // Decode registers and stack if the length matches, regardless of the event's type.
        let function = (file.call("has_function", &[at]) != 0).then(|| {
            let mut function = file.view("payload", payload_at).document();
            let stack_at = payload_at.saturating_add(file.size("payload"));
            function.insert("stack".to_owned(), hex(file, stack_at, end).into());
            function
        });
        event.insert("function".to_owned(), function.into());
    }
    event
}

fn hex(file: &File<'_>, from: u64, to: u64) -> String {
    let bytes = file.between(from, to).iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
