//! Reads, writes, merges and recovers ATF v2 (ADA Trace Format), a binary format for function
//! traces: every call and return of every thread, and registers and stack for some of them.
//!
//! | file | what it holds | reader | writer |
//! |---|---|---|---|
//! | `thread_N/index.atf` | all events of a thread, 32 bytes each | [`index::IndexReader`] | |
//! | `thread_N/detail.atf` | registers and stack of some events | [`detail::DetailReader`] | |
//! | a folder `thread_N` | both, with their links | [`thread::ThreadReader`] | [`write::ThreadWriter`] |
//! | a session's folder | all threads and `manifest.json` | [`session::SessionReader`] | [`write::SessionWriter`] |
//!
//! [`merge`] brings the events of all threads into one order, [`spans`] pairs calls with their
//! returns, [`symbols`] names functions, [`follow`] reads files and sessions while they are being
//! written, [`check`] judges files by the rules, [`manifest`] reads and writes `manifest.json`, [`rewrite`] recovers crashed traces,
//! converts them and strips what is secret, [`record`] takes events from a traced thread to the one
//! that writes, [`clock`] gives the timestamps.
//!
//! Two incompatible layouts carry the name ATF v2. The header's `version` byte tells them apart,
//! and each reader reads both into one set of types: see [`Wire`].
//!
//! # What readers promise
//!
//! Whatever the bytes are, a reader does not panic, does not allocate more than a small multiple
//! of the file's size, and gives no event that is not in the file. It reads files that were cut
//! off anywhere, up to their last whole event. What is wrong with a file is an [`Error`] with
//! kind, field and byte offset. Only a header that says nothing certain of the events keeps a file
//! from being opened; all else is data, for example [`Completeness`] and [`Checksum`].
//!
//! Files are read at positions, so one that shrinks meanwhile gives an error. To map them is one
//! explicit step for those who own them: [`OpenOptions::mapped`].
//!
//! # What it needs
//!
//! The standard library: files, threads, paths. A tracer that runs without it writes the structs of
//! the generated C headers.

// One module may: `sys`, where each block says why it is sound.
#![deny(unsafe_code)]
// Numbers from a file are never trusted: what could panic on one is written so that it cannot.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod check;
mod checksum;
pub mod clock;
mod completeness;
pub mod detail;
mod ending;
mod error;
pub mod follow;
mod footer;
mod header;
pub mod index;
mod kind;
pub mod manifest;
pub mod merge;
mod platform;
pub mod record;
pub mod rewrite;
mod ring;
pub mod session;
mod source;
pub mod spans;
pub mod symbols;
mod sys;
pub mod thread;
mod window;
pub mod wire;
pub mod write;

pub use checksum::Checksum;
pub use completeness::{Completeness, CountSource, PartialFooter};
pub use error::{Error, ErrorKind, Result};
pub use kind::FileKind;
pub use source::{FileSource, OpenOptions, ReadAt, Seekable};
pub use wire::{Arch, Clock, DetailEventType, EventKind, IndexFlags, Os, Wire};
