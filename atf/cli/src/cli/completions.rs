//! `completions`: writes a shell's completion script.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::output::{Outcome, State, stdout};

const AFTER_HELP: &str = "\
Exit status: 0; 2 usage.

Example:
  $ atf completions bash > ~/.local/share/bash-completion/completions/atf";

/// Options of `completions`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The shell
    shell: Shell,
}

pub(super) fn run(options: &Options) -> Outcome {
    // Buffered because clap_complete panics if its output fails, for example on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "atf", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(State::Fine)
}
