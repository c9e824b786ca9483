//! Pairs the calls of a thread across all its segments, and passes them on in the order of their
//! ends, or in the order of their starts with their inner calls in braces.

use std::collections::VecDeque;
use std::sync::Arc;

use atf::index::IndexReader;
use atf::spans::{CallStack, Depth, Paired, Span};
use atf::trace::Thread;
use atf_analyze::{Step as ReadStep, read_thread};

use super::reported::Reported;
use crate::output::Failure;

/// A call that has just been opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    pub(crate) function_id: u64,
    pub(crate) start_seq: u64,
    pub(crate) start_ns: u64,
    pub(crate) depth: Depth,
}

/// A step through the calls of a thread.
pub(super) enum Step {
    /// A call begins.
    Begin(Opened),
    /// A call ends at this time, or a return has no call.
    End(Paired, u64),
}

/// Why no more calls are read: a failure, or `None` if no more are needed.
pub(super) type Stop = Option<Failure>;

/// Passes each call of a thread to `take` when the call begins and when it ends. Times are on the
/// thread's clock, as in reports. If a call is still open when a finalized thread ends or before a
/// gap, its end time is the time of the last event. Adds the number of partially read files to
/// `partly`.
pub(super) fn each_call(
    thread: &Thread<'_>,
    reported: &mut Reported,
    partly: &mut usize,
    mut take: impl FnMut(Step) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut stack = CallStack::new();
    let (mut ended, mut problems) = (Vec::new(), Vec::new());
    let (mut last_ns, mut current) = (0, None);
    let is_partly_read = |index: Arc<IndexReader>| usize::from(index.known_checksum().is_none());
    let read = read_thread(thread, &mut problems, |step| {
        let mut opened = None;
        match step {
            ReadStep::Files(_, index) => {
                *partly += current.replace(Arc::clone(index)).map_or(0, is_partly_read);
                return Ok(());
            }
            ReadStep::Gap => {
                stack.interrupt(|paired| ended.push((paired, last_ns)));
                return Ok(());
            }
            ReadStep::Hole(_) => {}
            ReadStep::Event(timed) => {
                last_ns = timed.now_ns;
                let mut event = *timed.event;
                event.timestamp_ns = last_ns;
                let end = |paired| ended.push((paired, end_of(&paired)));
                let depth = stack.push(timed.seq, &event, end);
                opened = event.event_kind.opens_call().then_some(Opened {
                    function_id: event.function_id,
                    start_seq: timed.seq,
                    start_ns: last_ns,
                    depth,
                });
            }
        }
        let steps = ended.drain(..).map(|(paired, ns)| Step::End(paired, ns));
        steps.chain(opened.map(Step::Begin)).try_for_each(&mut take)
    });
    reported.report_all(&problems);
    *partly += current.map_or(0, is_partly_read);
    // A thread without a footer may still be running.
    let is_over = read?.is_some_and(|end| end.completeness.has_verified_footer());
    let until_ns = if is_over { last_ns } else { u64::MAX };
    stack.finish(|paired| ended.push((paired, until_ns)));
    let steps = ended.into_iter();
    let mut steps = steps.map(|(paired, until_ns)| Step::End(paired, until_ns));
    steps.try_for_each(take)
}

/// Returns the time of the event that ended a call or, if a return has no call, the time of the
/// return.
fn end_of(paired: &Paired) -> u64 {
    match paired {
        Paired::Span(span) => span.end_ns.unwrap_or(u64::MAX),
        Paired::Unmatched(end) => end.timestamp_ns,
    }
}

/// A line about a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line {
    /// A call whose inner calls are on the next lines.
    Begin(Opened),
    /// The end of such a call.
    End(Span),
    /// A call without inner calls, or a return without a call.
    Whole(Paired),
}

impl Line {
    pub(super) const fn function_id(&self) -> u64 {
        match self {
            Self::Begin(call) => call.function_id,
            Self::End(call) | Self::Whole(Paired::Span(call)) => call.function_id,
            Self::Whole(Paired::Unmatched(end)) => end.function_id,
        }
    }
}

/// The open calls of a thread. A call's line is written once an inner call is written or the call
/// ends, because the form of the line is not known earlier.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Outermost first.
    open: VecDeque<Open>,
    /// How many of these calls, starting with the outermost, have been written or omitted.
    decided: usize,
}

#[derive(Debug)]
struct Open {
    call: Opened,
    is_written: bool,
}

impl Replay {
    pub(super) fn begin(&mut self, call: Opened) {
        let is_written = false;
        self.open.push_back(Open { call, is_written });
    }

    /// Passes on the lines that can be written once a call has ended or a return has no call.
    /// `is_admitted` states whether to write this one, and `admits` whether to write an enclosing
    /// call, given its function.
    pub(super) fn end<E>(
        &mut self,
        paired: Paired,
        is_admitted: bool,
        admits: impl Fn(u64) -> bool,
        mut line: impl FnMut(Line) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut own = None;
        if let Paired::Span(span) = &paired {
            let is_own = |open: &Open| open.call.start_seq == span.start_seq;
            // The innermost call ends first; the outermost is given up first.
            own = if self.open.back().is_some_and(is_own) {
                self.open.pop_back()
            } else {
                let seq = self.open.iter().position(is_own);
                self.decided -= usize::from(seq.is_some_and(|seq| seq < self.decided));
                seq.and_then(|seq| self.open.remove(seq))
            };
            self.decided = self.decided.min(self.open.len());
        }
        if own.is_some_and(|open| open.is_written)
            && let Paired::Span(span) = paired
        {
            return line(Line::End(span));
        }
        if !is_admitted {
            return Ok(());
        }
        for open in self.open.iter_mut().skip(self.decided) {
            open.is_written = admits(open.call.function_id);
            if open.is_written {
                line(Line::Begin(open.call))?;
            }
        }
        self.decided = self.open.len();
        line(Line::Whole(paired))
    }
}
