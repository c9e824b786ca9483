//! Walks through a thread's events, and keeps track of the time and the open calls.

use std::collections::VecDeque;
use std::path::PathBuf;

use atf::index::IndexEvent;
use atf::spans::{CallStack, Depth, Paired, SpanEnd, Unmatched};

use crate::unit::{Step, Timed};
use crate::{EventPlace, Options, ThreadTotals};

/// An observer that collects an analysis's results from a thread's calls.
pub(crate) trait Observer {
    /// The observer's own data about an open call.
    type Place: Copy;

    /// Records the start of a call inside `caller`, and returns the new call's place.
    fn call(&mut self, caller: Option<Self::Place>, call: &Began<'_>) -> Self::Place;

    /// Adds `ns` nanoseconds to the self time of the innermost call.
    fn spend(&mut self, place: Self::Place, ns: u64);

    fn end(&mut self, place: Self::Place, ended: &Ended);

    /// Records the return of a function without an open call.
    fn unmatched(&mut self, unmatched: &Unmatched, now_ns: u64);

    /// Limits the observer's memory. `open` are the places of the open calls, outermost first.
    fn tidy<'p>(&mut self, _open: impl Iterator<Item = &'p mut Self::Place>)
    where
        Self::Place: 'p,
    {
    }

    /// Completes the results after the thread's last event, when no call is open.
    fn finish(&mut self) {}
}

/// The start of a call.
#[derive(Debug)]
pub(crate) struct Began<'e> {
    pub(crate) event: &'e IndexEvent,
    pub(crate) depth: Depth,
    /// The start time, clipped to the time range.
    pub(crate) now_ns: u64,
    /// Whether the call began in the time range.
    pub(crate) is_within: bool,
}

/// The end of a call. Times are clipped to the time range.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) now_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) how: SpanEnd,
    /// The return or exception that ended the call.
    pub(crate) event: Option<IndexEvent>,
    /// Whether an event ended it.
    pub(crate) is_known: bool,
    /// Whether it is open and lasts at least until `now_ns`, which is after the thread's last event.
    pub(crate) is_minimum: bool,
    /// Whether the call overlaps the time range.
    pub(crate) is_counted: bool,
}

/// The open calls of a thread, with the observer's data for each.
pub(crate) struct Walk<'o, O: Observer> {
    options: &'o Options,
    pub(crate) observer: O,
    stack: CallStack,
    /// One frame per open call, outermost first, in the order of `stack`.
    frames: VecDeque<Frame<O::Place>>,
    /// The time of the latest event; `None` before the first event.
    now_ns: Option<u64>,
    /// The index file that is being read, and the position of its first event within the thread.
    file: (Option<PathBuf>, u64),
    next_seq: u64,
    /// Whether calls that are still open last at least until now, which is after the last event.
    is_minimum: bool,
    totals: ThreadTotals,
}

#[derive(Clone, Copy)]
struct Frame<P> {
    place: P,
    start_ns: u64,
}

impl<'o, O: Observer> Walk<'o, O> {
    pub(crate) fn new(thread: u32, options: &'o Options, observer: O) -> Self {
        Self {
            options,
            observer,
            stack: CallStack::new(),
            frames: VecDeque::new(),
            now_ns: None,
            file: (None, 0),
            next_seq: 0,
            is_minimum: false,
            totals: ThreadTotals::new(thread),
        }
    }

    /// Processes the thread's next step.
    pub(crate) fn step(&mut self, step: &Step<'_, '_>) {
        match step {
            Step::Event(timed) => self.event(timed),
            Step::Hole(seq) => {
                self.next_seq = seq.saturating_add(1);
                let is_within = |now_ns| self.options.contains(now_ns);
                if self.now_ns.is_none_or(is_within) {
                    self.totals.events = self.totals.events.saturating_add(1);
                }
            }
            Step::Gap => self.end_all(|stack, ended| stack.interrupt(ended)),
            Step::Files(files) => {
                self.file = (files.index_path(), self.next_seq);
            }
        }
    }

    fn event(&mut self, timed: &Timed<'_>) {
        let &Timed {
            seq, event, now_ns, ..
        } = timed;
        self.next_seq = seq.saturating_add(1);
        self.count(timed);
        self.advance(now_ns);
        let depth = self.stack.push(seq, event, |paired| {
            let at = At {
                now_ns,
                event: Some(event),
                is_minimum: false,
            };
            let (frames, observer) = (&mut self.frames, &mut self.observer);
            let totals = &mut self.totals;
            end(frames, observer, totals, self.options, &at, &paired);
        });
        if event.event_kind.opens_call() {
            let caller = self.frames.back().map(|frame| frame.place);
            let began = Began {
                event,
                depth,
                now_ns: self.options.clip(now_ns),
                is_within: self.options.contains(now_ns),
            };
            let place = self.observer.call(caller, &began);
            self.frames.push_back(Frame {
                place,
                start_ns: now_ns,
            });
            let open = self.frames.iter_mut().map(|frame| &mut frame.place);
            self.observer.tidy(open);
        }
    }

