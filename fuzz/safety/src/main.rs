//! The command `atf-safety` runs attacks that take too long for a test, and prints counts and
//! times.

mod cli;

use std::process::ExitCode;

use peak_alloc::PeakAlloc;

/// Measures peak memory for `hostile`.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    cli::run()
}
