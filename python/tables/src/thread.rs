//! The threads that tables are read from, their events (verified as they are read), and the table
//! `events`.

use std::ops::{Range, RangeInclusive};

use atf::clock::MediaClock;
use atf::index::{IndexEvent, IndexReader};
use atf::merge::{Merge, Merged};
use atf::session::{SessionReader, ThreadEntry};

use crate::options::Options;
use crate::stream::{Cell, Outcome, Rows, Source};

/// A session's selected threads, one after another.
pub(crate) struct Queue {
    reader: SessionReader,
    next: usize,
    options: Options,
}

impl Queue {
    pub(crate) fn new(reader: SessionReader, options: Options) -> Self {
        Self {
            reader,
            next: 0,
            options,
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn reader(&self) -> &SessionReader {
        &self.reader
    }

    /// Returns the next selected thread.
    pub(crate) fn next(&mut self) -> Option<ThreadEntry> {
        loop {
            let entry = self.reader.threads().get(self.next)?;
            self.next = self.next.saturating_add(1);
            if self.options.selects(entry.id()) {
                return Some(entry.clone());
            }
        }
    }
}

/// The selected events of one thread, with times on the requested clock.
pub(crate) struct ThreadEvents {
    id: u32,
    events: Events,
    clock: Option<MediaClock>,
}

enum Events {
    /// A merge of a single thread. A merge is used because it verifies its events and outlives its
    /// reader.
    Merged(Box<Merged<'static>>),
    /// A range of events.
    Slice(Box<Slice>),
    Unreadable(Option<atf::Error>),
}

struct Slice {
    index: IndexReader,
    left: Range<u64>,
    times: RangeInclusive<u64>,
    /// Events that have been read but not returned yet, in reverse order.
    buffer: Vec<IndexEvent>,
}

/// The number of events to read at a time from a slice.
const BUFFER: u64 = 2048;

impl ThreadEvents {
    /// Opens a thread to read the selected events.
    pub(crate) fn open(entry: &ThreadEntry, options: &Options) -> Self {
        let times = options.timestamps();
        let events = match &options.seqs {
            Some(seqs) => match entry.open_index() {
                Ok(index) => Events::Slice(Box::new(Slice {
                    left: seqs.start..seqs.end.min(index.event_count()),
                    times,
                    index,
                    buffer: Vec::new(),
                })),
                Err(error) => Events::Unreadable(Some(error)),
            },
            None => {
                let merge = Merge::of_entries([entry]).time_range(times);
                Events::Merged(Box::new(merge.into_events()))
            }
        };
        Self {
            id: entry.id(),
            events,
            clock: options.clock.clone(),
        }
    }

    /// Opens a thread to read all its events.
    pub(crate) fn open_all(entry: &ThreadEntry, clock: Option<MediaClock>) -> Self {
        let options = Options {
            clock,
            ..Options::default()
        };
        Self::open(entry, &options)
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Returns the next event and its position. After the last event, adds the thread's problems to
    /// the outcome.
    #[inline]
    pub(crate) fn next(&mut self, outcome: &mut Outcome) -> Option<(u64, IndexEvent)> {
        let (seq, mut event) = if let Events::Merged(events) = &mut self.events
            && let Some(Ok(merged)) = events.next()
        {
            (merged.seq, merged.event)
        } else {
            self.next_of_slice_or_end(outcome)?
        };
        if let Some(clock) = &self.clock {
            event.timestamp_ns = clock.to_media_ns_or_zero(event.timestamp_ns);
        }
        Some((seq, event))
    }

    fn next_of_slice_or_end(&mut self, outcome: &mut Outcome) -> Option<(u64, IndexEvent)> {
        let id = self.id;
        match &mut self.events {
            Events::Merged(events) => {
                // After an error, no more events are returned, so only problems can follow.
                events.by_ref().for_each(drop);
                let problems = events.problems().iter();
                problems.for_each(|problem| outcome.add(Some(id), problem.error.clone()));
                outcome.unverified.extend(events.unverified());
                None
            }
            Events::Slice(slice) => {
                let error = match slice.next() {
                    Ok(Some(event)) => return Some(event),
                    Ok(None) => None,
                    Err(error) => Some(error),
                };
                let problems = slice.index.problems().into_iter().chain(error);
                problems.for_each(|error| outcome.add(Some(id), error));
                let is_unverified = slice.index.known_checksum().is_none();
                outcome.unverified.extend(is_unverified.then_some(id));
                None
            }
            Events::Unreadable(error) => {
                if let Some(error) = error.take() {
                    outcome.add(Some(id), error);
                }
                None
            }
        }
    }
}

impl Slice {
    /// Returns the next event in the time range, and its position.
    fn next(&mut self) -> atf::Result<Option<(u64, IndexEvent)>> {
        loop {
            if self.buffer.is_empty() {
                let start = self.left.start;
                let end = start.saturating_add(BUFFER).min(self.left.end);
                let events = self.index.events_in(start..end.max(start));
                self.buffer = events.collect::<atf::Result<_>>()?;
                self.buffer.reverse();
            }
            let Some(event) = self.buffer.pop() else {
                return Ok(None);
            };
            let seq = self.left.start;
            self.left.start = seq.saturating_add(1);
            if self.times.contains(&event.timestamp_ns) {
                return Ok(Some((seq, event)));
            }
        }
    }
}

/// Returns the rows of the table `events`.
pub(crate) fn events(mut queue: Queue) -> Source {
    let mut current: Option<ThreadEvents> = None;
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let Some(thread) = &mut current else {
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            current = Some(ThreadEvents::open(&entry, queue.options()));
            return Ok(true);
        };
        while !rows.is_full() {
            let Some((seq, event)) = thread.next(outcome) else {
                current = None;
                break;
            };
            rows.push(&[
                thread.id().into(),
                seq.into(),
                event.timestamp_ns.into(),
                event.event_kind.name().into(),
                event.function_id.into(),
                Cell::Name(event.function_id),
                event.call_depth.into(),
                event.detail_seq.into(),
            ])?;
        }
        Ok(true)
    })
}
