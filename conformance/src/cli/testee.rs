//! `testee`: runs the reference implementation through the kit's protocol.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use atf_conformance::protocol::exit;
use atf_conformance::reference::{self, writer};

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(subcommand)]
    role: Role,
}

#[derive(clap::Subcommand)]
enum Role {
    /// Print the document of a file or a session folder
    Read {
        /// A file or a session folder
        path: PathBuf,
    },
    /// Execute a script
    Write {
        /// Operations, one per line
        script: PathBuf,
        /// An empty folder
        out: PathBuf,
    },
    /// Answer queries about a session folder
    Query {
        /// Queries, one per line
        query: PathBuf,
        /// A session folder
        path: PathBuf,
    },
    /// Print the verdict on a file or a session folder
    Validate {
        /// A file or a session folder
        path: PathBuf,
    },
}

pub(super) fn run(options: &Options) -> ExitCode {
    super::exit(answer(&options.role))
}

/// Performs the task, and returns the protocol's exit code.
fn answer(role: &Role) -> Result<u8, Box<dyn Error>> {
    let document = match role {
        Role::Read { path } => reference::read(path),
        Role::Query { query, path } => reference::query(query, path)?,
        Role::Write { script, out } => {
            writer::write_file(script, out)?;
            return Ok(exit::DONE);
        }
        Role::Validate { path } => reference::validate(path),
    };
    writeln!(io::stdout().lock(), "{document}")?;
    Ok(exit::code_of(&document))
}
