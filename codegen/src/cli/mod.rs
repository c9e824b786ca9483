//! One file for each subcommand: its options, its help and its `run`.

mod conflicts;
mod diff;
mod generate;
mod text;
mod why;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atf_spec::load::Spec;
use atf_spec::reconcile::Reconciliation;
use clap::{Parser, Subcommand};

/// Checks the layout spec of ATF v2, explains it, and writes what is made of it.
#[derive(Parser)]
#[command(name = "atf-codegen", version, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 all is well; 1 the spec has faults, or files are stale; 2 usage or an unreadable file."
)]
struct Cli {
    /// The spec's folder [default: `spec`, here or in the nearest folder above]
    #[arg(long, value_name = "DIR", global = true)]
    spec: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files
    Generate(generate::Options),
    /// Check and explain the spec
    #[command(subcommand)]
    Spec(SpecCommand),
}

#[derive(Subcommand)]
enum SpecCommand {
    /// Report every fault of the spec, each at its place
    Check,
    /// Show what each source claims of something, and how it was settled
    Why(why::Options),
    /// Show what differs between two wire versions
    Diff(diff::Options),
    /// List all conflicts and splits with their decisions
    Conflicts,
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(code) => code,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done where stderr is gone too.
            let _ = writeln!(io::stderr(), "atf-codegen: {error}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(cli: &Cli) -> io::Result<ExitCode> {
    let folder = match &cli.spec {
        Some(folder) => folder.clone(),
        None => find_spec()?,
    };
    let compiled = atf_spec::compile(&folder);
    if let Command::Spec(SpecCommand::Check) = cli.command {
        return report(&compiled);
    }
    if !compiled.faults.is_empty() {
        return report(&compiled);
    }
    let (Some(spec), Some(found)) = (&compiled.spec, &compiled.reconciliation) else {
        return report(&compiled);
    };
    let context = Context {
        root: root_of(&folder),
        compiled: &compiled,
        spec,
        found,
    };
    match &cli.command {
        Command::Generate(options) => generate::run(options, &context),
        Command::Spec(SpecCommand::Check) => report(&compiled),
        Command::Spec(SpecCommand::Why(options)) => why::run(options, &context),
        Command::Spec(SpecCommand::Diff(options)) => diff::run(options, &context),
        Command::Spec(SpecCommand::Conflicts) => conflicts::run(&context),
    }
}

/// What every subcommand on a faultless spec works on.
struct Context<'a> {
    /// The folder that holds the spec's folder: where generated files go.
    root: PathBuf,
    compiled: &'a atf_spec::Compiled,
    spec: &'a Spec,
    found: &'a Reconciliation,
}

/// Prints all faults, or that there is none.
fn report(compiled: &atf_spec::Compiled) -> io::Result<ExitCode> {
    let colour = io::stderr().is_terminal();
    write!(
        io::stderr(),
        "{}",
        compiled.files.render(&compiled.faults, colour)
    )?;
    if let (Some(spec), Some(found), []) = (
        &compiled.spec,
        &compiled.reconciliation,
        compiled.faults.as_slice(),
    ) {
        let claims: usize = found.claims.values().map(Vec::len).sum();
        writeln!(
            io::stdout(),
            "the spec is consistent: {claims} claims of {} sources, {} disagreements, all settled, {} rules",
            spec.sources.len(),
            found.disagreements.len(),
            spec.all_rules().count(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let count = compiled.faults.len();
    writeln!(
        io::stderr(),
        "{count} {}",
        if count == 1 { "fault" } else { "faults" }
    )?;
    Ok(ExitCode::FAILURE)
}

/// The folder `spec` here or above.
fn find_spec() -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let spec = here.ancestors().map(|folder| folder.join("spec"));
    let mut with_records = spec.filter(|folder| folder.join("records").is_dir());
    with_records.next().ok_or_else(|| {
        let why = "no folder `spec` with `records` here or above; name it with --spec DIR";
        io::Error::new(io::ErrorKind::NotFound, why)
    })
}

fn root_of(spec: &Path) -> PathBuf {
    let whole = std::fs::canonicalize(spec).unwrap_or_else(|_| spec.to_owned());
    whole
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}
