//! What a reader must give: from the description of what was written, and for each field from its
//! bytes, with the tables that are typed by hand.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::layout::{Field, Is, Record, little_endian};
use super::shape::Shape;
use super::trace::Trace;
use crate::{Verdict, rules};

/// The document for a file that breaks these rules, and its verdict.
pub(super) fn file(trace: &Trace, path: &str, broken: &[&str]) -> (Value, Verdict) {
    let verdict = verdict(broken.iter().copied());
    let bytes = trace.file(path);
    let shape = trace.shape(path);
    if verdict == Verdict::Reject {
        let kind = match path.ends_with("detail.atf") {
            true => "detail",
            false => "index",
        };
        return (json!({"kind": kind, "verdict": "reject"}), verdict);
    }
    let shape = shape.unwrap_or_else(|| panic!("{path}: nothing says what it was made of"));
    let footer = shape.footer();
    let has_footer = !broken.contains(&"ATF-IFTR-001") && !broken.contains(&"ATF-DFTR-001");
    assert_eq!(footer.is_some(), has_footer, "{path} breaks {broken:?}");
    (readable(shape, bytes, verdict), verdict)
}

/// The document for a file that can be read.
pub(crate) fn readable(shape: &Shape, bytes: &[u8], verdict: Verdict) -> Value {
    let wire = shape.wire;
    let events: Vec<_> = shape
        .survivors()
        .into_iter()
        .zip(&shape.events)
        .map(|(offset, size)| event(shape, &bytes[offset..offset + size]))
        .collect();
    let footer = shape.footer();
    let checksum = footer.map(|offset| little_endian(&bytes[offset + 4..offset + 8]));
    let count_source = match (footer, shape.is_detail) {
        (Some(_), _) => "footer",
        (None, true) => "framing",
        (None, false) => "file_size",
    };
    let known = shape.survivors_end() + footer.map_or(0, |_| 64);
    json!({
        "kind": if shape.is_detail { "detail" } else { "index" },
        "verdict": verdict.name(),
        "header": fields(shape.header_record(), wire, &bytes[..64]),
        "footer": footer.map(|offset| fields(shape.footer_record(), wire, &bytes[offset..])),
        "derived": {
            "event_count": events.len().to_string(),
            "count_source": count_source,
            "checksum": match checksum {
                None => "not_checked",
                Some(0) => "absent",
                Some(_) => "good",
            },
            "trailing_bytes": (bytes.len() - known).to_string(),
        },
        "events": events,
    })
}

fn event(shape: &Shape, bytes: &[u8]) -> Value {
    let record = shape.event_record();
    let mut event = fields(record, shape.wire, bytes);
    if shape.is_detail {
        let payload = &bytes[record.size()..];
        event.insert("payload".to_owned(), hex(payload).into());
        event.insert("function".to_owned(), function(payload));
    }
    event.into()
}

/// The function payload, known by its length: 100 bytes and the stack that it says.
fn function(payload: &[u8]) -> Value {
    let record = Record::DetailFunctionPayload;
    let Some(stack) = payload.get(record.size()..) else {
        return Value::Null;
    };
    if little_endian(&payload[96..98]) != stack.len() as u64 {
        return Value::Null;
    }
    let mut function = fields(record, 1, payload);
    function.insert("stack".to_owned(), hex(stack).into());
    function.into()
}

fn fields(record: Record, wire: u8, bytes: &[u8]) -> Map<String, Value> {
    let fields = record.fields(wire).iter();
    let shown = fields.filter(|field| !matches!(field.is, Is::Magic | Is::Reserved));
    shown
        .map(|field| (field.name.to_owned(), value(field, bytes)))
        .collect()
}

fn value(field: &Field, bytes: &[u8]) -> Value {
    let bytes = &bytes[field.offset..field.offset + field.size];
    let number = little_endian(bytes);
    match field.is {
        Is::Link if bytes.iter().all(|byte| *byte == 0xff) => Value::Null,
        Is::Registers => (bytes.chunks(8))
            .map(|register| little_endian(register).to_string())
            .collect(),
        Is::Link | Is::Seq => number.to_string().into(),
        _ if field.size == 8 => number.to_string().into(),
        _ => number.into(),
    }
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The worst that a reader must do about broken rules.
fn verdict<'a>(broken: impl Iterator<Item = &'a str>) -> Verdict {
    let rules = broken.map(|id| rules::find(id).unwrap_or_else(|| panic!("no rule {id}")));
    let verdicts = rules.map(|rule| rule.reader.into());
    verdicts.max().unwrap_or(Verdict::Accept)
}

/// The document for a session whose files break these rules, and its verdict.
pub(super) fn session(trace: &Trace, root: &str, broken: &[(&str, &str)]) -> (Value, Verdict) {
    let threads: Vec<_> = thread_folders(trace, root)
        .into_iter()
        .map(|(id, folder)| Thread::of(trace, id, &folder, broken))
        .collect();
    let worst = verdict(broken.iter().map(|(_, rule)| *rule));
    let is_lost = !threads.is_empty() && threads.iter().all(|thread| !thread.is_readable());
    let verdict = match (worst, is_lost) {
        (_, true) => Verdict::Reject,
        (Verdict::Accept, _) => Verdict::Accept,
        _ => Verdict::Recover,
    };
    if verdict == Verdict::Reject {
        return (json!({"kind": "session", "verdict": "reject"}), verdict);
    }
    let mut merged: Vec<_> = threads.iter().flat_map(Thread::moments).collect();
    merged.sort_unstable();
    let details: usize = threads.iter().map(|thread| thread.details.len()).sum();
    let events: usize = threads.iter().map(|thread| thread.events.len()).sum();
    let document = json!({
        "kind": "session",
        "verdict": verdict.name(),
        "threads": threads.iter().map(Thread::document).collect::<Vec<_>>(),
        "derived": {
            "manifest": manifest(trace, root, broken),
            "event_count": events.to_string(),
            "detail_count": details.to_string(),
            "time_start_ns": merged.first().map(|(time, _, _)| time.to_string()),
            "time_end_ns": merged.last().map(|(time, _, _)| time.to_string()),
            "merged": (merged.iter())
                .map(|(_, thread, seq)| json!([thread, seq.to_string()]))
                .collect::<Vec<_>>(),
        },
    });
    (document, verdict)
}

