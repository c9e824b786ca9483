//! Generates traces with realistic call trees from a seed.
//!
//! [`Synth`] describes the trace. Each thread walks through a fictitious program, in which a few
//! functions are called often and most rarely: calls nest, recur, come in bursts and end with
//! exceptions, and some are still open when the trace ends. Some events have registers and a piece
//! of the stack.
//!
//! It uses only integers and nothing specific to the machine, so the same seed gives the same bytes
//! everywhere.

#![forbid(unsafe_code)]
// Numbers of threads, functions, depths and bytes are small by construction here, and release
// builds check additions anyway.
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
