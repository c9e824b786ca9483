//! Compares two runs: which cases an implementation fixed and which it broke.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

use atf_report::{Editions, Printable};

/// The version of the JSON reports that can be compared.
const FORMAT: u64 = 2;

/// The JSON report of a run.
#[derive(Debug)]
pub struct Run {
    editions: Editions,
    results: BTreeMap<Key, Fault>,
}

/// The implementation, its role and the case.
type Key = (String, String, String);

/// The failures of a case, as text; `None` if it did not fail.
type Fault = Option<String>;

#[derive(Deserialize)]
struct Version {
    format: u64,
}

#[derive(Deserialize)]
struct Report {
    editions: Editions,
    testees: Vec<Testee>,
    cases: Vec<CaseResult>,
}

#[derive(Deserialize)]
struct Testee {
    name: String,
}

#[derive(Deserialize)]
struct CaseResult {
    testee: usize,
    role: String,
    case: String,
    outcome: String,
    #[serde(default)]
    message: String,
}

/// The differences between two runs.
#[derive(Debug)]
pub struct Comparison {
    lines: Vec<String>,
    broken: usize,
}

impl Run {
    /// Reads the JSON report of a run.
    ///
    /// # Errors
    ///
    /// Returns a message with the path if the file cannot be read, is not the JSON report of a run,
    /// or has another version.
    pub fn open(path: &Path) -> io::Result<Self> {
        let at = |why: &dyn std::fmt::Display| {
            io::Error::other(format!("{}: {why}", Printable(path.display())))
        };
        let text = fs::read(path).map_err(|error| at(&error))?;
        let no_report = |error: serde_json::Error| {
            at(&format!(
                "not the JSON report of a run (run --report json): {error}"
            ))
        };
        let Version { format } = serde_json::from_slice(&text).map_err(no_report)?;
        if format != FORMAT {
            return Err(at(&format!(
                "reports of version {format} cannot be compared, only {FORMAT}"
            )));
        }
        let report: Report = serde_json::from_slice(&text).map_err(no_report)?;
        let mut results: BTreeMap<Key, Fault> = BTreeMap::new();
        for (position, case) in report.cases.into_iter().enumerate() {
            if case.outcome == "skipped" {
                continue;
            }
            let Some(testee) = report.testees.get(case.testee) else {
                let (testee, count) = (case.testee, report.testees.len());
                return Err(at(&format!(
                    "cases[{position}].testee: {testee}, of {count} testees"
                )));
            };
            let key = (testee.name.clone(), case.role, case.case);
            let fault = results.entry(key).or_default();
            if case.outcome == "failed" {
                let before = fault.take().map(|before| before + "; ");
                *fault = Some(before.unwrap_or_default() + &case.message);
            }
        }
        Ok(Self {
            editions: report.editions,
            results,
        })
    }

    /// Returns whether any implementation has the same name in both runs, or a run has no results.
    #[must_use]
    pub fn has_implementation_of(&self, other: &Self) -> bool {
        let [names, others] = [self, other].map(|run| {
            let names = run.results.keys().map(|(name, ..)| name);
            names.collect::<BTreeSet<_>>()
        });
        names.is_empty() || others.is_empty() || !names.is_disjoint(&others)
    }

    /// Lists what a later run fixed and broke.
    #[must_use]
    pub fn compare(&self, later: &Self) -> Comparison {
        let mut lines = Vec::new();
        let mut has_other_answers = false;
        for ((of, before), (_, now)) in self.editions.all().iter().zip(later.editions.all()) {
            if *before != now {
                lines.push(format!("{of} {} -> {}", Printable(before), Printable(now)));
                let is_graded = ["rules", "corpus"].contains(of);
                has_other_answers |= is_graded && major(before) != major(now);
            }
        }
        if has_other_answers {
            lines.push(OTHER_ANSWERS.to_owned());
        }
        let (mut fixed, mut broken, mut still, mut new) = (0, 0, 0, 0);
        for (key, now) in &later.results {
            let (count, word, fault) = match (self.results.get(key), now) {
                (Some(Some(before)), None) => (&mut fixed, "fixed", before),
                (Some(None), Some(now)) => (&mut broken, "broken", now),
                (None, Some(now)) => (&mut new, "new", now),
                (Some(Some(_)), Some(_)) => {
                    still += 1;
                    continue;
                }
                (Some(None) | None, None) => continue,
            };
            *count += 1;
            let (name, role, case) = key;
            let fault = fault.lines().next().unwrap_or_default();
            let line = format!("{word:6}  {name} {role} {case}: {fault}");
            lines.push(Printable(&line).to_string());
        }
        let is_gone = |key: &&Key| !later.results.contains_key(*key);
        let gone = self.results.keys().filter(is_gone).count();
        let mut summary = format!("{fixed} fixed, {broken} broken, {still} still failing");
        let rest = [
            (new, "new case fails", "new cases fail"),
            (gone, "case was not run again", "cases were not run again"),
        ];
        for (count, one, many) in rest.into_iter().filter(|(count, ..)| *count > 0) {
            let words = if count == 1 { one } else { many };
            // Writing to a string cannot fail.
            let _ = write!(summary, ", {count} {words}");
        }
        lines.push(summary);
        Comparison { lines, broken }
    }
}

/// The effect of a new major version of rules or corpus.
const OTHER_ANSWERS: &str = "other answers are right: CHANGELOG.md lists them, and \
    `run --update` removes the cases that now pass from a failure list";

fn major(version: &str) -> Option<&str> {
    version.split('.').next()
}

impl Comparison {
    /// Returns whether the later run fails a case that the earlier one passed.
    #[must_use]
    pub const fn is_worse(&self) -> bool {
        self.broken > 0
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
