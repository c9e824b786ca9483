//! What a reader must say of files that were written as a script asked for: the canonical document,
//! decoded once more by the places that were typed by hand.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::compare::Found;
use super::layout::{self, DETAIL_SIZE, END_SIZE, EVENT_SIZE, Field};
use super::{Wrong, folder};
use crate::scripts::{Script, Thread};

/// The documents of a session that passed its grading.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    /// That of the folder; `None` where no thread has got so far as to have a file.
    pub session: Option<Value>,
    /// Those of the index files, by their paths in the folder.
    pub index: Vec<(String, Value)>,
    /// Those of the detail files, by their paths in the folder.
    pub detail: Vec<(String, Value)>,
}

impl Documents {
    /// Decodes the files in the folder `out`, which passed [`grade`](super::grade).
    ///
    /// # Errors
    ///
    /// In words, which file cannot be read any more.
    pub fn of(script: &Script, out: &Path) -> Result<Self, String> {
        Self::decode(script, out).map_err(|wrong| wrong.message)
    }

    fn decode(script: &Script, out: &Path) -> Result<Self, Wrong> {
        let mut this = Self {
            session: None,
            index: Vec::new(),
            detail: Vec::new(),
        };
        let (mut threads, mut merged, mut details) = (Vec::new(), Vec::new(), 0);
        let mut is_whole = true;
        for (id, thread) in script.threads() {
            let Some(found) = folder::index(out, id, &thread)? else {
                continue;
            };
            let index = index(&found, &thread);
            let detail = match folder::detail(out, id, &thread)? {
                Some(found) => {
                    let document = detail(&found, &thread);
                    this.detail.push((found.file, document.clone()));
                    document
                }
                None => Value::Null,
            };
            this.index.push((found.file, index.clone()));
            let times = (0_u64..).zip(&thread.events);
            merged.extend(times.map(|(seq, event)| (event.timestamp_ns, id, seq)));
            details += thread.details.len();
            is_whole &= thread.is_finalized;
            threads.push(json!({
                "thread_id": id,
                "index": index,
                "detail": detail,
                "derived": {"dangling_links": "0", "orphan_details": "0"},
            }));
        }
        merged.sort_unstable();
        let manifest = match out.join("manifest.json").is_file() {
            true => "used",
            false => "absent",
        };
        let order = merged.iter().map(|(_, id, seq)| json!([id, text(*seq)]));
        this.session = (!threads.is_empty()).then(|| {
            json!({
                "kind": "session",
                "verdict": verdict(is_whole),
                "threads": threads,
                "derived": {
                    "manifest": manifest,
                    "event_count": text(merged.len() as u64),
                    "detail_count": text(details as u64),
                    "time_start_ns": merged.first().map(|(time, ..)| text(*time)),
                    "time_end_ns": merged.last().map(|(time, ..)| text(*time)),
                    "merged": order.collect::<Vec<_>>(),
                },
            })
        });
        Ok(this)
    }
}

fn verdict(is_whole: bool) -> &'static str {
    match is_whole {
        true => "accept",
        false => "recover",
    }
}

fn index(found: &Found, thread: &Thread<'_>) -> Value {
    let wire = thread.open.wire;
    let start = folder::index_start(found, thread);
    let end = start + EVENT_SIZE * thread.events.len();
    let event = |seq| {
        let fields = layout::index_event(wire);
        Value::from(record(found, start + EVENT_SIZE * seq, fields, wire))
    };
    let file = File {
        kind: "index",
        header: layout::index_header(wire),
        events: (0..thread.events.len()).map(event).collect(),
        end,
        footer: layout::INDEX_FOOTER,
        without_footer: "file_size",
    };
    file.document(found, thread)
}

fn detail(found: &Found, thread: &Thread<'_>) -> Value {
    let wire = thread.open.wire;
    let mut end = folder::detail_start(found, thread);
    let mut events = Vec::new();
    for detail in &thread.details {
        let mut fields = record(found, end, layout::detail_event(wire), wire);
        end += DETAIL_SIZE;
        let payload = found.bytes.get(end..end + detail.payload.len());
        let payload = payload.unwrap_or_default();
        end += payload.len();
        fields.insert("payload".to_owned(), hex(payload).into());
        fields.insert("function".to_owned(), function(payload));
        events.push(fields.into());
    }
    let file = File {
        kind: "detail",
        header: layout::DETAIL_HEADER,
        events,
        end,
        footer: layout::DETAIL_FOOTER,
        without_footer: "framing",
    };
    file.document(found, thread)
}

/// What the two kinds of file do not share.
struct File {
    kind: &'static str,
    header: &'static [Field],
    events: Vec<Value>,
    /// The offset behind the last event.
    end: usize,
    footer: &'static [Field],
    /// What the number of events rests on where no footer is.
    without_footer: &'static str,
}

impl File {
    fn document(self, found: &Found, thread: &Thread<'_>) -> Value {
        let wire = thread.open.wire;
        let is_whole = thread.is_finalized;
        let footer = is_whole.then(|| record(found, self.end, self.footer, wire));
        let checksum = footer
            .as_ref()
            .map(|footer| footer.get("checksum") == Some(&json!(0)));
        let end = self.end + if is_whole { END_SIZE } else { 0 };
        json!({
            "kind": self.kind,
            "verdict": verdict(is_whole),
            "header": record(found, 0, self.header, wire),
            "derived": {
                "event_count": text(self.events.len() as u64),
                "count_source": if is_whole { "footer" } else { self.without_footer },
                "checksum": match checksum {
                    None => "not_checked",
                    Some(true) => "absent",
                    Some(false) => "good",
                },
                "trailing_bytes": text(found.size.saturating_sub(end as u64)),
            },
            "events": self.events,
            "footer": footer,
        })
    }
}

/// A record's fields as they stand in the file.
fn record(found: &Found, offset: usize, fields: &[Field], wire: u8) -> Map<String, Value> {
    let shown = |field: &&Field| field.name != "magic" && !field.name.contains("reserved");
    let value = |field: &Field| {
        let start = offset + field.offset;
        let bytes = found.bytes.get(start..start + field.size);
        let number = number(bytes.unwrap_or_default());
        let value = match field.name {
            "detail_seq" if number == layout::no_detail(wire) => Value::Null,
            "detail_seq" | "index_seq" => text(number),
            _ if field.size == 8 => text(number),
            _ => number.into(),
        };
        (field.name.to_owned(), value)
    };
    fields.iter().filter(shown).map(value).collect()
}

/// The payload of a function, if it has the size of one: 100 bytes and a stack snapshot.
fn function(payload: &[u8]) -> Value {
    let stack = payload.get(100..).unwrap_or_default();
    let size = payload.get(96..98).map(number);
    if payload.len() < 100 || size != Some(stack.len() as u64) {
        return Value::Null;
    }
    let (numbers, _) = payload.as_chunks::<8>();
    let numbers: Vec<_> = numbers
        .iter()
        .map(|bytes| text(u64::from_le_bytes(*bytes)))
        .collect();
    json!({
        "function_id": numbers.first(),
        "x_regs": numbers.get(1..9),
        "lr": numbers.get(9),
        "fp": numbers.get(10),
        "sp": numbers.get(11),
        "stack_size": size,
        "stack": hex(stack),
    })
}

/// Up to 8 bytes as a number, the least significant first.
fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn text(number: u64) -> Value {
    number.to_string().into()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
