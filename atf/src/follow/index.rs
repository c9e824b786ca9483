//! Follows `index.atf`.

use std::path::Path;

use super::growing::Growing;
use super::{Polled, is_written};
use crate::checksum::{Checksum, Crc32c};
use crate::error::{Error, ErrorKind, Result};
use crate::files::INDEX_FILE;
use crate::footer::{
    FOOTER_SIZE, Placed, Verdict, Wrong, classify_at, first_verified, reserved_is_zero,
};
use crate::index::{
    EventSlice, IndexEvent, IndexFooter, IndexHeader, Record, event_end, timestamp_ns,
};
use crate::rules::of_file::INDEX;
use crate::source::Input;
use crate::wire::{HEADER_SIZE, offset};

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;
/// The maximum number of events read per poll (128 KiB).
const MOST: usize = (128 << 10) / IndexEvent::SIZE;
/// The maximum number of bytes read per poll: the last event, which is read again, new events, and
/// the bytes after them.
const READ: u64 = ((MOST + 1) * IndexEvent::SIZE + FOOTER_SIZE + IndexEvent::SIZE) as u64;

/// A follower of an `index.atf` of either wire version while it is being written.
///
/// It returns the same events as an [`IndexReader`](crate::index::IndexReader) of the finished
/// file, each as soon as it is certain (see the [module](super)). A follower uses a constant 128
/// KiB of memory.
///
/// ```
/// use atf::follow::{IndexFollower, Polled};
/// use atf::write::{Event, ThreadWriter, WriteOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("thread_0");
///
/// let mut follower = IndexFollower::new(folder.join("index.atf"));
/// assert_eq!(follower.poll_event()?, Polled::NotYet);
///
/// let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
/// let call = Event::new(1000, 0x0000_0001_0000_0007, atf::EventKind::CALL, 1);
/// writer.write(&call)?;
/// writer.flush()?;
/// while let Polled::New(events) = follower.poll()? {
///     assert_eq!(events.first().map(|event| event.timestamp_ns), Some(1000));
/// }
///
/// writer.finalize()?;
/// assert_eq!(follower.poll_event()?, Polled::Finalized);
/// assert_eq!(follower.next_seq(), 1);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct IndexFollower {
    file: Growing<IndexHeader>,
    /// The certain events, including those already returned.
    buffer: Vec<u8>,
    /// How many bytes of the buffer have been returned.
    given: usize,
    /// How many events are certain, including those in the buffer.
    count: u64,
    /// The timestamp of the first event.
    first_timestamp: Option<u64>,
    /// The last certain event, to check that it does not change.
    last: Option<Record>,
    /// Whether the footer's offset was ever missing from the header. It is the only header field
    /// that changes when a file without events is finalized.
    had_no_offset: bool,
    crc: Crc32c,
    has_footer: bool,
    finalized: Option<(IndexFooter, Checksum)>,
    /// A problem with the returned events, which is reported after the last one.
    problem: Option<Error>,
}

