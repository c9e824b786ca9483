//! Times atf against named baselines and prints the Speed table.

mod context;
mod growth;
mod harness;
mod input;
mod machine;
mod memory;
mod random;
mod rows;
mod stdio;
mod storage;
mod table;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::context::Context;
use crate::harness::Result;

/// Times atf against named baselines, both in one run, alternately.
///
/// A ratio is the speed of atf relative to the baseline: the median of all pairs, with its 95 %
/// interval. Inputs are written to a folder that is removed at the end.
#[derive(Debug, Parser)]
#[command(name = "atf-bench")]
struct Options {
    /// Which groups of rows to run; all by default.
    groups: Vec<Group>,
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
    /// Measures memory with a session of more than 5 GB.
    #[arg(long, conflicts_with = "quick")]
    large: bool,
    /// Does only this job with a session, and prints the peak memory use.
    #[arg(long, hide = true, requires = "session")]
    job: Option<memory::Job>,
    #[arg(long, hide = true)]
    session: Option<PathBuf>,
}

/// A group of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Writing index events.
    Write,
    /// Writing events from C.
    Capi,
    /// Recording events in a ring.
    Record,
    /// Recording a C program.
    Program,
    /// Recording Lua, as whole commands, if its sources can be downloaded.
    Lua,
    /// Other tracers' libraries and tools, where they are installed.
    Peers,
    /// Reading events and details, as the library does by default.
    Read,
    /// One pass over all events of a file.
    Scan,
    /// Merging the events of several threads by time.
    Merge,
    /// Finding the events of a detail file.
    Detail,
    /// Looking up events at random places.
    Lookup,
    /// Finding the events of a time range.
    Time,
    /// Times by function and the call tree.
    Analyze,
    /// The commands, compared with `cat` and `cp`.
    Commands,
    /// The exports, compared with `cat`.
    Export,
    /// How costs grow with events, threads and file sizes.
    Growth,
    /// How much memory reading takes.
    Memory,
}

impl Group {
    fn run(self, context: &mut Context) -> Result<()> {
        match self {
            Self::Write => rows::write::run(context),
            Self::Capi => rows::capi::run(context),
            Self::Record => rows::record::run(context),
            Self::Program => rows::program::run(context),
            Self::Lua => rows::lua::run(context),
            Self::Peers => rows::peers::run(context),
            Self::Read => rows::read::run(context),
            Self::Scan => rows::scan::run(context),
            Self::Merge => rows::merge::run(context),
            Self::Detail => rows::detail::run(context),
            Self::Lookup => rows::lookup::run(context),
            Self::Time => rows::time::run(context),
            Self::Analyze => rows::analyze::run(context),
            Self::Commands => rows::commands::run(context),
            Self::Export => rows::export::run(context),
            Self::Growth => growth::run(context),
            Self::Memory => memory::run(context),
        }
    }
}

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
    if let Some((job, session)) = options.job.zip(options.session.as_deref()) {
        return memory::child(job, session);
    }
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, so the figures are meaningless");
    }
    let folder = options.folder.clone();
    let folder = folder.unwrap_or_else(machine::memory_folder);
    let shrink = if options.quick { 20 } else { 1 };
    let mut context = Context::new(&folder, options.pairs, shrink, options.large)?;
    let load = machine::load().unwrap_or_default();
    table::say(&format!("{}; load {load}", machine::name()));
    let groups = match options.groups.as_slice() {
        [] => Group::value_variants(),
        groups => groups,
    };
    for group in groups {
        group.run(&mut context)?;
    }
    if let Some(path) = &options.markdown {
        fs::write(path, context.report.markdown())?;
    }
    Ok(())
}
