//! The command `atf-codegen`: checks the layout spec, explains it, and writes what is made of it.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
