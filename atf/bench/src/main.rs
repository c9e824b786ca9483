//! Times atf against named baselines and prints the tables of `docs/speed.md`.

mod context;
mod growth;
mod harness;
mod input;
mod rows;
mod table;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::PossibleValuesParser;

use crate::context::Context;
use crate::harness::Result;

/// Times atf against named baselines, alternating between the two in one run.
///
/// A ratio is the speed of atf relative to the baseline: the median of all pairs, with its 95 %
/// interval. Inputs are written to a folder that is removed at the end.
#[derive(Debug, Parser)]
#[command(name = "atf-bench")]
struct Options {
    /// Groups of rows to run; all by default.
    #[arg(value_parser = PossibleValuesParser::new(GROUPS.map(|(name, _)| name)))]
    groups: Vec<String>,
    /// Writes the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Uses small inputs to check that everything runs; the figures mean little.
    #[arg(long)]
    quick: bool,
    /// Timed pairs per row; up to three times as many if their ratios differ much.
    #[arg(long, default_value_t = 7)]
    pairs: usize,
    /// Folder for the inputs; by default one kept in memory, if the system has one.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

type Group = fn(&mut Context) -> Result<()>;

/// The groups of rows. The first line of each group's file states what it times.
const GROUPS: [(&str, Group); 13] = [
    ("write", rows::write::run),
    ("capi", rows::capi::run),
    ("record", rows::record::run),
    ("program", rows::program::run),
    ("peers", rows::peers::run),
    ("read", rows::read::run),
    ("scan", rows::scan::run),
    ("merge", rows::merge::run),
    ("detail", rows::detail::run),
    ("lookup", rows::lookup::run),
    ("time", rows::time::run),
    ("commands", rows::commands::run),
    ("growth", growth::run),
];

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, so the figures are meaningless");
    }
    let folder = options.folder.clone();
    let folder = folder.unwrap_or_else(context::memory_folder);
    let shrink = if options.quick { 20 } else { 1 };
    let mut context = Context::new(&folder, options.pairs, shrink)?;
    table::say(&table::machine());
    for (name, group) in GROUPS {
        if options.groups.is_empty() || options.groups.iter().any(|it| it == name) {
            group(&mut context)?;
        }
    }
    if let Some(path) = &options.markdown {
        fs::write(path, context.report.markdown())?;
    }
    Ok(())
}
