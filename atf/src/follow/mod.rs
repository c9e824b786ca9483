//! Follows files that are still being written.
//!
//! | growing file | follower |
//! |---|---|
//! | an `index.atf` | [`IndexFollower`] |
//! | a `detail.atf` | [`DetailFollower`] |
//! | a `thread_N` folder | [`ThreadFollower`]: each event with its details |
//! | a session folder | [`SessionFollower`]: its threads as they appear, and its manifest |
//!
//! ```
//! use atf::follow::{IndexFollower, Polled};
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! # let mut writer = atf::write::ThreadWriter::create(folder, 0, &Default::default())?;
//! # let (timestamp_ns, event_kind) = (100, atf::EventKind::CALL);
//! # writer.write(&atf::write::Event::new(timestamp_ns, 7, event_kind, 1))?;
//! # writer.finalize()?;
//!
//! let mut follower = IndexFollower::in_thread(folder);
//! loop {
//!     match follower.poll_event()? {
//!         Polled::New(event) => println!("{} {:#x}", event.timestamp_ns, event.function_id),
//!         Polled::NotYet => std::thread::sleep(std::time::Duration::from_millis(100)),
//!         Polled::Finalized => break,
//!     }
//! }
//! # assert_eq!(follower.next_seq(), 1);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! Poll a follower at any pace: `poll` never waits, and returns what has become certain since the
//! last call ([`Polled`]). Over time it returns the same events, in the same order, as a reader of
//! the finished file: no others, none twice, none missing. To guarantee this, it holds back
//!
//! - an incomplete event, and a detail whose length or end is not written yet;
//! - bytes that could begin a footer, until the bytes after them settle it;
//! - zeros, which mean "not yet", and an event followed only by zeros: in a preallocated file it
//!   may be half-written. If they are still zeros when the file is finalized, they are a hole,
//!   which a reader returns as well (one case is undecidable: the last event that fits into the
//!   preallocated space, if the follower finds it half-written);
//! - all events that do not directly follow the header: only the footer proves that they begin
//!   there.
//!
//! The file need not exist yet, and is open only during a poll. Its writer may truncate bytes that
//! were never returned, for example after the disk was full. Any other contradiction with returned
//! events is an error: see [`IndexFollower::poll`]. Errors are not permanent: the next poll tries
//! again.
//!
//! # When the writer dies
//!
//! A dead writer looks the same as a waiting one, so a follower keeps returning
//! [`NotYet`](Polled::NotYet). A caller that knows that the writer died can open the files with a
//! [`ThreadReader`](crate::thread::ThreadReader) and continue at the follower's `next_seq`: the
//! reader returns the events held back, and those that a writer with
//! [`survive_kill`](crate::write::WriteOptions::survive_kill) had not yet written. Followers do not
//! read the latter: they see only flushed events, and the writer decides how often to flush.

mod detail;
mod head;
mod index;
mod session;
mod thread;

pub use detail::DetailFollower;
pub use index::IndexFollower;
pub use session::{FollowedThread, SessionFollower};
pub use thread::{ThreadEvent, ThreadFollower};

/// The result of one look at a growing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled<T> {
    /// New data that has become certain. More may be available: poll again before waiting.
    New(T),
    /// Nothing new is certain yet.
    NotYet,
    /// All events were returned, and the file is [`Finalized`](crate::Completeness::Finalized):
    /// footer and header are there. Nothing follows.
    Finalized,
}

/// Returns whether any byte is not 0, so that a writer must have written it.
fn is_written(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte != 0)
}
