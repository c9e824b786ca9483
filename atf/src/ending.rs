//! Problems that iterators return after their last event.

use crate::error::Error;

/// The problems that an iterator returns after the last event, so that every caller that reads all
/// events sees them.
#[derive(Debug)]
pub(crate) enum Ending<P = Error> {
    /// Not computed yet, because the last events can add problems.
    Unknown,
    Known(std::vec::IntoIter<P>),
}

impl<P> Ending<P> {
    /// Returns an ending without problems, for a range of events or after a read error.
    pub(crate) fn nothing() -> Self {
        Self::Known(Vec::new().into_iter())
    }

    /// Returns the next problem. The first call computes all problems with `compute`.
    pub(crate) fn next(&mut self, compute: impl FnOnce() -> Vec<P>) -> Option<P> {
        if let Self::Unknown = self {
            *self = Self::Known(compute().into_iter());
        }
        match self {
            Self::Unknown => None,
            Self::Known(problems) => problems.next(),
        }
    }

    /// Returns the maximum number of items of an iterator that has at most this many events left;
    /// `None` if one of the numbers is unknown. A read error ends an iteration early, so the minimum
    /// is unknown.
    pub(crate) fn most(&self, events: Option<usize>) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Known(problems) => events?.checked_add(problems.len()),
        }
    }
}
