//! Computes the call depth of each event.

use std::iter::FusedIterator;

use super::{CallStack, Depth};
use crate::error::Result;
use crate::index::IndexEvent;

/// The events of one thread with their depths, which are recorded or, if the wire version does not
/// record depths, derived from earlier events.
///
/// ```
/// use atf::spans::Depths;
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// # let mut writer = atf::write::ThreadWriter::create(folder, 0, &Default::default())?;
/// # for (timestamp_ns, event_kind) in [(100, atf::EventKind::CALL), (250, atf::EventKind::RETURN)] {
/// #     writer.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
/// # }
/// # writer.finalize()?;
///
/// let index = atf::index::IndexReader::open(folder.join("index.atf"))?;
/// let depths = Depths::new(index.events()).map(|item| item.map(|(_, depth)| depth.get()));
/// let deepest = depths.collect::<atf::Result<Vec<u32>>>()?.into_iter().max();
/// assert_eq!(deepest, Some(1));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct Depths<I> {
    events: I,
    stack: CallStack,
}

impl<I: Iterator<Item = Result<IndexEvent>>> Depths<I> {
    /// Creates the iterator from the events of a thread, starting with its first event.
    pub fn new(events: I) -> Self {
        Self {
            events,
            stack: CallStack::new(),
        }
    }
}

impl<I: Iterator<Item = Result<IndexEvent>>> Iterator for Depths<I> {
    type Item = Result<(IndexEvent, Depth)>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.events.next()?;
        // The position does not matter, because ended calls are ignored.
        Some(event.map(|event| (event, self.stack.push(0, &event, |_| ()))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.events.size_hint()
    }
}

impl<I: FusedIterator<Item = Result<IndexEvent>>> FusedIterator for Depths<I> {}
