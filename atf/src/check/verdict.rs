//! The verdict on a file.

/// The action that a reader must take on a file: the strictest action that any finding requires.
/// Closed: validators give these three verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Read it.
    Accept,
    /// Read the events that can be recovered.
    Recover,
    /// Reject it.
    Reject,
}

impl Verdict {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Recover => "recover",
            Self::Reject => "reject",
        }
    }
}
