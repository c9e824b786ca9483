//! Writes an event together with its detail.

use super::{Walk, notes};
use crate::detail::{DetailEvent, DetailEventHeader, DetailReader, FunctionPayload};
use crate::error::{Error, Result};
use crate::index::IndexEvent;
use crate::rewrite::job::{Details, Failure};
use crate::rewrite::report::{NoteKind, Notes};

const HEADER: usize = DetailEventHeader::SIZE;

impl Walk<'_, '_> {
    /// Writes an event and its detail. Checks the payload if it may belong to a call or a return.
    pub(super) fn with_detail(
        &mut self,
        event: &IndexEvent,
        detail: &DetailEvent,
    ) -> Result<(), Failure> {
        self.count_detail_from_ring(detail);
        let thread_id = self.expected_thread_id(detail.header.thread_id);
        let payload = if detail.payload_size() > FunctionPayload::LARGEST as u64 {
            None
        } else {
            let details = self.details.as_mut().ok_or_else(no_file)?;
            Some(details.payload(detail)?)
        };
        let function = payload.and_then(FunctionPayload::split);
        let function = function.map(|(numbers, _)| numbers);
        let wires = (self.pair.index.wire(), self.target);
        let notes = &mut self.report.notes;
        notes::detail(notes, wires, thread_id, event, detail, function);
        let scrubbed: Vec<u8>;
        let payload: &[u8] = match (self.job.details, function, payload) {
            (Details::Scrub, Some(_), _) => {
                note_payload(notes, NoteKind::PayloadScrubbed, detail);
                scrubbed = scrub(event.function_id).map_err(Failure::Write)?;
                &scrubbed
            }
            (Details::Scrub, None, _) => {
                note_payload(notes, NoteKind::PayloadEmptied, detail);
                &[]
            }
            (Details::Keep | Details::Drop, _, Some(payload)) => payload,
            (Details::Keep | Details::Drop, _, None) => return self.copy_large(event, detail),
        };
        self.progress.advance(detail.header.total_length.into());
        let detail = Some((&detail.header, payload));
        let written = self.writer.write_decoded(event, detail);
        written.map(drop).map_err(Failure::Write)
    }

    /// Writes a detail whose payload is too large for a call or a return. It is written in pieces,
    /// because it may not fit into memory.
    fn copy_large(&mut self, event: &IndexEvent, detail: &DetailEvent) -> Result<(), Failure> {
        let (reader, progress) = (self.pair.detail, &mut *self.progress);
        let mut start = 0_u64;
        let mut is_unread = false;
        let mut read = |piece: &mut [u8]| {
            let reader = reader.ok_or_else(no_file);
            let read = reader.and_then(|reader| reader.read_payload(detail, start, piece));
            is_unread = read.is_err();
            start = start.saturating_add(piece.len() as u64);
            progress.advance(piece.len() as u64);
            read.map(drop)
        };
        let written = self
            .writer
            .write_decoded_from(event, &detail.header, &mut read);
        written.map_err(|error| {
            if is_unread {
                Failure::Read(error)
            } else {
                Failure::Write(error)
            }
        })
    }

    /// Counts a detail if part of it comes from `ring.atf`.
    fn count_detail_from_ring(&mut self, detail: &DetailEvent) {
        let size = self.pair.detail.map_or(0, DetailReader::file_size);
        let in_file = size.saturating_sub(self.pair.ring.detail_bytes);
        let end = detail
            .offset
            .saturating_add(detail.header.total_length.into());
        if end > in_file {
            let kept = &mut self.report.details;
            kept.from_ring = kept.from_ring.saturating_add(1);
        }
    }
}

fn note_payload(notes: &mut Notes, what: NoteKind, detail: &DetailEvent) {
    notes.tally(what, || notes::detail_place(detail, "payload", HEADER));
}

fn no_file() -> Error {
    Error::internal("a detail that was found is in its file")
}

/// Returns the payload of a call or a return with nothing but its function id: registers are 0, and
/// there is no stack.
fn scrub(function_id: u64) -> Result<Vec<u8>> {
    let payload = FunctionPayload {
        function_id,
        x_regs: [0; 8],
        lr: 0,
        fp: 0,
        sp: 0,
        reserved: 0,
        stack: Vec::new(),
    };
    payload.encode()
}
