//! The open calls of one thread.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::{Depth, Paired, Span, SpanEnd, Unmatched};
use crate::error::{Error, ErrorKind};
use crate::index::IndexEvent;
use crate::wire::{CallEffect, EventKind};

/// The open calls of one thread. Pairs the thread's events one by one, starting with the first. To
/// pair only part of them, see [Within a time range](crate::spans#within-a-time-range).
///
/// ```
/// use atf::spans::{CallStack, Paired};
/// use std::collections::BTreeMap;
#[doc = include_str!("../doc_setup/session.md")]
/// // The calls of all threads in the order in which they ended.
/// let session = atf::session::SessionReader::open(path)?;
/// let mut stacks: BTreeMap<u32, CallStack> = BTreeMap::new();
/// let mut spans = 0;
/// for event in session.merge().events() {
///     let event = event?;
///     let stack = stacks.entry(event.thread).or_default();
///     stack.push(event.seq, &event.event, |paired| {
///         spans += u32::from(matches!(paired, Paired::Span(_)));
///     });
/// }
/// assert_eq!(spans, 2);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CallStack {
    /// Outermost first.
    open: VecDeque<OpenCall>,
    /// The number of open calls of each function, so that the stack is searched only if it contains
    /// a return's call. Built at the first return that does not match the innermost call, because
    /// most threads never need it.
    counts: Option<HashMap<u64, usize>>,
    /// The number of calls that were dropped.
    given_up: u64,
    limit: usize,
}

#[derive(Debug, Clone, Copy)]
struct OpenCall {
    function_id: u64,
    start_seq: u64,
    start_ns: u64,
    depth: Depth,
    /// The kind of the event that opened the call.
    kind: EventKind,
}

impl Default for CallStack {
    fn default() -> Self {
        Self::new()
    }
}

impl CallStack {
    /// The number of calls kept open by default: as many as there are 32-byte frames in an 8 MiB
    /// stack. They take at most about 20 MiB.
    pub const LIMIT: usize = 1 << 18;

