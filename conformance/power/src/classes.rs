//! What a person decided about survivors: `classes.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::mutant::Id;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    /// The mutant gives the same answers as the original.
    Equivalent,
    /// The mutant gives other answers, all of which are allowed.
    Permitted,
    /// The mutant gives a wrong answer, and no case shows it.
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

    /// Returns the class and the reason of an implementation's survivors.
    pub(crate) fn of(&self, name: &str) -> BTreeMap<&Id, (Class, &str)> {
        let own = self.mutant.iter().filter(|row| row.of == name);
        own.map(|row| (&row.id, (row.class, row.reason.as_str())))
            .collect()
    }
}
