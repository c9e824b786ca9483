//! Following files that are still being written.
//!
//! | what grows | follower |
//! |---|---|
//! | an `index.atf` | [`IndexFollower`] |
//! | a `detail.atf` | [`DetailFollower`] |
//! | a folder `thread_N` | [`ThreadFollower`]: each event with its details |
//! | a session's folder | [`SessionFollower`]: its threads as they appear, and its manifest |
//!
//! A follower is asked again and again, at whatever pace its caller likes: `poll` never waits, and
//! says what has become certain since the last time ([`Polled`]). Over time it gives the events
//! that a reader gives of the finished file, in their order: no other ones, none twice, none left
//! out. To that end it holds back
//!
//! - an event that is not whole, a detail whose length or end is not there yet;
//! - what could be the beginning of a footer, until the bytes behind it decide;
//! - zeros, which mean "not yet", and an event with nothing but zeros behind it: in a file whose
//!   space was set aside it may be half-written. If they are still zeros when the file is
//!   finalized, they are the hole that a reader gives as well (what cannot be told: the last event
//!   that fits into such a space, half-written when its follower comes to it first);
//! - all events that do not follow the header at once: only the footer proves that they begin there.
//!
//! The file need not be there yet, and is open only while a poll looks at it. Its writer may cut
//! off what was never given, as after a disk was full. Whatever else contradicts what was given
//! is an error: see [`IndexFollower::poll`]. An error is no state: the next poll looks again.
//!
//! # When the writer dies
//!
//! Nobody can tell a writer that has died from one that waits, so a follower says
//! [`NotYet`](Polled::NotYet) for as long as it is asked. A caller who knows opens the files with a
//! [`ThreadReader`](crate::thread::ThreadReader) and goes on at the follower's `next_seq`: it
//! gives what was held back, and the events that a writer with
//! [`survive_kill`](crate::write::WriteOptions::survive_kill) had not yet written. Followers do
//! not look at these: they see what was flushed, and how often that is its writer decides.

mod detail;
mod head;
mod index;
mod session;
mod thread;

pub use detail::DetailFollower;
pub use index::IndexFollower;
pub use session::{FollowedThread, SessionFollower};
pub use thread::{ThreadEvent, ThreadFollower};

/// What one look at a growing file gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled<T> {
    /// What has become certain. There may be more at once: poll again before waiting.
    New(T),
    /// Nothing new is certain yet.
    NotYet,
    /// All events were given, and the file is
    /// [`Finalized`](crate::Completeness::Finalized): footer and header are there. Nothing
    /// follows.
    Finalized,
}

/// Whether there is a byte that is not 0: a writer has been there.
fn is_written(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte != 0)
}
