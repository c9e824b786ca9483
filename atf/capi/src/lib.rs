//! The C API of [`atf`]: `atf.h`, `libatf.a` and `libatf.so`.
//!
//! C programmers read `include/atf.h`; this is the other side of it. Each function there has one
//! here, in the module of its subject.
//!
//! # What holds for every function
//!
//! - No panic leaves it: all go through [`boundary`], the only place that catches one. The handle
//!   that was in use is spoilt by it: later calls say so, and closing it frees it.
//! - A null pointer, a handle of another kind and one that was closed are an error code, where that
//!   can be known: see [`handle`].
//! - Nothing that a file says sizes an allocation that C would have to free; what C frees, it frees
//!   with the function that the header names.
//! - What went wrong last on this thread can be asked: see [`status`].

// Numbers come from C callers: what could panic on one is written so that it cannot.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[cfg(not(panic = "unwind"))]
compile_error!("no panic may end the traced program: build with panic = \"unwind\"");

pub mod boundary;
pub mod clock;
pub mod detail;
pub mod event;
pub mod file;
pub mod handle;
pub mod index;
pub mod memory;
pub mod merge;
pub mod options;
mod problems;
pub mod recover;
pub mod s3;
pub mod session;
pub mod session_writer;
pub mod status;
mod tag;
pub mod thread;
pub mod version;
pub mod warning;
pub mod writer;
