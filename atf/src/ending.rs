//! Problems that iterators return after their last event.

use crate::error::Error;

/// The problems that an iterator returns after the last event, so that every caller that reads all
/// events sees them.
#[derive(Debug)]
pub(crate) enum Ending<P = Error> {
    /// Not computed yet, because the last events can add problems.
    Unknown,
    /// The remaining problems.
    Known(std::vec::IntoIter<P>),
}

impl<P> Ending<P> {
    /// Returns an ending without problems, for a range of events or after a read error.
    pub(crate) fn nothing() -> Self {
        Self::Known(Vec::new().into_iter())
    }

    /// Returns the next problem. The first call computes all problems with `ask`.
    pub(crate) fn next(&mut self, ask: impl FnOnce() -> Vec<P>) -> Option<P> {
        if let Self::Unknown = self {
            *self = Self::Known(ask().into_iter());
        }
        match self {
            Self::Unknown => None,
            Self::Known(problems) => problems.next(),
        }
    }

    /// Returns how many problems are left; `None` if they are not computed yet.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Known(problems) => Some(problems.len()),
        }
    }
}
