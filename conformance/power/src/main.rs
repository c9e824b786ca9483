//! Measures the power of the conformance kit: the share of faults in the shipped implementations that it
//! finds. Faults are written by hand (`faults`) or made by universalmutator.

mod chance;
mod classes;
mod faulted;
mod implementation;
mod kit;
mod mutant;
mod outcome;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use serde::{Deserialize, Serialize};

use crate::classes::Classes;
use crate::implementation::{Implementation, Workshop};
use crate::kit::Kit;
use crate::mutant::{Mutant, Typed, generated};
use crate::outcome::{Judge, Outcome, Record};

/// An error of this program itself.
pub(crate) type Fault = Box<dyn std::error::Error>;

/// Grades faulty copies of the shipped implementations with the conformance kit.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    warden: Option<Warden>,
    /// Only these implementations
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The number of mutants to draw per implementation
    #[arg(long, default_value = "100", conflicts_with = "all")]
    count: usize,
    /// Grade all mutants
    #[arg(long)]
    all: bool,
    /// The seed for drawing mutants
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Start no mutant after this time, shared by the implementations
    #[arg(long)]
    minutes: Option<u64>,
    /// The number of faulted files on which the answers of a survivor are compared
    #[arg(long, default_value = "100000")]
    files: usize,
    /// Write docs/conformance/power.md from the latest results of all implementations
    #[arg(long)]
    write: bool,
    /// Grade only the handwritten faults, or only the drawn mutants, and keep the other results
    #[arg(long)]
    part: Option<Part>,
    /// Grade only the drawn mutants that passed the last time, and keep the other results
    #[arg(long, conflicts_with_all = ["part", "all", "fault"])]
    again: bool,
    /// Grade only these handwritten faults, and keep the other results
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,
    /// The path of universalmutator's program
    #[arg(long, default_value = "target/power/venv/bin/mutate")]
    mutate: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Typed,
    Drawn,
}

/// The kit starts this program again to supervise processes.
#[derive(Subcommand)]
enum Warden {
    #[command(hide = true)]
    Warden {
        #[arg(long)]
        keep: bool,
        cases: PathBuf,
    },
}

#[derive(Deserialize)]
struct Implementations {
    implementation: Vec<Implementation>,
}

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Typed>,
}

/// The results for one implementation. `target/power` keeps the latest results of each.
#[derive(Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) files: usize,
    pub(crate) typed: Vec<Record>,
    pub(crate) drawn: Vec<Record>,
    /// The number of mutants to draw from.
    pub(crate) total: usize,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Warden::Warden { keep, cases }) = &cli.warden {
        return if *keep {
            atf_conformance::run::warden::keep(Path::new("/proc/self/exe"), cases)
        } else {
            atf_conformance::run::warden::serve(cases)
        };
    }
    match run(&cli) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(count) => {
            eprintln!(
                "atf-power: {count} mutants passed that conformance/power/classes.toml does not explain"
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("atf-power: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the number of unclassed survivors.
fn run(cli: &Cli) -> Result<usize, Fault> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.join("../..").canonicalize()?;
    let all: Implementations =
        toml::from_str(&fs::read_to_string(own.join("implementations.toml"))?)?;
    let classes = Classes::open(&own.join("classes.toml"))?;
    let is_chosen = |it: &&Implementation| cli.only.is_empty() || cli.only.contains(&it.name);
    let chosen: Vec<_> = all.implementation.iter().filter(is_chosen).collect();
    let work = tempfile::tempdir()?;
    let kit = Kit::new(work.path().to_owned());
    let results = root.join("target/power/results");
    let kept_in = |of: &Implementation| results.join(format!("{}.json", of.name));
    let (start, mut unclassed) = (Instant::now(), 0);
    for (seq, of) in chosen.iter().enumerate() {
        let copy = work.path().join(&of.name);
        fs::create_dir(&copy)?;
        let workshop = Workshop::open(of, &root, &copy)?;
        let judge = Judge::new(&kit, &workshop, work.path().join("files"), cli.files)?;
        let folder = root.join(&of.folder);
        let path = own.join("faults").join(format!("{}.toml", of.name));
        let faults: Faults = toml::from_str(&fs::read_to_string(path)?)?;
        let kept = fs::read(kept_in(of)).ok();
        let kept: Option<Measured> = kept.and_then(|text| serde_json::from_slice(&text).ok());
        let (mut old, mut drawn) = kept.map_or_else(Default::default, |it| (it.typed, it.drawn));
        let mut passed = Vec::new();
        match cli.part {
            Some(Part::Typed) => {}
            _ if cli.again => {
                let has_passed = |old: &mut Record| matches!(old.outcome, Outcome::Passed(_));
                passed.extend(drawn.extract_if(.., has_passed));
            }
            _ => drawn = Vec::new(),
        }
        let mut typed = Vec::new();
        for fault in &faults.fault {
            let mutant = fault.mutant(&folder)?;
            let is_chosen = cli.fault.is_empty() || cli.fault.contains(&fault.name);
            if cli.again || cli.part == Some(Part::Drawn) || !is_chosen {
                let is_own = |old: &Record| old.is_of(&fault.name, &mutant);
                typed.extend(old.iter().position(is_own).map(|seq| old.swap_remove(seq)));
                continue;
            }
            let record = judge.record(&mutant, Some(fault))?;
            show(&of.name, &record);
            typed.push(record);
        }
        let mut mutants: Vec<Mutant> = generated(of, &folder, &root.join(&cli.mutate))?;
        let total = mutants.len();
        mutants.retain(|_| cli.part != Some(Part::Typed));
        mutants.retain(|mutant| !cli.again || passed.iter().any(|old| old.id == mutant.id));
        mutants.sort_by_cached_key(|mutant| mutant.draw(cli.seed));
        let limit = cli.minutes.map(|minutes| {
            // Divide the remaining time equally.
            let left = Duration::from_secs(60 * minutes).saturating_sub(start.elapsed());
            Instant::now() + left / u32::try_from(chosen.len() - seq).unwrap_or(1)
        });
        let mut valid = 0;
        for mutant in &mutants {
            if (!cli.all && valid == cli.count) || limit.is_some_and(|limit| Instant::now() > limit)
            {
                break;
            }
            let record = judge.record(mutant, None)?;
            show(&of.name, &record);
            valid += usize::from(record.outcome != Outcome::Invalid);
            drawn.push(record);
        }
        let measured = Measured {
            name: of.name.clone(),
            seed: cli.seed,
            files: cli.files,
            typed,
            drawn,
            total,
        };
        unclassed += classes.missing(&measured);
        fs::create_dir_all(&results)?;
        fs::write(kept_in(of), serde_json::to_string_pretty(&measured)?)?;
    }
    let kept = all.implementation.iter();
    let kept = kept.filter_map(|of| fs::read(kept_in(of)).ok());
    let kept = kept.map(|text| serde_json::from_slice(&text));
    let page = page::page(&kept.collect::<Result<Vec<_>, _>>()?, &classes);
    if cli.write {
        fs::write(root.join("docs/conformance/power.md"), &page)?;
    } else {
        print!("{page}");
    }
    Ok(unclassed)
}

/// Prints a line of JSON for each mutant, so that the results of an aborted run are not lost.
fn show(name: &str, record: &Record) {
    let line = serde_json::json!({"of": name, "record": record});
    eprintln!("{line}");
}
