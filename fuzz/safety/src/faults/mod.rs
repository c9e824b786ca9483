//! Every call of the operating system fails in turn, under `recover` and under writers of real files.
//!
//! A small layer in C ([`Layer`]) stands in front of libc and counts the calls: open, read, write, stat,
//! make, rename, remove, synchronize. Each is made to fail with EIO, ENOSPC and EINTR, or to move a byte
//! only, once and from there on; and writes run out of space at every byte.
//!
//! What must hold:
//!
//! - nothing panics, the trace that is read stays as it is, byte for byte;
//! - a call that failed for good is an error with the system's number, or what is missing for it is named
//!   in the report; interrupted and short calls are gone on with;
//! - after an error of `recover` nothing stands at its place, and nothing else is left, unless removing it
//!   fails, too;
//! - after an error of a writer its files hold exactly what it says that it flushed.

mod layer;
mod recovering;
mod small;
mod writing;

use std::fmt;

pub use layer::{Layer, is_under_layer, run_again};
pub use recovering::{Recover, recovering};
pub use writing::{disk_full_in_memory, disk_full_on_tmpfs, writing};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this error of the system.
    Error(i32),
    /// It moves one byte, if it moves any.
    Short,
}

/// Which calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// This one.
    Once,
    /// This one and each one after it.
    ForEver,
}

/// A fault and where it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// None: calls are counted.
    Count,
    /// At this call, counted from 0.
    Call(u64, Fault, Extent),
    /// Writes take so many bytes in all.
    Space(u64),
}

/// No such device answers.
pub const EIO: i32 = 5;
/// No space is left.
pub const ENOSPC: i32 = 28;
/// Interrupted by a signal.
pub const EINTR: i32 = 4;

/// All that can become of a call. Interrupted for ever is left out: a kernel does not do that, and a call
/// that is interrupted is made again for as long as it takes.
pub const FAULTS: [(Fault, Extent); 7] = [
    (Fault::Error(EIO), Extent::Once),
    (Fault::Error(EIO), Extent::ForEver),
    (Fault::Error(ENOSPC), Extent::Once),
    (Fault::Error(ENOSPC), Extent::ForEver),
    (Fault::Error(EINTR), Extent::Once),
    (Fault::Short, Extent::Once),
    (Fault::Short, Extent::ForEver),
];

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count => write!(f, "no fault"),
            Self::Call(call, fault, extent) => write!(f, "call {call}, {fault:?}, {extent:?}"),
            Self::Space(space) => write!(f, "disk full after {space} bytes"),
        }
    }
}

/// What was done, and what did not hold.
#[derive(Debug, Default)]
pub struct Tally {
    /// Runs with a fault.
    pub runs: u64,
    /// Calls of the run without one.
    pub calls: u64,
    /// What did not hold.
    pub faults: Vec<String>,
}
