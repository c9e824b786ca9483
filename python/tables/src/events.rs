//! The table `events`.

use atf::EventKind;
use atf::session::SessionReader;

use crate::error::Error;
use crate::options::Options;
use crate::queue::Queue;
use crate::rows::{Cell, Rows};
use crate::stream::{Outcome, Source};
use crate::thread::ThreadEvents;

pub(crate) struct Events {
    queue: Queue,
    thread: Option<ThreadEvents>,
}

impl Events {
    pub(crate) fn new(reader: SessionReader, options: Options) -> Self {
        Self {
            queue: Queue::new(reader, options),
            thread: None,
        }
    }
}

impl Source for Events {
    fn fill(&mut self, rows: &mut Rows, outcome: &mut Outcome) -> Result<bool, Error> {
        let Some(thread) = &mut self.thread else {
            let Some(entry) = self.queue.next() else {
                return Ok(false);
            };
            self.thread = Some(ThreadEvents::open(&entry, self.queue.options()));
            return Ok(true);
        };
        while !rows.is_full() {
            let Some((seq, event)) = thread.next(outcome) else {
                self.thread = None;
                break;
            };
            rows.push(&[
                thread.id().into(),
                seq.into(),
                event.timestamp_ns.into(),
                kind(event.event_kind),
                event.function_id.into(),
                Cell::Name(event.function_id),
                event.call_depth.into(),
                event.detail_seq.into(),
            ])?;
        }
        Ok(true)
    }
}

/// Returns the word for an event's kind.
#[inline]
fn kind(kind: EventKind) -> Cell<'static> {
    kind.name().map_or(Cell::Null, Cell::Text)
}
