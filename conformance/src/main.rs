//! The command `atf-conformance`, which grades traces against the rules of the format.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
