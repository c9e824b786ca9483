//! The versions shown in reports.

use serde::{Deserialize, Serialize};

use atf::rules;

/// The versions of the kit and of its grading data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Editions {
    /// The version of the kit.
    pub kit: String,
    /// The version of the layout spec.
    pub spec: String,
    /// The version of the rules.
    pub rules: String,
    /// The version of the corpus.
    pub corpus: String,
}

impl Editions {
    /// Returns all versions with their names.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &str); 4] {
        [
            ("kit", &self.kit),
            ("spec", &self.spec),
            ("rules", &self.rules),
            ("corpus", &self.corpus),
        ]
    }

    /// Returns the versions that apply to a captured session.
    #[must_use]
    pub fn of_rules(&self) -> [(&'static str, &str); 3] {
        let [kit, spec, rules, _] = self.all();
        [kit, spec, rules]
    }

    /// Returns the versions of this kit.
    #[must_use]
    pub fn current() -> Self {
        Self {
            kit: env!("CARGO_PKG_VERSION").to_owned(),
            spec: rules::SPEC_EDITION.version.to_owned(),
            rules: rules::RULES_EDITION.version.to_owned(),
            corpus: rules::CORPUS_EDITION.version.to_owned(),
        }
    }
}
