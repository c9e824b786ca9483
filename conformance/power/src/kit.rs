//! Grades a mutant with all cases and scripts, in a fixed order, until enough of them fail.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use atf_conformance::cause::{Causes, settle_charges};
use atf_conformance::corpus;
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{CaseResult, Grading, State};
use atf_conformance::run::warden::contained;
use atf_conformance::run::{Limits, Options, Pool, Smoke, Work, readings, smoke, writings};

use crate::Fault;

pub(crate) struct Kit {
    tasks: Vec<Box<dyn Smoke>>,
    options: Options,
}

impl Kit {
    /// `folder` is where the cases have their temporary folders.
    pub(crate) fn new(folder: PathBuf) -> Self {
        let mut tasks = writings();
        tasks.extend(readings(corpus::all(|_| true)));
        let large = corpus::large_names();
        // Neighbours test the same rule. Separate them, so that mutants fail early. The large cases
        // take as long as all others.
        tasks.sort_by_key(|task| {
            let name = task.about().name;
            let hash = name.bytes().fold(7u32, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u32::from(byte)) ^ sum >> 15
            });
            (large.iter().any(|large| large == name), hash)
        });
        let limits = Limits {
            time: Duration::from_secs(10),
            margin: Duration::from_secs(10),
            memory: 512 << 20,
            ..Limits::default()
        };
        let options = Options {
            kit: PathBuf::from("/proc/self/exe"),
            folder,
            jobs: NonZero::<usize>::MIN,
            repeat: NonZero::<u32>::MIN,
            seed: 1,
            limits,
            grading: Grading::All,
            interrupt: Arc::default(),
        };
        Self { tasks, options }
    }

    /// Returns why the smoke test rejects a program that passes all cases, such as one whose persistent process never
    /// answers.
    pub(crate) fn refused(&self, manifest: &Manifest) -> Result<Option<String>, Fault> {
        contained(|| {
            let pool = Pool::new(&self.options)?;
            Ok(smoke(&pool, manifest, self.tasks.iter().map(AsRef::as_ref))?.err())
        })
    }

    /// Grades all cases, or only those in `only`, until at least `most` have failed, and returns the results. A failure
    /// that is `known` from the original counts only if its class changed, as on a failure list, and if no other case
    /// fails.
    pub(crate) fn grade(
        &self,
        manifest: &Manifest,
        known: &[CaseResult],
        most: usize,
        only: Option<&[String]>,
    ) -> Result<Vec<CaseResult>, Fault> {
        let is_chosen = |name: &str| only.is_none_or(|cases| cases.iter().any(|case| case == name));
        let is_known = |case: &CaseResult| known.iter().any(|known| is_same_case(known, case));
        let is_new_class = |case: &CaseResult| {
            let mut same = known.iter().filter(|known| is_same_case(known, case));
            same.all(|known| known.outcome.class() != case.outcome.class())
        };
        let tasks = self.tasks.iter();
        let tasks = tasks.filter(|task| manifest.command(task.about().role).is_some());
        let tasks = tasks.filter(|task| is_chosen(task.about().name));
        let work: Vec<_> = tasks
            .map(|task| Work {
                testee: 0,
                manifest,
                task: &**task,
            })
            .collect();
        let (mut results, mut masked) = contained(|| -> Result<_, Fault> {
            let pool = Pool::new(&self.options)?;
            let (mut results, mut masked) = (Vec::new(), Vec::new());
            let (mut failed, mut done, mut size) = (0, 0, 1);
            while done < work.len() && failed < most {
                let end = work.len().min(done + size);
                for case in pool.run(&work[done..end], &|_, _| {})? {
                    if is_known(&case) {
                        masked.push(case);
                    } else {
                        failed += usize::from(case.state() == State::Failed);
                        results.push(case);
                    }
                }
                (done, size) = (end, size.saturating_mul(2).min(64));
            }
            Ok((results, masked))
        })?;
        if !results.iter().any(|case| case.state() == State::Failed) {
            masked.retain(|case| case.state() == State::Failed && is_new_class(case));
            results.append(&mut masked);
        }
        settle_charges(&mut results);
        Ok(results)
    }
}

fn is_same_case(one: &CaseResult, other: &CaseResult) -> bool {
    one.case == other.case && one.role == other.role
}

/// Returns the names of the failed cases, each once.
pub(crate) fn failed(results: &[CaseResult]) -> Vec<String> {
    let failed = results.iter().filter(|case| case.state() == State::Failed);
    let mut names: Vec<_> = failed.map(|case| case.case.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the first failure of a report: the broken rule or misread field, and the field that differs.
pub(crate) fn charge(results: &[CaseResult]) -> Option<(String, String)> {
    let groups = Causes::new(results).groups();
    let (_, case) = groups.first()?.cases.first()?;
    let first = case.outcome.differences().first()?;
    let rule = first.rule.as_deref().unwrap_or("no rule");
    let field = first.place.rsplit([':', '.']).next().unwrap_or_default();
    let field = field.split('[').next().unwrap_or_default().trim();
    Some((rule.to_owned(), field.to_owned()))
}
