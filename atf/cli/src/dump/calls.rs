//! Pairs the calls of a thread across all its segments.

use std::ops::ControlFlow;

use atf::index::IndexEvent;
use atf::spans::{CallStack, Depth, Paired, ThreadClock};
use atf::wire::CallEffect;

use super::reported::Reported;
use super::trace::{Sessions, ThreadPlace};
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

/// Passes each call of a thread to `take` when the call begins and when it ends, until `take`
/// breaks. Times are on the thread's clock, as in reports. If a call is still open when a
/// finalized thread ends or before a gap, its end time is the time of the last event. Returns the
/// number of partially read files.
pub(super) fn each_call(
    sessions: &Sessions<'_>,
    thread: &[ThreadPlace<'_>],
    reported: &mut Reported,
    mut take: impl FnMut(Step) -> Result<ControlFlow<()>, Failure>,
) -> Result<usize, Failure> {
    let mut stack = CallStack::new();
    let mut ended = Vec::new();
    let mut partly = 0;
    let (mut seq, mut is_after_gap) = (0_u64, false);
    let (mut clock, mut is_over) = (ThreadClock::default(), false);
    for segment in thread {
        let mut opened = None;
        let index = match segment.files.open_index() {
            Ok(index) => index,
            Err(error) => {
                reported.report(&error);
                is_after_gap = true;
                continue;
            }
        };
        if is_after_gap || segment.files.is_after_gap() {
            let until_ns = clock.now_ns().unwrap_or_default();
            stack.interrupt(|paired| ended.push((paired, until_ns)));
        }
        let first_seq = seq;
        let (mut may_have_holes, mut is_after_hole) = (None, false);
        let time = |event: &IndexEvent| sessions.time(segment.session, event.timestamp_ns);
        let mut events = index.events().peekable();
        while let Some(event) = events.next() {
            match event {
                Ok(mut event) => {
                    let is_hole = event.is_zero()
                        && *may_have_holes.get_or_insert_with(|| {
                            index.is_hole(&[0; IndexEvent::SIZE]).is_ok_and(|it| it)
                        });
                    if is_hole && !is_after_hole {
                        let until_ns = clock.now_ns().unwrap_or_default();
                        stack.interrupt(|paired| ended.push((paired, until_ns)));
                    }
                    is_after_hole = is_hole;
                    let next = events.peek().and_then(|next| next.as_ref().ok());
                    event.timestamp_ns = clock.advance(time(&event), next.map(time));
                    let depth =
                        stack.push(seq, &event, |paired| ended.push((paired, end_of(&paired))));
                    opened = (event.event_kind.effect() == CallEffect::Opens).then_some(Opened {
                        function_id: event.function_id,
                        start_seq: seq,
                        start_ns: event.timestamp_ns,
                        depth,
                    });
                    seq = seq.saturating_add(1);
                }
                Err(error) => reported.report(&error),
            }
            let steps = ended.drain(..).map(|(paired, ns)| Step::End(paired, ns));
            for step in steps.chain(opened.take().map(Step::Begin)) {
                if take(step)?.is_break() {
                    return Ok(partly + usize::from(index.known_checksum().is_none()));
                }
            }
        }
        partly += usize::from(index.known_checksum().is_none());
        // This reader has read all links.
        reported.report_all(&segment.files.problems_beside(&index));
        // Without a verified footer, events may be missing at the end, and calls cannot continue in
        // the next segment.
        is_over = index.completeness().has_verified_footer();
        is_after_gap = index.missing_events() > 0
            || !is_over
            || seq.saturating_sub(first_seq) < index.event_count();
    }
    // A thread without a footer may still be running.
    let last_ns = clock.now_ns().unwrap_or_default();
    let until_ns = if is_over { last_ns } else { u64::MAX };
    stack.finish(|paired| ended.push((paired, until_ns)));
    for (paired, until_ns) in ended {
        if take(Step::End(paired, until_ns))?.is_break() {
            break;
        }
    }
    Ok(partly)
}

/// Returns the time of the event that ended a call or, if a return has no call, the time of the
/// return.
fn end_of(paired: &Paired) -> u64 {
    match paired {
        Paired::Span(span) => span.end_ns.unwrap_or(u64::MAX),
        Paired::Unmatched(end) => end.timestamp_ns,
    }
}
