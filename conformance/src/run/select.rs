//! Selects the cases of a run.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::Task;
use crate::results::Role;

/// A selection of the cases that meet all of the given conditions.
#[derive(Debug, Clone, Default)]
pub struct Select {
    cases: Option<GlobSet>,
    rules: Vec<String>,
    roles: Vec<Role>,
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
        })
    }

    /// Returns whether the selection includes a role.
    #[must_use]
    pub fn takes_role(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Returns whether the selection includes a task.
    #[must_use]
    pub fn takes(&self, task: &dyn Task) -> bool {
        let about = task.about();
        let is_case = self
            .cases
            .as_ref()
            .is_none_or(|globs| globs.is_match(about.name));
        let is_rule = || {
            let rules = about.rules;
            self.rules.is_empty() || self.rules.iter().any(|rule| rules.contains(rule))
        };
        is_case && self.takes_role(about.role) && is_rule()
    }
}
