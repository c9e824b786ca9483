//! The calls of a thread, over all its segments.

use std::ops::ControlFlow;

use atf::spans::{CallStack, Paired};

use super::clocks::Clocks;
use super::told::Told;
use super::trace::{ThreadPlace, Trace};
use crate::output::Failure;

/// Passes each call of a thread to `take` when the call ends, until `take` breaks. Returns the
/// number of partially read files.
pub(super) fn each_call(
    trace: &Trace,
    clocks: &Clocks,
    thread: &[ThreadPlace],
    told: &mut Told,
    mut take: impl FnMut(Paired) -> Result<ControlFlow<()>, Failure>,
) -> Result<usize, Failure> {
    let mut stack = CallStack::new();
    let mut ended = Vec::new();
    let mut partly = 0;
    let (mut seq, mut is_after_gap) = (0_u64, false);
    for segment in thread {
        let index = match trace.index(segment) {
            Ok(index) => index,
            Err(error) => {
                told.tell(&error);
                is_after_gap = true;
                continue;
            }
        };
        if is_after_gap || segment.is_after_gap {
            stack.interrupt(|paired| ended.push(paired));
        }
        let first_seq = seq;
        for event in index.events() {
            match event {
                Ok(mut event) => {
                    event.timestamp_ns = clocks.time(segment.process, event.timestamp_ns);
                    stack.push(seq, &event, |paired| ended.push(paired));
                    seq = seq.saturating_add(1);
                }
                Err(error) => told.tell(&error),
            }
            for paired in ended.drain(..) {
                if take(paired)?.is_break() {
                    return Ok(partly + usize::from(index.known_checksum().is_none()));
                }
            }
        }
        partly += usize::from(index.known_checksum().is_none());
        // A return in the next segment may belong to a call that is missing here.
        is_after_gap = index.missing_events() > 0
            || !index.completeness().has_verified_footer()
            || seq.saturating_sub(first_seq) < index.event_count();
    }
    stack.finish(|paired| ended.push(paired));
    for paired in ended {
        if take(paired)?.is_break() {
            break;
        }
    }
    Ok(partly)
}
