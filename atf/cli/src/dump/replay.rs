//! Writes calls in the order in which they started, with their inner calls in braces.

use std::collections::VecDeque;

use atf::spans::{Paired, Span};

use super::calls::Opened;

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
