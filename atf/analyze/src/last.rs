//! Finds the calls that were running when a trace ended.

use std::collections::VecDeque;

use atf::index::IndexEvent;
use atf::manifest::Losses;
use atf::spans::{CallStack, Paired, Span, SpanEnd};
use atf::thread::Ring;
use atf::trace::{Process, Thread};
use atf::{Completeness, Error};

use crate::unit::{Deaths, Step, Timed, read_all, select};
use crate::{Options, Problem, side_by_side};

/// How the threads of a trace ended, from [`last`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Last {
    /// The threads that were read, by id.
    pub threads: Vec<LastOfThread>,
    /// How the events differ from what the tracer wrote, and which threads were not read.
    pub problems: Vec<Problem>,
}

/// How a thread ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct LastOfThread {
    /// The id from the folder's name or, for a single file, from its header.
    pub thread: u32,
    /// How the thread's file ended; with several segments, how its last file
    /// ended.
    pub completeness: Completeness,
    /// Whether that file was finalized but its footer is missing.
    pub lost_footer: bool,
    /// The number of events.
    pub event_count: u64,
    /// How many events are missing according to the header.
    pub missing_events: u64,
    /// The number of events that are earlier than the previous event.
    pub out_of_order: u64,
    /// The times of the first and the last event in nanoseconds; `None` if there are no events.
    pub times: Option<(u64, u64)>,
    /// The calls that were open at the end, innermost first, up to the requested number.
    pub open: Vec<Span>,
    /// How many calls were open, including those not in `open`.
    pub open_count: u64,
    /// The time until which these calls lasted at least, in nanoseconds, if it is known to be after
    /// the thread's last event: the process's last event, as in
    /// [`Times::at_least`](crate::Times::at_least).
    pub open_until_ns: Option<u64>,
    /// How many of the open calls were given up because too many were [open](CallStack::LIMIT).
    /// They may have returned.
    pub given_up: u64,
    /// The outermost open call that was not given up. `open` does not include it if more calls are
    /// open than requested.
    pub outermost: Option<Span>,
    /// The last events with their positions, in order, up to the requested number.
    pub events: Vec<(u64, IndexEvent)>,
    /// The events and details that `ring.atf` added to the files.
    pub ring: Option<Ring>,
    /// The tracer's losses in the thread, according to the manifest.
    pub losses: Losses,
}

impl LastOfThread {
    /// Returns whether the file was never finalized, or was truncated afterwards.
    #[must_use]
    pub fn is_unfinalized(&self) -> bool {
        !self.completeness.has_verified_footer()
    }
}

/// Returns how each thread ended: its open calls, its last `events` events, and what is missing.
/// Returns at most `calls` open calls, the innermost ones.
///
/// Reads all events and pairs all calls, but returns only events in the time range of `options`.
/// Memory: the result, plus 28 MiB for 262,144 open calls in each thread read in parallel.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path();
/// # let writer = atf::write::SessionWriter::create(path, &Default::default())?;
/// # let mut thread = writer.thread(0)?;
/// # for (timestamp_ns, id) in [(100, 7), (110, 8)] {
/// #     thread.write(&atf::write::Event::new(timestamp_ns, id, atf::EventKind::CALL, 1))?;
/// # }
/// # thread.flush()?;
/// # drop(thread);
///
/// // Function 7 called function 8, and the program was killed.
/// let session = atf::session::SessionReader::open(path)?;
/// let last = atf_analyze::last(&session, &atf_analyze::Options::default(), 100, 5);
/// let thread = &last.threads[0];
/// assert!(thread.is_unfinalized());
/// let open: Vec<u64> = thread.open.iter().map(|call| call.function_id).collect();
/// assert_eq!(open, [8, 7]);
/// assert_eq!(last.problems.len(), 1, "the file was not finalized");
/// # Ok::<(), atf::Error>(())
/// ```
#[must_use]
pub fn last(process: impl Into<Process>, options: &Options, calls: usize, events: usize) -> Last {
    let process = process.into();
    let (found, mut problems) = select(&process, options);
    let deaths = Deaths::from_process(&process);
    let work = |thread: &Thread<'_>| of_thread(thread, options, &deaths, calls, events);
    let threads = side_by_side(&found, options, &mut problems, work);
    Last { threads, problems }
}

fn of_thread(
    thread: &Thread<'_>,
    options: &Options,
    deaths: &Deaths,
    calls: usize,
    events: usize,
) -> (Option<LastOfThread>, Vec<Error>) {
    let mut problems = Vec::new();
    let mut stack = CallStack::new();
    let mut given_up = 0_u64;
    let mut given_up_before_gaps = 0_u64;
    let mut times = None;
    let mut out_of_order = 0_u64;
    let mut latest = VecDeque::new();
    let end = read_all(thread, &mut problems, |step| match step {
        Step::Event(timed) => {
            let &Timed { seq, now_ns, .. } = timed;
            let mut event = *timed.event;
            event.timestamp_ns = now_ns;
            out_of_order = out_of_order.saturating_add(timed.is_earlier.into());
            stack.push(seq, &event, |paired| {
                let is_given_up = |span: &Span| span.end == SpanEnd::GivenUp;
                if matches!(&paired, Paired::Span(span) if is_given_up(span)) {
                    given_up = given_up.saturating_add(1);
                }
            });
            let (first_ns, _) = times.unwrap_or((now_ns, now_ns));
            times = Some((first_ns, now_ns));
            if events > 0 && options.contains(now_ns) {
                if latest.len() >= events {
                    latest.pop_front();
                }
                latest.push_back((seq, event));
            }
        }
        // Calls that are open before the gap may have returned in it, so they do not count as
        // open at the end.
        Step::Gap => {
            stack.interrupt(|_| ());
            let before = given_up_before_gaps.saturating_add(given_up);
            (given_up, given_up_before_gaps) = (0, before);
        }
        Step::Files(..) | Step::Hole(_) => {}
    });
    let (mut open, mut outermost) = (Vec::new(), None);
    let mut open_count = given_up;
    stack.finish(|paired| {
        if let Paired::Span(span) = paired {
            open_count = open_count.saturating_add(1);
            outermost = Some(span);
            if open.len() < calls {
                open.push(span);
            }
        }
    });
    let last = end.map(|end| {
        problems.extend(end.given_up(given_up.saturating_add(given_up_before_gaps)));
        let mut last = LastOfThread {
            given_up,
            thread: thread.id(),
            event_count: end.event_count,
            missing_events: end.missing_events,
            out_of_order,
            times,
            open,
            open_count,
            open_until_ns: deaths.until_ns(thread, &end).filter(|_| open_count > 0),
            outermost,
            events: latest.into(),
            ring: None,
            losses: thread.losses(),
            completeness: end.completeness.clone(),
            lost_footer: end.lost_footer,
        };
        if last.is_unfinalized() {
            match end.ring() {
                Ok(ring) => last.ring = ring,
                Err(error) => problems.push(error),
            }
        }
        last
    });
    (last, problems)
}