impl IndexFollower {
    /// Follows the file at this path, which need not exist yet. Resolves symlinks.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self::with_file(Growing::new(path.as_ref().to_path_buf(), true))
    }

    /// Follows the `index.atf` in a thread's folder, unless it is a symlink.
    pub fn in_thread(folder: impl AsRef<Path>) -> Self {
        Self::with_file(Growing::new(folder.as_ref().join(INDEX_FILE), false))
    }

    fn with_file(file: Growing<IndexHeader>) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            given: 0,
            count: 0,
            first_timestamp: None,
            last: None,
            had_no_offset: false,
            crc: Crc32c::new(),
            has_footer: false,
            finalized: None,
            problem: None,
        }
    }

    /// Returns the file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the header as it was last read: a placeholder until the file is finalized, and
    /// `None` before the header is written.
    #[must_use]
    pub fn header(&self) -> Option<&IndexHeader> {
        self.file.header()
    }

    /// Returns the position of the next event, which is the number of events returned so far.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        let left = self.buffer.len().saturating_sub(self.given) / IndexEvent::SIZE;
        self.count.saturating_sub(left as u64)
    }

    /// Returns whether a verified footer follows the events that are known to be final. If the
    /// header is never rewritten after that, the writer died after it wrote the footer, and all
    /// events are in the file.
    #[must_use]
    pub fn has_footer(&self) -> bool {
        self.has_footer || self.finalized.is_some()
    }

    /// Returns the footer of a finalized file, once all events are certain.
    #[must_use]
    pub fn footer(&self) -> Option<&IndexFooter> {
        self.finalized.as_ref().map(|(footer, _)| footer)
    }

    /// Compares the returned events with the footer's checksum once all events are certain. A
    /// mismatch means that events have changed or that the file is damaged.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        let finalized = self.finalized.as_ref();
        finalized.map_or(Checksum::NotChecked, |(_, checksum)| *checksum)
    }

    /// Returns events that have become certain, at most about 4000 at a time.
    ///
    /// # Errors
    ///
    /// Errors from opening and reading: [`ErrorKind::Io`], [`ErrorKind::NotRegular`] and, once the
    /// header exists, those of [`IndexHeader::decode`]. If the file contradicts events already
    /// returned:
    ///
    /// - [`ErrorKind::Replaced`]: the path refers to another file, so every later poll also fails
    ///   (see [When the writer dies](super#when-the-writer-dies));
    /// - [`ErrorKind::UnexpectedEnd`] at the file's end: the file ends before the last event
    ///   returned; [`ErrorKind::TooShort`] if even the header is incomplete;
    /// - [`ErrorKind::Changed`] at a header field that must not change;
    /// - [`ErrorKind::Overwritten`] at the last event returned;
    /// - [`ErrorKind::Disagrees`] at `footer.event_count`: the footer's count is lower than the
    ///   number of events returned;
    /// - [`ErrorKind::ChecksumMismatch`], once, after the last event of a finalized file.
    pub fn poll(&mut self) -> Result<Polled<EventSlice<'_>>> {
        if let Some(nothing) = self.look()? {
            return Ok(nothing);
        }
        let Some(header) = self.file.header() else {
            return Ok(Polled::NotYet);
        };
        let new = self.buffer.get(self.given..).unwrap_or_default();
        self.given = self.buffer.len();
        let events = EventSlice::new(header.wire, header.thread_id, new);
        Ok(Polled::New(events))
    }

    /// Returns the next event that has become certain.
    ///
    /// # Errors
    ///
    /// The errors of [`poll`](Self::poll).
    pub fn poll_event(&mut self) -> Result<Polled<IndexEvent>> {
        if let Some(nothing) = self.look()? {
            return Ok(nothing);
        }
        let rest = self.buffer.get(self.given..).unwrap_or_default();
        let (Some(header), Some(bytes)) = (self.file.header(), rest.first_chunk()) else {
            return Ok(Polled::NotYet);
        };
        self.given = self.given.saturating_add(IndexEvent::SIZE);
        let event = IndexEvent::decode(header.wire, header.thread_id, bytes);
        Ok(Polled::New(event))
    }

    /// Examines the file again if all certain events have been returned. Returns the poll's result
    /// if there are still no new events.
    fn look<T>(&mut self) -> Result<Option<Polled<T>>> {
        if self.given < self.buffer.len() {
            return Ok(None);
        }
        if self.finalized.is_none() {
            self.buffer.clear();
            self.given = 0;
            if let Some((input, header, is_same)) = self.file.look()? {
                self.look_at(&input, &header, is_same)?;
            }
        }
        if self.given < self.buffer.len() {
            Ok(None)
        } else if self.finalized.is_some() {
            self.problem.take().map_or(Ok(Some(Polled::Finalized)), Err)
        } else {
            Ok(Some(Polled::NotYet))
        }
    }

    fn look_at(&mut self, input: &Input, header: &IndexHeader, is_same: bool) -> Result<()> {
        let end = event_end(header.events_offset, self.count);
        let missing = end.saturating_sub(input.size());
        if missing > 0 {
            let error = input.error(ErrorKind::UnexpectedEnd { missing });
            return Err(error.with_offset(input.size()));
        }
        self.had_no_offset |= header.footer_offset == 0;
        // If the file ended in zeros, a footer that no header confirms may be a half-written event,
        // unless the writer has truncated the zeros or written the footer's offset to the header.
        let is_cut = input.size() < self.file.zeros_end;
        let footer = final_footer(input, header, is_same, self.count)?.filter(|found| {
            let is_stated = self.had_no_offset && header.footer_offset == found.offset;
            let is_after_zeros = found.end() > self.file.zeros_end;
            !header.is_placeholder() || is_stated || is_cut || is_after_zeros
        });
        if let Some(found) = footer.as_ref().filter(|found| found.offset < end) {
            let wrong = Wrong {
                kind: ErrorKind::Disagrees {
                    found: found.footer.event_count,
                    expected: self.count,
                    by: "the follower",
                },
                field: "footer.event_count",
                offset: offset!(header.wire, IndexFooter.event_count),
                rule: INDEX.footer_count,
            };
            return Err(wrong.error(input, found.offset));
        }
        // Events that do not directly follow the header are certain only once a footer confirms
        // their offset.
        if footer.is_some() || header.events_offset == HEADER_SIZE as u64 {
            self.read(input, header, end, footer.as_ref())?;
        }
        if let Some(found) = footer
            && found.offset == event_end(header.events_offset, self.count)
        {
            let checksum = Checksum::compare(
                input,
                found.footer.checksum,
                self.crc.finish(),
                header.events_offset,
                found.offset,
            )?;
            self.problem = checksum.problem(input, found.offset, &INDEX);
            self.finalized = Some((found.footer, checksum));
        }
        Ok(())
    }

    /// Reads the certain events from offset `end` on into the buffer.
    fn read(
        &mut self,
        input: &Input,
        header: &IndexHeader,
        end: u64,
        footer: Option<&Placed<IndexFooter>>,
    ) -> Result<()> {
        let again = match self.last {
            Some(_) => IndexEvent::SIZE,
            None => 0,
        };
        let start = end.saturating_sub(again as u64);
        let stop = footer.map_or(input.size(), |footer| footer.offset);
        let size = stop.saturating_sub(start).min(READ);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        let read = input.read(start, &mut bytes)?;
        // If fewer bytes were read, the file was truncated in the meantime and ends there.
        let stop = if (read as u64) < size {
            start.saturating_add(read as u64)
        } else {
            stop
        };
        bytes.truncate(read);
        if let Some(last) = &self.last
            && bytes.first_chunk() != Some(last)
        {
            let field = format!("events[{}]", self.count.saturating_sub(1));
            let error = input.error(ErrorKind::Overwritten);
            return Err(error.with_field(field).with_offset(start));
        }
        let new = bytes.get(again..).unwrap_or_default();
        let (records, _) = new.as_chunks::<{ IndexEvent::SIZE }>();
        let count = match footer {
            Some(_) => records.len().min(MOST),
            None => self.certain(input, header, new, end, stop)?,
        };
        let records = records.get(..count).unwrap_or_default();
        self.crc.update(records.as_flattened());
        let first_timestamp = records.first().map(timestamp_ns);
        self.first_timestamp = self.first_timestamp.or(first_timestamp);
        self.last = records.last().copied().or(self.last);
        self.count = self.count.saturating_add(count as u64);
        bytes.truncate(again.saturating_add(records.as_flattened().len()));
        self.given = again.min(bytes.len());
        self.buffer = bytes;
        Ok(())
    }

    /// Returns how many of the events at `start` are certain, in an unfinalized file of `size`
    /// bytes.
    fn certain(
        &mut self,
        input: &Input,
        header: &IndexHeader,
        bytes: &[u8],
        start: u64,
        size: u64,
    ) -> Result<usize> {
        // If the header contains the footer's offset, no event can begin there. A footer at that
        // offset confirms the offset, even if other numbers are wrong.
        let is_confirmed = header.stated_end().is_some()
            || !header.is_placeholder() && has_footer_at(input, header, header.footer_offset)?;
        let bound = if is_confirmed {
            header.footer_offset
        } else {
            u64::MAX
        };
        // A damaged file may end in a footer between two events, or in one with an invalid magic.
        let last = size.saturating_sub(FOOTER_SIZE as u64);
        let is_footer = has_footer_at(input, header, last)?;
        self.has_footer = false;
        let (records, _) = bytes.as_chunks::<{ IndexEvent::SIZE }>();
        let first_timestamp = self
            .first_timestamp
            .or_else(|| records.first().map(timestamp_ns));
        let mut count = 0_usize;
        let mut rest = bytes;
        let mut place = start;
        for record in records.iter().take(MOST) {
            let next = rest.get(IndexEvent::SIZE..).unwrap_or_default();
            let after = next.get(..IndexEvent::SIZE).unwrap_or(next);
            let end = place.saturating_add(EVENT_SIZE);
            let is_certain = match after {
                [] => end > self.file.zeros_end,
                _ => is_written(after),
            };
            if !is_certain || !is_written(record) {
                self.file.zeros_end = size;
                break;
            }
            let seq = self.count.saturating_add(count as u64);
            if may_begin_footer(record, after, seq, first_timestamp)
                && self.may_be_footer(input, header, rest, place)?
                || place >= bound
                || is_footer && end > last
            {
                break;
            }
            count = count.saturating_add(1);
            place = end;
            rest = next;
        }
        Ok(count)
    }

    /// Returns whether the bytes at `place`, at the start of `bytes`, may still be a footer.
    fn may_be_footer(
        &mut self,
        input: &Input,
        header: &IndexHeader,
        bytes: &[u8],
        place: u64,
    ) -> Result<bool> {
        let Some((footer, after)) = bytes.split_first_chunk::<FOOTER_SIZE>() else {
            return Ok(true);
        };
        let is_zero = reserved_is_zero::<IndexFooter>(header.wire, footer);
        let has_magic = bytes.first_chunk() == Some(&IndexFooter::MAGIC);
        Ok(
            match classify_at::<IndexFooter>(input, header.wire, header.events_offset, place)? {
                Verdict::Verified(_) => {
                    self.has_footer = true;
                    true
                }
                Verdict::NoFooter if !has_magic => false,
                Verdict::Damaged(damaged) if is_zero && damaged.is_single() => true,
                // Other bytes count as a damaged footer only if nothing follows them.
                _ => !is_written(after.get(..IndexEvent::SIZE).unwrap_or(after)),
            },
        )
    }
}

