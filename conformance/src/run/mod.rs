//! A run: every testee, every role, every case, each in a process of its own.
//!
//! [`Task`] is what a testee can be asked for, [`warden`] the processes that watch over testees,
//! [`Failures`] the list of failures that are known.

mod blame;
mod choices;
mod cross;
mod failures;
mod folder;
mod outside;
mod pool;
mod reading;
mod select;
mod smoke;
mod task;
pub mod warden;
mod writing;

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use failures::{Failures, Scope};
pub use outside::Opened;
pub use pool::{Pool, Work};
pub use reading::{Reading, readings};
pub use select::Select;
pub use smoke::smoke;
pub use task::{Ended, Smoke, Task};
pub use writing::{Writing, writings};

use cross::Crossed;

use crate::editions::Editions;
use crate::protocol::{Manifest, ManifestError};
use crate::results::{CaseResult, Failure, Grading, Outcome, Results, Role, State, Testee};
pub use crate::written::Graded;

/// What a process may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How much longer the process that watches over it may take to answer.
    pub margin: Duration,
    /// Bytes of memory that it and its children may have resident.
    pub memory: u64,
    /// Bytes that it may write to standard output.
    pub output: u64,
    /// Bytes that each of its files may have; a write beyond fails as on a full disk.
    pub file_size: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            margin: Duration::from_secs(30),
            memory: 1 << 30,
            output: 64 << 20,
            file_size: None,
        }
    }
}

/// How a run is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program `atf-conformance`, which is started again to watch over testees.
    pub kit: PathBuf,
    /// Where the folders of cases are made, and removed again.
    pub folder: PathBuf,
    /// How many processes run side by side.
    pub jobs: NonZero<usize>,
    /// What each of them may use.
    pub limits: Limits,
    /// Ends the run early with an error once it is not 0: the number of a signal.
    pub interrupt: Arc<AtomicUsize>,
}

impl Options {
    fn check_interrupt(&self) -> io::Result<()> {
        match self.interrupt.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(io::Error::other(format!("ended by signal {signal}"))),
        }
    }
}

/// A testee that was asked for.
#[derive(Debug, Clone)]
pub enum Candidate {
    /// Its manifest.
    Manifest(Box<Manifest>),
    /// Its manifest cannot be used, so that all there is to say is why.
    Unusable(ManifestError),
}

impl Candidate {
    /// Its manifest, where that can be used.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        match self {
            Self::Manifest(manifest) => Some(manifest),
            Self::Unusable(_) => None,
        }
    }

    fn describe(&self) -> Testee {
        match self {
            Self::Manifest(manifest) => Testee {
                name: manifest.name.clone(),
                version: manifest.version.clone(),
                url: manifest.url.clone(),
                roles: manifest.roles(),
                wire: manifest.wire.clone(),
                features: manifest
                    .features
                    .iter()
                    .map(|feature| feature.name().to_owned())
                    .collect(),
                lacks: manifest.lacks.clone(),
                refused: None,
            },
            Self::Unusable(error) => Testee {
                name: error.path.display().to_string(),
                version: String::new(),
                url: None,
                roles: Vec::new(),
                wire: Vec::new(),
                features: Vec::new(),
                lacks: Vec::new(),
                refused: Some(error.to_string()),
            },
        }
    }
}

/// Grades testees, which have passed their smoke test or are refused by it. `progress` hears how
/// many of how many cases are done.
///
/// # Errors
///
/// Where the kit itself cannot go on: no folder for the cases, no process that watches.
pub fn run(
    candidates: &[Candidate],
    tasks: &[Box<dyn Smoke>],
    select: &Select,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> io::Result<Results> {
    let start = Instant::now();
    let pool = Pool::new(options)?;
    let mut testees: Vec<Testee> = candidates.iter().map(Candidate::describe).collect();
    for (testee, candidate) in testees.iter_mut().zip(candidates) {
        if let Some(manifest) = candidate.manifest() {
            testee.refused = smoke(&pool, manifest, tasks)?.err();
        }
    }
    let mut work = Vec::new();
    for (testee, candidate) in candidates.iter().enumerate() {
        let graded = testees.get(testee).is_some_and(|t| t.refused.is_none());
        let Some(manifest) = candidate.manifest().filter(|_| graded) else {
            continue;
        };
        let asked = tasks
            .iter()
            .map(|task| -> &dyn Task { &**task })
            .filter(|task| manifest.command(task.role()).is_some() && select.takes(*task));
        work.extend(asked.map(|task| Work {
            testee,
            manifest,
            task,
        }));
    }
    let mut cases = pool.run(&work, progress)?;
    let graded = candidates
        .iter()
        .enumerate()
        .filter_map(|(testee, candidate)| {
            let is_graded = testees.get(testee).is_some_and(|t| t.refused.is_none());
            let manifest = candidate.manifest().filter(|_| is_graded)?;
            Some((testee, manifest))
        });
    let cross = match select.takes_role(Role::Read) {
        true => cross::cross(&pool, &graded.collect::<Vec<_>>(), progress)?,
        false => Crossed::default(),
    };
    cases.extend(cross.cases);
    Ok(Results {
        editions: Editions::current(),
        testees,
        grading: Grading::default(),
        made: None,
        cases,
        cross: cross.matrix,
        stale: Vec::new(),
        elapsed: start.elapsed(),
    })
}

/// The exit code of the kit for these results.
///
/// Where several apply it is the one that hides most: a testee that was not graded, then a list
/// that is stale, then failures.
#[must_use]
pub fn exit_code(results: &Results) -> u8 {
    let is_unexpected = |case: &CaseResult| case.state() == State::Failed;
    let crossed = |cross: &crate::results::CrossResult| !cross.failed.is_empty();
    if results
        .testees
        .iter()
        .any(|testee| testee.refused.is_some())
    {
        3
    } else if !results.stale.is_empty() {
        4
    } else if results.cases.iter().any(is_unexpected) || results.cross.iter().any(crossed) {
        1
    } else {
        0
    }
}

/// A failure without a place.
fn failed(class: Failure, message: impl Into<String>) -> Outcome {
    Outcome::Failed {
        class,
        message: message.into(),
        differences: Vec::new(),
    }
}
