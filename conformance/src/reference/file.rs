//! Builds the documents of files.

use std::path::Path;

use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::index::{IndexEvent, IndexReader};
use atf::wire::{Field, Record};
use atf::{Checksum, Completeness, Wire};
use serde_json::{Map, Value, json};

use super::rejected;
use crate::Verdict;
use crate::hex::hex;

/// The maximum payload size of an event, in bytes.
const LARGEST_PAYLOAD: usize = u32::MAX as usize;

/// Returns the document of an `index.atf`, including the checker's verdict.
pub(super) fn index(path: &Path, verdict: Verdict) -> Value {
    let document = IndexReader::open(path).and_then(|reader| of_index(&reader, verdict));
    document.unwrap_or_else(|_| rejected("index"))
}

/// Returns the document of a `detail.atf`, including the checker's verdict.
pub(super) fn detail(path: &Path, verdict: Verdict) -> Value {
    let document = DetailReader::open(path).and_then(|reader| of_detail(&reader, verdict));
    document.unwrap_or_else(|_| rejected("detail"))
}

/// Returns the document of an open file from a function that returns an [`atf::Result`].
macro_rules! document {
    ($reader:ident, $verdict:ident, $kind:literal, $header:ident, $footer:ident, $shown:ident) => {{
        if $verdict == Verdict::Reject {
            return Ok(rejected($kind));
        }
        let events = $reader.events_in(..).map($shown);
        let events = events.collect::<atf::Result<Vec<_>>>()?;
        let wire = $reader.wire();
        let footer = $reader.footer_bytes();
        Ok(json!({
            "kind": $kind,
            "verdict": $verdict,
            "header": fields(Record::$header, wire, $reader.header_bytes()),
            "events": events,
            "footer": footer.map(|bytes| fields(Record::$footer, wire, bytes)),
            "derived": {
                "event_count": text($reader.event_count()),
                "count_source": $reader.count_source().name(),
                "checksum": checksum($reader.checksum()?),
                "trailing_bytes": trailing($reader.completeness(), $reader.bytes_after_footer()),
            },
        }))
    }};
}

pub(super) fn of_index(reader: &IndexReader, verdict: Verdict) -> atf::Result<Value> {
    let shown = |event: atf::Result<IndexEvent>| event.map(|it| index_event(reader.wire(), &it));
    document!(reader, verdict, "index", IndexHeader, IndexFooter, shown)
}

pub(super) fn of_detail(reader: &DetailReader, verdict: Verdict) -> atf::Result<Value> {
    let shown = |event: atf::Result<DetailEvent>| detail_event(reader, &event?);
    document!(reader, verdict, "detail", DetailHeader, DetailFooter, shown)
}

/// Returns the fields of a header or footer, except for magic and reserved fields. 64-bit numbers
/// become strings.
fn fields(record: Record, wire: Wire, bytes: &[u8]) -> Map<String, Value> {
    let has_meaning = |field: &&Field| match field.name {
        "magic" => false,
        "flags" => true,
        _ => !field.is_reserved,
    };
    let shown = record.fields(wire).iter().filter(has_meaning);
    let value = |field: &Field| match (field.size, field.number(bytes)) {
        (8, number) => text(number),
        (_, number) => json!(number),
    };
    shown
        .map(|field| (field.name.to_owned(), value(field)))
        .collect()
}

fn index_event(wire: Wire, event: &IndexEvent) -> Value {
    let mut fields = json!({
        "timestamp_ns": text(event.timestamp_ns),
        "function_id": text(event.function_id),
    });
    if Record::IndexEvent.field(wire, "thread_id").is_some() {
        fields["thread_id"] = event.thread_id.into();
    }
    fields["event_kind"] = event.event_kind.0.into();
    if let Some(depth) = event.call_depth {
        fields["call_depth"] = depth.into();
    }
    fields["detail_seq"] = event.detail_seq.map(text).into();
    fields
}

fn detail_event(reader: &DetailReader, event: &DetailEvent) -> atf::Result<Value> {
    let header = &event.header;
    let payload = reader.payload(event, LARGEST_PAYLOAD)?;
    let function = FunctionPayload::decode(&payload).map(|function| {
        json!({
            "function_id": text(function.function_id),
            "x_regs": function.x_regs.map(text),
            "lr": text(function.lr),
            "fp": text(function.fp),
            "sp": text(function.sp),
            "stack_size": function.stack.len(),
            "stack": hex(&function.stack),
        })
    });
    let mut fields = json!({
        "total_length": header.total_length,
        "event_type": header.event_type.0,
        "flags": header.flags,
        "index_seq": text(header.index_seq),
    });
    let thread_id = Record::DetailEventHeader.field(reader.wire(), "thread_id");
    if thread_id.is_some() {
        fields["thread_id"] = header.thread_id.into();
    }
    fields["timestamp"] = text(header.timestamp);
    fields["payload"] = hex(&payload).into();
    fields["function"] = function.into();
    Ok(fields)
}

fn checksum(checksum: Checksum) -> &'static str {
    match checksum {
        Checksum::Good => "good",
        Checksum::Absent => "absent",
        Checksum::NotChecked => "not_checked",
        // This value never appears in a document, because a file with a bad checksum is rejected.
        _ => "bad",
    }
}

/// Returns the number of bytes that are part of neither events nor a footer.
fn trailing(completeness: &Completeness, bytes_after_footer: u64) -> Value {
    text(match completeness {
        Completeness::Unfinalized {
            trailing_bytes,
            zero_tail_bytes,
            partial_footer,
            ..
        } => {
            let partial = partial_footer.map_or(0, |partial| partial.size);
            trailing_bytes
                .saturating_add(*zero_tail_bytes)
                .saturating_add(partial)
        }
        Completeness::DamagedFooter { trailing_bytes, .. } => *trailing_bytes,
        _ => bytes_after_footer,
    })
}

/// Formats a 64-bit field.
pub(super) fn text(number: u64) -> Value {
    Value::String(number.to_string())
}
