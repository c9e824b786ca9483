//! A thread to read: its files, in the order of its segments.

use std::mem;
use std::path::{Path, PathBuf};

use super::{Analysed, Options, Source, Threads, problem, stated_times};
use crate::completeness::Completeness;
use crate::error::{Error, ErrorKind, Result};
use crate::files::INDEX_FILE;
use crate::index::{IndexEvent, IndexReader};
use crate::manifest::{Loss, ManifestThread};
use crate::session::{self, Problem, SessionReader, ThreadSegment};
use crate::spans::{CallStack, ThreadClock};
use crate::thread::{Ring, ThreadReader, problems_beside};

/// A thread to read.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    id: u32,
    files: Vec<Files<'a>>,
}

/// The files of a thread in a segment.
#[derive(Debug, Clone, Copy)]
pub(super) enum Files<'a> {
    Segment(ThreadSegment<'a>),
    Thread(&'a ThreadReader, Option<&'a ManifestThread>),
    Index(&'a IndexReader),
}

/// A step in reading a thread.
pub(super) enum Step<'s, 'a> {
    /// The events that follow come from these files.
    Files(&'s Files<'a>),
    /// Events are missing here.
    Gap,
    /// An event.
    Event(&'s Timed<'s>),
    /// An event that is all zeros, at this position. Its time is unknown.
    Hole(u64),
}

/// An event and its corrected time.
pub(super) struct Timed<'s> {
    /// The position, counted across all files.
    pub(super) seq: u64,
    pub(super) event: &'s IndexEvent,
    /// The time on the thread's clock, which never goes back.
    pub(super) now_ns: u64,
    /// Whether the event's own timestamp is less than the previous event's.
    pub(super) is_earlier: bool,
}

/// The state at the end of the last files that could be read.
#[derive(Debug)]
pub(super) struct End<'a> {
    files: Files<'a>,
    path: Option<PathBuf>,
    pub(super) completeness: Completeness,
    pub(super) lost_footer: bool,
    pub(super) missing_events: u64,
    /// How many events were read from all files together.
    pub(super) event_count: u64,
    /// Whether all events of the thread were read: none is in a hole, in a missing segment or
    /// missing from a file, and no file has another problem.
    pub(super) is_whole: bool,
}

impl<'a> Threads<'a> {
    /// Returns the selected threads, and the problems of the sessions themselves.
    pub(super) fn select(&self, options: &Options) -> (Vec<Unit<'a>>, Vec<Problem>) {
        let alone = |id, files| {
            (
                vec![Unit {
                    id,
                    files: vec![files],
                }],
                Vec::new(),
            )
        };
        let sessions = match self.0 {
            Source::Sessions(sessions) => sessions,
            Source::Thread(thread, session) => {
                let id = thread.id();
                let manifest = session.and_then(SessionReader::manifest);
                let mut listed = manifest.into_iter().flat_map(|it| &it.threads);
                let files = Files::Thread(thread, listed.find(|it| it.id == id));
                let lost = session.map_or_else(Vec::new, |session| session.lost_in(id));
                let lost = lost.into_iter().map(|error| problem(Some(id), error));
                let (units, _) = alone(id, files);
                return (units, lost.collect());
            }
            Source::Index(index) => return alone(index.header().thread_id, Files::Index(index)),
        };
        let is_for_all = options.threads.is_empty();
        let threads = session::threads(sessions).into_iter();
        let threads = threads.filter(|thread| is_for_all || options.threads.contains(&thread.id));
        let units = threads.map(|thread| Unit {
            id: thread.id,
            files: thread.segments.into_iter().map(Files::Segment).collect(),
        });
        let problems = session::problems(sessions).into_iter();
        let problems = problems.filter(|it| is_for_all || session::concerns(it, &options.threads));
        let of_session = |error| problem(None, error);
        (units.collect(), problems.map(of_session).collect())
    }
}