/// What stands in a session under the name of a thread's folder.
fn thread_folders(trace: &Trace, root: &str) -> BTreeSet<(u32, String)> {
    let below = |path: &str| {
        let rest = match root {
            "" => path,
            _ => path.strip_prefix(root)?.strip_prefix('/')?,
        };
        let name = rest.split('/').next()?;
        let digits = name.strip_prefix("thread_")?;
        let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
        let id = digits.parse().ok().filter(|_| is_decimal)?;
        Some((id, join(root, name)))
    };
    let files = trace.files().keys().chain(trace.symlinks().keys());
    let paths = files.chain(trace.folders());
    paths.filter_map(|path| below(path)).collect()
}

fn join(root: &str, name: &str) -> String {
    match root {
        "" => name.to_owned(),
        _ => format!("{root}/{name}"),
    }
}

fn manifest(trace: &Trace, root: &str, broken: &[(&str, &str)]) -> &'static str {
    let path = join(root, "manifest.json");
    let mut own = broken.iter().filter(|(file, _)| *file == path);
    let keeping = ["ATF-MANI-002", "ATF-MANI-003", "ATF-SESS-003"];
    let is_there = trace.files().contains_key(&path) || trace.symlinks().contains_key(&path);
    match own.any(|(_, rule)| keeping.contains(rule)) {
        _ if !is_there => "absent",
        true => "ignored",
        false => "used",
    }
}

/// A thread of a session.
struct Thread {
    id: u32,
    index: Value,
    detail: Value,
    /// The bytes of the index events.
    events: Vec<Vec<u8>>,
    /// The index events that the details name.
    details: Vec<u64>,
    wire: u8,
}

impl Thread {
    fn of(trace: &Trace, id: u32, folder: &str, broken: &[(&str, &str)]) -> Self {
        let part = |name: &str| {
            let path = format!("{folder}/{name}");
            trace.files().get(&path)?;
            let own = broken.iter().filter(|(file, _)| *file == path);
            let own: Vec<_> = own.map(|(_, rule)| *rule).collect();
            let (document, verdict) = file(trace, &path, &own);
            let events = match (verdict, trace.shape(&path)) {
                (Verdict::Reject, _) | (_, None) => Vec::new(),
                (_, Some(shape)) => {
                    let size = shape.event_record().size();
                    let events = shape.survivors().into_iter();
                    events
                        .map(|offset| trace.file(&path)[offset..offset + size].to_vec())
                        .collect()
                }
            };
            Some((document, events))
        };
        let (index, events) = part("index.atf").unwrap_or_default();
        let (detail, details) = part("detail.atf").unwrap_or_default();
        let wire = trace.version;
        let index_seq = |event: &Vec<u8>| {
            let end = if wire == 1 { 12 } else { 16 };
            little_endian(&event[8..end])
        };
        Self {
            id,
            index,
            detail,
            events,
            details: details.iter().map(index_seq).collect(),
            wire,
        }
    }

    fn is_readable(&self) -> bool {
        !self.index.is_null() && self.index["verdict"] != "reject"
    }

    /// Time, thread and position of each event that is no hole.
    fn moments(&self) -> Vec<(u64, u32, usize)> {
        let events = self.events.iter().enumerate();
        let known = events.filter(|(_, event)| !is_hole(event));
        known
            .map(|(seq, event)| (little_endian(&event[..8]), self.id, seq))
            .collect()
    }

    fn document(&self) -> Value {
        let (at, none) = match self.wire {
            1 => (28..32, u64::from(u32::MAX)),
            _ => (16..24, u64::MAX),
        };
        let link = |event: &Vec<u8>| {
            let link = little_endian(&event[at.clone()]);
            (link != none && !is_hole(event)).then_some(link)
        };
        let links: Vec<_> = self.events.iter().map(link).collect();
        let get = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
        let dangles = |(seq, link): &(usize, &Option<u64>)| {
            link.is_some_and(|to| self.details.get(get(to)) != Some(&(*seq as u64)))
        };
        let is_orphan = |(seq, from): &(usize, &u64)| {
            links.get(get(**from)).copied().flatten() != Some(*seq as u64)
        };
        let dangling = links.iter().enumerate().filter(dangles);
        let orphans = self.details.iter().enumerate().filter(is_orphan);
        json!({
            "thread_id": self.id,
            "index": self.index,
            "detail": self.detail,
            "derived": {
                "dangling_links": dangling.count().to_string(),
                "orphan_details": orphans.count().to_string(),
            },
        })
    }
}

/// An event of zeros: a block that never reached the disk.
fn is_hole(event: &[u8]) -> bool {
    event.iter().all(|byte| *byte == 0)
}
