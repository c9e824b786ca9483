//! Walks through a thread's events, and keeps track of the time and the open calls.

use std::collections::VecDeque;
use std::path::PathBuf;

use atf::index::IndexEvent;
use atf::spans::{CallStack, Depth, Paired, SpanEnd, Unmatched};
use atf::trace::Thread;

use crate::unit::{Deaths, End, Step, Timed};
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
    /// Whether it is open and lasts at least until `now_ns`, which is after the thread's last event.
    pub(crate) is_minimum: bool,
    /// Whether the call overlaps the time range.
    pub(crate) is_counted: bool,
}

/// The state between a thread's events.
pub(crate) struct Walk<'o, O: Observer> {
    stack: CallStack,
    pub(crate) open: Open<'o, O>,
    /// The time of the latest event; `None` before the first event.
    now_ns: Option<u64>,
    /// The index file that is being read, and the position of its first event within the thread.
    file: (Option<PathBuf>, u64),
    next_seq: u64,
}

/// The open calls, with the observer's data for each, and the totals so far.
pub(crate) struct Open<'o, O: Observer> {
    options: &'o Options,
    pub(crate) observer: O,
    /// One frame per open call, outermost first, in the order of the stack.
    frames: VecDeque<Frame<O::Place>>,
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
            stack: CallStack::new(),
            open: Open {
                options,
                observer,
                frames: VecDeque::new(),
                is_minimum: false,
                totals: ThreadTotals {
                    thread,
                    ..ThreadTotals::default()
                },
            },
            now_ns: None,
            file: (None, 0),
            next_seq: 0,
        }
    }

    /// Processes the thread's next step.
    pub(crate) fn step(&mut self, step: &Step<'_, '_>) {
        match step {
            Step::Event(timed) => self.event(timed),
            Step::Hole(seq) => {
                self.next_seq = seq.saturating_add(1);
                let Open {
                    options, totals, ..
                } = &mut self.open;
                if self.now_ns.is_none_or(|now_ns| options.contains(now_ns)) {
                    totals.events = totals.events.saturating_add(1);
                }
            }
            Step::Gap => self.end_all(|stack, ended| stack.interrupt(ended)),
            Step::Files(files, _) => self.file = (files.index_path(), self.next_seq),
        }
    }

    fn event(&mut self, timed: &Timed<'_>) {
        let &Timed {
            seq, event, now_ns, ..
        } = timed;
        self.next_seq = seq.saturating_add(1);
        self.count(timed);
        self.advance(now_ns);
        let open = &mut self.open;
        let depth = self.stack.push(seq, event, |paired| {
            open.end(now_ns, Some(event), &paired);
        });
        if event.event_kind.opens_call() {
            let caller = open.frames.back().map(|frame| frame.place);
            let began = Began {
                event,
                depth,
                now_ns: open.options.clip(now_ns),
                is_within: open.options.contains(now_ns),
            };
            let place = open.observer.call(caller, &began);
            open.frames.push_back(Frame {
                place,
                start_ns: now_ns,
            });
            let places = open.frames.iter_mut().map(|frame| &mut frame.place);
            open.observer.tidy(places);
        }
    }

    /// Ends the calls that are open after the last event or, if they are known to have lasted
    /// longer, at the process's last event.
    pub(crate) fn finish(
        mut self,
        thread: &Thread<'_>,
        end: &End<'_>,
        deaths: &Deaths,
    ) -> (ThreadTotals, O) {
        let until_ns = deaths.until_ns(thread, end);
        if let Some(until_ns) = until_ns.filter(|until_ns| self.now_ns < Some(*until_ns))
            && !self.open.frames.is_empty()
        {
            self.advance(until_ns);
            self.open.is_minimum = true;
        }
        self.end_all(|stack, ended| stack.finish(ended));
        let Open {
            mut observer,
            mut totals,
            ..
        } = self.open;
        observer.finish();
        totals.losses = thread.losses();
        totals.missing_events = end.missing_events;
        (totals, observer)
    }

    /// Ends all calls at the current time. `end_stack` ends the calls on the stack.
    fn end_all(&mut self, end_stack: impl FnOnce(&mut CallStack, &mut dyn FnMut(Paired))) {
        if let Some(now_ns) = self.now_ns {
            let open = &mut self.open;
            end_stack(&mut self.stack, &mut |paired| {
                open.end(now_ns, None, &paired);
            });
        }
    }

    fn count(&mut self, timed: &Timed<'_>) {
        let Open {
            options, totals, ..
        } = &mut self.open;
        let now_ns = timed.now_ns;
        if !options.contains(now_ns) {
            if now_ns > options.to_ns {
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
        let open = &mut self.open;
        let (start_ns, end_ns) = (open.options.clip(before_ns), open.options.clip(now_ns));
        let ns = end_ns.saturating_sub(start_ns);
        if ns > 0
            && let Some(frame) = open.frames.back()
        {
            open.observer.spend(frame.place, ns);
            open.totals.busy_ns = open.totals.busy_ns.saturating_add(ns);
        }
    }
}

impl<O: Observer> Open<'_, O> {
    /// Ends a call, or counts a return without one. `event` is the one that ended it.
    #[expect(clippy::expect_used, reason = "an open call has a frame")]
    fn end(&mut self, now_ns: u64, event: Option<&IndexEvent>, paired: &Paired) {
        let (options, totals) = (self.options, &mut self.totals);
        let span = match paired {
            Paired::Span(span) => span,
            Paired::Unmatched(unmatched) => {
                if options.contains(now_ns) {
                    totals.unmatched = totals.unmatched.saturating_add(1);
                    self.observer.unmatched(unmatched, now_ns);
                }
                return;
            }
        };
        let frame = match span.end {
            SpanEnd::GivenUp => {
                totals.given_up = totals.given_up.saturating_add(1);
                self.frames.pop_front()
            }
            _ => self.frames.pop_back(),
        };
        let frame = frame.expect("each open call has a frame");
        let is_counted = options.overlaps(frame.start_ns, now_ns);
        let is_minimum = self.is_minimum && span.end == SpanEnd::Open;
        if is_counted {
            totals.calls = totals.calls.saturating_add(1);
            totals.open = totals.open.saturating_add((!span.end.is_known()).into());
            totals.at_least = totals.at_least.saturating_add(is_minimum.into());
        }
        let end_ns = options.clip(now_ns);
        let is_event = matches!(span.end, SpanEnd::Return | SpanEnd::Exception);
        let ended = Ended {
            now_ns: end_ns,
            duration_ns: end_ns.saturating_sub(options.clip(frame.start_ns)),
            how: span.end,
            event: event.copied().filter(|_| is_event),
            is_minimum,
            is_counted,
        };
        self.observer.end(frame.place, &ended);
    }
}
