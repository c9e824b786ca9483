//! Documents of files.

use std::path::Path;

use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::index::{IndexEvent, IndexReader};
use atf::wire::{self, v1};
use atf::{Checksum, Completeness, CountSource, Wire};
use serde_json::{Map, Value, json};

use super::rejected;
use crate::Verdict;

/// The maximum size of a payload in bytes: what fits into an event.
const LARGEST_PAYLOAD: usize = u32::MAX as usize;

/// Returns the document of an `index.atf`, with the checker's verdict.
pub(super) fn index(path: &Path, verdict: Verdict) -> Value {
    let document = IndexReader::open(path).and_then(|reader| of_index(&reader, verdict));
    document.unwrap_or_else(|_| rejected("index"))
}

/// Returns the document of a `detail.atf`, with the checker's verdict.
pub(super) fn detail(path: &Path, verdict: Verdict) -> Value {
    let document = DetailReader::open(path).and_then(|reader| of_detail(&reader, verdict));
    document.unwrap_or_else(|_| rejected("detail"))
}

/// Returns the document of an open index file.
pub(super) fn of_index(reader: &IndexReader, verdict: Verdict) -> atf::Result<Value> {
    if verdict == Verdict::Reject {
        return Ok(rejected("index"));
    }
    let wire = reader.wire();
    let events = reader
        .events_in(..)
        .map(|event| event.map(|event| index_event(wire, &event)))
        .collect::<atf::Result<Vec<_>>>()?;
    let footer = reader.footer().map(|footer| {
        json!({
            "checksum": footer.checksum,
            "event_count": text(footer.event_count),
            "time_start_ns": text(footer.time_start_ns),
            "time_end_ns": text(footer.time_end_ns),
            "bytes_written": text(footer.bytes_written),
        })
    });
    let end = End {
        event_count: reader.event_count(),
        count_source: reader.count_source(),
        checksum: reader.checksum()?,
        completeness: reader.completeness(),
        bytes_after_footer: reader.bytes_after_footer(),
    };
    Ok(json!({
        "kind": "index",
        "verdict": verdict,
        "header": index_header(reader),
        "events": events,
        "footer": footer,
        "derived": end.derived(),
    }))
}

/// Returns the document of an open detail file.
pub(super) fn of_detail(reader: &DetailReader, verdict: Verdict) -> atf::Result<Value> {
    if verdict == Verdict::Reject {
        return Ok(rejected("detail"));
    }
    let header = reader.header();
    let events = reader
        .events_in(..)
        .map(|event| detail_event(reader, &event?))
        .collect::<atf::Result<Vec<_>>>()?;
    let footer = reader.footer().map(|footer| {
        json!({
            "checksum": footer.checksum,
            "event_count": text(footer.event_count),
            "bytes_length": text(footer.bytes_length),
            "time_start_ns": text(footer.time_start_ns),
            "time_end_ns": text(footer.time_end_ns),
        })
    });
    let end = End {
        event_count: reader.event_count(),
        count_source: reader.count_source(),
        checksum: reader.checksum()?,
        completeness: reader.completeness(),
        bytes_after_footer: reader.bytes_after_footer(),
    };
    Ok(json!({
        "kind": "detail",
        "verdict": verdict,
        "header": {
            "endian": wire::DetailHeader::ENDIAN,
            "version": header.wire.version(),
            "arch": header.arch.0,
            "os": header.os.0,
            "flags": header.flags,
            "thread_id": header.thread_id,
            "events_offset": text(header.events_offset),
            "event_count": text(header.event_count),
            "bytes_length": text(header.bytes_length),
            "index_seq_start": text(header.index_seq_start),
            "index_seq_end": text(header.index_seq_end),
        },
        "events": events,
        "footer": footer,
        "derived": end.derived(),
    }))
}

fn index_header(reader: &IndexReader) -> Value {
    let header = reader.header();
    let mut fields = object(json!({
        "endian": v1::IndexHeader::ENDIAN,
        "version": header.wire.version(),
        "arch": header.arch.0,
        "os": header.os.0,
        "flags": header.flags.0,
        "thread_id": header.thread_id,
        "clock_type": header.clock_type.0,
        "event_size": header.event_size,
    }));
    // A 32-bit field in version 1, a 64-bit field in version 2.
    let event_count = match header.wire {
        Wire::V1 => json!(header.event_count),
        _ => text(header.event_count),
    };
    fields.insert("event_count".to_owned(), event_count);
    fields.extend(object(json!({
        "events_offset": text(header.events_offset),
        "footer_offset": text(header.footer_offset),
        "time_start_ns": text(header.time_start_ns),
        "time_end_ns": text(header.time_end_ns),
    })));
    fields.into()
}

fn index_event(wire: Wire, event: &IndexEvent) -> Value {
    let mut fields = object(json!({
        "timestamp_ns": text(event.timestamp_ns),
        "function_id": text(event.function_id),
    }));
    if wire == Wire::V1 {
        fields.insert("thread_id".to_owned(), json!(event.thread_id));
    }
    fields.insert("event_kind".to_owned(), json!(event.event_kind.0));
    if let Some(depth) = event.call_depth {
        fields.insert("call_depth".to_owned(), json!(depth));
    }
    fields.insert("detail_seq".to_owned(), link(event.detail_seq));
    fields.into()
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
    let mut fields = object(json!({
        "total_length": header.total_length,
        "event_type": header.event_type.0,
        "flags": header.flags,
        "index_seq": text(header.index_seq),
    }));
    if reader.wire() == Wire::V1 {
        fields.insert("thread_id".to_owned(), json!(header.thread_id));
    }
    fields.extend(object(json!({
        "timestamp": text(header.timestamp),
        "payload": hex(&payload),
        "function": function,
    })));
    Ok(fields.into())
}

/// The values that both kinds of file derive from their end.
struct End<'a> {
    event_count: u64,
    count_source: CountSource,
    checksum: Checksum,
    completeness: &'a Completeness,
    bytes_after_footer: u64,
}

impl End<'_> {
    fn derived(&self) -> Value {
        let trailing_bytes = match self.completeness {
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
            Completeness::Finalized | Completeness::HeaderNotUpdated => self.bytes_after_footer,
        };
        json!({
            "event_count": text(self.event_count),
            "count_source": match self.count_source {
                CountSource::Footer => "footer",
                CountSource::FooterPosition => "footer_position",
                CountSource::FileSize => "file_size",
                CountSource::Framing => "framing",
            },
            "checksum": match self.checksum {
                Checksum::Good => "good",
                Checksum::Absent => "absent",
                Checksum::NotChecked => "not_checked",
                // Such a file is rejected.
                Checksum::Bad { .. } | Checksum::Ieee { .. } => "bad",
            },
            "trailing_bytes": text(trailing_bytes),
        })
    }
}

/// Formats a 64-bit field.
pub(super) fn text(number: u64) -> Value {
    Value::String(number.to_string())
}

fn link(seq: Option<u64>) -> Value {
    seq.map_or(Value::Null, text)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the members of an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
