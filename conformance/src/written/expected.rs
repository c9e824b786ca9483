//! Builds the expected bytes of a thread's files and marks the bytes that may differ.

use std::fmt::{self, Display, Formatter};

use super::{DETAIL_SIZE, END_SIZE, EVENT_SIZE};
use crate::hex::hex;
use crate::scripts::{Detail, Index, Open, Thread};
use atf_samples::files::crc32c;
use atf_samples::layout::{Record as Layout, little_endian};

/// The expected bytes of a file.
#[derive(Debug)]
pub(super) struct Expected {
    wire: u8,
    /// The fields, which are contiguous from the first byte on.
    pub(super) fields: Vec<Placed>,
    /// The file's size in bytes.
    pub(super) size: usize,
}

#[derive(Debug)]
pub(super) struct Placed {
    pub(super) name: Name,
    /// The offset in bytes from the start of the file.
    pub(super) offset: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) freedom: Freedom,
}

/// A field's path in its file, such as `events[3].payload`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) record: Record,
    pub(super) field: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    Header,
    /// Bytes between the header and the events.
    Padding,
    Event(usize),
    Footer,
}

/// The values that a field may have instead of the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freedom {
    None,
    /// Another number.
    Or(u64),
    /// Anything.
    Any,
}

/// The properties that the script leaves to the writer's choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    /// Whether `arch` and `os` must match the script.
    pub(super) is_platform_exact: bool,
    /// Whether there is a `detail.atf`, which may contain no events.
    pub(super) has_detail_file: bool,
    /// The offset of the events: 64, or the header's offset if a footer confirms it.
    pub(super) events_offset: usize,
}

/// Returns the expected `index.atf` of a thread.
pub(super) fn index(thread: &Thread<'_>, given: Given) -> Expected {
    let Open {
        thread_id, wire, ..
    } = *thread.open;
    let count = thread.events.len();
    let times = ends(thread.events.iter().map(|event| event.timestamp_ns));
    let start = given.events_offset;
    let end = start + EVENT_SIZE * count;
    let is_final = thread.is_finalized;
    let rewritten = |value| if is_final { value } else { 0 };

    let mut file = Expected::new(wire);
    let header = |name| match name {
        "flags" => rewritten(u64::from(given.has_detail_file)),
        "clock_type" => thread.open.clock_type.into(),
        "event_size" => 32,
        "event_count" => rewritten(count as u64),
        "events_offset" => start as u64,
        "footer_offset" => rewritten(end as u64),
        "time_start_ns" => rewritten(times.0),
        "time_end_ns" => rewritten(times.1),
        _ => both(name, thread.open, *b"ATI2"),
    };
    let freedom = |name| match name {
        // Either value is allowed here, because the rules check these fields in finalized files.
        "flags" => Freedom::Or(1),
        "footer_offset" => Freedom::Or(64),
        _ => platform(name, given),
    };
    file.record(Record::Header, Layout::IndexHeader, header, freedom);
    file.padding(start);
    for (seq, event) in thread.events.iter().enumerate() {
        let value = |name| index_event(name, event, thread_id);
        let fields = Layout::IndexEvent;
        file.record(Record::Event(seq), fields, value, |_| Freedom::None);
    }
    if is_final {
        let footer = |name| match name {
            "magic" => u32::from_le_bytes(*b"2ITA").into(),
            "event_count" => count as u64,
            "time_start_ns" => times.0,
            "time_end_ns" => times.1,
            "bytes_written" => (end - start) as u64,
            _ => 0,
        };
        file.footer(Layout::IndexFooter, start, footer);
    }
    file
}

/// Returns the expected `detail.atf` of a thread.
pub(super) fn detail(thread: &Thread<'_>, given: Given) -> Expected {
    let wire = thread.open.wire;
    let details = &thread.details;
    let times = ends(details.iter().map(|detail| detail.timestamp));
    let seqs = details.iter().map(|detail| detail.index_seq);
    let seqs = (seqs.clone().min().unwrap_or(0), seqs.max().unwrap_or(0));
    let sizes = details
        .iter()
        .map(|detail| DETAIL_SIZE + detail.payload.len());
    let length: usize = sizes.sum();
    let start = given.events_offset;
    let is_final = thread.is_finalized;
    let rewritten = |value| if is_final { value } else { 0 };

    let mut file = Expected::new(wire);
    let header = |name| match name {
        "events_offset" => start as u64,
        "event_count" => rewritten(details.len() as u64),
        "bytes_length" => rewritten(length as u64),
        "index_seq_start" => rewritten(seqs.0),
        "index_seq_end" => rewritten(seqs.1),
        _ => both(name, thread.open, *b"ATD2"),
    };
    file.record(Record::Header, Layout::DetailHeader, header, |name| {
        platform(name, given)
    });
    file.padding(start);
    for (seq, detail) in details.iter().enumerate() {
        let record = Record::Event(seq);
        let value = |name| detail_event(name, detail);
        let fields = Layout::DetailEventHeader;
        file.record(record, fields, value, |_| Freedom::None);
        file.push(record, "payload", detail.payload.clone(), Freedom::None);
    }
    if is_final {
        let footer = |name| match name {
            "magic" => u32::from_le_bytes(*b"2DTA").into(),
            "event_count" => details.len() as u64,
            "bytes_length" => length as u64,
            "time_start_ns" => times.0,
            "time_end_ns" => times.1,
            _ => 0,
        };
        file.footer(Layout::DetailFooter, start, footer);
    }
    file
}

