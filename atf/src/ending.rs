//! Problems that iterators return after their last event.

use crate::error::Error;

/// The problems returned after the last event, so that every caller that reads all events sees
/// them.
#[derive(Debug)]
pub(crate) enum Ending<P = Error> {
    /// Not yet computed: the last events can add problems.
    Unknown,
    /// The remaining problems.
    Known(std::vec::IntoIter<P>),
}

impl<P> Ending<P> {
    /// No problems: for a range of events, and after a read error.
    pub(crate) fn nothing() -> Self {
        Self::Known(Vec::new().into_iter())
    }

    /// Returns the next problem; the first call computes them with `ask`.
    pub(crate) fn next(&mut self, ask: impl FnOnce() -> Vec<P>) -> Option<P> {
        if let Self::Unknown = self {
            *self = Self::Known(ask().into_iter());
        }
        match self {
            Self::Unknown => None,
            Self::Known(problems) => problems.next(),
        }
    }

    /// Returns how many are left; `None` if they are not yet computed.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Known(problems) => Some(problems.len()),
        }
    }
}
