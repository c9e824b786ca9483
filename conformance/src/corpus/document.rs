//! Builds expected documents from the description of what was written. Field values are decoded
//! from the bytes with tables written by hand.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::shape::Shape;
use super::trace::Trace;
use super::verdicts::{self, Judged};
use super::{Case, FileVerdicts};
use crate::Verdict;
use crate::hex::hex;
use atf_samples::layout::{Field, FieldKind, Record, little_endian};

/// Returns the document for a file that breaks these rules, and the correct verdicts on the file.
///
/// `own` are the correct verdicts; empty if the rules decide. `phantoms` is the reason why reading
/// the file would yield phantoms, if no rule states it; empty otherwise.
pub(super) fn file(
    trace: &Trace,
    path: &str,
    broken: &[&str],
    own: &[Verdict],
    phantoms: &str,
) -> (Value, Judged) {
    let allowed = match own {
        [] => verdicts::of_rules(broken.iter().copied()),
        own => own.iter().copied().collect(),
    };
    let mut document = file_document(trace, path, broken, &allowed);
    let judged = verdicts::file(path, broken, phantoms, count(&document), allowed);
    if let Some(mildest) = judged.verdicts.first() {
        document["verdict"] = mildest.name().into();
    }
    (document, judged)
}

/// Returns the number of events in a file's document.
fn count(document: &Value) -> usize {
    document["events"].as_array().map_or(0, Vec::len)
}

fn file_document(
    trace: &Trace,
    path: &str,
    broken: &[&str],
    verdicts: &BTreeSet<Verdict>,
) -> Value {
    let kind = if path.ends_with("detail.atf") {
        "detail"
    } else {
        "index"
    };
    let mildest = verdicts.first().copied().unwrap_or(Verdict::Reject);
    let bytes = trace.file(path);
    match trace.shape(path) {
        _ if mildest == Verdict::Reject => json!({"kind": kind, "verdict": "reject"}),
        // A file without a header has no events.
        _ if bytes.len() < HEADER_SIZE => {
            json!({"kind": kind, "verdict": mildest.name(), "events": []})
        }
        None => panic!("{path}: no description of its parts"),
        Some(shape) => {
            let mut document = readable(shape, bytes, mildest);
            if verdicts.contains(&Verdict::Reject) {
                contradicted(&mut document, broken);
            } else {
                let ends = !broken.iter().any(|rule| UNFINISHED.contains(rule));
                assert_eq!(shape.footer().is_some(), ends, "{path} breaks {broken:?}");
            }
            document
        }
    }
}

/// The size of a header in bytes.
const HEADER_SIZE: usize = 64;

/// The rules that a file breaks if it has no footer.
const UNFINISHED: [&str; 2] = ["ATF-IFTR-001", "ATF-DFTR-001"];

/// The rules on checksum mismatches.
pub(crate) const CHECKSUMS: [&str; 4] = [
    "ATF-IFTR-004",
    "ATF-IFTR-005",
    "ATF-DFTR-004",
    "ATF-DFTR-005",
];

/// Removes the footer, the count source and the trailing bytes from the document of a
/// self-contradictory file, because readers that accept the file may disagree about these values.
fn contradicted(document: &mut Value, broken: &[&str]) {
    let is_bad = broken.iter().any(|rule| CHECKSUMS.contains(rule));
    if let Some(members) = document.as_object_mut() {
        members.shift_remove("footer");
    }
    if let Some(derived) = document["derived"].as_object_mut() {
        derived.retain(|name, _| name == "event_count" || (is_bad && name == "checksum"));
        if is_bad {
            derived.insert("checksum".to_owned(), "bad".into());
        }
    }
}

/// Returns the document for a readable file.
#[must_use]
pub fn readable(shape: &Shape, bytes: &[u8], verdict: Verdict) -> Value {
    let wire = shape.wire;
    let events = shape.survivors().into_iter();
    let events: Vec<_> = events.map(|place| event(shape, &bytes[place])).collect();
    let footer = shape.footer();
    let checksum = footer.map(|offset| little_endian(&bytes[offset + 4..offset + 8]));
    let count_source = match (footer, shape.is_detail) {
        (Some(_), _) => "footer",
        (None, true) => "framing",
        (None, false) => "file_size",
    };
    let known = shape.survivors_end() + footer.map_or(0, |_| 64);
    let mut document = json!({
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
    });
    // The macro would copy them.
    document["events"] = events.into();
    document
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

/// Decodes a function payload, identified by its length: 100 bytes plus its `stack_size`.
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
    let shown = fields.filter(|field| !matches!(field.is, FieldKind::Magic | FieldKind::Reserved));
    shown
        .map(|field| (field.name.to_owned(), value(field, bytes)))
        .collect()
}

