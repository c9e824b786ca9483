//! Reads, writes, merges and recovers ATF v2 (ADA Trace Format), a binary format for function
//! traces: every call and return of every thread, with registers and stack for some events.
//!
//! | file | contents | reader | writer |
//! |---|---|---|---|
//! | `thread_N/index.atf` | all events of a thread, 32 bytes each | [`index::IndexReader`] | |
//! | `thread_N/detail.atf` | registers and stack of some events | [`detail::DetailReader`] | |
//! | a `thread_N` folder | both, with their links | [`thread::ThreadReader`] | [`write::ThreadWriter`] |
//! | a session folder | all threads and `manifest.json` | [`session::SessionReader`] | [`write::SessionWriter`] |
//! | any of these, or sessions below a folder | processes and their threads | [`trace::Trace`] | |
//!
//! [`merge`] orders the events of all threads by time, [`spans`] pairs calls with
//! their returns, [`symbols`] names functions, [`follow`] reads files and sessions while they are
//! being written, [`check`] checks files against the rules, [`manifest`] reads and writes
//! `manifest.json`, [`rewrite`] recovers crashed traces, converts them and strips secrets, and
//! [`clock`] provides timestamps. The crate `atf-record` passes events from traced threads to a
//! thread that writes them.
//!
//! # Read a trace
//!
//! ```
//! use atf::session::SessionReader;
#![doc = include_str!("doc_setup/session.md")]
//! let session = SessionReader::open(path)?;
//! let symbols = session.symbols();
//! for merged in session.merge().events() {
//!     let merged = merged?; // After the last event comes an error for each problem.
//!     let event = merged.event;
//!     let kind = event.event_kind.name().unwrap_or("unknown");
//!     let function = symbols.function(event.function_id);
//!     println!("{} thread {} {kind} {function}", event.timestamp_ns, merged.thread);
//! }
//! # assert_eq!(session.merge().events().count(), 4);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! # Write a trace
//!
//! ```
//! use atf::EventKind;
//! use atf::clock::now_ns;
//! use atf::write::{Event, SessionWriter, WriteOptions};
//! # let root = tempfile::tempdir().unwrap();
//! # let root = root.path();
//!
//! // Creates a folder such as session_20260105_101500/pid_4242.
//! let session = SessionWriter::create_in(root, &WriteOptions::default())?;
//! session.write_manifest()?; // Written first, so that the list of threads survives a crash.
//! let mut thread = session.thread(0)?; // One writer per thread; writers share nothing.
//! for event_kind in [EventKind::CALL, EventKind::RETURN] {
//!     let (timestamp_ns, function_id) = (now_ns(), 0x0000_0001_0000_0007);
//!     thread.write(&Event::new(timestamp_ns, function_id, event_kind, 1))?;
//! }
//! thread.finalize()?;
//! let totals = session.finalize()?;
//! assert_eq!(totals.event_count, 2);
//! # Ok::<(), atf::Error>(())
//! ```
//!
//! The `examples/` folder of this crate contains complete programs: `read`, `write_threads`,
//! `recover`, `follow` and `check`.
//!
//! # Two wire versions
//!
//! Two incompatible layouts are called ATF v2. The header's `version` byte distinguishes them, and
//! each reader decodes both into one set of types: see [`Wire`].
//!
//! # Guarantees of the readers
//!
//! No matter what the input is, a reader does not panic, does not allocate more than a small
//! multiple of the file's size (40 times a manifest's size, plus 3 KB per thread that it lists),
//! and returns no event that is not in the file. It reads truncated files up to their last whole
//! event. Each problem with a file is an [`Error`] with a kind, a field and a byte offset. Opening
//! a file fails only if its header does not determine where the events are; everything else is
//! reported as data, for example [`Completeness`] and [`Checksum`].
//!
//! Files are read at explicit offsets, so a file that shrinks while it is being read causes an
//! error. Callers that own the files can choose to map them with [`OpenOptions::mapped`].
//!
//! # Requirements
//!
//! The library needs `std` for files, threads and paths. A tracer without `std` can write the
//! structs in the generated C headers.

// Only the module `sys` may use unsafe code; each block has a safety comment.
#![deny(unsafe_code)]
// Numbers from a file are never trusted: code that handles them must not be able to panic.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod anatomy;
pub mod check;
mod checksum;
pub mod clock;
mod completeness;
pub mod detail;
mod ending;
mod error;
mod files;
pub mod follow;
mod footer;
mod header;
pub mod index;
#[doc(hidden)]
pub mod internal;
mod json;
mod kind;
pub mod manifest;
pub mod merge;
mod parallel;
mod platform;
mod reader;
pub mod rewrite;
mod ring;
pub mod rules;
pub mod session;
mod setters;
mod source;
pub mod spans;
pub mod symbols;
mod sys;
mod text;
pub mod thread;
pub mod trace;
mod window;
pub mod wire;
pub mod write;

pub use anatomy::{Region, RegionKind};
pub use checksum::Checksum;
pub use completeness::{Completeness, CountSource, PartialFooter};
pub use error::{Error, ErrorKind, Result};
pub use kind::{FileKind, FolderKind};
pub use source::{FileSource, OpenOptions, ReadAt, Seekable};
pub use wire::generated::{Arch, Clock, DetailEventType, EventKind, IndexFlags, Os, Wire};
