//! One file per subcommand: its options, help and `run`.

mod breaking;
mod check;
mod conflicts;
mod decode;
mod diff;
mod edition;
mod generate;
mod why;

use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atf_codegen::emit;
use atf_spec::diagnostic::Diagnostic;
use atf_spec::files::Files;
use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use atf_spec::model::EditionsFile;
use atf_spec::origin::{BUILT_IN, Origin};
use atf_spec::reconcile::Reconciliation;
use atf_spec::yaml::{FileId, Node, decode};
use clap::{CommandFactory, Parser, Subcommand};

/// Checks and explains the layout spec of ATF v2, and writes the files generated from it.
#[derive(Parser)]
#[command(name = "atf-codegen", version = version(), max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 success; 1 faults in the spec, or stale files; 2 usage error, or a file that cannot be read or written."
)]
struct Cli {
    /// The spec's folder [default: `spec`, here or in the nearest parent folder; elsewhere, the spec
    /// inside this program, which `--version` names]
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
    /// Decode a file by interpreting the spec: its records and fields with their offsets
    Decode(decode::Options),
    /// Check and explain the spec
    #[command(subcommand)]
    Spec(SpecCommand),
    /// Write a manual page of the program and of each subcommand to a folder
    #[command(hide = true)]
    Manual {
        /// The folder, which must exist
        out: PathBuf,
    },
}

#[derive(Subcommand)]
enum SpecCommand {
    /// Report every fault in the spec, with its location
    Check(check::Options),
    /// Show each source's claims about a subject, and the decision
    Why(why::Options),
    /// List the changes between two editions, and what they break
    Breaking(breaking::Options),
    /// Show the differences between two wire versions
    Diff(diff::Options),
    /// List all conflicts and splits with their decisions
    Conflicts,
    /// Show what an overlay changes, and which cases of the corpus still apply
    Edition(edition::Options),
}

pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(code) => code,
        Err(error) => {
            // If stderr is also closed, nothing can be reported.
            let _ = print(io::stderr(), &format!("atf-codegen: {error}\n"));
            ExitCode::from(2)
        }
    }
}

fn origin(cli: &Cli) -> io::Result<Origin> {
    let named = cli.spec.iter().chain(&cli.overlay);
    if let Some(missing) = named.into_iter().find(|folder| !folder.is_dir()) {
        return Err(at(missing, "no such folder"));
    }
    match &cli.spec {
        Some(folder) => Ok(Origin::Folder(folder.clone())),
        None => find_spec(),
    }
}

fn dispatch(cli: &Cli) -> io::Result<ExitCode> {
    match &cli.command {
        Command::Spec(SpecCommand::Breaking(options)) => return breaking::run(options, cli),
        Command::Manual { out } => {
            clap_mangen::generate_to(Cli::command(), out).map_err(|error| at(out, error))?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let origin = origin(cli)?;
    let compiled = atf_spec::compile_with(&origin, cli.overlay.as_deref());
    if let Command::Spec(SpecCommand::Check(options)) = &cli.command
        && let Some(code) = check::bless(options, &compiled, &origin, cli.overlay.is_some())?
    {
        return Ok(code);
    }
    let (Some(spec), Some(found), Some(layout)) =
        (&compiled.spec, &compiled.reconciliation, compiled.layout())
    else {
        return refuse(&compiled.files, &compiled.faults);
    };
    let context = Context {
        origin: &origin,
        root: root_of(&origin),
        has_overlay: cli.overlay.is_some(),
        compiled: &compiled,
        spec,
        found,
        layout,
    };
    let text = match &cli.command {
        Command::Generate(options) => return generate::run(options, &context),
        Command::Decode(options) => return decode::run(options, &context),
        Command::Spec(SpecCommand::Breaking(_)) | Command::Manual { .. } => unreachable!("above"),
        Command::Spec(SpecCommand::Check(options)) => return check::run(options, &context),
        Command::Spec(SpecCommand::Edition(options)) => return edition::run(options, &context),
        Command::Spec(SpecCommand::Why(options)) => why::run(options, &context)?,
        Command::Spec(SpecCommand::Diff(options)) => diff::run(options, &context)?,
        Command::Spec(SpecCommand::Conflicts) => conflicts::run(&context),
    };
    print(io::stdout(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The input of every subcommand that needs a spec without faults.
struct Context<'a> {
    origin: &'a Origin,
    /// The parent of the spec's folder, where generated files go, if the spec is in a folder.
    root: Option<PathBuf>,
    has_overlay: bool,
    compiled: &'a atf_spec::Compiled,
    spec: &'a Spec,
    found: &'a Reconciliation,
    layout: Layout,
}

/// Returns a usage error.
fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

/// Adds the path of a file to an error about it.
fn at(path: &Path, error: impl Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

/// Prints text. A closed pipe, as with `| head`, is not an error and does not change the command's
/// exit status.
fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    let printed = stream.write_all(text.as_bytes());
    match printed.and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Appends `text` to `out`, wrapped at 96 columns, with each line indented by `indent` spaces.
fn paragraph(out: &mut String, indent: usize, text: &str) {
    for line in emit::wrap(text, 96 - indent) {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

/// Prints all faults and returns the exit status.
fn refuse(files: &Files, faults: &[Diagnostic]) -> io::Result<ExitCode> {
    let text = files.render(faults, io::stderr().is_terminal());
    let plural = if faults.len() == 1 { "" } else { "s" };
    let text = format!("{text}{} fault{plural}\n", faults.len());
    print(io::stderr(), &text)?;
    Ok(ExitCode::FAILURE)
}

/// Finds the folder `spec` here or in a parent folder. Otherwise, prints a note and returns the spec
/// inside this program.
fn find_spec() -> io::Result<Origin> {
    let here = std::env::current_dir()?;
    let spec = here.ancestors().map(|folder| folder.join("spec"));
    let mut with_records = spec.filter(|folder| folder.join("records").is_dir());
    if let Some(folder) = with_records.next() {
        return Ok(Origin::Folder(folder));
    }
    let version = built_in_editions().spec.version;
    let note =
        format!("atf-codegen: no folder `spec` here or above: using built-in spec {version}\n");
    print(io::stderr(), &note)?;
    Ok(Origin::BuiltIn)
}

fn root_of(origin: &Origin) -> Option<PathBuf> {
    let Origin::Folder(spec) = origin else {
        return None;
    };
    let whole = std::fs::canonicalize(spec).unwrap_or_else(|_| spec.clone());
    Some(whole.parent().unwrap_or(Path::new(".")).to_owned())
}

fn built_in_editions() -> EditionsFile {
    let mut files = BUILT_IN.iter();
    let (_, text) = files
        .find(|(path, _)| *path == "editions.yaml")
        .expect("the spec has editions");
    let root = Node::parse(FileId(0), text.as_bytes()).expect("the file is YAML");
    decode(&root).expect("the file has the editions")
}

/// Returns the versions of this program, and of the spec inside it.
fn version() -> &'static str {
    let EditionsFile { spec, rules, .. } = built_in_editions();
    let own = env!("CARGO_PKG_VERSION");
    format!("{own} (spec {}, rules {})", spec.version, rules.version).leak()
}