fn value(field: &Field, bytes: &[u8]) -> Value {
    let bytes = &bytes[field.offset..field.offset + field.size];
    let number = little_endian(bytes);
    match field.is {
        FieldKind::Link if bytes.iter().all(|byte| *byte == 0xff) => Value::Null,
        FieldKind::Registers => (bytes.chunks(8))
            .map(|register| little_endian(register).to_string())
            .collect(),
        FieldKind::Link | FieldKind::Seq => number.to_string().into(),
        _ if field.size == 8 => number.to_string().into(),
        _ => number.into(),
    }
}

/// Returns a case with only the correct answers for a session whose files break these rules: its
/// documents, the correct verdicts, and the threads that a reader may skip.
///
/// `extra` are verdicts that the case allows in addition to those that the rules allow.
pub(super) fn session(
    trace: &Trace,
    root: &str,
    broken: &[(&str, &str)],
    extra: &[Verdict],
) -> Case {
    let mut files = Vec::new();
    let folders = thread_folders(trace, root);
    let threads = folders.iter();
    let threads = threads.map(|(id, folder)| thread(trace, *id, folder, broken, &mut files));
    let threads: Vec<_> = threads.collect();
    let index_verdicts = |id: u64| {
        let mut files = files.iter();
        files.find(|it| u64::from(it.thread) == id && it.file == "index")
    };
    let may_be_lost = |thread: &Value| {
        let id = thread["thread_id"].as_u64().unwrap_or_default();
        index_verdicts(id).is_none_or(|it| it.verdicts.contains(&Verdict::Reject))
    };
    // If a reader may reject the index of every thread, it may also reject the session.
    let may_reject = !threads.is_empty() && threads.iter().all(may_be_lost);
    let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    let lost = verdicts::lost(&threads);
    let judged = verdicts::session(broken, &paths, lost.as_deref(), may_reject, extra);
    let (manifest, manifests) = manifest(trace, root, broken)
        .split_first()
        .expect("a manifest has a state");
    let is_empty = |id: u32| files.iter().all(|file| file.thread != id);
    let is_odd = |id: u32, folder: &str| {
        let breaks = |rule| broken.contains(&(folder, rule));
        let is_nothing = breaks("ATF-SESS-002") || breaks("ATF-SESS-003");
        breaks("ATF-SESS-004") || (is_nothing && is_empty(id))
    };
    let optional = folders.iter().filter(|(id, folder)| is_odd(*id, folder));
    let mut derived = derive_session(&threads, manifest);
    // Events that are not in order have no single merged order, and no single first and last event.
    if broken.iter().any(|(_, rule)| *rule == "ATF-IEVT-001")
        && let Some(members) = derived.as_object_mut()
    {
        let by_order = ["merged", "time_start_ns", "time_end_ns"];
        members.retain(|name, _| !by_order.contains(&name.as_str()));
    }
    let expected = Value::from_iter([
        ("kind", "session".into()),
        (
            "verdict",
            judged.verdicts.first().map(|verdict| verdict.name()).into(),
        ),
        ("derived", derived),
        ("threads", threads.into()),
    ]);
    let others = manifests.iter();
    let others = others.map(|state| with_manifest(&expected, state));
    Case {
        alternatives: others.collect(),
        verdicts: judged.verdicts,
        because: judged.because,
        optional: optional.map(|(id, _)| *id).collect(),
        file_verdicts: files,
        expected,
        ..Case::default()
    }
}

/// Returns a session's document with a different state of its manifest.
pub(super) fn with_manifest(document: &Value, state: &str) -> Value {
    let mut document = document.clone();
    document["derived"]["manifest"] = state.into();
    document
}

/// Returns a thread's entry and adds the verdicts on its files to `files`.
fn thread(
    trace: &Trace,
    id: u32,
    folder: &str,
    broken: &[(&str, &str)],
    files: &mut Vec<FileVerdicts>,
) -> Value {
    let mut part = |name: &'static str| {
        let path = format!("{folder}/{name}.atf");
        let is_there = trace.files().contains_key(&path);
        is_there.then(|| {
            let own = broken.iter().filter(|(file, _)| *file == path);
            let own: Vec<_> = own.map(|(_, rule)| *rule).collect();
            // An empty file has no events, so a reader may recover or reject it.
            let either: &[Verdict] = match trace.file(&path) {
                [] if verdicts::of_rules(own.iter().copied()).contains(&Verdict::Recover) => {
                    &[Verdict::Recover, Verdict::Reject]
                }
                _ => &[],
            };
            let (document, judged) = file(trace, &path, &own, either, "");
            files.push(FileVerdicts {
                thread: id,
                file: name,
                path,
                verdicts: judged.verdicts,
                because: judged.because,
            });
            document
        })
    };
    let mut thread = Value::from_iter([
        ("thread_id", id.into()),
        ("index", part("index").into()),
        ("detail", part("detail").into()),
        (
            "derived",
            json!({"dangling_links": "0", "orphan_details": "0"}),
        ),
    ]);
    // Readers need not report links between files of different wire versions.
    let has_others = |(file, rule): &(&str, &str)| {
        let name = file.strip_prefix(folder);
        *rule == "ATF-LINK-008" && name.is_some_and(|it| it.starts_with('/'))
    };
    if broken.iter().any(has_others) {
        thread["derived"] = json!({});
    }
    derive_thread(&mut thread);
    thread
}

