//! Pairs calls with their returns.
//!
//! A thread's events record when functions were called and when they returned; a span is one call
//! from start to finish. [`Spans`] pairs the events of one thread. [`CallStack`] does so event by
//! event, for interleaved threads, and returns each event's call depth.
//!
//! - A `RETURN` or an `EXCEPTION` ends the innermost open call of its function. Calls inside it
//!   that have not returned end with it ([`SpanEnd::NotReturned`]).
//! - A `RETURN` or an `EXCEPTION` of a function without an open call is [`Unmatched`]: the call
//!   came before the trace began, or was lost. It does not affect other calls.
//! - Calls that are still open after the last event are reported at the end ([`SpanEnd::Open`]).
//! - Events of other kinds are ignored.
//! - Times are the events' timestamps. To correct wrong ones first, as the commands do, use a
//!   [`ThreadClock`].
//!
//! The cost is linear in the number of events. At most [`LIMIT`](CallStack::LIMIT) calls are kept
//! open, regardless of the events.
//!
//! ```
//! use atf::spans::{Paired, SpanEnd, Spans};
#![doc = include_str!("../doc_setup/thread.md")]
//! let index = atf::index::IndexReader::open(folder.join("index.atf"))?;
//! let mut longest = 0;
//! for paired in Spans::new(index.events()) {
//!     if let Paired::Span(span) = paired? {
//!         assert_eq!(span.end, SpanEnd::Return);
//!         longest = longest.max(span.duration_ns().unwrap_or_default());
//!     }
//! }
//! assert_eq!(longest, 150);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! # Within a time range
//!
//! The events in a range do not show everything that happened in it: a call that began before the
//! range or returned after it has one of its two events outside the range. So pair all events, and
//! clip the spans to the range with [`Span::ns_within`]. The crate `atf-analyze` does this for all
//! functions of a trace. Do not set a [`time_range`](crate::merge::Merge::time_range) on a
//! [`Merge`](crate::merge::Merge) instead.
//!
//! ```
//! use atf::spans::{CallStack, Paired};
//! use std::collections::BTreeMap;
#![doc = include_str!("../doc_setup/session.md")]
//! let session = atf::session::SessionReader::open(path)?;
//! let range = 200..300;
//! // By function, and by thread.
//! let mut totals: BTreeMap<u64, u64> = BTreeMap::new();
//! let mut stacks: BTreeMap<u32, CallStack> = BTreeMap::new();
//! let mut add = |paired: Paired| {
//!     if let Paired::Span(span) = paired {
//!         *totals.entry(span.function_id).or_default() += span.ns_within(&range);
//!     }
//! };
//! for event in session.merge().events() {
//!     let event = event?;
//!     let stack = stacks.entry(event.thread).or_default();
//!     stack.push(event.seq, &event.event, &mut add);
//! }
//! for mut stack in stacks.into_values() {
//!     stack.finish(&mut add); // Calls that never returned.
//! }
//! assert_eq!(totals[&7], 100, "two calls from 100 to 250");
//! # Ok::<(), atf::Error>(())
//! ```

mod clock;
mod stack;

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

use crate::error::Result;
use crate::index::IndexEvent;
use crate::wire::EventKind;

pub use clock::ThreadClock;
pub use stack::CallStack;

/// A single call to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The function.
    pub function_id: u64,
    /// The position of the `CALL` event, counted from 0.
    pub start_seq: u64,
    /// The time of the call in nanoseconds.
    pub start_ns: u64,
    /// How the call ended.
    pub end: SpanEnd,
    /// The position of the event that ended the call; `None` if no event did.
    pub end_seq: Option<u64>,
    /// The time at which the call ended, in nanoseconds; `None` if no event ended it.
    pub end_ns: Option<u64>,
    /// The call's depth: as recorded in wire version 1, otherwise derived from the open calls.
    pub depth: Depth,
}

impl Span {
    /// Returns the call's duration in nanoseconds; `None` if no event ended it, or if the clock
    /// went backwards in between.
    #[must_use]
    pub fn duration_ns(&self) -> Option<u64> {
        self.end_ns?.checked_sub(self.start_ns)
    }

