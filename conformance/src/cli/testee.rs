//! `testee`: runs the reference implementation through the kit's protocol.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use atf_conformance::protocol::exit;
use atf_conformance::reference::{self, writer};
use serde_json::Value;

/// Options of `testee`.
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
    match &options.role {
        Role::Read { path } => answer(&reference::read(path)),
        Role::Query { query, path } => match reference::query(query, path) {
            Ok(document) => answer(&document),
            Err(error) => {
                let _ = writeln!(io::stderr(), "atf-conformance: {error}");
                ExitCode::from(2)
            }
        },
        Role::Write { script, out } => match writer::write_file(script, out) {
            Ok(()) => ExitCode::from(exit::DONE),
            Err(error) => {
                let _ = writeln!(io::stderr(), "atf-conformance: {error}");
                ExitCode::from(2)
            }
        },
        Role::Validate { path } => answer(&reference::validate(path)),
    }
}

fn answer(document: &Value) -> ExitCode {
    if let Err(error) = writeln!(io::stdout().lock(), "{document}") {
        let _ = writeln!(io::stderr(), "atf-conformance: {error}");
        return ExitCode::from(2);
    }
    match document.get("verdict").and_then(Value::as_str) {
        Some("reject") => ExitCode::from(exit::REJECTED),
        _ => ExitCode::from(exit::DONE),
    }
}