/// Returns the value of a field that is in both headers. Reserved bytes are 0.
fn both(name: &str, open: &Open, magic: [u8; 4]) -> u64 {
    match name {
        "magic" => u32::from_le_bytes(magic).into(),
        "endian" => 1,
        "version" => open.wire.into(),
        "arch" => open.arch.into(),
        "os" => open.os.into(),
        "thread_id" => open.thread_id.into(),
        _ => 0,
    }
}

fn platform(name: &str, given: Given) -> Freedom {
    match name {
        "arch" | "os" if !given.is_platform_exact => Freedom::Any,
        _ => Freedom::None,
    }
}

fn index_event(name: &str, event: &Index, thread_id: u32) -> u64 {
    match name {
        "timestamp_ns" => event.timestamp_ns,
        "function_id" => event.function_id,
        "thread_id" => thread_id.into(),
        "event_kind" => event.event_kind.into(),
        "call_depth" => event.call_depth.into(),
        // A missing link is all ones, in 32 or 64 bits.
        "detail_seq" => event.detail_seq.unwrap_or(u64::MAX),
        _ => 0,
    }
}

fn detail_event(name: &str, detail: &Detail) -> u64 {
    match name {
        "total_length" => (DETAIL_SIZE + detail.payload.len()) as u64,
        "event_type" => detail.event_type.into(),
        "flags" => detail.flags.into(),
        "index_seq" => detail.index_seq,
        "thread_id" => detail.thread_id.into(),
        "timestamp" => detail.timestamp,
        _ => 0,
    }
}

/// Returns the first and last times, or zeros if there are no times.
fn ends(mut times: impl DoubleEndedIterator<Item = u64>) -> (u64, u64) {
    let first = times.next();
    let last = times.next_back().or(first);
    (first.unwrap_or(0), last.unwrap_or(0))
}

impl Expected {
    fn new(wire: u8) -> Self {
        Self {
            wire,
            fields: Vec::new(),
            size: 0,
        }
    }

    /// Adds a record with these field values.
    fn record(
        &mut self,
        record: Record,
        layout: Layout,
        value: impl Fn(&'static str) -> u64,
        freedom: impl Fn(&'static str) -> Freedom,
    ) {
        for field in layout.fields(self.wire) {
            let mut bytes = value(field.name).to_le_bytes().to_vec();
            bytes.resize(field.size, 0);
            self.push(record, field.name, bytes, freedom(field.name));
        }
    }

    /// Adds the bytes between the header and the events, if the writer left any.
    fn padding(&mut self, events_offset: usize) {
        let size = events_offset.saturating_sub(END_SIZE);
        self.push(Record::Padding, "", vec![0; size], Freedom::Any);
    }

    fn footer(
        &mut self,
        layout: Layout,
        events_offset: usize,
        value: impl Fn(&'static str) -> u64,
    ) {
        let mut section = Vec::new();
        let fields_of_section = |field: &&Placed| field.offset >= events_offset;
        for field in self.fields.iter().filter(fields_of_section) {
            section.extend(&field.bytes);
        }
        let checksum = crc32c(&section);
        let value = |name| match name {
            "checksum" => checksum.into(),
            _ => value(name),
        };
        self.record(Record::Footer, layout, value, |name| match name {
            "checksum" => Freedom::Or(0),
            _ => Freedom::None,
        });
    }

    fn push(&mut self, record: Record, field: &'static str, bytes: Vec<u8>, freedom: Freedom) {
        let offset = self.size;
        self.size += bytes.len();
        self.fields.push(Placed {
            name: Name { record, field },
            offset,
            bytes,
            freedom,
        });
    }
}

impl Placed {
    /// Returns whether the field may have these bytes.
    pub(super) fn allows(&self, found: &[u8]) -> bool {
        found == self.bytes
            || match self.freedom {
                Freedom::None => false,
                Freedom::Or(number) => {
                    let mut bytes = number.to_le_bytes().to_vec();
                    bytes.resize(self.bytes.len(), 0);
                    found == bytes
                }
                Freedom::Any => found.len() == self.bytes.len(),
            }
    }

    /// Formats a value as a decimal number, as text if it is a magic, or as hexadecimal bytes.
    pub(super) fn show(&self, bytes: &[u8]) -> String {
        if self.name.field == "magic" {
            return format!("\"{}\"", bytes.escape_ascii());
        }
        let is_bytes = self.name.field == "payload" || self.name.field.contains("reserved");
        if is_bytes || bytes.len() > 8 || bytes.len() != self.bytes.len() {
            hex(bytes)
        } else {
            little_endian(bytes).to_string()
        }
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.record {
            Record::Header => f.write_str("header")?,
            Record::Padding => return f.write_str("between header and events"),
            Record::Event(seq) => write!(f, "events[{seq}]")?,
            Record::Footer => f.write_str("footer")?,
        }
        write!(f, ".{}", self.field)
    }
}
