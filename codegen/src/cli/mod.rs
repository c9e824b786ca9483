//! One file per subcommand: its options, help and `run`.

mod check;
mod conflicts;
mod custom;
mod decode;
mod diff;
mod edition;
mod generate;
mod text;
mod why;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atf_spec::diagnostic::Diagnostic;
use atf_spec::files::Files;
use atf_spec::load::Spec;
use atf_spec::reconcile::Reconciliation;
use clap::{Parser, Subcommand};
use text::print;

/// Checks and explains the layout spec of ATF v2, and writes the files generated from it.
#[derive(Parser)]
#[command(name = "atf-codegen", version, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 success; 1 faults in the spec, or stale files; 2 usage error, no spec folder, or a file that cannot be read or written."
)]
struct Cli {
    /// The spec's folder [default: `spec`, here or in the nearest parent folder]
    #[arg(long, value_name = "DIR", global = true)]
    spec: Option<PathBuf>,
    /// A folder with YAML files that are laid over the spec's: your own edition
    #[arg(long, value_name = "DIR", global = true)]
    overlay: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files
    Generate(generate::Options),
    /// Decode a file by the spec, without generated code: its records and fields with their offsets
    Decode(decode::Options),
    /// Check and explain the spec
    #[command(subcommand)]
    Spec(SpecCommand),
}

#[derive(Subcommand)]
enum SpecCommand {
    /// Report every fault of the spec with its place
    Check(check::Options),
    /// Show each source's claims about a subject, and the decision
    Why(why::Options),
    /// Show the differences between two wire versions
    Diff(diff::Options),
    /// List all conflicts and splits with their decisions
    Conflicts,
    /// Show what an overlay changes, and which cases of the corpus still apply
    Edition(edition::Options),
}

/// Reads the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(code) => code,
        Err(error) => {
            // If stderr is closed as well, nothing can be reported.
            let _ = print(io::stderr(), &format!("atf-codegen: {error}\n"));
            ExitCode::from(2)
        }
    }
}

fn dispatch(cli: &Cli) -> io::Result<ExitCode> {
    let folder = match &cli.spec {
        Some(folder) => folder.clone(),
        None => find_spec()?,
    };
    if !folder.is_dir() {
        let why = format!("{}: no such folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    if let Some(overlay) = cli.overlay.as_ref().filter(|overlay| !overlay.is_dir()) {
        let why = format!("{}: no such folder", overlay.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    let compiled = atf_spec::compile_with(&folder, cli.overlay.as_deref());
    if let Command::Spec(SpecCommand::Check(options)) = &cli.command
        && let Some(code) = check::bless(options, &compiled, &folder, cli.overlay.is_some())?
    {
        return Ok(code);
    }
    let (Some(spec), Some(found), []) = (
        &compiled.spec,
        &compiled.reconciliation,
        compiled.faults.as_slice(),
    ) else {
        return refuse(&compiled.files, &compiled.faults);
    };
    let context = Context {
        folder: &folder,
        root: root_of(&folder),
        has_overlay: cli.overlay.is_some(),
        compiled: &compiled,
        spec,
        found,
    };
    match &cli.command {
        Command::Generate(options) => generate::run(options, &context),
        Command::Decode(options) => decode::run(options, &context),
        Command::Spec(SpecCommand::Check(options)) => check::run(options, &context),
        Command::Spec(SpecCommand::Why(options)) => why::run(options, &context),
        Command::Spec(SpecCommand::Diff(options)) => diff::run(options, &context),
        Command::Spec(SpecCommand::Conflicts) => conflicts::run(&context),
        Command::Spec(SpecCommand::Edition(options)) => edition::run(options, &context),
    }
}

/// The input of every subcommand that needs a spec without faults.
struct Context<'a> {
    /// The spec's folder.
    folder: &'a Path,
    /// The parent of the spec's folder, where generated files go.
    root: PathBuf,
    /// Whether the spec includes an overlay.
    has_overlay: bool,
    compiled: &'a atf_spec::Compiled,
    spec: &'a Spec,
    found: &'a Reconciliation,
}

/// Prints all faults and returns the exit status.
fn refuse(files: &Files, faults: &[Diagnostic]) -> io::Result<ExitCode> {
    let text = files.render(faults, io::stderr().is_terminal());
    let plural = if faults.len() == 1 { "" } else { "s" };
    let text = format!("{text}{} fault{plural}\n", faults.len());
    print(io::stderr(), &text)?;
    Ok(ExitCode::FAILURE)
}

/// Finds the folder `spec` here or in a parent folder.
fn find_spec() -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let spec = here.ancestors().map(|folder| folder.join("spec"));
    let mut with_records = spec.filter(|folder| folder.join("records").is_dir());
    with_records.next().ok_or_else(|| {
        let why =
            "no folder `spec` with `records` here or in a parent folder; name it with --spec DIR";
        io::Error::new(io::ErrorKind::NotFound, why)
    })
}

fn root_of(spec: &Path) -> PathBuf {
    let whole = std::fs::canonicalize(spec).unwrap_or_else(|_| spec.to_owned());
    whole
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}
