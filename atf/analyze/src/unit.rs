//! Reads the threads of a process, each across all segments.

use std::convert::Infallible;
use std::mem;
use std::sync::Arc;

use atf::Completeness;
use atf::index::{IndexEvent, IndexReader};
use atf::spans::{CallStack, ThreadClock};
use atf::thread::Ring;
use atf::trace::{Process, Thread, ThreadFiles};
use atf::{Error, ErrorKind, Result};

use crate::{Options, Problem};

/// A step in reading a thread.
pub enum Step<'s, 'a> {
    /// The events that follow come from these files, in this index.
    Files(&'s ThreadFiles<'a>, &'s Arc<IndexReader>),
    /// Events are missing here.
    Gap,
    /// An event.
    Event(&'s Timed<'s>),
    /// An event that is all zeros, at this position. Its time is unknown.
    Hole(u64),
}

/// An event and its corrected time.
pub struct Timed<'s> {
    /// The position, counted across all files.
    pub seq: u64,
    /// The event with its own timestamp.
    pub event: &'s IndexEvent,
    /// The time on the thread's clock, which never goes back.
    pub now_ns: u64,
    /// Whether the event's own timestamp is less than the previous event's.
    pub is_earlier: bool,
}

/// The state at the end of the last files that could be read.
#[derive(Debug)]
pub struct End<'a> {
    files: ThreadFiles<'a>,
    /// How the last of these files ended.
    pub completeness: Completeness,
    pub(crate) lost_footer: bool,
    pub(crate) missing_events: u64,
    /// The number of events read from all files.
    pub(crate) event_count: u64,
    /// Whether all events of the thread were read: none is in a hole, in a missing segment or
    /// missing from a file, and no file has any other problem.
    is_whole: bool,
}

/// Returns the selected threads, and the problems of the sessions themselves. A single thread is
/// always selected.
pub(crate) fn select<'a>(
    process: &'a Process,
    options: &Options,
) -> (Vec<Thread<'a>>, Vec<Problem>) {
    let is_for_all = options.threads.is_empty() || process.is_single_thread();
    let threads = process.threads().into_iter();
    let threads = threads.filter(|it| is_for_all || options.threads.contains(&it.id()));
    let problems = process.problems_of(&options.threads).into_iter();
    let of_session = |error| Problem {
        thread: None,
        error,
    };
    (threads.collect(), problems.map(of_session).collect())
}

/// Reads all events as [`read`] does.
pub(crate) fn read_all<'a>(
    thread: &Thread<'a>,
    problems: &mut Vec<Error>,
    mut take: impl FnMut(Step<'_, 'a>),
) -> Option<End<'a>> {
    let Ok(end) = read(thread, problems, |step| {
        take(step);
        Ok::<_, Infallible>(())
    });
    end
}

