//! The links between a thread's two files, both ways.

use crate::detail::Detail;
use crate::index::{Index, Moment};

/// The links of what could be read; nothing leads anywhere in a file that could not.
#[derive(Default)]
pub(crate) struct Links {
    /// Of each index event, its detail event. An event of zeros has none.
    forward: Vec<Option<u64>>,
    /// Of each detail event, its index event.
    back: Vec<u64>,
}

impl Links {
    pub(crate) fn of(index: Option<&Index>, detail: Option<&Detail>) -> Self {
        let events = || index.iter().flat_map(|index| &index.events);
        let link = |moment: &Option<Moment>| moment.as_ref().and_then(|moment| moment.detail_seq);
        Self {
            forward: events().map(link).collect(),
            back: detail
                .map(|detail| detail.index_seqs.clone())
                .unwrap_or_default(),
        }
    }

    /// Index events whose link leads to no detail event that leads back: from where to where.
    fn dangling(&self) -> impl Iterator<Item = u64> {
        let links = (0..).zip(&self.forward);
        let links = links.filter_map(|(seq, to)| Some((seq, (*to)?)));
        let loose = links.filter(|(seq, to)| at(&self.back, *to) != Some(seq));
        loose.map(|(_, to)| to)
    }

    /// Detail events whose link leads to no index event that leads back: to where.
    fn orphans(&self) -> impl Iterator<Item = u64> {
        let links = (0..).zip(&self.back);
        let loose = links.filter(|(seq, to)| at(&self.forward, **to) != Some(&Some(*seq)));
        loose.map(|(_, to)| *to)
    }

    pub(crate) fn dangling_count(&self) -> usize {
        self.dangling().count()
    }

    pub(crate) fn orphan_count(&self) -> usize {
        self.orphans().count()
    }
}

fn at<T>(values: &[T], seq: u64) -> Option<&T> {
    values.get(usize::try_from(seq).ok()?)
}
