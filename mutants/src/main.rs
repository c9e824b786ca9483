//! The command `atf-mutants`: all mutants of a package from one build.
//!
//! cargo-mutants builds each mutant and runs all tests. Here the mutants of its list stand behind switches in one
//! build ([`combine`], [`build`]); each test runs once alone to learn what it reaches, and then only the tests run that
//! reach a mutant ([`mod@run`]). `.ci/mutants` holds both tools against a crate of which it is known what is found.

mod build;
mod combine;
mod kept;
mod list;
mod results;
mod run;
mod switch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use clap::Parser;

use crate::build::Tree;
use crate::list::Mutant;
use crate::results::{Outcome, Results};
use crate::run::Suite;

/// Runs cargo-mutants' list of mutants from one build: each is a switch, and each test runs only for what it reaches.
#[derive(Parser)]
struct Options {
    /// The packages, by name.
    #[arg(required = true)]
    packages: Vec<String>,
    /// Other packages whose tests run as well.
    #[arg(long)]
    tests: Vec<String>,
    /// Where the changed copy goes, and what is built of it.
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
    /// Where results go: one line for each mutant. What was caught according to it is not run again.
    #[arg(long, default_value = "target/mutants/results.tsv")]
    results: PathBuf,
    /// How many mutants are run side by side.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Leave out tests that take more than this many seconds alone, as if they were not there.
    #[arg(long, default_value_t = 180)]
    longest: u64,
    /// Run nothing: print what to tell cargo-mutants of what the results leave to it, an argument a line.
    #[arg(long)]
    left: bool,
    /// Run nothing: print the table of results.
    #[arg(long)]
    summary: bool,
    /// Which mutants, as `cargo mutants` is told it: --file, --shard, --in-diff, --re.
    #[arg(last = true)]
    which: Vec<String>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// A file or a program.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The list.
    #[error("the list of mutants: {0}")]
    Json(#[from] serde_json::Error),
    /// A file of the workspace has no name in UTF-8.
    #[error("a file's name is not UTF-8")]
    Name,
    /// A source that cannot be parsed.
    #[error("{file}: {error}")]
    Source {
        /// The file.
        file: String,
        /// What is wrong.
        error: syn::Error,
    },
    /// The build.
    #[error("the build failed")]
    Build,
    /// A job that ended early.
    #[error("a thread panicked")]
    Thread,
    /// A package that is not there.
    #[error("there is no package {0}")]
    Package(String),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does what the options say; false if a mutant survives.
fn run(options: &Options) -> Result<bool, Error> {
    let mutants = mutants(options)?;
    let mut results = Results::open(&options.results)?;
    if options.left {
        results
            .left(&mutants)
            .iter()
            .for_each(|left| println!("{left}"));
        return Ok(true);
    }
    if !options.summary && !mutants.is_empty() {
        test(options, &mutants, &mut results)?;
    }
    print!("{}", results.summary(&mutants));
    Ok(!mutants
        .iter()
        .any(|mutant| results.get(mutant).is_some_and(Outcome::survives)))
}

/// Builds the mutants and finds what becomes of each.
fn test(options: &Options, mutants: &[Mutant], results: &mut Results) -> Result<(), Error> {
    let root = std::env::current_dir()?;
    let folder = root.join(&options.folder);
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary)?;
    let tree = Tree {
        root,
        copy: folder.join("tree"),
        packages: folders(&options.packages)?,
        tests: folders(&options.tests)?,
        target: folder.join("build"),
    };
    tree.copy(mutants)?;
    let built = tree.place(mutants)?;
    let (placed, unviable) = (built.placed.len(), built.unviable.len());
    eprintln!(
        "{placed} of {} mutants in one build, {unviable} cannot be built",
        mutants.len()
    );
    let suite = Suite::new(
        tree.programs()?,
        Duration::from_secs(options.longest),
        &temporary,
    )?;
    let reached: BTreeSet<usize> = suite.reached();
    eprintln!(
        "{} tests of {} programs reach {}",
        suite.tests.len(),
        suite.programs.len(),
        reached.len()
    );
    // They cost the most where a mutant survives.
    for test in suite.tests.iter().rev().take(5) {
        let program = &suite.programs[test.program];
        eprintln!(
            "{:.1} s: {} {} {}",
            test.time.as_secs_f64(),
            program.package,
            program.name,
            test.name
        );
    }
    let mut open = VecDeque::new();
    for (number, mutant) in mutants.iter().enumerate() {
        if built.unviable.contains(&number) {
            results.add(mutant, Outcome::Unviable, "")?;
        } else if !built.placed.contains(&number) {
            // What cargo-mutants has told of it stays, but for survivors.
            if results.get(mutant).is_none_or(Outcome::survives) {
                results.add(mutant, Outcome::Left, "")?;
            }
        } else if matches!(
            results.get(mutant),
            Some(Outcome::Caught | Outcome::Timeout)
        ) {
            // Perhaps by a test that is left out today.
        } else if !reached.contains(&number) {
            results.add(mutant, Outcome::Unreached, "")?;
        } else {
            open.push_back(number);
        }
    }
    // Where a run is ended early, what it has done is an even sample.
    open.make_contiguous().sort_by_key(|number| number % 8);
    let (open, results) = (Mutex::new(open), Mutex::new(results));
    let next = || {
        open.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let work = |job: usize| -> Result<(), Error> {
        let temporary = temporary.join(job.to_string());
        fs::create_dir_all(&temporary)?;
        while let Some(number) = next() {
            let mutant = &mutants[number];
            let (outcome, by) = suite.judge(number, &mutant.file, &temporary)?;
            results
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(mutant, outcome, &by)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs.max(1))
            .map(|job| scope.spawn(move || work(job)))
            .collect();
        jobs.into_iter()
            .try_for_each(|job| job.join().unwrap_or(Err(Error::Thread)))
    })
}

/// The list of cargo-mutants.
fn mutants(options: &Options) -> Result<Vec<Mutant>, Error> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json"]);
    for package in &options.packages {
        command.args(["-p", package]);
    }
    let output = command
        .args(&options.which)
        .stderr(Stdio::inherit())
        .output()?;
    // Where a difference touches no Rust it says so, and lists nothing.
    if output.status.success() && output.stdout.is_empty() {
        return Ok(Vec::new());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The packages' folders in the workspace.
fn folders(names: &[String]) -> Result<BTreeMap<String, PathBuf>, Error> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let root = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
    let folder = |name: &String| {
        let package = metadata["packages"]
            .as_array()?
            .iter()
            .find(|package| package["name"] == name.as_str())?;
        let manifest = PathBuf::from(package["manifest_path"].as_str()?);
        Some((
            name.clone(),
            manifest.parent()?.strip_prefix(&root).ok()?.to_owned(),
        ))
    };
    names
        .iter()
        .map(|name| folder(name).ok_or_else(|| Error::Package(name.clone())))
        .collect()
}
