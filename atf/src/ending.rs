//! Problems that iterators return after their last event.

use crate::error::Error;

/// The problems that an iterator returns after the last event, so that every caller that reads all
/// events sees them; `None` until they are computed, because the last events can add problems.
#[derive(Debug)]
pub(crate) struct Ending<P = Error>(Option<std::vec::IntoIter<P>>);

impl<P> Ending<P> {
    /// An ending whose problems are computed after the last event.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// Returns an ending without problems, for a range of events or after a read error.
    pub(crate) fn nothing() -> Self {
        Self(Some(Vec::new().into_iter()))
    }

    /// Returns the next problem. The first call computes all problems with `compute`.
    pub(crate) fn next(&mut self, compute: impl FnOnce() -> Vec<P>) -> Option<P> {
        self.0.get_or_insert_with(|| compute().into_iter()).next()
    }

    /// Returns the maximum number of items of an iterator that has at most this many events left;
    /// `None` if one of the numbers is unknown. A read error ends an iteration early, so the minimum
    /// is unknown.
    pub(crate) fn most(&self, events: Option<usize>) -> Option<usize> {
        events?.checked_add(self.0.as_ref()?.len())
    }
}
