//! The table `events`.

use crate::queue::Queue;
use crate::rows::{Cell, Rows};
use crate::stream::{Outcome, Source};
use crate::thread::ThreadEvents;

pub(crate) fn events(mut queue: Queue) -> Source {
    let mut current: Option<ThreadEvents> = None;
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let Some(thread) = &mut current else {
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            current = Some(ThreadEvents::open(&entry, queue.options()));
            return Ok(true);
        };
        while !rows.is_full() {
            let Some((seq, event)) = thread.next(outcome) else {
                current = None;
                break;
            };
            rows.push(&[
                thread.id().into(),
                seq.into(),
                event.timestamp_ns.into(),
                event.event_kind.name().into(),
                event.function_id.into(),
                Cell::Name(event.function_id),
                event.call_depth.into(),
                event.detail_seq.into(),
            ])?;
        }
        Ok(true)
    })
}