    /// Creates an empty stack that keeps at most [`LIMIT`](Self::LIMIT) calls.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    /// Creates an empty stack that keeps at most `limit` calls, but at least 1. If one more is
    /// opened, the outermost is dropped ([`SpanEnd::GivenUp`]).
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            open: VecDeque::new(),
            counts: None,
            given_up: 0,
            limit: limit.max(1),
        }
    }

    /// Returns the error for a thread that had too many calls open at once: `count` of them were
    /// dropped. Returns `None` if `count` is 0. `path` is the path of the index.
    #[must_use]
    pub fn given_up(count: u64, path: Option<&Path>) -> Option<Error> {
        let kind = ErrorKind::TooManyOpenCalls {
            given_up: count,
            limit: Self::LIMIT as u64,
        };
        let error = || Error::new(kind).with_path(path).with_field("events");
        (count > 0).then(error)
    }

    /// Returns the number of open calls, including dropped ones.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.given_up.saturating_add(self.open.len() as u64)
    }

    /// Processes event `seq`, and passes on the calls that it ends, inner ones before outer ones.
    /// Returns the event's depth; a return has the depth of its call.
    ///
    /// If depths are not recorded, a return without a call has the depth that its call would have
    /// had: one more than the number of open calls. The depth of an event that neither opens nor
    /// ends a call is the number of open calls.
    pub fn push(&mut self, seq: u64, event: &IndexEvent, ended: impl FnMut(Paired)) -> Depth {
        match event.event_kind.effect() {
            CallEffect::Opens => self.call(seq, event, ended),
            CallEffect::Returns => self.end(seq, event, SpanEnd::Return, ended),
            CallEffect::Throws => self.end(seq, event, SpanEnd::Exception, ended),
            CallEffect::None => Depth::new(event, self.depth()),
        }
    }

    /// Passes on the open calls, inner ones first, and removes them.
    pub fn finish(&mut self, ended: impl FnMut(Paired)) {
        self.end_all(SpanEnd::Open, ended);
    }

    /// Passes on the open calls, inner ones first, and removes them, because the events that follow
    /// are missing ([`SpanEnd::Interrupted`]).
    pub fn interrupt(&mut self, ended: impl FnMut(Paired)) {
        self.end_all(SpanEnd::Interrupted, ended);
    }

    /// Removes the open calls and returns them, inner ones first, each with the kind of the event
    /// that opened it.
    pub(crate) fn take_open(&mut self) -> Vec<(EventKind, Span)> {
        let open = std::mem::replace(self, Self::with_limit(self.limit)).open;
        let calls = open.into_iter().rev();
        calls
            .map(|call| (call.kind, call.span(SpanEnd::Open, None)))
            .collect()
    }

    fn end_all(&mut self, how: SpanEnd, mut ended: impl FnMut(Paired)) {
        while let Some(call) = self.open.pop_back() {
            ended(Paired::Span(call.span(how, None)));
        }
        *self = Self::with_limit(self.limit);
    }

    fn call(&mut self, seq: u64, event: &IndexEvent, mut ended: impl FnMut(Paired)) -> Depth {
        if self.open.len() >= self.limit
            && let Some(outermost) = self.open.pop_front()
        {
            self.uncount(outermost.function_id);
            self.given_up = self.given_up.saturating_add(1);
            ended(Paired::Span(outermost.span(SpanEnd::GivenUp, None)));
        }
        let depth = Depth::new(event, self.depth().saturating_add(1));
        self.open.push_back(OpenCall {
            function_id: event.function_id,
            start_seq: seq,
            start_ns: event.timestamp_ns,
            depth,
            kind: event.event_kind,
        });
        if let Some(counts) = &mut self.counts {
            let count = counts.entry(event.function_id).or_default();
            *count = count.saturating_add(1);
        }
        depth
    }

    fn end(
        &mut self,
        seq: u64,
        event: &IndexEvent,
        how: SpanEnd,
        mut ended: impl FnMut(Paired),
    ) -> Depth {
        if !self.has_open(event.function_id) {
            ended(Paired::Unmatched(Unmatched {
                seq,
                timestamp_ns: event.timestamp_ns,
                function_id: event.function_id,
                event_kind: event.event_kind,
            }));
            return Depth::new(event, self.depth().saturating_add(1));
        }
        let at = Some((seq, event.timestamp_ns));
        while let Some(call) = self.open.pop_back() {
            self.uncount(call.function_id);
            if call.function_id == event.function_id {
                ended(Paired::Span(call.span(how, at)));
                return match event.call_depth {
                    Some(depth) => Depth::Recorded(depth),
                    None => call.depth,
                };
            }
            ended(Paired::Span(call.span(SpanEnd::NotReturned, at)));
        }
        Depth::new(event, self.depth())
    }

    fn has_open(&mut self, function_id: u64) -> bool {
        let is_wanted = |call: &OpenCall| call.function_id == function_id;
        if self.open.back().is_some_and(is_wanted) {
            return true;
        }
        let open = &self.open;
        let counts = self.counts.get_or_insert_with(|| {
            let mut counts = HashMap::new();
            for call in open {
                let count: &mut usize = counts.entry(call.function_id).or_default();
                *count = count.saturating_add(1);
            }
            counts
        });
        counts.contains_key(&function_id)
    }

    fn uncount(&mut self, function_id: u64) {
        let Some(counts) = &mut self.counts else {
            return;
        };
        // Functions without an open call have no entry, so the table is no larger than the stack.
        if let Some(count) = counts.get_mut(&function_id) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&function_id);
            }
        }
    }
}

impl OpenCall {
    fn span(self, end: SpanEnd, at: Option<(u64, u64)>) -> Span {
        Span {
            function_id: self.function_id,
            start_seq: self.start_seq,
            start_ns: self.start_ns,
            end,
            end_seq: at.map(|(seq, _)| seq),
            end_ns: at.map(|(_, timestamp_ns)| timestamp_ns),
            depth: self.depth,
        }
    }
}
