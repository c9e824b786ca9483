//! The C API of [`atf`]: `atf.h`, `atf_record.h`, `libadatrace.a` and `libadatrace.so`.
//!
//! C programmers read `include/atf.h` and `include/atf_record.h`; this crate implements them. Each
//! function is in the module for its subject.
//!
//! # Guarantees of every function
//!
//! - No panic escapes: [`boundary`] catches all panics. A panic makes the handle in use unusable:
//!   later calls with the handle fail, and closing it frees it. If not even a few bytes can be
//!   allocated, Rust's runtime aborts instead of panicking.
//! - The calling thread is not cancelled (`pthread_cancel`) in the middle of a call.
//! - Passing a null pointer, a closed handle or the wrong kind of handle returns an error code
//!   where this can be detected: see [`handle`].
//! - No value in a file determines the size of an allocation that C must free. C frees memory with
//!   the function listed in the header.
//! - The last failure on each thread can be queried: see [`status`].

// Numbers come from C callers, so no arithmetic or indexing with them may panic.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must not end the traced program: build with panic = \"unwind\"");

pub mod boundary;
pub mod clock;
pub mod detail;
pub mod event;
pub mod handle;
pub mod index;
pub mod last_error;
pub mod memory;
pub mod options;
pub mod reader;
pub mod record_options;
pub mod recording;
pub mod recover;
pub mod s3;
pub mod session;
pub mod session_facts;
pub mod session_writer;
pub mod status;
mod tag;
pub mod thread;
pub mod thread_writer;
pub mod trace;
pub mod version;
pub mod writer;