    /// Returns how much of the call is in a range of timestamps, in nanoseconds. A call that no
    /// event ended extends to the end of the range.
    ///
    /// ```
    /// use atf::spans::{Paired, Spans};
    #[doc = include_str!("../doc_setup/thread.md")]
    /// let index = atf::index::IndexReader::open(folder.join("index.atf"))?;
    /// let Some(Ok(Paired::Span(span))) = Spans::new(index.events()).next() else {
    ///     panic!("a call and its return");
    /// };
    /// // A call from 100 to 250.
    /// assert_eq!(span.ns_within(&(200..300)), 50);
    /// assert_eq!(span.ns_within(&(300..400)), 0);
    /// # Ok::<(), atf::Error>(())
    /// ```
    #[must_use]
    pub fn ns_within(&self, range: &Range<u64>) -> u64 {
        let start = self.start_ns.max(range.start);
        let end = self.end_ns.unwrap_or(u64::MAX).min(range.end);
        end.saturating_sub(start)
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanEnd {
    /// The call returned.
    Return,
    /// The call exited with an exception.
    Exception,
    /// An event ended an enclosing call, and this call with it.
    NotReturned,
    /// The call was still open after the last event.
    Open,
    /// The call was the outermost one when too many calls were open.
    GivenUp,
    /// The call was open at the start of a gap: a [segment](crate::trace::Process) between two
    /// others is missing, or events are in a [hole](crate::index::Hole).
    Interrupted,
}

impl SpanEnd {
    /// Returns whether an event ended the call.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Return | Self::Exception | Self::NotReturned)
    }
}

/// A `RETURN` or an `EXCEPTION` of a function without an open call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmatched {
    /// The event's position, counted from 0.
    pub seq: u64,
    /// Its timestamp in nanoseconds.
    pub timestamp_ns: u64,
    /// The function.
    pub function_id: u64,
    /// Its kind: `RETURN` or `EXCEPTION`.
    pub event_kind: EventKind,
}

/// A result of pairing: either a call that has ended, or an event that ends no call. This enum is
/// exhaustive, because pairing has no other results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paired {
    /// A call that ended.
    Span(Span),
    /// A return without a call.
    Unmatched(Unmatched),
}

/// The number of calls open at an event, including the event's own call. This enum is exhaustive,
/// because the depth is either in the file or derived.
///
/// Existing tracers count from 1 and record a return with the depth of its call; derived depths do
/// the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Depth {
    /// As the tracer recorded it, in wire version 1.
    Recorded(u32),
    /// Derived from earlier events, because wire version 2 does not record the depth.
    Derived(u32),
}

impl Depth {
    /// Returns the number, recorded or derived.
    #[must_use]
    pub const fn get(self) -> u32 {
        match self {
            Self::Recorded(depth) | Self::Derived(depth) => depth,
        }
    }

    /// Returns whether the depth is derived.
    #[must_use]
    pub const fn is_derived(self) -> bool {
        matches!(self, Self::Derived(_))
    }

    fn new(event: &IndexEvent, open: u64) -> Self {
        match event.call_depth {
            Some(depth) => Self::Recorded(depth),
            None => Self::Derived(u32::try_from(open).unwrap_or(u32::MAX)),
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// An iterator over the calls of one thread, in the order in which they end. Continues after an
/// error from the events.
#[derive(Debug)]
pub struct Spans<I> {
    events: I,
    /// The position of the next event.
    seq: u64,
    stack: CallStack,
    /// The spans and unmatched returns that the last event produced.
    ended: VecDeque<Paired>,
    is_finished: bool,
}

impl<I: Iterator<Item = Result<IndexEvent>>> Spans<I> {
    /// Pairs a thread's events, starting with event 0.
    pub fn new(events: I) -> Self {
        Self {
            events,
            seq: 0,
            stack: CallStack::new(),
            ended: VecDeque::new(),
            is_finished: false,
        }
    }

    /// Sets the maximum number of calls to keep open, at least 1.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.stack = CallStack::with_limit(limit);
        self
    }
}

impl<I: Iterator<Item = Result<IndexEvent>>> Iterator for Spans<I> {
    type Item = Result<Paired>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(paired) = self.ended.pop_front() {
                return Some(Ok(paired));
            }
            if self.is_finished {
                return None;
            }
            let ended = &mut self.ended;
            match self.events.next() {
                Some(Ok(event)) => {
                    self.stack
                        .push(self.seq, &event, |paired| ended.push_back(paired));
                    self.seq = self.seq.saturating_add(1);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    self.is_finished = true;
                    self.stack.finish(|paired| ended.push_back(paired));
                }
            }
        }
    }
}

impl<I: Iterator<Item = Result<IndexEvent>>> FusedIterator for Spans<I> {}
