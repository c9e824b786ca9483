//! The links between a thread's two files, in both directions.

use crate::document::{Decoded, Event};

/// The links of the readable files. An unreadable file has no links.
pub(crate) struct Links {
    /// For each index event, the detail event that it links to. Holes have no link.
    forward: Vec<Option<u64>>,
    /// For each detail event, the index event that it links to.
    back: Vec<u64>,
}

impl Links {
    pub(crate) fn between(index: Option<&Decoded>, detail: Option<&Decoded>) -> Self {
        let link = |event: &Option<Event>| event.as_ref().and_then(|event| event.link);
        let events = index.iter().flat_map(|index| &index.events);
        let details = detail.iter().flat_map(|detail| &detail.events);
        Self {
            forward: events.map(link).collect(),
            back: details.filter_map(link).collect(),
        }
    }

    /// Counts the links in the index that have no matching link back.
    pub(crate) fn dangling(&self) -> usize {
        let links = (0..).zip(&self.forward);
        let links = links.filter_map(|(seq, to)| Some((seq, (*to)?)));
        let loose = links.filter(|(seq, to)| at(&self.back, *to) != Some(seq));
        loose.count()
    }

    /// Counts the links in the details that have no matching link back.
    pub(crate) fn orphans(&self) -> usize {
        let links = (0..).zip(&self.back);
        let loose = links.filter(|(seq, to)| at(&self.forward, **to) != Some(&Some(*seq)));
        loose.count()
    }
}

fn at<T>(values: &[T], seq: u64) -> Option<&T> {
    values.get(usize::try_from(seq).ok()?)
}