/// Returns the ids and paths of the session's entries that are named like thread folders.
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

/// Returns the states of the manifest that a reader may report, the expected one first.
///
/// No source has a schema, so a reader that never uses a key cannot know that its type is wrong.
fn manifest(trace: &Trace, root: &str, broken: &[(&str, &str)]) -> &'static [&'static str] {
    let path = join(root, "manifest.json");
    let is_there = trace.files().contains_key(&path) || trace.symlinks().contains_key(&path);
    let breaks = |rule| broken.contains(&(path.as_str(), rule));
    if !is_there {
        &["absent"]
    } else if breaks("ATF-SESS-003") {
        &["ignored", "absent", "used"]
    } else if breaks("ATF-MANI-002") {
        &["ignored"]
    } else if breaks("ATF-MANI-003") {
        &["ignored", "used"]
    } else {
        &["used"]
    }
}

/// Updates the counts of unmatched links in a thread's entry, but does not add missing counts.
pub(crate) fn derive_thread(thread: &mut Value) {
    let links = links(&thread["index"]);
    let back: Vec<Option<u64>> = events(&thread["detail"])
        .map(|event| number(&event["index_seq"]))
        .collect();
    let at = |links: &[Option<u64>], seq: u64| {
        let place = usize::try_from(seq).ok();
        place.and_then(|place| links.get(place).copied().flatten())
    };
    let loose = |from: &[Option<u64>], to: &[Option<u64>]| {
        let links = (0..).zip(from);
        let links = links.filter_map(|(seq, link)| link.map(|link| (seq, link)));
        let loose = links.filter(|(seq, link)| at(to, *link) != Some(*seq));
        loose.count().to_string()
    };
    let (dangling, orphans) = (loose(&links, &back), loose(&back, &links));
    for (name, count) in [("dangling_links", dangling), ("orphan_details", orphans)] {
        if let Some(value) = thread["derived"].get_mut(name) {
            *value = count.into();
        }
    }
}

/// Returns the values derived from all threads: counts, times and merged order.
///
/// They are also needed for grading readers that reject a file where rejection is allowed.
pub(crate) fn derive_session(threads: &[Value], manifest: &str) -> Value {
    let mut merged: Vec<(u64, u64, usize)> = Vec::new();
    for thread in threads {
        let id = thread["thread_id"].as_u64().unwrap_or_default();
        for (seq, event) in events(&thread["index"]).enumerate() {
            if !is_hole(&thread["index"], event) {
                merged.push((number(&event["timestamp_ns"]).unwrap_or_default(), id, seq));
            }
        }
    }
    merged.sort_unstable();
    let count = |file: &str| -> usize { threads.iter().map(|it| events(&it[file]).count()).sum() };
    json!({
        "manifest": manifest,
        "event_count": count("index").to_string(),
        "detail_count": count("detail").to_string(),
        "time_start_ns": merged.first().map(|(time, _, _)| time.to_string()),
        "time_end_ns": merged.last().map(|(time, _, _)| time.to_string()),
        "merged": (merged.iter())
            .map(|(_, thread, seq)| json!([thread, seq.to_string()]))
            .collect::<Vec<_>>(),
    })
}

fn events(file: &Value) -> impl Iterator<Item = &Value> {
    file["events"].as_array().into_iter().flatten()
}

/// Returns the link of each index event.
fn links(index: &Value) -> Vec<Option<u64>> {
    let link = |event| {
        if is_hole(index, event) {
            None
        } else {
            number(&event["detail_seq"])
        }
    };
    events(index).map(link).collect()
}

/// Returns whether an event is a hole: all zeros, with no valid checksum to prove that the zeros
/// were written.
fn is_hole(index: &Value, event: &Value) -> bool {
    let fields = event.as_object().into_iter().flatten();
    let is_zero = |value: &Value| *value == 0 || *value == "0";
    index["derived"]["checksum"] != "good" && fields.map(|(_, value)| value).all(is_zero)
}

/// Parses a 64-bit field.
pub(crate) fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}
