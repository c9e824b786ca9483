//! Reads, writes, merges and recovers ATF v2 (ADA Trace Format), a binary format for function
//! traces: every call and return of every thread, with registers and stack for some of them.
//!
//! | file | contents | reader | writer |
//! |---|---|---|---|
//! | `thread_N/index.atf` | all events of a thread, 32 bytes each | [`index::IndexReader`] | |
//! | `thread_N/detail.atf` | registers and stack of some events | [`detail::DetailReader`] | |
//! | a `thread_N` folder | both, with their links | [`thread::ThreadReader`] | [`write::ThreadWriter`] |
//! | a session folder | all threads and `manifest.json` | [`session::SessionReader`] | [`write::SessionWriter`] |
//!
//! [`merge`] orders the events of all threads by time, [`spans`] pairs calls with their returns,
//! [`symbols`] names functions, [`follow`] reads files and sessions while they are being written,
//! [`check`] judges files by the rules, [`manifest`] reads and writes `manifest.json`, [`rewrite`] recovers crashed traces, converts
//! them and strips secrets, [`record`] passes events from a traced thread to a writer thread, and
//! [`clock`] provides timestamps.
//!
//! Two incompatible layouts are called ATF v2. The header's `version` byte distinguishes them, and
//! each reader decodes both into one set of types: see [`Wire`].
//!
//! # What readers promise
//!
//! Whatever the bytes are, a reader does not panic, does not allocate more than a small multiple of
//! the file's size, and returns no event that is not in the file. It reads truncated files up to
//! their last whole event. Each problem with a file is an [`Error`] with kind, field and byte
//! offset. Opening a file fails only if its header does not determine the events; everything else
//! is reported as data, for example [`Completeness`] and [`Checksum`].
//!
//! Files are read at positions, so a file that shrinks meanwhile causes an error. Mapping is an
//! explicit choice for callers who own the files: [`OpenOptions::mapped`].
//!
//! # Requirements
//!
//! The library needs `std`: files, threads and paths. A tracer without `std` writes the structs of
//! the generated C headers.

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
mod setters;
mod source;
pub mod spans;
pub mod symbols;
mod sys;
mod text;
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
