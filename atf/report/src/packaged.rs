//! Generates completion scripts and manual pages for packages from a program's command line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap_complete::Shell;

/// Subcommands that every program has.
#[derive(Debug, clap::Subcommand)]
pub enum Packaged {
    /// Write a shell's completion script
    #[command(after_help = "\
Exit status: 0; 2 usage.

Example:
  $ atf completions bash > ~/.local/share/bash-completion/completions/atf")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write a manual page of the program and of each subcommand to a folder
    #[command(hide = true)]
    Manual {
        /// The folder, which must exist
        out: PathBuf,
    },
}

impl Packaged {
    /// Writes the script to `out`, or the pages to the folder.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails; for the pages, it names the folder.
    pub fn write(&self, mut program: clap::Command, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Completions { shell } => {
                // Buffered because clap_complete panics if its output fails, as on a closed pipe.
                let mut script = Vec::new();
                let name = program.get_name().to_owned();
                clap_complete::generate(*shell, &mut program, name, &mut script);
                out.write_all(&script)?;
                out.flush()
            }
            Self::Manual { out } => clap_mangen::generate_to(program, out).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", out.display()))
            }),
        }
    }
}
