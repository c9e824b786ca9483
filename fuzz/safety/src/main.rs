//! The command `atf-safety`: the attacks that take too long for a test, each with its count and its time.

mod cli;

use std::process::ExitCode;

use peak_alloc::PeakAlloc;

/// Counts the memory that is taken, for `hostile`.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    cli::run()
}
