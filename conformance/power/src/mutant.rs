//! Mutants: copies of a source file with one fault, written by hand or made by universalmutator.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::implementation::Implementation;

/// A source file with a fault.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    pub(crate) id: Id,
    /// The complete text of the file.
    pub(crate) text: String,
}

/// Identifies a mutant even if other lines of the file change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Id {
    pub(crate) file: String,
    /// The line without its indentation.
    pub(crate) line: String,
    /// The number of this line among equal lines of the file, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub(crate) nth: usize,
    pub(crate) becomes: String,
}

fn first() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_first(nth: &usize) -> bool {
    *nth == 1
}

/// A handwritten fault, with the rule and field that the kit must report for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Typed {
    pub(crate) name: String,
    file: String,
    from: String,
    to: String,
    /// The rule, or the field of the format if no rule covers it.
    pub(crate) rule: String,
    /// The field that differs.
    pub(crate) field: String,
    /// The rule and field expected before the first run, if changed since.
    pub(crate) before: Option<String>,
}

impl Typed {
    /// Creates the mutant. `from` must occur exactly once.
    pub(crate) fn mutant(&self, folder: &Path) -> Result<Mutant, Fault> {
        let text = fs::read_to_string(folder.join(&self.file))?;
        let count = text.matches(&self.from).count();
        if count != 1 {
            return Err(format!("{}: {:?} occurs {count} times", self.name, self.from).into());
        }
        let mutated = text.replacen(&self.from, &self.to, 1);
        Ok(Mutant::new(&self.file, &text, mutated))
    }
}

impl Mutant {
    fn new(file: &str, original: &str, text: String) -> Self {
        let [before, after] = [original, &text].map(|text| text.lines().collect::<Vec<_>>());
        let same = before.iter().zip(&after);
        let same = same.take_while(|(a, b)| a == b).count();
        let rest = (before.iter().rev()).zip(after.iter().rev());
        let least = before.len().min(after.len()).saturating_sub(same);
        let end = rest.take(least).take_while(|(a, b)| a == b).count();
        // An added line belongs to the one before it.
        let is_added = before.len().saturating_sub(end) == same;
        let start = same.saturating_sub(usize::from(is_added));
        let words = |lines: &[&str]| {
            let range = lines.get(start..lines.len().saturating_sub(end));
            let lines = range.unwrap_or_default().iter().map(|line| line.trim());
            lines.collect::<Vec<_>>().join(" ⏎ ")
        };
        let line = words(&before);
        let first = before.get(start).copied().unwrap_or_default().trim();
        let earlier = before.iter().take(start);
        let earlier = earlier.filter(|line| line.trim() == first);
        Self {
            id: Id {
                file: file.to_owned(),
                nth: earlier.count().saturating_add(1),
                becomes: words(&after),
                line,
            },
            text,
        }
    }

    /// Returns a number, derived from a seed, that determines which mutants are drawn.
    pub(crate) fn draw(&self, seed: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (seed, &self.id).hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns all mutants that universalmutator creates from an implementation.
pub(crate) fn generated(
    of: &Implementation,
    folder: &Path,
    mutate: &Path,
) -> Result<Vec<Mutant>, Fault> {
    let mut found = BTreeMap::new();
    for file in &of.files {
        let path = folder.join(file);
        let original = fs::read_to_string(&path)?;
        let until = of.until.as_deref().and_then(|line| original.find(line));
        let kept = original.get(..until.unwrap_or(original.len()));
        let kept = kept.unwrap_or_default();
        let place = tempfile::tempdir()?;
        let name = path.file_name().ok_or("a file has a name")?;
        fs::write(place.path().join(name), kept)?;
        let mutants = place.path().join("mutants");
        fs::create_dir(&mutants)?;
        let mut made = Command::new(mutate);
        made.arg(name)
            .arg(&of.language)
            .args(["--noCheck", "--mutantDir"])
            .arg(&mutants);
        let output = made.current_dir(place.path()).output().map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", mutate.display()))
        })?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        for entry in fs::read_dir(mutants)? {
            let text = fs::read_to_string(entry?.path())?;
            let rest = original.get(kept.len()..).unwrap_or_default();
            let mutant = Mutant::new(file, &original, text + rest);
            found.insert(mutant.id.clone(), mutant);
        }
    }
    Ok(found.into_values().collect())
}