    /// Ends the calls that are open after the last event or, if they are known to have lasted
    /// longer, at `until_ns`.
    pub(crate) fn finish(mut self, until_ns: Option<u64>) -> (ThreadTotals, O) {
        if let Some(until_ns) = until_ns.filter(|until_ns| self.now_ns < Some(*until_ns))
            && !self.frames.is_empty()
        {
            self.advance(until_ns);
            self.is_minimum = true;
        }
        self.end_all(|stack, ended| stack.finish(ended));
        self.observer.finish();
        (self.totals, self.observer)
    }

    /// Ends all calls at the current time. `end_stack` ends the calls on the stack.
    fn end_all(&mut self, end_stack: impl FnOnce(&mut CallStack, &mut dyn FnMut(Paired))) {
        let Some(now_ns) = self.now_ns else {
            return;
        };
        end_stack(&mut self.stack, &mut |paired| {
            let at = At {
                now_ns,
                event: None,
                is_minimum: self.is_minimum,
            };
            let (frames, observer) = (&mut self.frames, &mut self.observer);
            let totals = &mut self.totals;
            end(frames, observer, totals, self.options, &at, &paired);
        });
    }

    /// Counts an event.
    fn count(&mut self, timed: &Timed<'_>) {
        let (now_ns, totals) = (timed.now_ns, &mut self.totals);
        if !self.options.contains(now_ns) {
            if now_ns > self.options.to_ns {
                totals.later_events = totals.later_events.saturating_add(1);
            }
            return;
        }
        totals.events = totals.events.saturating_add(1);
        let start_ns = totals.times.map_or(now_ns, |(start_ns, _)| start_ns);
        totals.times = Some((start_ns, now_ns));
        if timed.is_earlier {
            totals.out_of_order = totals.out_of_order.saturating_add(1);
            let (path, first_seq) = &self.file;
            totals.first_out_of_order.get_or_insert_with(|| EventPlace {
                thread: totals.thread,
                path: path.clone(),
                seq: timed.seq.saturating_sub(*first_seq),
            });
        }
    }

    /// Adds the time until `now_ns` to the innermost open call.
    fn advance(&mut self, now_ns: u64) {
        let before_ns = self.now_ns.replace(now_ns).unwrap_or(now_ns);
        let (start_ns, end_ns) = (self.options.clip(before_ns), self.options.clip(now_ns));
        let ns = end_ns.saturating_sub(start_ns);
        if ns > 0
            && let Some(frame) = self.frames.back()
        {
            self.observer.spend(frame.place, ns);
            self.totals.busy_ns = self.totals.busy_ns.saturating_add(ns);
        }
    }
}

/// The end of a call.
struct At<'e> {
    now_ns: u64,
    event: Option<&'e IndexEvent>,
    /// Whether the call lasts at least until then.
    is_minimum: bool,
}

#[expect(clippy::expect_used, reason = "an open call has a frame")]
fn end<O: Observer>(
    frames: &mut VecDeque<Frame<O::Place>>,
    observer: &mut O,
    totals: &mut ThreadTotals,
    options: &Options,
    at: &At<'_>,
    paired: &Paired,
) {
    let now_ns = at.now_ns;
    let span = match paired {
        Paired::Span(span) => span,
        Paired::Unmatched(unmatched) => {
            if options.contains(now_ns) {
                totals.unmatched = totals.unmatched.saturating_add(1);
                observer.unmatched(unmatched, now_ns);
            }
            return;
        }
    };
    let frame = match span.end {
        SpanEnd::GivenUp => {
            totals.given_up = totals.given_up.saturating_add(1);
            frames.pop_front()
        }
        _ => frames.pop_back(),
    };
    let frame = frame.expect("each open call has a frame");
    let is_counted = options.overlaps(frame.start_ns, now_ns);
    let is_known = span.end.is_known();
    let is_minimum = at.is_minimum && span.end == SpanEnd::Open;
    if is_counted {
        totals.calls = totals.calls.saturating_add(1);
        totals.open = totals.open.saturating_add((!is_known).into());
        totals.at_least = totals.at_least.saturating_add(is_minimum.into());
    }
    let end_ns = options.clip(now_ns);
    let ended = Ended {
        now_ns: end_ns,
        duration_ns: end_ns.saturating_sub(options.clip(frame.start_ns)),
        how: span.end,
        event: at
            .event
            .copied()
            .filter(|_| matches!(span.end, SpanEnd::Return | SpanEnd::Exception)),
        is_known,
        is_minimum,
        is_counted,
    };
    observer.end(frame.place, &ended);
}
