//! Runs every implementation in each of its roles on every case, each time in a separate process.
//!
//! A [`Task`] is a case or script to run, [`warden`] supervises the processes, and [`Failures`] is
//! a list of known failures.

mod asking;
mod blame;
mod choices;
mod cross;
mod failures;
pub mod folder;
mod growth;
pub mod outside;
mod persistent;
mod pool;
mod reading;
mod repeat;
mod select;
mod shrinking;
mod smoke;
mod store;
mod task;
pub mod warden;
mod writing;

use std::collections::BTreeSet;
use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use asking::{Asking, askings};
pub use failures::{Failures, Scope};
pub use outside::Opened;
pub use pool::{Pool, Work, fill_in};
pub use reading::{Reading, readings};
pub use repeat::is_drawn;
pub use select::{Select, Shard};
pub use shrinking::shrink;
pub use smoke::smoke;
pub use task::{About, Smoke, Task};
pub use warden::Ended;
pub use writing::{Writing, writings};

use serde::{Deserialize, Serialize};

use crate::cause::settle_charges;
use crate::corpus;
use crate::protocol::{Manifest, ManifestError};
use crate::results::{CaseResult, Grading, Results, Role, State, Testee};
pub use crate::written::Graded;
use atf_report::Editions;

/// The limits of a process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum run time.
    pub time: Duration,
    /// The time that the warden has to answer, in addition to the maximum run time.
    // Only the kit needs it.
    #[serde(skip)]
    pub margin: Duration,
    /// The maximum resident memory of the process and its descendants, in bytes.
    pub memory: u64,
    /// The maximum size of standard output, in bytes.
    pub output: u64,
    /// The maximum size of each file, in bytes. A write past this limit fails, as on a full disk.
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

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program `atf-conformance`, which is started again as a warden.
    pub kit: PathBuf,
    /// The parent folder of the cases' temporary folders.
    pub folder: PathBuf,
    /// The number of parallel processes.
    pub jobs: NonZero<usize>,
    /// How often each case is run.
    pub repeat: NonZero<u32>,
    /// Selects the passes of persistent processes that are repeated.
    pub seed: u64,
    /// The limits of each process.
    pub limits: Limits,
    /// The grades to count.
    pub grading: Grading,
    /// The number of a signal that was received, or 0. After a signal, the run ends early with an
    /// error.
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

/// An implementation that the user asked to grade.
#[derive(Debug, Clone)]
pub enum Candidate {
    /// The implementation's manifest.
    Manifest(Box<Manifest>),
    /// The error that makes the manifest unusable.
    Unusable(ManifestError),
}

impl Candidate {
    /// Returns the manifest, if usable.
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
                features: manifest.feature_names(),
                lacks: manifest.lacks.clone(),
                refused: None,
            },
            Self::Unusable(error) => Testee {
                name: error.path.display().to_string(),
                refused: Some(error.to_string()),
                ..Testee::default()
            },
        }
    }
}

/// Returns all tasks: every script and every case of the corpus, but only those large cases whose
/// names pass `is_wanted`.
pub fn tasks(is_wanted: impl Fn(&str) -> bool) -> Vec<Box<dyn Smoke>> {
    let cases = corpus::all(is_wanted).into_iter().map(Arc::new);
    let cases: Vec<_> = cases.collect();
    let mut tasks = writings();
    tasks.extend(askings(&cases));
    tasks.extend(readings(cases));
    tasks
}

/// Grades the implementations that pass their smoke test, and refuses the rest. Calls `progress`
/// with the number of finished cases and the total number.
///
/// # Errors
///
/// Returns an error if the run is interrupted, or if the folder for cases cannot be created.
pub fn run(
    candidates: &[Candidate],
    tasks: &[Box<dyn Smoke>],
    select: &Select,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> io::Result<Results> {
    let start = Instant::now();
    let pool = Pool::new(options)?;
    let all = || tasks.iter().map(AsRef::as_ref);
    let selected = all().filter(|task| select.takes(*task));
    let roles: BTreeSet<Role> = selected.map(|task| task.about().role).collect();
    // Readers and validators also receive the files of writers.
    let is_used =
        |role| select.takes_role(role) && (roles.contains(&role) || roles.contains(&Role::Write));
    let smoke_tasks = || all().filter(|task| is_used(task.about().role));
    let mut testees: Vec<Testee> = candidates.iter().map(Candidate::describe).collect();
    for (testee, candidate) in testees.iter_mut().zip(candidates) {
        if let Some(manifest) = candidate.manifest() {
            testee.refused = smoke(&pool, manifest, smoke_tasks())?.err();
        }
    }
    let graded: Vec<_> = { candidates.iter().zip(&testees).enumerate() }
        .filter(|(_, (_, testee))| testee.refused.is_none())
        .filter_map(|(seq, (candidate, _))| Some((seq, candidate.manifest()?)))
        .collect();
    let mut work = Vec::new();
    for (testee, manifest) in graded.iter().copied() {
        let asked = all()
            .filter(|task| manifest.command(task.about().role).is_some() && select.takes(*task));
        work.extend(asked.map(|task| Work {
            testee,
            manifest,
            task,
        }));
    }
    let mut cases = pool.run(&work, progress)?;
    let (cross, of_cross) = if select.takes_role(Role::Read) {
        cross::cross(&pool, &graded, progress)?
    } else {
        (Vec::new(), Vec::new())
    };
    cases.extend(of_cross);
    growth::note_growth(&mut cases);
    settle_charges(&mut cases);
    Ok(Results {
        editions: Editions::current(),
        testees,
        grading: options.grading,
        made: None,
        cases,
        cross,
        stale: Vec::new(),
        elapsed: start.elapsed(),
    })
}

/// Returns the kit's exit code for a run's results.
///
/// If more than one code applies, an ungraded implementation takes precedence over a stale list,
/// and a stale list over failures. A run that graded nothing is not a success: its options selected
/// nothing that an implementation supports.
#[must_use]
pub fn exit_code(results: &Results) -> u8 {
    let is_unexpected = |case: &CaseResult| case.state() == State::Failed;
    let is_graded = |case: &CaseResult| case.state() != State::Skipped;
    if results.refused().next().is_some() {
        3
    } else if !results.stale.is_empty() {
        4
    } else if results.cases.iter().any(is_unexpected) || results.misread().next().is_some() {
        1
    } else if results.cross.is_empty() && !results.cases.iter().any(is_graded) {
        2
    } else {
        0
    }
}
