//! Notes faults in events and details without correcting them.

use super::{Pair, Walk};
use crate::check::{At, Findings, content};
use crate::detail::DetailEvent;
use crate::files::{DETAIL_FILE, INDEX_FILE};
use crate::index::{IndexEvent, IndexReader};
use crate::rewrite::report::{NoteKind, Notes, Place, ThreadReport};
use crate::rules::{Rule, Severity, table as rules};
use crate::wire::{DetailFunctionPayload, Wire};

/// Returns the id for the new header. This is the old header's id, unless the folder's name and
/// either an event or the detail file agree on another id. In that case, the old header is damaged.
pub(super) fn thread_id(
    pair: Pair<'_>,
    target: Wire,
    report: &mut ThreadReport,
) -> crate::Result<u32> {
    let header = pair.index.header();
    let found = header.thread_id;
    let Some(folder_id) = pair.folder_id.filter(|id| *id != found) else {
        return Ok(found);
    };
    let first = pair
        .index
        .get(0)?
        .filter(|_| pair.index.is_readable(0) && pair.index.wire().records_thread_id());
    let witness = match first {
        Some(event) => Some(event.thread_id),
        None => pair.detail.map(|detail| detail.header().thread_id),
    };
    let (kind, id) = if witness == Some(folder_id) {
        (NoteKind::HeaderDisagrees, folder_id)
    } else {
        (NoteKind::Content, found)
    };
    let mut contents = Contents {
        notes: &mut report.notes,
        kind,
        file: INDEX_FILE,
        target,
    };
    content::thread_id(header, folder_id, &mut contents);
    Ok(id)
}

/// A collector of findings about the content of one file.
struct Contents<'a> {
    notes: &'a mut Notes,
    /// The kind of the notes, except about thread ids that the new files do not record.
    kind: NoteKind,
    file: &'static str,
    /// The wire version of the new events.
    target: Wire,
}

impl Findings for Contents<'_> {
    fn add(
        &mut self,
        rule: &'static Rule,
        place: crate::check::Place,
        message: impl FnOnce() -> String,
    ) {
        if rule.severity == Severity::Advice {
            return;
        }
        let file = self.file;
        let place = || Place::new(file, place.field, place.offset).found(message());
        let is_thread_id = [rules::ATF_IEVT_003.id, rules::ATF_DEVT_004.id].contains(&rule.id);
        if is_thread_id && !self.target.records_thread_id() {
            self.notes.add(NoteKind::ThreadIdLost, Some(rule), place);
        } else {
            self.notes.add(self.kind, Some(rule), place);
        }
    }
}

/// Notes faults in an event's content.
pub(super) fn event(walk: &mut Walk<'_, '_>, seq: u64, offset: u64, event: &IndexEvent) {
    let wire = walk.pair.index.wire();
    let thread_id = walk.expected_thread_id(event.thread_id);
    let mut contents = Contents {
        notes: &mut walk.report.notes,
        kind: NoteKind::Content,
        file: INDEX_FILE,
        target: walk.target,
    };
    let at = At::event(wire, seq, offset);
    content::event(event, walk.before.as_ref(), thread_id, &at, &mut contents);
}

/// Notes faults in a detail's content and contradictions between the detail and its event.
pub(super) fn detail(
    notes: &mut Notes,
    (wire, target): (Wire, Wire),
    thread_id: u32,
    event: &IndexEvent,
    detail: &DetailEvent,
    function: Option<&DetailFunctionPayload>,
) {
    let mut contents = Contents {
        notes,
        kind: NoteKind::Content,
        file: DETAIL_FILE,
        target,
    };
    content::detail(wire, detail, function, thread_id, &mut contents);
    content::agreement(wire, event, detail, function, &mut contents);
}

/// Returns the place of an index event's field.
pub(super) fn event_place(index: &IndexReader, seq: u64, field: &str) -> Place {
    let place = At::event(index.wire(), seq, index.offset_of(seq)).field(field);
    Place::new(INDEX_FILE, place.field, place.offset)
}

/// Returns the place of a detail event's field, which is `after` bytes into the event.
pub(super) fn detail_place(detail: &DetailEvent, field: &str, after: usize) -> Place {
    let offset = detail.offset.saturating_add(after as u64);
    let dot = if field.is_empty() { "" } else { "." };
    let field = format!("events[{}]{dot}{field}", detail.seq);
    Place::new(DETAIL_FILE, field, Some(offset))
}