impl<'a> Unit<'a> {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn listed(&self) -> impl DoubleEndedIterator<Item = &'a ManifestThread> {
        self.files.iter().filter_map(|files| match files {
            Files::Segment(segment) => segment.listed,
            Files::Thread(_, listed) => *listed,
            Files::Index(_) => None,
        })
    }

    /// Returns the thread's name from the last manifest that contains one.
    pub(super) fn name(&self) -> Option<&'a str> {
        self.listed()
            .rev()
            .find_map(|listed| listed.name.as_deref())
    }

    /// Returns the lost events and the lost details that the manifests list.
    pub(super) fn losses(&self, options: &Options) -> [Option<Loss>; 2] {
        let of: [fn(&ManifestThread) -> _; 2] = [|it| it.lost_events, |it| it.lost_details];
        of.map(|of| {
            let lost = self.listed().filter_map(of).reduce(Loss::plus);
            let lost = lost.filter(|lost| lost.count > 0)?;
            let [first_ns, last_ns] = [lost.first_ns, lost.last_ns].map(|ns| options.time(ns));
            Some(Loss::new(lost.count, first_ns, last_ns))
        })
    }

    /// Reads all events and adds the problems found. Returns `None` if no file could be opened.
    pub(super) fn read<E: From<Error>>(
        &self,
        options: &Options,
        problems: &mut Vec<Error>,
        mut take: impl FnMut(Step<'_, 'a>) -> Result<(), E>,
    ) -> Result<Option<End<'a>>, E> {
        let mut end: Option<End<'a>> = None;
        let mut is_after_gap = false;
        let mut clock = ThreadClock::default();
        let mut before_ns = 0;
        let mut has_gaps = false;
        for files in &self.files {
            let opened;
            let index = match files {
                Files::Segment(segment) => match segment.entry.open_index() {
                    Ok(index) => {
                        opened = index;
                        &opened
                    }
                    Err(error) => {
                        problems.push(error);
                        (is_after_gap, has_gaps) = (true, true);
                        continue;
                    }
                },
                Files::Thread(thread, _) => thread.index(),
                Files::Index(index) => index,
            };
            is_after_gap |= matches!(files, Files::Segment(segment) if segment.is_after_gap);
            if is_after_gap && end.is_some() {
                take(Step::Gap)?;
            }
            has_gaps |= is_after_gap;
            take(Step::Files(files))?;
            let first_seq = end.as_ref().map_or(0, |end| end.event_count);
            let mut seq = first_seq;
            let mut may_have_holes = None;
            let (start_ns, end_ns) = stated_times(index).unzip();
            let mut events = index.events().peekable();
            while let Some(event) = events.next() {
                match event {
                    Ok(event) => {
                        let is_hole = event.is_zero()
                            && *may_have_holes.get_or_insert_with(|| {
                                index.is_hole(&[0; IndexEvent::SIZE]).is_ok_and(|it| it)
                            });
                        if is_hole {
                            has_gaps = true;
                            take(Step::Hole(seq))?;
                        } else {
                            let stated_ns = match seq.saturating_sub(first_seq) {
                                0 => start_ns,
                                seq if seq.saturating_add(1) == index.event_count() => end_ns,
                                _ => None,
                            };
                            let stated_ns = stated_ns.filter(|ns| *ns != event.timestamp_ns);
                            let next = events.peek().and_then(|next| next.as_ref().ok());
                            let next = next.filter(|_| stated_ns.is_none());
                            let next_ns = next.map(|next| options.time(next.timestamp_ns));
                            let time_ns = options.time(stated_ns.unwrap_or(event.timestamp_ns));
                            take(Step::Event(&Timed {
                                seq,
                                event: &event,
                                now_ns: clock.advance(time_ns, next_ns),
                                is_earlier: time_ns < mem::replace(&mut before_ns, time_ns),
                            }))?;
                        }
                        seq = seq.saturating_add(1);
                    }
                    Err(error) => problems.push(error),
                }
            }
            problems.extend(files.problems_beside(index));
            let missing_events = index.missing_events();
            // After missing events, a return in the next segment may belong to a missing call.
            is_after_gap = missing_events > 0
                || !index.completeness().has_verified_footer()
                || seq.saturating_sub(first_seq) < index.event_count();
            end = Some(End {
                files: *files,
                path: index.input().path().map(Path::to_path_buf),
                completeness: index.completeness().clone(),
                lost_footer: index.header().is_bounded()
                    && matches!(index.completeness(), Completeness::Unfinalized { .. }),
                missing_events: end
                    .map_or(0, |end| end.missing_events)
                    .saturating_add(missing_events),
                event_count: seq,
                is_whole: false,
            });
        }
        if let Some(end) = &mut end {
            end.is_whole = !has_gaps && !is_after_gap && problems.is_empty();
        }
        Ok(end)
    }

    /// Combines the result with the thread's problems.
    pub(super) fn analysed<R>(&self, result: Option<R>, problems: Vec<Error>) -> Analysed<R> {
        let problems = problems.into_iter();
        let problems = problems.map(|error| problem(Some(self.id), error));
        Analysed {
            result,
            problems: problems.collect(),
        }
    }
}

impl Files<'_> {
    /// Returns the folder; `None` for a single index file.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Segment(segment) => Some(segment.entry.path()),
            Self::Thread(thread, _) => Some(thread.path()),
            Self::Index(_) => None,
        }
    }

    /// Returns the path of the index file; `None` if it was not opened by path.
    pub(super) fn index_path(&self) -> Option<PathBuf> {
        match self {
            Self::Index(index) => index.input().path().map(Path::to_path_buf),
            Self::Segment(_) | Self::Thread(..) => Some(self.path()?.join(INDEX_FILE)),
        }
    }

    /// Opens both files; returns `None` for a single index file.
    pub(super) fn open(&self) -> Result<Option<ThreadReader>> {
        match self {
            Self::Segment(segment) => segment.entry.open().map(Some),
            Self::Thread(thread, _) => ThreadReader::open(thread.path()).map(Some),
            Self::Index(_) => Ok(None),
        }
    }

    /// Returns the thread's problems other than those with the index's events.
    fn problems_beside(&self, index: &IndexReader) -> Vec<Error> {
        match self {
            Self::Segment(segment) => {
                problems_beside(index, segment.entry.path(), segment.entry.options())
            }
            Self::Thread(thread, _) => {
                let beside = thread.problems_beside(index);
                beside.unwrap_or_else(|error| vec![error])
            }
            Self::Index(_) => Vec::new(),
        }
    }
}

impl End<'_> {
    /// Returns the position of the session that contains the files.
    pub(super) fn session(&self) -> Option<usize> {
        match self.files {
            Files::Segment(segment) => Some(segment.session),
            Files::Thread(..) | Files::Index(_) => None,
        }
    }

    /// Returns a problem if any calls were given up.
    pub(super) fn given_up(&self, count: u64) -> Option<Error> {
        let kind = ErrorKind::TooManyOpenCalls {
            given_up: count,
            limit: CallStack::LIMIT as u64,
        };
        let error = || Error::new(kind).with_path(self.path.as_deref());
        (count > 0).then(|| error().with_field("events"))
    }

    /// Returns the events and details that `ring.atf` added.
    pub(super) fn ring(&self) -> Result<Option<Ring>> {
        match self.files {
            Files::Segment(segment) => Ok(segment.entry.open()?.ring()),
            Files::Thread(thread, _) => Ok(thread.ring()),
            Files::Index(_) => Ok(None),
        }
    }
}