/// Returns whether there is a footer, intact or damaged, at `offset`.
fn has_footer_at(input: &Input, header: &IndexHeader, offset: u64) -> Result<bool> {
    let verdict = classify_at::<IndexFooter>(input, header.wire, header.events_offset, offset)?;
    Ok(!matches!(verdict, Verdict::NoFooter))
}

/// Returns whether the bytes where event `seq` would be, and the bytes `after` them, may be a
/// footer, intact or damaged: its magic, count, length or start time is correct.
fn may_begin_footer(record: &Record, after: &[u8], seq: u64, first_timestamp: Option<u64>) -> bool {
    const COUNT: usize = offset!(IndexFooter.event_count);
    const TIME: usize = offset!(IndexFooter.time_start_ns);
    const _: () = assert!(offset!(IndexFooter.bytes_written) == IndexEvent::SIZE);
    let number = |bytes: Option<&[u8]>| Some(u64::from_le_bytes(*bytes?.first_chunk()?));
    record.first_chunk() == Some(&IndexFooter::MAGIC)
        || number(record.get(COUNT..)) == Some(seq)
        || number(Some(after)) == seq.checked_mul(EVENT_SIZE)
        || first_timestamp
            .is_some_and(|first| first > 0 && number(record.get(TIME..)) == Some(first))
}

/// Returns the verified footer of a file with a rewritten header. A header that disagrees with the
/// footer may be half-written, so it is used only if the previous poll read the same header.
fn final_footer(
    input: &Input,
    header: &IndexHeader,
    is_same: bool,
    count: u64,
) -> Result<Option<Placed<IndexFooter>>> {
    let is_placeholder = header.is_placeholder();
    // In a finalized file without events, the header can still be a placeholder.
    if is_placeholder && count > 0 {
        return Ok(None);
    }
    let stated = (!is_placeholder).then_some(header.footer_offset);
    let last = input.size().checked_sub(FOOTER_SIZE as u64);
    let candidates = stated.into_iter().chain(last);
    let Verdict::Verified(found) =
        first_verified::<IndexFooter>(input, header.wire, header.events_offset, candidates)?
    else {
        return Ok(None);
    };
    let footer = &found.footer;
    let agrees = header.event_count == footer.event_count
        && header.footer_offset == found.offset
        && header.time_start_ns == footer.time_start_ns
        && header.time_end_ns == footer.time_end_ns;
    Ok((agrees || (!is_placeholder && is_same)).then_some(found))
}
