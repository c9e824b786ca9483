//! The versions that reports name.

use serde::Serialize;

use crate::rules::table;

/// Versions of what a run grades by.
#[derive(Debug, Clone, Serialize)]
pub struct Editions {
    /// Of the kit itself.
    pub kit: String,
    /// Of the layout spec.
    pub spec: String,
    /// Of the rules.
    pub rules: String,
    /// Of the corpus.
    pub corpus: String,
}

impl Editions {
    /// Each with what it is of.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &str); 4] {
        [
            ("kit", &self.kit),
            ("spec", &self.spec),
            ("rules", &self.rules),
            ("corpus", &self.corpus),
        ]
    }

    /// Those that say by what a captured session is judged.
    #[must_use]
    pub fn of_rules(&self) -> [(&'static str, &str); 3] {
        let [kit, spec, rules, _] = self.all();
        [kit, spec, rules]
    }

    /// Those of this kit.
    #[must_use]
    pub fn current() -> Self {
        Self {
            kit: env!("CARGO_PKG_VERSION").to_owned(),
            spec: table::SPEC_EDITION.version.to_owned(),
            rules: table::RULES_EDITION.version.to_owned(),
            corpus: table::CORPUS_EDITION.version.to_owned(),
        }
    }
}
