//! The links between a thread's two files, both ways.

use crate::detail::Detail;
use crate::index::{Index, Moment};

/// What the links say of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    None,
    /// The other end did not reach the disk.
    Lost,
    /// The other end is not there, or leads elsewhere.
    Wrong,
}

/// The links of what could be read; nothing leads anywhere in a file that could not.
#[derive(Default)]
pub(crate) struct Links {
    /// Of each index event, its detail event. An event of zeros has none.
    forward: Vec<Option<u64>>,
    holes: Vec<bool>,
    /// Of each detail event, its index event.
    back: Vec<u64>,
}

impl Links {
    pub(crate) fn of(index: Option<&Index>, detail: Option<&Detail>) -> Self {
        let events = || index.iter().flat_map(|index| &index.events);
        let link = |moment: &Option<Moment>| moment.as_ref().and_then(|moment| moment.detail_seq);
        Self {
            forward: events().map(link).collect(),
            holes: events().map(Option::is_none).collect(),
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

    /// What is wrong with the index file and with the detail file. `may_lose` says that a crash
    /// may have cut them: they reach the disk apart from each other.
    pub(crate) fn faults(&self, may_lose: bool) -> (Fault, Fault) {
        let fault = |is_lost| if is_lost { Fault::Lost } else { Fault::Wrong };
        let is_behind = |to, count: usize| may_lose && to >= count as u64;
        let ahead = self
            .dangling()
            .map(|to| fault(is_behind(to, self.back.len())));
        let behind = self.orphans().map(|to| {
            let is_in_hole = at(&self.holes, to) == Some(&true);
            fault(is_in_hole || is_behind(to, self.forward.len()))
        });
        let worst = |faults: &mut dyn Iterator<Item = Fault>| faults.max().unwrap_or(Fault::None);
        (worst(&mut { ahead }), worst(&mut { behind }))
    }
}

fn at<T>(values: &[T], seq: u64) -> Option<&T> {
    values.get(usize::try_from(seq).ok()?)
}
