//! A table of the corpus: a JSON file with the cases of one record and wire version.
//!
//! A file's content is a list of parts, in order:
//!
//! - a string is text, encoded as UTF-8;
//! - `[NAME, HEX]` is the bytes of a header, an event or a footer;
//! - `[NAME, HEX, TIMES]` is these bytes repeated.
//!
//! Large cases are listed apart, with only the files' sizes and a digest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::shape::Region;
use super::{Case, FLAGS};
use crate::hex::{hex, sha256};

/// The families of rules that have their own tables.
const FAMILIES: [(&str, &str); 10] = [
    ("ihdr", "index_header"),
    ("ievt", "index_event"),
    ("iftr", "index_footer"),
    ("dhdr", "detail_header"),
    ("devt", "detail_event"),
    ("dpay", "detail_function_payload"),
    ("dftr", "detail_footer"),
    ("link", "link"),
    ("ring", "ring"),
    ("mani", "manifest"),
];

/// The units that a long run may repeat, in bytes.
const UNITS: [usize; 2] = [1, 256];

/// The minimum size of a run that is written as one unit, in bytes.
const SHORTEST_RUN: usize = 65;

/// Returns the path of a case's table, relative to the corpus.
pub(super) fn path(case: &Case) -> String {
    let slug = case.name.split('/').nth(1).unwrap_or_default();
    let (prefix, _) = slug.split_once('-').unwrap_or_default();
    let family = FAMILIES.iter().find(|(known, _)| *known == prefix);
    let name = match (family, case.subject) {
        _ if case.is_large() => "large",
        (Some((_, name)), _) => name,
        (None, subject) => subject.name(),
    };
    format!("v{}/{name}.json", case.wire)
}

/// Returns a table: a head that explains the flags, and the cases.
pub(super) fn table(cases: &[&Case]) -> Value {
    let used = |flag: &&super::Flag| cases.iter().any(|case| case.flags.contains(&flag.name));
    let flags = FLAGS.iter().filter(used).map(|it| (it.name, it.note));
    let flags: BTreeMap<_, _> = flags.collect();
    let wire = cases.first().map(|case| case.wire);
    let (large, cases): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.is_large());
    let entries =
        |cases: Vec<&&Case>| -> Vec<_> { cases.into_iter().map(|case| entry(case)).collect() };
    let mut table = json!({"wire": wire, "flags": flags, "cases": entries(cases)});
    if !large.is_empty() {
        table["large"] = entries(large).into();
    }
    table
}

fn entry(case: &Case) -> Value {
    let mut entry = about(case);
    if case.is_large() {
        let files = case.files.iter();
        let sizes = files.map(|(path, bytes)| (path.clone(), bytes.len().into()));
        entry.insert("sizes".to_owned(), Value::Object(sizes.collect()));
        entry.insert("sha256".to_owned(), digest(case).into());
        return entry.into();
    }
    let files = case.files.iter();
    let files = files.map(|(path, bytes)| (path.clone(), content(bytes, case.regions(path))));
    entry.insert("files".to_owned(), files.collect());
    entry.insert("expected".to_owned(), case.expected.clone());
    if !case.alternatives.is_empty() {
        let alternatives = case.alternatives.iter();
        let alternatives = alternatives.map(|other| patch(&case.expected, other));
        entry.insert("alternatives".to_owned(), alternatives.collect());
    }
    entry.into()
}

/// Returns the SHA-256 of a case's files and its expected document.
fn digest(case: &Case) -> String {
    let mut text = case.expected.to_string();
    for (path, bytes) in &case.files {
        let _ = write!(text, "\n{path} {}", sha256(bytes));
    }
    sha256(text.as_bytes())
}

/// Returns the changes that turn one document into another, as a JSON merge patch (RFC 7396).
fn patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return to.clone();
    };
    let gone = from.keys().filter(|key| !to.contains_key(*key));
    let gone = gone.map(|key| (key.clone(), Value::Null));
    let changed = to
        .iter()
        .filter(|(key, value)| from.get(*key) != Some(value));
    let changed = changed.map(|(key, value)| {
        let before = from.get(key).unwrap_or(&Value::Null);
        (key.clone(), patch(before, value))
    });
    gone.chain(changed).collect()
}

/// Returns a case's description: everything but its files and the expected document. Empty lists
/// are omitted.
pub(super) fn about(case: &Case) -> Map<String, Value> {
    let broken = case.broken.iter();
    let broken: Vec<_> = broken
        .map(|(file, rule)| json!({"file": file, "rule": rule}))
        .collect();
    let about = json!({
        "name": case.name,
        "note": case.note,
        "subject": case.subject,
        "path": case.path,
        "class": case.class,
        "verdicts": case.verdicts,
        "because": case.because,
        "file_verdicts": case.file_verdicts,
        "optional": case.optional,
        "broken": broken,
        "place": case.place,
        "rules": case.rules,
        "sources": case.sources,
        "flags": case.flags,
        "folders": case.folders,
        "symlinks": case.symlinks,
    });
    let Value::Object(mut about) = about else {
        unreachable!("the literal is an object")
    };
    about.retain(|_, value| {
        let is_empty = value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        !is_empty
    });
    about
}

/// Returns a file's content as parts.
fn content(bytes: &[u8], regions: &[Region]) -> Value {
    let has_parts = !regions.is_empty();
    let named = regions
        .iter()
        .map(|it| (&*it.name, it.offset..it.offset + it.size));
    let whole = (!has_parts).then_some(("", 0..bytes.len()));
    let mut parts = Vec::new();
    for (name, range) in named.chain(whole) {
        for (unit, times) in runs(&bytes[range]) {
            match str::from_utf8(unit) {
                Ok(text) if !has_parts && times == 1 => {
                    parts.extend(text.split_inclusive('\n').map(Value::from));
                }
                _ if times == 1 => parts.push(json!([name, hex(unit)])),
                _ => parts.push(json!([name, hex(unit), times])),
            }
        }
    }
    parts.into()
}

/// Divides bytes into long runs of one unit, and the bytes between them.
fn runs(bytes: &[u8]) -> Vec<(&[u8], usize)> {
    let (mut runs, mut start, mut offset) = (Vec::new(), 0, 0);
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        let run = UNITS.iter().find_map(|size| {
            let unit = rest.get(..*size)?;
            let same = rest.chunks_exact(*size).take_while(|it| *it == unit);
            let times = same.count();
            (times >= 2 && times * size >= SHORTEST_RUN).then_some((unit, times))
        });
        match run {
            Some((unit, times)) => {
                runs.push((&bytes[start..offset], 1));
                runs.push((unit, times));
                offset += unit.len() * times;
                start = offset;
            }
            None => offset += 1,
        }
    }
    runs.push((&bytes[start..], 1));
    runs.retain(|(unit, _)| !unit.is_empty());
    runs
}
