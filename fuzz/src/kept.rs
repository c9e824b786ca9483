//! Compares the parts of a thread that a recovery must keep.

use std::collections::BTreeMap;

use atf::EventKind;
use atf::index::IndexEvent;
use atf::rewrite::Report;
use atf::session::SessionReader;
use atf::thread::ThreadReader;

/// The type, flags, timestamp and payload of a detail.
pub type KeptDetail = (u16, u16, u64, Vec<u8>);

/// An event with its detail, except what a rewrite may change: the thread's id and the links.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kept {
    /// The timestamp in nanoseconds.
    pub time: u64,
    /// The function's id.
    pub function: u64,
    /// The kind.
    pub kind: EventKind,
    /// The depth, if the wire version stores it.
    pub depth: Option<u32>,
    /// Its detail.
    pub detail: Option<KeptDetail>,
}

/// Returns a thread's events before its first gap. An event has a detail only if their links agree
/// in both directions.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub fn kept(thread: &ThreadReader) -> atf::Result<Vec<Kept>> {
    let index = thread.index();
    let gap = index.holes().next().transpose()?;
    let end = gap.map_or(index.event_count(), |gap| gap.seq);
    let event = |(seq, event): (u64, atf::Result<IndexEvent>)| {
        let event = event?;
        Ok(Kept {
            time: event.timestamp_ns,
            function: event.function_id,
            kind: event.event_kind,
            depth: event.call_depth,
            detail: detail(thread, seq, &event)?,
        })
    };
    (0..).zip(index.events_in(..end)).map(event).collect()
}

fn detail(thread: &ThreadReader, seq: u64, event: &IndexEvent) -> atf::Result<Option<KeptDetail>> {
    let (Some(reader), Some(link)) = (thread.detail(), event.detail_seq) else {
        return Ok(None);
    };
    let found = reader.get(link)?;
    let Some(found) = found.filter(|found| found.header.index_seq == seq) else {
        return Ok(None);
    };
    let payload = reader.payload(&found, usize::MAX)?;
    let header = found.header;
    Ok(Some((
        header.event_type.into(),
        header.flags,
        header.timestamp,
        payload,
    )))
}

/// Returns [`kept`] of each readable thread, by the name of its folder.
pub(crate) fn kept_by_thread(session: &SessionReader) -> BTreeMap<String, Vec<Kept>> {
    let threads = session.threads().iter().filter_map(|entry| {
        let name = entry.path().file_name().expect("a folder");
        let kept = kept(&entry.open().ok()?).expect("existing files can be read");
        Some((name.to_string_lossy().into_owned(), kept))
    });
    threads.collect()
}

/// Checks that a recovered session has the events of the original, with their details.
pub(crate) fn all_are_kept(original: &SessionReader, recovered: &SessionReader, report: &Report) {
    let all = serde_json::to_value(report).expect("a report");
    // Only a recovery reads a kill journal whose details do not belong to the thread.
    let is_read_alike = |name: &str| {
        let mut threads = all["sessions"].as_array().into_iter().flatten();
        let thread = threads.find_map(|session| {
            let mut threads = session["threads"].as_array()?.iter();
            threads.find(|it| it["folder"] == name)
        });
        let notes = thread.and_then(|thread| thread["notes"].as_array());
        let mut notes = notes.into_iter().flatten();
        !notes.any(|note| note["what"] == "ring_details_not_read")
    };
    let [before, after] = [original, recovered].map(|session| {
        let mut threads = kept_by_thread(session);
        threads.retain(|name, _| is_read_alike(name));
        threads
    });
    assert!(before == after, "{before:#?}\n{after:#?}\n{report}");
}
