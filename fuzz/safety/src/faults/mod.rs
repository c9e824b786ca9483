//! Makes every system call fail in turn, during `recover` and in writers of real files.
//!
//! A small C layer ([`Layer`]) intercepts libc's calls to open, read, write, map, stat, create,
//! rename, remove and synchronize files and to change their modes and groups, and counts them. In
//! separate runs, each call fails with EIO, ENOSPC or EINTR, or transfers only one byte, either once
//! or from then on. In other runs, the disk fills up after each possible number of bytes.
//!
//! These guarantees hold:
//!
//! - nothing panics, and the input trace stays unchanged, byte for byte;
//! - if a call keeps failing, the result is an error with the system's code, or the report lists
//!   what is missing; interrupted and short calls are continued;
//! - after an error in `recover`, nothing is left at the output path or elsewhere, unless its
//!   removal fails too;
//! - if a sector of `index.atf` or `detail.atf` is unreadable, exactly the events outside it are
//!   recovered, byte for byte, and the report lists the file and the range;
//! - after an error in a writer, the files contain exactly the events that the writer reported as
//!   flushed; with `survive_kill`, the files and the kill journal contain every event that the writer
//!   accepted.

mod layer;
mod recovering;
mod sectors;
mod writing;

use std::{fmt, io};

pub use layer::{Layer, is_under_layer, run_again};
pub use recovering::{Recover, recovering};
pub use sectors::{SECTOR, sectors};
pub use writing::{disk_full_in_memory, disk_full_on_tmpfs, writing};

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails with this system error.
    Error(i32),
    /// The call reads or writes at most one byte.
    Short,
}

/// The calls that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only this call.
    Once,
    /// This call and all later ones.
    ForEver,
}

/// A fault and where it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// No faults; calls are only counted.
    Count,
    /// A fault at the call with this number, counted from 0.
    Call(u64, Fault, Extent),
    /// Writes fail after this many bytes in total.
    Space(u64),
}

/// Input/output error.
pub const EIO: i32 = 5;
/// No space left.
pub const ENOSPC: i32 = 28;
/// Interrupted by a signal.
pub const EINTR: i32 = 4;

/// All faulty outcomes of a call, except for endless interruptions. No kernel does this, and the
/// library retries an interrupted call until it succeeds.
pub const FAULTS: [(Fault, Extent); 7] = [
    (Fault::Error(EIO), Extent::Once),
    (Fault::Error(EIO), Extent::ForEver),
    (Fault::Error(ENOSPC), Extent::Once),
    (Fault::Error(ENOSPC), Extent::ForEver),
    (Fault::Error(EINTR), Extent::Once),
    (Fault::Short, Extent::Once),
    (Fault::Short, Extent::ForEver),
];

impl Plan {
    fn is_for_ever(self) -> bool {
        matches!(self, Self::Call(_, _, Extent::ForEver))
    }

    /// Returns the call that fails, if the plan names one.
    fn call(self, log: &[String]) -> &str {
        let call = match self {
            Self::Call(call, ..) => usize::try_from(call).ok().and_then(|call| log.get(call)),
            _ => None,
        };
        call.map_or("", String::as_str)
    }
}

/// Returns the system's error code in an error.
fn code(error: &atf::Error) -> Option<i32> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref::<io::Error>()?.raw_os_error()
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count => write!(f, "no fault"),
            Self::Call(call, fault, extent) => write!(f, "call {call}, {fault:?}, {extent:?}"),
            Self::Space(space) => write!(f, "disk full after {space} bytes"),
        }
    }
}

/// The counts and broken guarantees of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of runs with a fault.
    pub runs: u64,
    /// The number of calls in the run without a fault.
    pub calls: u64,
    /// Broken guarantees.
    pub faults: Vec<String>,
}

impl Tally {
    /// Reports calls that a run without a fault does not make. Faults of these calls would not be
    /// tested.
    fn must_call(&mut self, log: &[String], names: &[&str]) {
        let is_missing = |name: &&&str| !log.iter().any(|call| call == **name);
        let missing = names.iter().filter(is_missing);
        let faults = missing.map(|name| format!("{name} is never called"));
        self.faults.extend(faults);
    }
}
