//! Traces with realistic call trees, from a seed.
//!
//! [`Synth`] says what to make. A program that never was, with modules and functions of which few
//! are called often and most seldom, is walked by each thread: calls nest, recur, come in bursts,
//! end by exceptions, and some have not ended when the trace does. A share of the events has
//! registers and a piece of the stack.
//!
//! Only integers are used and nothing is asked of the machine, so that the same seed gives the
//! same bytes everywhere.

#![forbid(unsafe_code)]
// Numbers of threads, functions, depths and bytes here are small by construction, and release
// builds check additions all the same.
#![allow(clippy::cast_possible_truncation)]

mod pace;
mod program;
mod random;
mod registers;
mod synth;
mod walk;

pub use registers::Registers;
pub use synth::{Shape, Synth, Written};
pub use walk::{SynthEvent, ThreadEvents};
