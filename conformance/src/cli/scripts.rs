//! `scripts`: lists, shows and copies the scripts for writers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atf_conformance::corpus::write_files;
use atf_conformance::scripts::{self, Scripted};

use super::ended;

const AFTER_HELP: &str = "\
docs/conformance/protocol.md explains a script's operations.

Exit status: 0 success; 2 usage error, or a file could not be written.

Example:
  $ atf-conformance scripts show v1/write-one-detail";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List all scripts with their purpose and rules
    List,
    /// Write one script to standard output
    Show {
        /// The script's name
        name: String,
    },
    /// Write all scripts into a folder, each as NAME.txt
    Copy {
        /// The folder; created if missing
        folder: PathBuf,
    },
}

pub(super) fn run(options: &Options) -> ExitCode {
    let all = scripts::all().into_iter();
    let mut out = io::stdout().lock();
    let done = match &options.action {
        Action::List => list(all, &mut out),
        Action::Show { name } => match all.into_iter().find(|scripted| scripted.name == *name) {
            Some(scripted) => write!(out, "{scripted}").and_then(|()| out.flush()),
            None => Err(io::Error::other(format!("{name}: no such script"))),
        },
        Action::Copy { folder } => copy(all, folder),
    };
    ended(done.map(|()| 0))
}

fn list(all: impl Iterator<Item = Scripted>, out: &mut impl Write) -> io::Result<()> {
    for scripted in all {
        let Scripted {
            name, rules, note, ..
        } = &scripted;
        writeln!(out, "{name}\n    {note}\n    {}", rules.join(" "))?;
    }
    out.flush()
}

fn copy(all: impl Iterator<Item = Scripted>, folder: &Path) -> io::Result<()> {
    let files = all.map(|scripted| {
        let name = format!("{}.txt", scripted.name);
        (name, scripted.to_string().into_bytes())
    });
    write_files(folder, &files.collect())
}
