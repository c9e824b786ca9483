//! Generates traces with realistic call trees from a seed.
//!
//! [`Synth`] describes the trace. Each thread walks through a fictitious program in which a few
//! functions are called often and most of them rarely. Calls nest, recurse, come in bursts and end
//! with exceptions, and some are still open when the trace ends. Some events have registers and
//! part of the stack.
//!
//! The generator uses only integers and nothing specific to the machine, so the same seed produces
//! the same bytes everywhere.

#![forbid(unsafe_code)]
// The numbers of threads, functions, levels and bytes are small by construction, and even release
// builds check additions.
#![allow(clippy::cast_possible_truncation)]

mod pace;
mod program;
mod random;
mod registers;
mod synth;
mod walk;
mod write;

pub use registers::Registers;
pub use synth::{Shape, Synth};
pub use walk::{SynthEvent, ThreadEvents};
pub use write::Written;
