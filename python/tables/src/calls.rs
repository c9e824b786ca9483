//! The table `calls`.

use std::collections::{BTreeMap, VecDeque};

use atf::index::IndexEvent;
use atf::session::SessionReader;
use atf::spans::{CallStack, Paired, Span, SpanEnd, ThreadClock};
use atf::trace::Process;

use crate::error::Error;
use crate::options::Options;
use crate::stream::{Cell, Outcome, Rows, Source};
use crate::thread::{Queue, ThreadEvents};

/// A thread with its open calls.
struct Thread {
    events: ThreadEvents,
    /// The next event, which has been read.
    next: Option<(u64, IndexEvent)>,
    /// Calls have the same times as in reports.
    clock: ThreadClock,
    stack: CallStack,
    /// The open calls, outermost first, as in the stack.
    frames: VecDeque<Frame>,
}

struct Frame {
    seq: u64,
    parent: Option<u64>,
    /// The total duration of this call's direct callees; `None` if any of these durations is
    /// unknown.
    children_ns: Option<u64>,
}

pub(crate) fn calls(mut queue: Queue) -> Source {
    let mut current: Option<Thread> = None;
    // For each thread, the time until which its open calls certainly lasted; `None` until needed.
    let mut until_ns: Option<BTreeMap<u32, u64>> = None;
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let Some(thread) = &mut current else {
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            // Read all events, because a call that overlaps the range may begin before it and end
            // after it.
            let mut events = ThreadEvents::open_all(&entry, queue.options().clock.clone());
            current = Some(Thread {
                next: events.next(outcome),
                events,
                clock: ThreadClock::default(),
                stack: CallStack::new(),
                frames: VecDeque::new(),
            });
            return Ok(true);
        };
        // One event can end many calls, so a batch may exceed its limit by the number of open
        // calls.
        while !rows.is_full() {
            match thread.next_event(outcome) {
                Some((seq, event)) => thread.event(seq, &event, queue.options(), rows)?,
                None => {
                    let until_ns = match &mut until_ns {
                        _ if thread.frames.is_empty() => None,
                        Some(until_ns) => until_ns.get(&thread.events.id()),
                        none => none
                            .insert(open_until(queue.reader(), queue.options())?)
                            .get(&thread.events.id()),
                    };
                    thread.finish(until_ns.copied(), queue.options(), rows)?;
                    current = None;
                    break;
                }
            }
        }
        Ok(true)
    })
}

impl Thread {
    /// Returns the next event, with its time on the thread's clock.
    #[inline]
    fn next_event(&mut self, outcome: &mut Outcome) -> Option<(u64, IndexEvent)> {
        let (seq, mut event) = self.next.take()?;
        self.next = self.events.next(outcome);
        let next_ns = self.next.map(|(_, next)| next.timestamp_ns);
        event.timestamp_ns = self.clock.advance(event.timestamp_ns, next_ns);
        Some((seq, event))
    }

    fn event(
        &mut self,
        seq: u64,
        event: &IndexEvent,
        options: &Options,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let (frames, thread, mut result) = (&mut self.frames, self.events.id(), Ok(()));
        self.stack.push(seq, event, |paired| {
            if result.is_ok() {
                result = end(frames, thread, &paired, None, options, rows);
            }
        });
        if event.event_kind.opens_call() {
            let parent = frames.back().map(|frame| frame.seq);
            frames.push_back(Frame {
                seq,
                parent,
                children_ns: Some(0),
            });
        }
        result
    }

    /// Adds the open calls, which lasted at least until `until_ns`.
    fn finish(
        &mut self,
        until_ns: Option<u64>,
        options: &Options,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let (frames, thread, mut result) = (&mut self.frames, self.events.id(), Ok(()));
        self.stack.finish(|paired| {
            if result.is_ok() {
                result = end(frames, thread, &paired, until_ns, options, rows);
            }
        });
        result
    }
}

/// Returns the time until which the open calls of each thread certainly lasted, if the process died
/// and no event of the thread can be missing.
fn open_until(reader: &SessionReader, options: &Options) -> Result<BTreeMap<u32, u64>, Error> {
    let has_died = |it: &atf::manifest::Manifest| it.ended_by.is_some();
    if !reader.manifest().is_some_and(has_died) {
        return Ok(BTreeMap::new());
    }
    let process = Process::from(reader).with_clock(options.clock.clone());
    let last = atf_analyze::last(process, &atf_analyze::Options::default(), 0, 0);
    let threads = last.threads.iter();
    let known = threads.filter_map(|thread| Some((thread.thread, thread.open_until_ns?)));
    Ok(known.collect())
}

/// Removes the frame of a call that has ended, and adds its row. An open call lasted at least until
/// `until_ns`.
fn end(
    frames: &mut VecDeque<Frame>,
    thread: u32,
    paired: &Paired,
    until_ns: Option<u64>,
    options: &Options,
    rows: &mut Rows,
) -> Result<(), Error> {
    let Paired::Span(span) = paired else {
        return Ok(());
    };
    let frame = match span.end {
        SpanEnd::GivenUp => frames.pop_front(),
        _ => frames.pop_back(),
    };
    let frame = frame.ok_or_else(|| Error::Internal("an open call has no frame".to_owned()))?;
    let duration_ns = span.duration_ns();
    if let Some(around) = frames.back_mut()
        && span.end != SpanEnd::GivenUp
    {
        let sum = around.children_ns.zip(duration_ns);
        around.children_ns = sum.and_then(|(sum, one)| sum.checked_add(one));
    }
    if !overlaps(span, options) {
        return Ok(());
    }
    let own_ns = duration_ns.zip(frame.children_ns);
    let own_ns = own_ns.and_then(|(all, children)| all.checked_sub(children));
    let until_ns = until_ns.filter(|_| span.end == SpanEnd::Open);
    let at_least_ns = until_ns.map(|until_ns| until_ns.saturating_sub(span.start_ns));
    rows.push(&[
        thread.into(),
        span.start_seq.into(),
        frame.parent.into(),
        span.function_id.into(),
        Cell::Name(span.function_id),
        span.start_ns.into(),
        duration_ns.into(),
        own_ns.into(),
        span.depth.get().into(),
        word(span.end)?,
        at_least_ns.into(),
    ])
}

fn overlaps(span: &Span, options: &Options) -> bool {
    span.start_ns <= options.to_ns && span.end_ns.is_none_or(|end_ns| end_ns >= options.from_ns)
}

fn word(end: SpanEnd) -> Result<Cell<'static>, Error> {
    Ok(Cell::Text(match end {
        SpanEnd::Return => "return",
        SpanEnd::Exception => "exception",
        SpanEnd::NotReturned => "not_returned",
        SpanEnd::Open => "open",
        SpanEnd::GivenUp => "given_up",
        end => return Err(Error::Internal(format!("unknown end of a call {end:?}"))),
    }))
}
