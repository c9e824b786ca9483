//! Converts a file into the kit's document.

use std::path::Path;

use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexEvent, IndexReader};
use atf::{Checksum, Completeness, CountSource, Error, ErrorKind, FileKind, Wire};
use serde_json::{Map, Value, json};

/// Returns the document of a file, or an error if the file is unreadable.
pub(crate) fn read(path: &Path) -> Result<Value, Error> {
    let is_detail = FileKind::of(path)? == Some(FileKind::Detail) || path.ends_with("detail.atf");
    let (kind, document) = if is_detail {
        let document = DetailReader::open(path).and_then(|reader| detail(&reader));
        ("detail", document)
    } else {
        let document = IndexReader::open(path).and_then(|reader| index(&reader));
        ("index", document)
    };
    match document {
        Ok(Some(document)) => Ok(document),
        Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => Err(error),
        // Files that the library cannot open, and damaged files that it opens with a warning.
        Ok(None) | Err(_) => Ok(json!({"kind": kind, "verdict": "reject"})),
    }
}

fn index(reader: &IndexReader) -> Result<Option<Value>, Error> {
    let scan = reader.scan()?;
    let Some(is_finalized) = is_finalized(reader.completeness(), scan.checksum) else {
        return Ok(None);
    };
    let header = reader.header();
    let wire = reader.wire();
    let events = reader
        .events_in(..)
        .map(|event| Ok(index_event(wire, &event?)));
    let footer = reader.footer().map(|footer| {
        json!({
            "checksum": footer.checksum,
            "event_count": footer.event_count.to_string(),
            "time_start_ns": footer.time_start_ns.to_string(),
            "time_end_ns": footer.time_end_ns.to_string(),
            "bytes_written": footer.bytes_written.to_string(),
        })
    });
    let end = reader
        .footer_offset()
        .map_or(reader.events_end(), |offset| offset + 64);
    Ok(Some(json!({
        "kind": "index",
        "verdict": verdict(is_finalized && scan.zero_events == 0),
        "header": {
            "endian": 1,
            "version": wire.version(),
            "arch": header.arch.0,
            "os": header.os.0,
            "flags": header.flags.0,
            "thread_id": header.thread_id,
            "clock_type": header.clock_type.0,
            "event_size": atf::wire::INDEX_EVENT_SIZE,
            "event_count": narrow_in_v1(wire, header.event_count),
            "events_offset": header.events_offset.to_string(),
            "footer_offset": header.footer_offset.to_string(),
            "time_start_ns": header.time_start_ns.to_string(),
            "time_end_ns": header.time_end_ns.to_string(),
        },
        "events": events.collect::<Result<Vec<_>, Error>>()?,
        "footer": footer,
        "derived": {
            "event_count": reader.event_count().to_string(),
            "count_source": count_source(reader.count_source()),
            "checksum": checksum(scan.checksum),
            "trailing_bytes": (reader.file_size() - end).to_string(),
        },
    })))
}

fn index_event(wire: Wire, event: &IndexEvent) -> Value {
    let mut fields = Map::new();
    fields.insert("timestamp_ns".into(), event.timestamp_ns.to_string().into());
    fields.insert("function_id".into(), event.function_id.to_string().into());
    fields.insert("event_kind".into(), event.event_kind.0.into());
    fields.insert(
        "detail_seq".into(),
        event.detail_seq.map(|seq| seq.to_string()).into(),
    );
    if wire == Wire::V1 {
        fields.insert("thread_id".into(), event.thread_id.into());
        fields.insert("call_depth".into(), event.call_depth.into());
    }
    fields.into()
}

