//! Counts of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::results::{CaseResult, CrossResult, Grade, Results, Role, Score, State};

/// The number of results of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The results that are as expected.
    pub passed: u64,
    /// The failures that were not expected.
    pub failed: u64,
    /// The failures on a failure list.
    pub known: u64,
    /// The cases skipped because the implementation does not support them.
    pub skipped: u64,
}

impl Tally {
    /// Counts results.
    pub fn count<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut tally = Self::default();
        for result in results {
            tally.add(result.state());
        }
        tally
    }

    /// Counts the scripts of a writer–reader pair.
    pub const fn of_pair(pair: &CrossResult) -> Self {
        Self {
            passed: pair.passed as u64,
            failed: pair.failed.len() as u64,
            known: pair.known as u64,
            skipped: pair.skipped as u64,
        }
    }

    /// Counts one result.
    pub const fn add(&mut self, state: State) {
        match state {
            State::Passed => self.passed += 1,
            State::Failed => self.failed += 1,
            State::Known => self.known += 1,
            State::Skipped => self.skipped += 1,
        }
    }

    /// Returns the number of graded results.
    #[must_use]
    pub const fn graded(&self) -> u64 {
        self.passed + self.failed + self.known
    }

    /// Returns the worst state, or `None` if there are no results.
    #[must_use]
    pub const fn worst(&self) -> Option<State> {
        match self {
            Self { failed: 1.., .. } => Some(State::Failed),
            Self { known: 1.., .. } => Some(State::Known),
            Self { passed: 1.., .. } => Some(State::Passed),
            Self { skipped: 1.., .. } => Some(State::Skipped),
            _ => None,
        }
    }
}

/// The number of correct answers in each grade, regardless of failure lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Scores {
    /// The scores for events and their values.
    pub data: Counted,
    /// The scores for what a reader reports about the events and values.
    pub label: Counted,
}

/// The numbers of passed and failed results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The results that are as expected.
    pub passed: u64,
    /// The results that are not as expected.
    pub failed: u64,
}

impl Scores {
    /// Counts results.
    pub fn count<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut scores = Self::default();
        for result in results {
            scores.data.add(result.score(Grade::Data));
            scores.label.add(result.score(Grade::Label));
        }
        scores
    }
}

impl Counted {
    const fn add(&mut self, score: Score) {
        match score {
            Score::Passed => self.passed += 1,
            Score::Failed => self.failed += 1,
            Score::None => {}
        }
    }
}

/// Formats the numbers as `290 of 327`.
impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.passed, self.passed + self.failed)
    }
}

/// A column of a matrix: an implementation in a role.
pub(super) type Column = (usize, Role);

/// Returns each implementation in each of its graded roles. A refused implementation appears in all
/// roles of its manifest.
pub(super) fn columns(results: &Results) -> BTreeSet<Column> {
    let claimed = results.refused();
    let claimed =
        claimed.flat_map(|(seq, testee, _)| testee.roles.iter().map(move |role| (seq, *role)));
    let graded = results.cases.iter().map(|case| (case.testee, case.role));
    claimed.chain(graded).collect()
}

/// Counts results by column and key. `keys` returns the keys of a result, each with its own state.
pub(super) fn matrix<'a, Key: Ord>(
    results: &'a Results,
    keys: impl Fn(&'a CaseResult) -> BTreeMap<Key, State>,
) -> BTreeMap<Key, BTreeMap<Column, Tally>> {
    let mut matrix: BTreeMap<Key, BTreeMap<Column, Tally>> = BTreeMap::new();
    for case in &results.cases {
        for (key, state) in keys(case) {
            let row = matrix.entry(key).or_default();
            row.entry((case.testee, case.role)).or_default().add(state);
        }
    }
    matrix
}

/// Returns the share of the cases that was graded, in percent. Returns 100 only if everything was
/// graded.
pub(super) fn share<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> u64 {
    let shares: Vec<f64> = results.into_iter().map(|case| case.share).collect();
    if shares.is_empty() {
        return 0;
    }
    if shares.iter().all(|share| *share >= 1.0) {
        return 100;
    }
    let (sum, count) = shares
        .iter()
        .fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
    let percents = 1..100_u8;
    let reached = percents.take_while(|percent| f64::from(*percent) * count <= sum * 100.0);
    reached.last().unwrap_or(0).into()
}
