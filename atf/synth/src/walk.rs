//! A thread's walk through the program: which functions are called, and when their calls end.

use std::sync::Arc;

use atf::EventKind;
use atf::write::Event;

use crate::pace::Pace;
use crate::program::{Function, Program};
use crate::random::Random;
use crate::registers::Registers;
use crate::synth::Synth;

/// The largest call depth.
const DEEPEST: usize = 48;
/// Calls up to this depth make more than one call on average, and deeper calls make fewer, so trees
/// are wide at the top and end on their own.
const WIDE: usize = 6;
/// The number of calls that a thread's outermost function makes.
const ROOT_CALLS: u32 = 2_000;
/// One in this many calls has a burst: a hot loop that calls one function.
const BURST: u32 = 128;
/// One in this many calls ends with an exception.
const EXCEPTION: u32 = 4_096;
/// One in this many events is late, as if the thread had waited for a lock or a read.
const STALL: u32 = 4_096;

/// An event of a generated trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynthEvent {
    /// The event for `index.atf`.
    pub event: Event,
    /// The detail event for `detail.atf`, if the event has one.
    pub detail: Option<Registers>,
}

/// The events of one thread, from its first call to the end of the trace.
#[derive(Debug, Clone)]
pub struct ThreadEvents {
    program: Arc<Program>,
    pace: Pace,
    random: Random,
    thread: u32,
    detail_per_mille: u32,
    left: u64,
    stack: Vec<Frame>,
    /// The number of calls that an exception still has to end.
    unwinding: u32,
}

/// An open call.
#[derive(Debug, Clone)]
struct Frame {
    function: u32,
    /// The number of calls that this call has yet to make.
    calls: u32,
    /// The number of calls left in the burst, and the function that they call. The burst comes
    /// before other calls.
    burst: (u32, u32),
}

impl ThreadEvents {
    pub(crate) fn new(synth: &Synth, program: Arc<Program>, thread: u32) -> Self {
        Self {
            program,
            pace: Pace::new(synth, thread),
            random: Random::new(synth.seed, 1 + u64::from(thread)),
            thread,
            detail_per_mille: synth.detail_per_mille,
            left: synth.events_per_thread,
            stack: Vec::with_capacity(DEEPEST),
            unwinding: 0,
        }
    }

    /// Chooses the next event: its kind, function, depth and the time since the previous one.
    fn step(&mut self) -> (EventKind, u32, usize, u64) {
        if self.unwinding > 0 && self.stack.len() > 1 {
            self.unwinding -= 1;
            return self.end(EventKind::EXCEPTION);
        }
        let (random, depth) = (&mut self.random, self.stack.len());
        let Some(frame) = self.stack.last_mut() else {
            return self.call(self.program.entry(self.thread), ROOT_CALLS);
        };
        let (burst, callee) = frame.burst;
        if burst > 0 {
            frame.burst.0 = burst - 1;
            return self.call(callee, 0);
        }
        if frame.calls == 0 {
            if random.one_in(EXCEPTION) {
                self.unwinding = random.zipf(DEEPEST as u32);
                return self.end(EventKind::EXCEPTION);
            }
            return self.end(EventKind::RETURN);
        }
        frame.calls -= 1;
        let function = self.program.function(frame.function);
        if random.one_in(BURST) {
            let callee = function.callee(random);
            frame.burst = (random.between(16, 255), callee);
            return self.call(callee, 0);
        }
        let callee = if function.is_recursive && !random.one_in(4) {
            frame.function
        } else {
            function.callee(random)
        };
        let calls = match depth {
            DEEPEST.. => 0,
            WIDE.. if random.below(8) < 5 => 0,
            _ if random.one_in(4) => 0,
            _ => random.between(1, 4),
        };
        self.call(callee, calls)
    }

    fn call(&mut self, function: u32, calls: u32) -> (EventKind, u32, usize, u64) {
        // The time between the last event and a call is spent in the caller.
        let working = self.stack.last().map_or(function, |frame| frame.function);
        let gap_ns = self.gap(working);
        self.stack.push(Frame {
            function,
            calls,
            burst: (0, 0),
        });
        (EventKind::CALL, function, self.stack.len(), gap_ns)
    }

    fn end(&mut self, kind: EventKind) -> (EventKind, u32, usize, u64) {
        let depth = self.stack.len();
        let function = self.stack.pop().map_or(0, |frame| frame.function);
        (kind, function, depth, self.gap(function))
    }

    /// Returns a gap of 0.5 to 1.5 times a function's cost, or occasionally a stall of 8 µs to 16
    /// ms.
    #[inline]
    fn gap(&mut self, function: u32) -> u64 {
        let cost_ns = self.program.function(function).cost_ns;
        let gap_ns = cost_ns / 2 + self.random.below(cost_ns);
        if self.random.one_in(STALL) {
            return 8_000_u64 << self.random.below(12);
        }
        u64::from(gap_ns)
    }

    fn registers(&mut self, event: &Event) -> Option<Registers> {
        if self.random.below(1000) >= self.detail_per_mille {
            return None;
        }
        // A call's own frame is already on the stack; a return's frame is no longer on it.
        let own = usize::from(event.event_kind == EventKind::CALL);
        let caller = self.stack.iter().rev().nth(own);
        let caller = caller.map(|frame| self.program.function(frame.function).address());
        let seed = self.random.next();
        Some(Registers::new(event, self.thread, caller, seed))
    }
}

impl Iterator for ThreadEvents {
    type Item = SynthEvent;

    #[inline]
    fn next(&mut self) -> Option<SynthEvent> {
        self.left = self.left.checked_sub(1)?;
        let (event_kind, function, depth, gap_ns) = self.step();
        let event = Event::new(
            self.pace.next(gap_ns),
            Function::id(self.program.function(function)),
            event_kind,
            depth as u32,
        );
        let detail = self.registers(&event);
        Some(SynthEvent { event, detail })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}
