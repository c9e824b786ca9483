//! The verdict on a file.

/// The action that a reader must take on a file: the strictest action that any finding requires.
/// This enum is exhaustive, because validators return exactly these three verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Read the file.
    Accept,
    /// Read the events that can be recovered.
    Recover,
    /// Reject the file.
    Reject,
}
