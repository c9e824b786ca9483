//! Adds events to the buffers, and writes the buffers to the files.

use super::ends::detail_header;
use super::{State, ThreadWriter};
use crate::detail::DetailEventHeader;
use crate::error::{Error, ErrorKind, Result};
use crate::files::DETAIL_FILE;
use crate::index::IndexEvent;
use crate::write::ring::{Buffer, Journal};
use crate::write::section::{Section, no_room, whole_details};
use crate::write::{Detail, Durability, Event, Link, at};

impl ThreadWriter {
    #[inline]
    pub(super) fn decoded(&self, event: &Event, detail_seq: Option<u64>) -> IndexEvent {
        IndexEvent {
            timestamp_ns: event.timestamp_ns,
            function_id: event.function_id,
            thread_id: self.thread_id,
            event_kind: event.event_kind,
            call_depth: Some(event.call_depth),
            detail_seq,
        }
    }

    pub(super) fn detail_header(
        &self,
        timestamp: u64,
        index_seq: u64,
        detail: &Detail<'_>,
    ) -> Result<DetailEventHeader> {
        Ok(DetailEventHeader {
            total_length: self.total_length(detail.payload)?,
            event_type: detail.event_type,
            flags: detail.flags,
            index_seq,
            thread_id: self.thread_id,
            timestamp,
        })
    }

    /// Appends a checked event, with its link, to the index buffer.
    #[inline]
    pub(super) fn push(&mut self, event: &IndexEvent) -> Result<u64> {
        if !self.has_room() {
            self.make_room()?;
        }
        self.push_checked(event)
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.index.filled() < self.room_end
    }

    /// Appends an event to the index buffer, which must have room.
    #[inline]
    pub(super) fn push_checked(&mut self, event: &IndexEvent) -> Result<u64> {
        match self.push_buffered(event) {
            Some(seq) => Ok(seq),
            None => Err(self.fail(no_room())),
        }
    }

    /// Appends an event to the index buffer if it has room.
    #[inline]
    pub(super) fn push_buffered(&mut self, event: &IndexEvent) -> Option<u64> {
        let wire = self.wire;
        self.index.push(|place| event.encode_to(wire, place))?;
        self.last_timestamp = event.timestamp_ns;
        let seq = self.next_index_seq;
        // No overflow: `room_end` keeps the number below the wire version's limit.
        self.next_index_seq = seq.wrapping_add(1);
        Some(seq)
    }

    /// Appends a detail and its event to the buffers, or neither of them. `put` adds the detail's
    /// encoded header and its payload.
    pub(super) fn push_pair(
        &mut self,
        event: &IndexEvent,
        header: &DetailEventHeader,
        put: impl FnOnce(&mut Section, &[u8]) -> Result<()>,
    ) -> Result<Link> {
        self.check_detail_limit()?;
        if !self.has_room() {
            self.make_room()?;
        }
        let detail_seq = self.push_detail(header, put)?;
        Ok(Link {
            index_seq: self.push_checked(event)?,
            detail_seq,
        })
    }

    pub(super) fn push_detail(
        &mut self,
        header: &DetailEventHeader,
        put: impl FnOnce(&mut Section, &[u8]) -> Result<()>,
    ) -> Result<u64> {
        // A detail that does not fit into the buffer goes to the file.
        self.check_owner()?;
        let bytes = header.encode(self.wire)?;
        let detail = match &mut self.detail {
            Some(detail) => detail,
            None => {
                let made = self.create_detail().map_err(|error| self.fail(error))?;
                self.detail.insert(made)
            }
        };
        put(detail, &bytes).map_err(|error| self.fail(error))?;
        let seq = self.detail_count;
        if seq == 0 {
            self.detail_times.0 = header.timestamp;
            self.detail_index_seqs.0 = header.index_seq;
        }
        self.detail_times.1 = header.timestamp;
        self.detail_index_seqs.1 = header.index_seq;
        self.detail_count = seq.saturating_add(1);
        Ok(seq)
    }

