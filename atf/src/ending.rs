//! What an iterator gives after its last event.

use crate::error::Error;

/// The problems that follow the last event, so that whoever takes all events meets them.
#[derive(Debug)]
pub(crate) enum Ending<P = Error> {
    /// They are not asked for yet: the last events can add some.
    Unknown,
    /// Those that are left.
    Known(std::vec::IntoIter<P>),
}

impl<P> Ending<P> {
    /// No problems: those of a part of the events, and after an event that could not be read.
    pub(crate) fn nothing() -> Self {
        Self::Known(Vec::new().into_iter())
    }

    /// The next problem; the first call asks for them.
    pub(crate) fn next(&mut self, ask: impl FnOnce() -> Vec<P>) -> Option<P> {
        if let Self::Unknown = self {
            *self = Self::Known(ask().into_iter());
        }
        match self {
            Self::Unknown => None,
            Self::Known(problems) => problems.next(),
        }
    }

    /// How many are left; `None` while they are not known.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Known(problems) => Some(problems.len()),
        }
    }
}
