//! Which cases a run takes.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::Task;
use crate::results::Role;

/// Which cases a run takes: all that meet each of the conditions that are given.
#[derive(Debug, Clone, Default)]
pub struct Select {
    cases: Option<GlobSet>,
    rules: Vec<String>,
    roles: Vec<Role>,
}

impl Select {
    /// Those whose name matches one of the globs, if there are any; that are about one of the
    /// rules; and that are of one of the roles.
    ///
    /// # Errors
    ///
    /// Where a glob is none, or a rule is unknown.
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

    /// Whether it takes a role.
    #[must_use]
    pub fn takes_role(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Whether it takes a task.
    #[must_use]
    pub fn takes(&self, task: &dyn Task) -> bool {
        let is_case = self
            .cases
            .as_ref()
            .is_none_or(|globs| globs.is_match(task.name()));
        let is_rule = || {
            let rules = task.rules();
            self.rules.is_empty() || self.rules.iter().any(|rule| rules.contains(rule))
        };
        is_case && self.takes_role(task.role()) && is_rule()
    }
}
