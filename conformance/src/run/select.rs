//! Selects the cases of a run.

use std::collections::BTreeSet;

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::pool::unsupported;
use super::{About, Shard, Smoke, Task};
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
    shard: Option<Shard>,
    pairs: bool,
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

    /// Also selects by shard.
    #[must_use]
    pub fn with_shard(self, shard: Option<Shard>) -> Self {
        Self { shard, ..self }
    }

    /// Selects only pairs of faults, or no pairs.
    #[must_use]
    pub fn with_pairs(self, pairs: bool) -> Self {
        Self { pairs, ..self }
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
            let rules = about.rules;
            self.rules.is_empty() || self.rules.iter().any(|rule| rules.contains(rule))
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
