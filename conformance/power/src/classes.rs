//! The manually assigned classes of mutants that pass: `classes.toml`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::faulted::Compared;
use crate::mutant::Id;
use crate::outcome::{Outcome, Record};
use crate::{Fault, Measured};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    /// The mutant gives the same answers as the original.
    Equivalent,
    /// The mutant gives different answers, but only allowed ones.
    Permitted,
    /// The mutant gives a wrong answer, and no case reveals it.
    Survivor,
}

#[derive(Debug, Deserialize)]
struct Row {
    of: String,
    class: Class,
    reason: String,
    #[serde(flatten)]
    id: Id,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Classes {
    #[serde(default)]
    mutant: Vec<Row>,
}

impl Classes {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }

    /// Returns the class of a mutant that passed, and the reason, or `None` if its answers
    /// contradict the class.
    pub(crate) fn find(&self, name: &str, record: &Record) -> Option<(Class, &str)> {
        let Outcome::Passed(compared) = &record.outcome else {
            return None;
        };
        let mut rows = self.mutant.iter();
        let row = rows.find(|row| row.of == name && row.id == record.id)?;
        let holds = match (row.class, compared) {
            (Class::Survivor, _) | (_, Compared::Same) => true,
            (Class::Permitted, Compared::Allowed(_)) => true,
            (_, Compared::Allowed(_) | Compared::Wrong(_)) => false,
        };
        holds.then_some((row.class, row.reason.as_str()))
    }

    /// Returns the number of mutants that passed without a class.
    pub(crate) fn missing(&self, measured: &Measured) -> usize {
        let records = measured.typed.iter().chain(&measured.drawn);
        let passed = records.filter(|record| matches!(record.outcome, Outcome::Passed(_)));
        passed
            .filter(|record| self.find(&measured.name, record).is_none())
            .count()
    }
}