fn detail(reader: &DetailReader) -> Result<Option<Value>, Error> {
    let state = reader.checksum()?;
    let Some(is_finalized) = is_finalized(reader.completeness(), state) else {
        return Ok(None);
    };
    // Before a footer, all events must be complete.
    if reader.footer().is_some() && reader.framing_problem().is_some() {
        return Ok(None);
    }
    let header = reader.header();
    let events = reader
        .events_in(..)
        .map(|event| detail_event(reader, &event?));
    let footer = reader.footer().map(|footer| {
        json!({
            "checksum": footer.checksum,
            "event_count": footer.event_count.to_string(),
            "bytes_length": footer.bytes_length.to_string(),
            "time_start_ns": footer.time_start_ns.to_string(),
            "time_end_ns": footer.time_end_ns.to_string(),
        })
    });
    let end = reader
        .footer_offset()
        .map_or(reader.events_end(), |offset| offset + 64);
    Ok(Some(json!({
        "kind": "detail",
        "verdict": verdict(is_finalized),
        "header": {
            "endian": 1,
            "version": reader.wire().version(),
            "arch": header.arch.0,
            "os": header.os.0,
            "flags": header.flags,
            "thread_id": header.thread_id,
            "events_offset": header.events_offset.to_string(),
            "event_count": header.event_count.to_string(),
            "bytes_length": header.bytes_length.to_string(),
            "index_seq_start": header.index_seq_start.to_string(),
            "index_seq_end": header.index_seq_end.to_string(),
        },
        "events": events.collect::<Result<Vec<_>, Error>>()?,
        "footer": footer,
        "derived": {
            "event_count": reader.event_count().to_string(),
            "count_source": count_source(reader.count_source()),
            "checksum": checksum(state),
            "trailing_bytes": (reader.file_size() - end).to_string(),
        },
    })))
}

fn detail_event(reader: &DetailReader, event: &DetailEvent) -> Result<Value, Error> {
    let header = &event.header;
    let function = reader.function_payload(event)?.map(|function| {
        json!({
            "function_id": function.function_id.to_string(),
            "x_regs": function.x_regs.map(|register| register.to_string()),
            "lr": function.lr.to_string(),
            "fp": function.fp.to_string(),
            "sp": function.sp.to_string(),
            "stack_size": function.stack.len(),
            "stack": hex(&function.stack),
        })
    });
    let mut fields = Map::new();
    fields.insert("total_length".into(), header.total_length.into());
    fields.insert("event_type".into(), header.event_type.0.into());
    fields.insert("flags".into(), header.flags.into());
    fields.insert("index_seq".into(), header.index_seq.to_string().into());
    fields.insert("timestamp".into(), header.timestamp.to_string().into());
    // An event is never larger than its file, which limits memory use.
    let payload = reader.payload(event, usize::MAX)?;
    fields.insert("payload".into(), hex(&payload).into());
    fields.insert("function".into(), function.into());
    if reader.wire() == Wire::V1 {
        fields.insert("thread_id".into(), header.thread_id.into());
    }
    Ok(fields.into())
}

/// Returns whether the file is finalized, or `None` if it is damaged.
fn is_finalized(completeness: &Completeness, checksum: Checksum) -> Option<bool> {
    match (completeness, checksum) {
        (Completeness::DamagedFooter { .. }, _) => None,
        (_, Checksum::Bad { .. } | Checksum::Ieee { .. }) => None,
        (completeness, _) => Some(matches!(completeness, Completeness::Finalized)),
    }
}

const fn verdict(is_whole: bool) -> &'static str {
    if is_whole { "accept" } else { "recover" }
}

const fn count_source(source: CountSource) -> &'static str {
    match source {
        CountSource::Footer => "footer",
        CountSource::FooterPosition => "footer_position",
        CountSource::FileSize => "file_size",
        CountSource::Framing => "framing",
    }
}

const fn checksum(checksum: Checksum) -> &'static str {
    match checksum {
        Checksum::Good => "good",
        Checksum::Absent => "absent",
        _ => "not_checked",
    }
}

/// Formats a count: a 32-bit field in version 1 is a number, a 64-bit field in version 2 a string.
fn narrow_in_v1(wire: Wire, count: u64) -> Value {
    match wire {
        Wire::V1 => count.into(),
        _ => count.to_string().into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
