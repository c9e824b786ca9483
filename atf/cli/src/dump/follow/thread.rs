//! The threads that `--follow` reads.

use std::path::{Path, PathBuf};

use atf::detail::DetailReader;
use atf::follow::{IndexFollower, Polled, ThreadEvent, ThreadFollower};
use atf::index::{IndexEvent, IndexReader};
use atf::thread::ThreadReader;
use atf::{Error, ErrorKind};

use super::output::Output;
use crate::dump::detail::{Detail, File};
use crate::dump::names::Names;
use crate::output::Failure;

/// The number of events to write from one thread before moving on to the next.
const TURN: usize = 4096;

pub(super) struct Thread {
    /// The id in the folder's name; `None` for a single index file.
    pub(super) id: Option<u32>,
    /// The thread's folder; `None` for a single index file.
    folder: Option<PathBuf>,
    source: Source,
    /// The last event received, and its position.
    last: Option<(u64, IndexEvent)>,
    /// Whether an event was all zeros or its detail was missing.
    is_doubtful: bool,
}

pub(super) enum Source {
    Index(Box<IndexFollower>),
    Both(Box<ThreadFollower>),
}

/// The result of reading some of a thread's events.
pub(super) enum Turn {
    /// There may be more events.
    More,
    /// There are no more events for now.
    NotYet,
    /// All events were written, or the thread cannot be read any further.
    Over,
}

impl Source {
    fn index(&self) -> &IndexFollower {
        match self {
            Self::Index(index) => index,
            Self::Both(both) => both.index(),
        }
    }

    fn poll(&mut self) -> Result<Polled<ThreadEvent>, Error> {
        let index = match self {
            Self::Index(index) => index,
            Self::Both(both) => return both.poll(),
        };
        let seq = index.next_seq();
        Ok(match index.poll_event()? {
            Polled::New(event) => Polled::New(ThreadEvent::new(seq, event)),
            Polled::NotYet => Polled::NotYet,
            Polled::Finalized => Polled::Finalized,
        })
    }

    /// Continues without details if the error concerns details. Returns whether to continue.
    fn goes_on_after(&mut self, error: &Error) -> bool {
        match self {
            Self::Both(both) if error.path() == Some(both.detail().path()) => {
                both.ignore_details();
                true
            }
            _ => false,
        }
    }
}

impl Thread {
    pub(super) fn new(id: Option<u32>, folder: Option<PathBuf>, source: Source) -> Self {
        Self {
            id,
            folder,
            source,
            last: None,
            is_doubtful: false,
        }
    }

    pub(super) fn of_folder(id: Option<u32>, folder: &Path, with_details: bool) -> Self {
        let source = if with_details {
            Source::Both(Box::new(ThreadFollower::new(folder)))
        } else {
            Source::Index(Box::new(IndexFollower::in_thread(folder)))
        };
        Self::new(id, Some(folder.to_path_buf()), source)
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.last.map_or(0, |(seq, _)| seq + 1)
    }

    /// Returns the id in the folder's name or, failing that, in the header, if known yet.
    pub(super) fn id(&self) -> Option<u32> {
        let header = self.source.index().header();
        self.id.or(header.map(|header| header.thread_id))
    }

