//! Selects the cases of a run, or of a part of it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::pool::unsupported;
use super::{About, Smoke, Task};
use crate::corpus::pairs::is_pair;
use crate::protocol::Manifest;
use crate::results::Role;

/// A selection of the cases that meet all of the given conditions. By default, without pairs of
/// faults.
#[derive(Debug, Clone, Default)]
pub struct Select {
    cases: Option<GlobSet>,
    rules: Vec<String>,
    roles: Vec<Role>,
    /// The only shard to run.
    pub shard: Option<Shard>,
    /// Whether to run only pairs of faults, instead of no pairs.
    pub pairs: bool,
}

impl Select {
    /// Selects the cases that match at least one glob, one rule and one role. An empty list matches
    /// everything.
    ///
    /// # Errors
    ///
    /// Returns an error if a glob is invalid or a rule is unknown.
    pub fn new(cases: &[String], rules: &[String], roles: &[Role]) -> Result<Self, String> {
        let mut globs = GlobSetBuilder::new();
        for case in cases {
            globs.add(Glob::new(case).map_err(|error| error.to_string())?);
        }
        let globs = globs.build().map_err(|error| error.to_string())?;
        if let Some(rule) = rules.iter().find(|rule| crate::rules::find(rule).is_none()) {
            return Err(format!("{rule}: no such rule"));
        }
        Ok(Self {
            cases: (!cases.is_empty()).then_some(globs),
            rules: rules.to_vec(),
            roles: roles.to_vec(),
            shard: None,
            pairs: false,
        })
    }

    /// Returns whether the selection includes a role.
    #[must_use]
    pub fn takes_role(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Returns whether the selection may include a case of this name.
    #[must_use]
    pub fn takes_name(&self, name: &str) -> bool {
        let is_case = self.cases.as_ref().is_none_or(|globs| globs.is_match(name));
        let is_of_shard = || self.shard.is_none_or(|shard| shard.takes(name));
        is_case && is_pair(name) == self.pairs && is_of_shard()
    }

    /// Returns whether the selection includes a task.
    #[must_use]
    pub fn takes(&self, task: &dyn Task) -> bool {
        let about = task.about();
        let is_rule = || {
            let mut rules = self.rules.iter();
            self.rules.is_empty() || rules.any(|rule| about.rules.contains(&rule.as_str()))
        };
        self.takes_name(about.name) && self.takes_role(about.role) && is_rule()
    }

    /// Returns the names of the cases that an implementation could run, but that are not selected.
    #[must_use]
    pub fn unselected<'a>(
        &self,
        tasks: &'a [Box<dyn Smoke>],
        manifest: &Manifest,
    ) -> BTreeSet<&'a str> {
        let others = tasks.iter().filter(|task| !self.takes(task.as_ref()));
        let others = others.filter(|task| could_run(manifest, task.as_ref()));
        others.map(|task| task.about().name).collect()
    }
}

/// Returns whether an implementation can have results on a task. Readers and validators also have
/// results on scripts.
fn could_run(manifest: &Manifest, task: &dyn Task) -> bool {
    let About { role, wire, .. } = task.about();
    let reads = || manifest.roles().iter().any(|own| own.reads());
    manifest.command(role).is_some() && unsupported(manifest, task).is_none()
        || role == Role::Write && manifest.wire.contains(&wire) && reads()
}

/// A part of a long run. The parts can run on different machines or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    count: usize,
}

impl Shard {
    /// The only shard of a run that is not divided.
    pub const WHOLE: Self = Self {
        number: 1,
        count: 1,
    };

    /// Returns whether a case belongs to this shard. A case keeps its shard when others are added.
    #[must_use]
    pub fn takes(self, case: &str) -> bool {
        let hash = case.bytes().fold(0_usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        hash % self.count == self.number - 1
    }

    /// Returns this shard's contiguous part of a list of `total` items. All shards together cover
    /// the list.
    #[must_use]
    pub fn range(self, total: usize) -> Range<usize> {
        let end = |shards| total / self.count * shards + (total % self.count).min(shards);
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    /// Parses a shard's number, which starts at 1, and the number of shards, such as `3/16`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NUMBER/COUNT, such as 3/16";
        let (number, count) = text.split_once('/').ok_or(EXPECTED)?;
        let [number, count] = [number, count].map(str::parse);
        let shard = Self {
            number: number.map_err(|_| EXPECTED)?,
            count: count.map_err(|_| EXPECTED)?,
        };
        if (1..=shard.count).contains(&shard.number) {
            Ok(shard)
        } else {
            Err("expected a number from 1 to the count")
        }
    }
}
