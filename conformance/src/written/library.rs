//! Reads a written session with the library and compares it with the script.

use std::fmt::Debug;
use std::path::Path;

use atf::Error;
use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::thread::ThreadReader;

use super::{Wrong, settle};
use crate::results::Difference;
use crate::scripts::{Index, Script, Thread};

/// Compares the files of every thread.
///
/// # Errors
///
/// Returns the first difference.
pub fn compare(script: &Script, out: &Path) -> Result<(), Wrong> {
    for (id, thread) in script.threads() {
        let folder = format!("thread_{id}");
        let path = out.join(&folder);
        if !thread.is_finalized && thread.events.is_empty() && !path.join("index.atf").exists() {
            continue;
        }
        let failed =
            |error: Error| Wrong::new(format!("{folder}: the library cannot read it: {error}"));
        let reader = ThreadReader::open(&path).map_err(failed)?;
        compare_thread(&folder, &thread, &reader, failed)?;
    }
    Ok(())
}

/// Checks that no finalized index that the library can read has lost events.
pub(super) fn count(script: &Script, out: &Path) -> Result<(), Wrong> {
    for (id, thread) in script.threads() {
        let file = format!("thread_{id}/index.atf");
        let Ok(index) = IndexReader::open(out.join(&file)) else {
            continue;
        };
        let asked = thread.events.len();
        if index.footer().is_some() && index.event_count() < asked as u64 {
            let found = usize::try_from(index.event_count()).unwrap_or(usize::MAX);
            return Err(settle::too_few(&file, &asked.to_string(), found));
        }
    }
    Ok(())
}

/// Compares a thread's files. `failed` makes a failure from an error of the library.
fn compare_thread(
    folder: &str,
    thread: &Thread<'_>,
    reader: &ThreadReader,
    failed: impl Fn(Error) -> Wrong + Copy,
) -> Result<(), Wrong> {
    let index = reader.index();
    let (header, open) = (index.header(), thread.open);
    let file = File(format!("{folder}/index.atf"));
    file.equal("header.version", index.wire().version(), open.wire)?;
    file.equal("header.thread_id", header.thread_id, open.thread_id)?;
    file.equal("header.clock_type", header.clock_type.0, open.clock_type)?;
    file.ends(index.footer().is_some(), thread)?;
    file.holds(index.event_count(), thread.events.len())?;
    for ((seq, event), asked) in index.events_in(..).enumerate().zip(&thread.events) {
        let event = event.map_err(failed)?;
        let place = format!("events[{seq}]");
        file.equal(&place, facts(&event), asked_facts(asked, open.wire))?;
        // Follow the links in both directions.
        let detail = reader.detail_of(&event).map_err(failed)?.found();
        let found = detail.as_ref().map(|detail| detail.seq);
        let link = settle::link(thread, asked.detail_seq);
        file.equal(&format!("{place}.detail_seq"), found, link)?;
        if let Some(detail) = detail {
            let back = reader.event_of(&detail).map_err(failed)?.found();
            let back = back.map(|event| facts(&event));
            let place = format!("{place} through its details");
            file.equal(&place, back, Some(facts(&event)))?;
        }
    }
    let file = File(format!("{folder}/detail.atf"));
    match reader.detail() {
        Some(detail) => compare_details(&file, thread, detail, failed),
        None => file.holds(0, thread.details.len()),
    }
}

fn compare_details(
    file: &File,
    thread: &Thread<'_>,
    reader: &DetailReader,
    failed: impl Fn(Error) -> Wrong + Copy,
) -> Result<(), Wrong> {
    file.ends(reader.footer().is_some(), thread)?;
    file.holds(reader.event_count(), thread.details.len())?;
    for (event, asked) in reader.events_in(..).zip(&thread.details) {
        let event = event.map_err(failed)?;
        let place = format!("events[{}]", event.seq);
        let header = &event.header;
        let found = (
            header.event_type.0,
            header.flags,
            header.index_seq,
            header.timestamp,
        );
        let expected = (
            asked.event_type,
            asked.flags,
            asked.index_seq,
            asked.timestamp,
        );
        file.equal(&place, found, expected)?;
        let payload = reader.payload(&event, asked.payload.len());
        let payload = payload.map_err(failed)?;
        let is_same = payload == asked.payload;
        file.equal(&format!("{place}.payload matches"), is_same, true)?;
    }
    Ok(())
}

/// An event's time, function, kind, depth and link.
type Facts = (u64, u64, u32, Option<u32>, Option<u64>);

fn facts(event: &IndexEvent) -> Facts {
    (
        event.timestamp_ns,
        event.function_id,
        event.event_kind.0,
        event.call_depth,
        event.detail_seq,
    )
}

fn asked_facts(event: &Index, wire: u8) -> Facts {
    let wire = atf::Wire::from_version(wire);
    let depth = wire.filter(|wire| wire.records_call_depth());
    (
        event.timestamp_ns,
        event.function_id,
        event.event_kind.into(),
        depth.map(|_| event.call_depth),
        event.detail_seq,
    )
}

/// The path of a file, relative to the session folder.
struct File(String);

impl File {
    /// Checks that the file has a footer if and only if its thread was finalized.
    fn ends(&self, has_footer: bool, thread: &Thread<'_>) -> Result<(), Wrong> {
        self.equal("footer", has_footer, thread.is_finalized)
    }

    fn holds(&self, count: u64, asked: usize) -> Result<(), Wrong> {
        self.equal("the number of events", count, asked as u64)
    }

    fn equal<T>(&self, field: &str, found: T, expected: T) -> Result<(), Wrong>
    where
        T: PartialEq + Debug + Copy,
    {
        if found == expected {
            return Ok(());
        }
        let place = format!("{}: {field}", self.0);
        let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
        let message = format!("{place}: the library reads {found}, expected {expected}");
        Err(Wrong::differs(
            message,
            Difference::in_data(place, expected, found),
        ))
    }
}
