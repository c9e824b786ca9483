//! Builds the documents of sessions.

use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::session::{Presence, SessionReader, ThreadEntry};
use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};
use atf::{Error, ErrorKind};
use serde_json::{Value, json};

use super::file::{self, text};
use super::{ignores_manifest, rejected, verdict_on};
use crate::{Checked, Verdict};

pub(super) fn document(path: &Path, checked: &Checked) -> Value {
    match SessionReader::open(path) {
        Ok(session) => of_session(&session, checked),
        Err(_) => rejected("session"),
    }
}

fn of_session(session: &SessionReader, checked: &Checked) -> Value {
    let mut totals = Totals::default();
    let mut threads = Vec::new();
    let threads_there = session.threads().iter();
    for entry in threads_there.filter(|entry| entry.presence() != Presence::Missing) {
        threads.push(thread(entry, checked, &mut totals));
    }
    let manifest = match session.manifest() {
        None => "absent",
        Some(_) if ignores_manifest(checked) => "ignored",
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
            "event_count": text(totals.events),
            "detail_count": text(totals.details),
            "time_start_ns": times.map(|(first, _)| text(first.0)),
            "time_end_ns": times.map(|(_, last)| text(last.0)),
            "merged": merged,
        },
    })
}

/// The totals over all threads.
#[derive(Default)]
struct Totals {
    /// The timestamp, thread and position of every index event.
    merged: Vec<(u64, u32, u64)>,
    /// The number of index events, including holes.
    events: u64,
    details: u64,
    /// The number of threads with a readable index.
    read: u64,
    /// Whether a file is rejected or missing.
    refused: bool,
    recovered: bool,
}

impl Totals {
    fn file(&mut self, verdict: Verdict) {
        self.refused |= verdict == Verdict::Reject;
        self.recovered |= verdict == Verdict::Recover;
    }
}

/// For each event of a file, the position of the event of the other file that it links to.
type Links = Vec<Option<u64>>;

/// Counts the links of events that are not linked back.
fn unmatched(from: &[Option<u64>], to: &[Option<u64>]) -> Value {
    let links = (0..)
        .zip(from)
        .filter_map(|(seq, link)| Some((seq, (*link)?)));
    let back = |link: u64| to.get(usize::try_from(link).ok()?).copied().flatten();
    let unmatched = links.filter(|(seq, link)| back(*link) != Some(*seq));
    text(unmatched.count() as u64)
}

fn thread(entry: &ThreadEntry, checked: &Checked, totals: &mut Totals) -> Value {
    let (mut links, mut back) = (Links::new(), Links::new());
    let opened = entry.open();
    let index = opened.as_ref().map(ThreadReader::index);
    let index = index_document(index, entry, checked, totals, &mut links);
    let alone;
    let detail = match &opened {
        Ok(thread) => match (thread.detail(), thread.detail_error()) {
            (Some(reader), _) => Some(Ok(reader)),
            (None, error) => error.map(Err),
        },
        Err(_) => {
            alone = detail_alone(entry);
            alone.as_ref().map(Result::as_ref)
        }
    };
    let detail = detail_document(detail, entry.path(), checked, totals, &mut back);
    json!({
        "thread_id": entry.id(),
        "index": index,
        "detail": detail,
        "derived": {
            "dangling_links": unmatched(&links, &back),
            "orphan_details": unmatched(&back, &links),
        },
    })
}

/// Opens the detail file of a thread whose index cannot be opened.
fn detail_alone(entry: &ThreadEntry) -> Option<Result<DetailReader, Error>> {
    let path = entry.path().join(DETAIL_FILE);
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    (entry.presence() == Presence::Folder && is_file).then(|| DetailReader::open(path))
}

fn index_document(
    reader: Result<&IndexReader, &Error>,
    entry: &ThreadEntry,
    checked: &Checked,
    totals: &mut Totals,
    links: &mut Links,
) -> Value {
    let verdict = verdict_on(&entry.path().join(INDEX_FILE), checked);
    let document = match reader {
        Ok(reader) => file::of_index(reader, verdict).and_then(|document| {
            if verdict != Verdict::Reject {
                // The bytes of a hole never reached the disk.
                let holes = reader.holes().collect::<atf::Result<Vec<_>>>()?;
                for (seq, event) in (0..).zip(reader.events_in(..)) {
                    let event = event?;
                    let is_hole = holes
                        .iter()
                        .any(|hole| (hole.seq..hole.seq + hole.count).contains(&seq));
                    if !is_hole {
                        totals.merged.push((event.timestamp_ns, entry.id(), seq));
                    }
                    links.push(event.detail_seq.filter(|_| !is_hole));
                }
                totals.events = totals.events.saturating_add(reader.event_count());
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
    checked: &Checked,
    totals: &mut Totals,
    links: &mut Links,
) -> Value {
    let verdict = verdict_on(&folder.join(DETAIL_FILE), checked);
    let document = match reader {
        None => return Value::Null,
        Some(Ok(reader)) => file::of_detail(reader, verdict).and_then(|document| {
            if verdict != Verdict::Reject {
                for event in reader.events_in(..) {
                    links.push(Some(event?.header.index_seq));
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

/// Returns whether an error means that the file is missing, inaccessible or not a regular file,
/// rather than damaged.
fn is_elsewhere(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Io(_)
            | ErrorKind::SymbolicLink
            | ErrorKind::MissingFolder
            | ErrorKind::NotRegular { .. }
    )
}
