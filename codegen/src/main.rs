//! The command `atf-codegen`, which checks and explains the layout spec and writes the generated
//! files.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