    /// Writes some of the thread's events.
    pub(super) fn turn(
        &mut self,
        output: &mut Output<'_, '_>,
        names: &Names<'_>,
    ) -> Result<Turn, Failure> {
        for _ in 0..TURN {
            if output.left == 0 {
                break;
            }
            match self.source.poll() {
                Ok(Polled::New(new)) => {
                    self.last = Some((new.seq, new.event));
                    let (detail, count) = match &self.source {
                        Source::Both(both) => {
                            let file = File::Followed(both.detail());
                            let detail = |event| Detail::new(file, event, output.has_fields);
                            (new.detail.map(detail), Some(both.detail().next_seq()))
                        }
                        Source::Index(_) => (None, None),
                    };
                    let event = (new.seq, new.event);
                    self.is_doubtful |=
                        output.event(self.id(), event, (detail.as_ref(), count), names)?;
                }
                Ok(Polled::NotYet) => return Ok(Turn::NotYet),
                Ok(Polled::Finalized) => {
                    if self.is_doubtful {
                        self.reread(output);
                    }
                    return Ok(Turn::Over);
                }
                Err(error) if *error.kind() == ErrorKind::Replaced => {
                    self.go_on_in_new_files(error, output, names)?;
                    return Ok(Turn::Over);
                }
                Err(error) => {
                    let goes_on = self.source.goes_on_after(&error);
                    output.reported.report(&error);
                    if !goes_on {
                        return Ok(Turn::Over);
                    }
                }
            }
        }
        Ok(Turn::More)
    }

    /// Writes the rest of a thread whose files were replaced: `atf record` replaces the session of
    /// a killed program with a recovered copy. Reports `replaced`, the follower's error, if the new
    /// files do not contain the last event received.
    fn go_on_in_new_files(
        &mut self,
        replaced: Error,
        output: &mut Output<'_, '_>,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let new = self.new_files().and_then(|new| new.ok_or(replaced));
        let result = new.map(|new| self.rest(&new, output, names));
        result.unwrap_or_else(|error| {
            output.reported.report(&error);
            Ok(())
        })
    }

    /// Reports the problems that only a second pass over a finalized file finds: gaps, and links to
    /// lost details.
    fn reread(&self, output: &mut Output<'_, '_>) {
        let problems = match &self.folder {
            Some(folder) => ThreadReader::open(folder).and_then(|thread| self.problems(&thread)),
            None => IndexReader::open(self.source.index().path()).and_then(|index| {
                index.scan()?;
                Ok(index.problems())
            }),
        };
        let problems = problems.unwrap_or_else(|error| vec![error]);
        output.reported.report_all(&problems);
    }

    /// Returns the problems of the thread's files, as far as they are shown.
    fn problems(&self, thread: &ThreadReader) -> Result<Vec<Error>, Error> {
        if self.is_doubtful {
            thread.index().scan()?;
        }
        match self.source {
            Source::Both(_) => thread.problems(),
            Source::Index(_) => Ok(thread.index().problems()),
        }
    }

    fn new_files(&self) -> Result<Option<ThreadReader>, Error> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let new = ThreadReader::open(folder)?;
        let Some((seq, last)) = self.last else {
            return Ok(Some(new));
        };
        // Do not compare links, because a recovery may remove the link to a lost detail.
        let same = |event: IndexEvent| (event.timestamp_ns, event.function_id, event.event_kind);
        let found = new.index().get(seq)?.map(same);
        Ok((found == Some(same(last))).then_some(new))
    }

    fn rest(
        &mut self,
        new: &ThreadReader,
        output: &mut Output<'_, '_>,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let with_details = matches!(self.source, Source::Both(_));
        let id = self.id();
        let next_seq = self.next_seq();
        for (seq, event) in (next_seq..).zip(new.index().events_in(next_seq..)) {
            if output.left == 0 {
                return Ok(());
            }
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    output.reported.report(&error);
                    continue;
                }
            };
            self.last = Some((seq, event));
            let detail = match new.detail().filter(|_| with_details) {
                Some(reader) => {
                    let found = new.detail_of(&event)?.found();
                    let own = found.filter(|found| found.header.index_seq == seq);
                    own.map(|event| Detail::new(File::Read(reader), event, output.has_fields))
                }
                None => None,
            };
            let count = with_details.then(|| new.detail().map_or(0, DetailReader::event_count));
            self.is_doubtful |= output.event(id, (seq, event), (detail.as_ref(), count), names)?;
        }
        output.reported.report_all(&self.problems(new)?);
        Ok(())
    }
}
