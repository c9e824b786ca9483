//! Cuts a thread to a time range: repeats the calls open at the start, and ends those open at the
//! end.

use std::ops::Range;

use super::Walk;
use crate::files::INDEX_FILE;
use crate::index::IndexEvent;
use crate::manifest::Cut;
use crate::rewrite::job::{CutRange, Failure};
use crate::rewrite::report::{NoteKind, Place};
use crate::spans::{CallStack, Depth, Span, ThreadClock};
use crate::wire::EventKind;

/// Where an event is relative to a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Before,
    Inside,
    After,
}

/// The state of a cut at the current event.
#[derive(Debug, Clone, Default)]
pub(super) struct Cutting {
    from_ns: u64,
    to_ns: u64,
    /// Decides where an event is relative to the cut, so the cut is a contiguous range of events
    /// even where timestamps decrease.
    clock: ThreadClock,
    stack: CallStack,
    has_begun: bool,
    /// The positions of the events inside the cut.
    inside: Range<u64>,
    calls: u64,
    returns: u64,
}

impl Cutting {
    pub(super) fn new(range: &CutRange) -> Self {
        Self {
            from_ns: range.from_ns,
            to_ns: range.to_ns,
            ..Self::default()
        }
    }

    /// Continues in the thread's file in the next segment, with the calls still open.
    pub(super) fn in_next_file(&self) -> Self {
        Self {
            inside: 0..0,
            calls: 0,
            returns: 0,
            ..self.clone()
        }
    }

    /// Returns whether event `seq` is inside the cut.
    pub(super) fn contains(&self, seq: u64) -> bool {
        self.inside.contains(&seq)
    }

    /// Describes the cut. The thread may be the result of an earlier cut; the new cut may include
    /// some of the earlier cut's repeated calls and added returns.
    pub(super) fn describe(&self, earlier: Option<&Cut>, event_count: u64) -> Cut {
        let Range { start, end } = self.inside;
        let this = Cut::new(self.from_ns, self.to_ns, self.calls, self.returns);
        let Some(earlier) = earlier else { return this };
        let calls = earlier.calls.min(end).saturating_sub(start);
        let first_return = event_count.saturating_sub(earlier.returns);
        let returns = end.saturating_sub(first_return.max(start));
        Cut {
            from_ns: this.from_ns.max(earlier.from_ns),
            to_ns: this.to_ns.min(earlier.to_ns),
            calls: this.calls.saturating_add(calls),
            returns: this.returns.saturating_add(returns),
        }
    }

    /// Follows the open calls up to event `seq`, which the event at `next_ns` follows. Returns
    /// where that event is relative to the cut, and adds the events that precede it in the new
    /// thread.
    fn step(
        &mut self,
        seq: u64,
        event: &IndexEvent,
        next_ns: Option<u64>,
        added: &mut Added,
    ) -> Part {
        let now_ns = self.clock.advance(event.timestamp_ns, next_ns);
        let next = seq.saturating_add(1);
        if now_ns < self.from_ns {
            self.stack.push(seq, event, |_| {});
            self.inside = next..next;
            return Part::Before;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.repeat_calls(added);
        }
        if now_ns > self.to_ns {
            self.add_returns(added);
            return Part::After;
        }
        self.stack.push(seq, event, |_| {});
        self.inside.end = next;
        Part::Inside
    }

    fn repeat_calls(&mut self, added: &mut Added) {
        for (event_kind, call) in self.take_open(added).into_iter().rev() {
            let event = IndexEvent {
                timestamp_ns: self.from_ns,
                event_kind,
                ..blank(&call)
            };
            self.stack.push(0, &event, |_| {});
            self.calls = self.calls.saturating_add(1);
            added.events.push(event);
        }
    }

    fn add_returns(&mut self, added: &mut Added) {
        for (_, call) in self.take_open(added) {
            self.returns = self.returns.saturating_add(1);
            added.events.push(IndexEvent {
                timestamp_ns: self.to_ns,
                event_kind: EventKind::RETURN,
                ..blank(&call)
            });
        }
    }

    /// Removes and returns the open calls, innermost first, and counts the dropped ones.
    fn take_open(&mut self, added: &mut Added) -> Vec<(EventKind, Span)> {
        let count = self.stack.depth();
        let open = self.stack.take_open();
        let given_up = count.saturating_sub(open.len() as u64);
        added.given_up = added.given_up.saturating_add(given_up);
        open
    }
}

/// Events to write before an event.
#[derive(Debug, Default)]
struct Added {
    events: Vec<IndexEvent>,
    /// The number of calls that are missing here because too many were open.
    given_up: u64,
}

/// Returns an event for a call. The caller must set the event's time and kind.
fn blank(call: &Span) -> IndexEvent {
    IndexEvent {
        function_id: call.function_id,
        call_depth: match call.depth {
            Depth::Recorded(depth) => Some(depth),
            Depth::Derived(_) => None,
        },
        ..IndexEvent::blank()
    }
}

impl Walk<'_, '_> {
    /// Writes the events that precede event `seq` in the new thread, and returns where that event
    /// is relative to the cut. `next_ns` is the timestamp of the next event.
    pub(super) fn cut(
        &mut self,
        seq: u64,
        event: &IndexEvent,
        next_ns: Option<u64>,
    ) -> Result<Part, Failure> {
        let Some(cutting) = &mut self.cutting else {
            return Ok(Part::Inside);
        };
        let mut added = Added::default();
        let part = cutting.step(seq, event, next_ns, &mut added);
        if part == Part::Before {
            if let Some(link) = event.detail_seq {
                self.next_link = Some(link.saturating_add(1));
            }
            self.before = Some(*event);
        }
        if added.given_up > 0 {
            let found = format!(
                "{} calls, outer ones of more than {}",
                added.given_up,
                CallStack::LIMIT
            );
            let place = || Place::new(INDEX_FILE, "events", None).found(found);
            self.report.notes.add(NoteKind::CallsGivenUp, None, place);
        }
        for event in added.events {
            let event = IndexEvent {
                thread_id: self.thread_id,
                ..event
            };
            let written = self.writer.write_decoded(&event, None);
            written.map_err(Failure::Write)?;
        }
        Ok(part)
    }
}
