//! A session's document.

use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::manifest::Manifest;
use atf::session::{Presence, SessionReader, ThreadEntry};
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf::{Error, ErrorKind};
use serde_json::{Value, json};

use super::file::{self, text};
use super::{Verdicts, rejected};
use crate::Verdict;

/// The document of a session's folder.
pub(super) fn document(path: &Path, verdicts: &Verdicts) -> Value {
    match SessionReader::open(path) {
        Ok(session) => of_session(&session, verdicts),
        Err(_) => rejected("session"),
    }
}

fn of_session(session: &SessionReader, verdicts: &Verdicts) -> Value {
    let mut totals = Totals::default();
    let mut threads = Vec::new();
    for entry in session.threads() {
        threads.push(thread(entry, verdicts, &mut totals));
    }
    let manifest = match session.manifest() {
        None => "absent",
        Some(manifest) if is_ignored(manifest) => "ignored",
        Some(_) => "used",
    };
    totals.merged.sort_unstable();
    let merged = totals.merged.iter();
    let merged: Vec<_> = merged.map(|(_, id, seq)| json!([id, text(*seq)])).collect();
    let times = totals.merged.first().zip(totals.merged.last());
    let verdict = match totals {
        Totals { refused, read, .. } if read == 0 && refused => Verdict::Reject,
        Totals {
            refused: false,
            recovered: false,
            ..
        } if manifest != "ignored" => Verdict::Accept,
        _ => Verdict::Recover,
    };
    if verdict == Verdict::Reject {
        return rejected("session");
    }
    json!({
        "kind": "session",
        "verdict": verdict,
        "threads": threads,
        "derived": {
            "manifest": manifest,
            "event_count": text(totals.merged.len() as u64),
            "detail_count": text(totals.details),
            "time_start_ns": times.map(|(first, _)| text(first.0)),
            "time_end_ns": times.map(|(_, last)| text(last.0)),
            "merged": merged,
        },
    })
}

/// Whether nothing could be read of a manifest.
fn is_ignored(manifest: &Manifest) -> bool {
    let is_about_all = |problem: &Error| {
        problem.field().is_none()
            && !matches!(
                problem.kind(),
                ErrorKind::ByteOrderMark | ErrorKind::DuplicateKey | ErrorKind::UnknownKey
            )
    };
    manifest.problems.iter().any(is_about_all)
}

/// What the threads come to.
#[derive(Default)]
struct Totals {
    /// All index events: timestamp, thread, position.
    merged: Vec<(u64, u32, u64)>,
    details: u64,
    /// Threads with an index that was read.
    read: u64,
    /// Whether a file was refused, or is not there.
    refused: bool,
    recovered: bool,
}

impl Totals {
    fn file(&mut self, verdict: Verdict) {
        self.refused |= verdict == Verdict::Reject;
        self.recovered |= verdict == Verdict::Recover;
    }
}

/// What a thread's documents hold, for what follows from both.
#[derive(Default)]
struct Links {
    /// Of each index event: the detail event that it links to.
    forward: Vec<Option<u64>>,
    /// Of each detail event: the index event that it links to.
    backward: Vec<u64>,
}

impl Links {
    /// Links of index events that lead nowhere.
    fn dangling(&self) -> usize {
        let count = self.backward.len() as u64;
        let links = self.forward.iter().flatten();
        links.filter(|to| **to >= count).count()
    }

    /// Detail events whose index event is not there.
    fn orphans(&self) -> usize {
        let count = self.forward.len() as u64;
        self.backward.iter().filter(|to| **to >= count).count()
    }
}

fn thread(entry: &ThreadEntry, verdicts: &Verdicts, totals: &mut Totals) -> Value {
    let folder = entry.path();
    let mut links = Links::default();
    let (index, detail) = match entry.open() {
        Ok(thread) => {
            let index = Ok(thread.index());
            let index = index_document(index, entry, verdicts, totals, &mut links);
            let detail = match (thread.detail(), thread.detail_error()) {
                (Some(reader), _) => Some(Ok(reader)),
                (None, error) => error.map(Err),
            };
            let detail = detail_document(detail, folder, verdicts, totals, &mut links);
            (index, detail)
        }
        Err(error) => {
            let index = index_document(Err(&error), entry, verdicts, totals, &mut links);
            let alone = detail_alone(entry);
            let detail = alone.as_ref().map(Result::as_ref);
            let detail = detail_document(detail, folder, verdicts, totals, &mut links);
            (index, detail)
        }
    };
    json!({
        "thread_id": entry.id(),
        "index": index,
        "detail": detail,
        "derived": {
            "dangling_links": text(links.dangling() as u64),
            "orphan_details": text(links.orphans() as u64),
        },
    })
}

/// The details of a thread whose index cannot be opened.
fn detail_alone(entry: &ThreadEntry) -> Option<Result<DetailReader, Error>> {
    let path = entry.path().join(DETAIL_FILE);
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    (entry.presence() == Presence::Folder && is_file).then(|| DetailReader::open(path))
}

fn index_document(
    reader: Result<&IndexReader, &Error>,
    entry: &ThreadEntry,
    verdicts: &Verdicts,
    totals: &mut Totals,
    links: &mut Links,
) -> Value {
    let verdict = verdicts.of_file(&entry.path().join(INDEX_FILE));
    let document = match reader {
        Ok(reader) => file::of_index(reader, verdict).and_then(|document| {
            if verdict != Verdict::Reject {
                for (seq, event) in (0..).zip(reader.events()) {
                    let event = event?;
                    totals.merged.push((event.timestamp_ns, entry.id(), seq));
                    links.forward.push(event.detail_seq);
                }
                totals.read = totals.read.saturating_add(1);
            }
            Ok(document)
        }),
        Err(error) if is_elsewhere(error) => {
            totals.refused = true;
            return Value::Null;
        }
        Err(_) => Ok(rejected("index")),
    };
    totals.file(verdict);
    document.unwrap_or_else(|_| rejected("index"))
}

fn detail_document(
    reader: Option<Result<&DetailReader, &Error>>,
    folder: &Path,
    verdicts: &Verdicts,
    totals: &mut Totals,
    links: &mut Links,
) -> Value {
    let verdict = verdicts.of_file(&folder.join(DETAIL_FILE));
    let document = match reader {
        None => return Value::Null,
        Some(Ok(reader)) => file::of_detail(reader, verdict).and_then(|document| {
            if verdict != Verdict::Reject {
                for event in reader.events() {
                    links.backward.push(event?.header.index_seq);
                }
                totals.details = totals.details.saturating_add(reader.event_count());
            }
            Ok(document)
        }),
        Some(Err(error)) if is_elsewhere(error) => {
            totals.refused = true;
            return Value::Null;
        }
        Some(Err(_)) => Ok(rejected("detail")),
    };
    totals.file(verdict);
    document.unwrap_or_else(|_| rejected("detail"))
}

/// Whether an error says that there is no file, or a symbolic link, rather than that it is wrong.
fn is_elsewhere(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Io(_)
            | ErrorKind::SymbolicLink
            | ErrorKind::MissingFolder
            | ErrorKind::NotRegular { .. }
    )
}