/// Reads events until `take` returns an error, and adds the problems found. Returns `None` if no
/// file could be opened.
///
/// # Errors
///
/// The errors of `take`.
pub fn read<'a, E>(
    thread: &Thread<'a>,
    problems: &mut Vec<Error>,
    mut take: impl FnMut(Step<'_, 'a>) -> Result<(), E>,
) -> Result<Option<End<'a>>, E> {
    let mut end: Option<End<'a>> = None;
    let mut is_after_gap = false;
    let mut clock = ThreadClock::default();
    let mut before_ns = 0;
    let mut has_gaps = false;
    for files in thread.files() {
        let index = match files.open_index() {
            Ok(index) => index,
            Err(error) => {
                problems.push(error);
                (is_after_gap, has_gaps) = (true, true);
                continue;
            }
        };
        is_after_gap |= files.is_after_gap();
        if is_after_gap && end.is_some() {
            take(Step::Gap)?;
        }
        has_gaps |= is_after_gap;
        take(Step::Files(files, &index))?;
        let first_seq = end.as_ref().map_or(0, |end| end.event_count);
        let mut seq = first_seq;
        let (mut may_have_holes, mut is_after_hole) = (None, false);
        let (start_ns, end_ns) = index.stated_time_range().unzip();
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
                        // Calls that are open before the hole may have returned in it.
                        if !mem::replace(&mut is_after_hole, true) {
                            take(Step::Gap)?;
                        }
                        take(Step::Hole(seq))?;
                    } else {
                        is_after_hole = false;
                        let stated_ns = match seq.saturating_sub(first_seq) {
                            0 => start_ns,
                            seq if seq.saturating_add(1) == index.event_count() => end_ns,
                            _ => None,
                        };
                        let stated_ns = stated_ns.filter(|ns| *ns != event.timestamp_ns);
                        let next = events.peek().and_then(|next| next.as_ref().ok());
                        let next = next.filter(|_| stated_ns.is_none());
                        let next_ns = next.map(|next| thread.time(next.timestamp_ns));
                        let time_ns = thread.time(stated_ns.unwrap_or(event.timestamp_ns));
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
        problems.extend(files.problems_beside(&index));
        let missing_events = index.missing_events();
        // After missing events, a return in the next segment may belong to a missing call.
        is_after_gap = missing_events > 0
            || !index.completeness().has_verified_footer()
            || seq.saturating_sub(first_seq) < index.event_count();
        end = Some(End {
            files: *files,
            completeness: index.completeness().clone(),
            lost_footer: index.problems().iter().any(lost_footer),
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

/// Returns whether the problem is that a finalized file has no footer.
fn lost_footer(problem: &Error) -> bool {
    matches!(problem.kind(), ErrorKind::NotFinalized { is_cut: true, .. })
}

/// Returns the thread's problems.
pub(crate) fn problems_of(
    thread: &Thread<'_>,
    errors: Vec<Error>,
) -> impl Iterator<Item = Problem> + use<> {
    let thread = Some(thread.id());
    let errors = errors.into_iter();
    errors.map(move |error| Problem { thread, error })
}

impl End<'_> {
    /// Returns a problem if any calls were given up.
    pub(crate) fn given_up(&self, count: u64) -> Option<Error> {
        CallStack::given_up(count, self.files.index_path().as_deref())
    }

    /// Returns the events and details that `ring.atf` added.
    pub(crate) fn ring(&self) -> Result<Option<Ring>> {
        Ok(self.files.open()?.and_then(|thread| thread.ring()))
    }
}

/// The death of a process whose manifest names the signal that ended it.
pub(crate) struct Deaths {
    /// The position of the last session, and the time of the process's last event.
    end: Option<(usize, u64)>,
}

impl Deaths {
    pub(crate) fn from_process(process: &Process) -> Self {
        // Unwritten and lost events may have ended the calls.
        let has_died = process.manifest().is_some_and(|manifest| {
            let is_written = manifest.unwritten_events.unwrap_or(0) == 0;
            let is_kept = manifest.recovered.iter().all(|damage| !damage.lost);
            manifest.ended_by.is_some() && is_written && is_kept
        });
        let end = || {
            let (_, end_ns) = process.time_range()?;
            Some((process.sessions().len().checked_sub(1)?, end_ns))
        };
        let is_whole = !process.is_single_thread();
        Self {
            end: (is_whole && has_died).then(end).flatten(),
        }
    }

    /// Returns the time until which a thread's open calls lasted at least; `None` if they may have
    /// ended earlier, because events of the thread may be missing.
    pub(crate) fn until_ns(&self, thread: &Thread<'_>, end: &End<'_>) -> Option<u64> {
        let (last_session, end_ns) = self.end?;
        let is_complete = end.is_whole
            && end.completeness.has_verified_footer()
            && end.files.session() == last_session
            && thread
                .listed()
                .all(|it| it.cut.is_none() && it.lost_events.is_none());
        is_complete.then_some(end_ns)
    }
}
