//! What a run has learned of the compiler, for the next one: which mutants it refuses, which functions it wants to be
//! constant. It holds as long as the mutants' files are what they were.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::Path;

use crate::list::Mutant;

/// What the compiler said.
#[derive(Default)]
pub(crate) struct Kept {
    /// The mutants that it refuses, by number.
    pub(crate) refused: BTreeSet<usize>,
    /// The functions that are asked for constants, by name.
    pub(crate) constant: BTreeSet<String>,
}

impl Kept {
    /// Reads what is known, without what was of another text of a file. `root` is the workspace's folder.
    pub(crate) fn read(path: &Path, root: &Path, mutants: &[Mutant]) -> Self {
        let mut kept = Self::default();
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (kind, name) in text.lines().filter_map(|line| line.split_once('\t')) {
            if kind == "constant" {
                kept.constant.insert(name.to_owned());
            } else {
                known.insert((kind, name));
            }
        }
        let mut digests = Digests {
            root,
            known: BTreeMap::new(),
        };
        for (number, mutant) in mutants.iter().enumerate() {
            if known.contains(&(digests.of(&mutant.file), &*mutant.name)) {
                kept.refused.insert(number);
            }
        }
        kept
    }

    /// Writes it down.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, path: &Path, root: &Path, mutants: &[Mutant]) -> io::Result<()> {
        let mut digests = Digests {
            root,
            known: BTreeMap::new(),
        };
        let mut text: String = self
            .constant
            .iter()
            .map(|name| format!("constant\t{name}\n"))
            .collect();
        for mutant in self
            .refused
            .iter()
            .filter_map(|number| mutants.get(*number))
        {
            text.push_str(&format!("{}\t{}\n", digests.of(&mutant.file), mutant.name));
        }
        fs::write(path, text)
    }
}

/// Digests of files, each made once.
struct Digests<'a> {
    root: &'a Path,
    known: BTreeMap<String, String>,
}

impl Digests<'_> {
    fn of(&mut self, file: &str) -> &str {
        self.known.entry(file.to_owned()).or_insert_with(|| {
            let mut hasher = DefaultHasher::new();
            fs::read(self.root.join(file))
                .unwrap_or_default()
                .hash(&mut hasher);
            format!("{:016x}", hasher.finish())
        })
    }
}
