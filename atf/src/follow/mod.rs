//! Follows files that are still being written.
//!
//! | growing file | follower |
//! |---|---|
//! | an `index.atf` | [`IndexFollower`] |
//! | a `detail.atf` | [`DetailFollower`] |
//! | a `thread_N` folder | [`ThreadFollower`]: each event with its detail |
//! | a session folder | [`SessionFollower`]: its threads as they appear, and its manifest |
//!
//! ```
//! use atf::follow::{IndexFollower, Polled};
#![doc = include_str!("../doc_setup/thread.md")]
//! let mut follower = IndexFollower::in_thread(folder);
//! loop {
//!     match follower.poll_event()? {
//!         Polled::New(event) => println!("{} {:#x}", event.timestamp_ns, event.function_id),
//!         Polled::NotYet => std::thread::sleep(std::time::Duration::from_millis(100)),
//!         Polled::Finalized => break,
//!     }
//! }
//! # assert_eq!(follower.next_seq(), 2);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! A follower can be polled at any rate: `poll` never waits, and returns newly certain events
//! ([`Polled`]). Over time, it returns exactly the events that a reader of the finished file
//! returns, once each and in the same order. To guarantee this, it holds back:
//! - an incomplete event, and a detail whose length or end is not written yet;
//! - bytes that could begin a footer, until later bytes show whether they do;
//! - zeros, which may still be overwritten with data, and an event that is followed only by zeros,
//!   which may be half-written in a preallocated file. Zeros that remain when the file is finalized
//!   are a hole, which a reader also returns. One case cannot be detected: a half-written event at
//!   the very end of the preallocated space;
//! - all events that do not directly follow the header, because only the footer proves where they
//!   begin.
//!
//! The file need not exist yet, and is open only during a poll. Its writer may truncate bytes that
//! were never returned, for example after the disk was full. If the file contradicts the returned
//! events, a poll returns an error (see [`IndexFollower::poll`]). The next poll tries again, but
//! [`Replaced`](crate::ErrorKind::Replaced) is permanent: a follower never switches to
//! another file.
//!
//! # When the writer dies
//!
//! A dead writer looks like a waiting one, so a follower keeps returning
//! [`NotYet`](Polled::NotYet). A caller that has detected the writer's death can open the files
//! with a [`ThreadReader`](crate::thread::ThreadReader) and continue at the follower's `next_seq`.
//! The reader returns the events that the follower held back, and those that a writer with
//! [`survive_kill`](crate::write::WriteOptions::survive_kill) had not yet written. Followers do not
//! return the latter: they read only flushed events, and writers decide how often to flush.
//!
//! `atf record` replaces the session of a killed program with a recovered copy, which ends its
//! followers with [`Replaced`](crate::ErrorKind::Replaced). The copy repeats the events that they
//! returned and contains all later ones: open it with a
//! [`ThreadReader`](crate::thread::ThreadReader) and read its index's
//! [`events_in(next_seq..)`](crate::index::IndexReader::events_in). To make sure that the new file
//! is such a copy, compare its event `next_seq - 1` with the last one returned.

mod detail;
mod growing;
mod index;
mod session;
mod thread;

pub use detail::DetailFollower;
pub use index::IndexFollower;
pub use session::{FollowedThread, SessionFollower};
pub use thread::{ThreadEvent, ThreadFollower};

/// The result of polling a growing file. This enum is exhaustive, because a file has a new event,
/// may have one later, or will never have another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled<T> {
    /// New data that has become certain. There may be more: poll again before waiting.
    New(T),
    /// Nothing new is certain yet.
    NotYet,
    /// All events have been returned, and the file is
    /// [`Finalized`](crate::Completeness::Finalized): its footer and header are written. No more
    /// events follow.
    Finalized,
}

/// Returns whether any byte is not 0, which proves that a writer wrote it.
fn is_written(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte != 0)
}