    fn create_detail(&mut self) -> Result<Section> {
        let options = &self.options;
        let buffer = self.journal.as_mut().and_then(Journal::take_detail);
        let path = self.folder.join(DETAIL_FILE);
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => Buffer::memory(options.buffer_capacity())
                .map_err(|error| error.with_path(Some(&path)))?,
        };
        let detail = Section::create(
            &*self.storage,
            path,
            &detail_header(options, self.thread_id).encode(),
            buffer,
            whole_details,
        )?;
        if options.durability == Durability::EachFlush {
            self.storage
                .sync_folder(&self.folder)
                .map_err(at(&self.folder))?;
        }
        if let Some(registration) = &self.registration {
            registration.has_detail();
        }
        Ok(detail)
    }

    /// Makes room for an event in the index buffer, or fails if the file is full.
    #[cold]
    pub(super) fn make_room(&mut self) -> Result<()> {
        self.flush()?;
        if self.room_end > 0 {
            return Ok(());
        }
        let limit = self.wire.most_events();
        Err(self.refusal(ErrorKind::LimitReached { limit }, "event_count"))
    }

    /// Sets the size up to which the empty index buffer may be filled, within the wire version's
    /// limit.
    pub(super) fn set_room(&mut self) {
        let left = self.wire.most_events().saturating_sub(self.next_index_seq);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let most = self.index.capacity() / IndexEvent::SIZE;
        self.room_end = most.min(left).saturating_mul(IndexEvent::SIZE);
    }

    /// Continues as if this many events and details were already written.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn count_from(&mut self, events: u64, details: u64) {
        self.next_index_seq = events;
        self.detail_count = details;
        self.set_room();
    }

    /// Pretends that a parent of this process owns the journal.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn pretend_owner(&mut self, owner: u32) {
        if let Some(journal) = &mut self.journal {
            journal.owner = crate::sys::Origin::parent(owner);
        }
    }

    /// Returns the timestamp of the first event.
    pub(super) fn first(&self) -> Option<u64> {
        self.first_timestamp.or_else(|| {
            let first = self.index.buffered().ok()?.first_chunk()?;
            Some(IndexEvent::decode(self.wire, self.thread_id, first).timestamp_ns)
        })
    }

    /// Writes both buffers to the files, details first, so that the file has no dangling links
    /// except to reserved details.
    pub(super) fn flush_buffers(&mut self) -> Result<()> {
        self.check_owner()?;
        self.first_timestamp = self.first();
        let is_durable = self.options.durability == Durability::EachFlush;
        for section in self.detail.iter_mut().chain([&mut self.index]) {
            section.flush()?;
            if is_durable {
                section.sync()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn check_owner(&self) -> Result<()> {
        self.journal.as_ref().map_or(Ok(()), Journal::check_owner)
    }

    /// Makes every later call fail with the same error. If the index file itself has not failed,
    /// the remaining events up to the first one with a lost detail are still written to it.
    ///
    /// Does nothing for an error of a forked child, which may share this memory with its parent.
    #[cold]
    pub(super) fn fail(&mut self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Forked { .. }) {
            return error;
        }
        let (wire, details) = (self.wire, self.flushed_details());
        self.index.rescue(|events| {
            let (events, _) = events.as_chunks();
            let is_whole = |event: &&[u8; IndexEvent::SIZE]| {
                let link = IndexEvent::decode(wire, 0, event).detail_seq;
                link.is_none_or(|seq| seq < details)
            };
            let whole = events.iter().take_while(is_whole).count();
            whole.saturating_mul(IndexEvent::SIZE)
        });
        self.state = State::Failed(error.clone());
        self.room_end = 0;
        error
    }
}

/// Returns a function that adds a detail with this payload to its file's buffer.
pub(super) fn with_payload(payload: &[u8]) -> impl FnOnce(&mut Section, &[u8]) -> Result<()> {
    move |section: &mut Section, header: &[u8]| section.push_parts(header, payload)
}

impl Drop for ThreadWriter {
    fn drop(&mut self) {
        if matches!(self.state, State::Open) {
            // `drop` cannot return an error; the file remains a valid prefix.
            let flushed = self.flush_buffers();
            if let (Ok(()), Some(journal)) = (flushed, &mut self.journal) {
                journal.remove(&*self.storage);
            }
        }
    }
}
