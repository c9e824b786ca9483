//! The file of results: a line for each mutant with what became of it, its name, and the test program that failed.
//! A later line for the same mutant replaces an earlier one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::list::Mutant;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A test failed.
    Caught,
    /// A test did not end in its time.
    Timeout,
    /// Tests reach it, and none fails.
    Missed,
    /// No test reaches it.
    Unreached,
    /// It cannot be built.
    Unviable,
    /// It cannot stand behind a switch: cargo-mutants may try it.
    Left,
}

impl Outcome {
    /// All of them, as tables have them.
    const ALL: [Self; 6] = [
        Self::Caught,
        Self::Timeout,
        Self::Missed,
        Self::Unreached,
        Self::Unviable,
        Self::Left,
    ];

    /// The word in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::Timeout => "timeout",
            Self::Missed => "missed",
            Self::Unreached => "unreached",
            Self::Unviable => "unviable",
            Self::Left => "left",
        }
    }

    /// Whether the mutant lives on.
    pub(crate) fn survives(self) -> bool {
        matches!(self, Self::Missed | Self::Unreached)
    }
}

/// Results, in memory and in their file.
pub(crate) struct Results {
    file: File,
    known: BTreeMap<String, Outcome>,
}

impl Results {
    /// Opens the file, which need not be there.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut known = BTreeMap::new();
        for line in fs::read_to_string(path).unwrap_or_default().lines() {
            let mut words = line.split('\t');
            let word = words.next().unwrap_or_default();
            let outcome = Outcome::ALL
                .into_iter()
                .find(|outcome| outcome.word() == word);
            if let (Some(outcome), Some(name)) = (outcome, words.next()) {
                known.insert(name.to_owned(), outcome);
            }
        }
        Ok(Self {
            file: OpenOptions::new().create(true).append(true).open(path)?,
            known,
        })
    }

    /// What became of a mutant.
    pub(crate) fn get(&self, mutant: &Mutant) -> Option<Outcome> {
        self.known.get(&mutant.name).copied()
    }

    /// Notes what became of a mutant, and which program told.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn add(&mut self, mutant: &Mutant, outcome: Outcome, by: &str) -> io::Result<()> {
        writeln!(self.file, "{}\t{}\t{by}", outcome.word(), mutant.name)?;
        self.known.insert(mutant.name.clone(), outcome);
        Ok(())
    }

    /// A table with a line for each folder or file below a package's source, and the survivors' names below it.
    pub(crate) fn summary(&self, mutants: &[Mutant]) -> String {
        let mut groups: BTreeMap<String, [usize; 6]> = BTreeMap::new();
        let mut survivors = String::new();
        for mutant in mutants {
            let Some(outcome) = self.get(mutant) else {
                continue;
            };
            let group: Vec<&str> = mutant.file.split('/').collect();
            let source = group.iter().position(|part| *part == "src").unwrap_or(0);
            let group = group[..group.len().min(source + 2)].join("/");
            for group in [group, mutant.package.clone()] {
                groups.entry(group).or_default()[outcome as usize] += 1;
            }
            if outcome.survives() {
                survivors.push_str(&format!("{}\t{}\n", outcome.word(), mutant.name));
            }
        }
        let mut text = format!("{:32}", "");
        for outcome in Outcome::ALL {
            text.push_str(&format!("{:>10}", outcome.word()));
        }
        for (group, counts) in groups {
            text.push_str(&format!("\n{group:32}"));
            for count in counts {
                text.push_str(&format!("{count:>10}"));
            }
        }
        format!("{text}\n{survivors}")
    }

    /// The arguments that tell cargo-mutants what is left to it; none if nothing is.
    pub(crate) fn left(&self, mutants: &[Mutant]) -> Vec<String> {
        let left = || {
            let mutants = mutants.iter();
            mutants.filter(|mutant| self.get(mutant) == Some(Outcome::Left))
        };
        let names: Vec<String> = left().map(|mutant| escape(&mutant.name)).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let mut arguments = vec!["--re".to_owned(), format!("^({})$", names.join("|"))];
        // It takes deleted fields for wanted whatever the expression says: only those of the same files, then.
        let files: BTreeSet<&str> = left().map(|mutant| mutant.file.as_str()).collect();
        let files = files.into_iter().map(str::to_owned);
        arguments.extend(files.flat_map(|file| ["--file".to_owned(), file]));
        arguments
    }
}

/// A text as a regular expression that matches it alone.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Results};
    use crate::list::{Genre, Mutant, Place, Span};

    #[test]
    fn what_was_written_down_is_known_to_the_next_run_the_last_line_first() {
        let path = std::env::temp_dir().join(format!("atf-mutants-{}.tsv", std::process::id()));
        let text =
            "missed\ta\t\nunreached\tb\t\nunviable\tc\t\nleft\td (e)\t\ncaught\ta\tatf read\n";
        std::fs::write(&path, text).unwrap();
        let mut results = Results::open(&path).unwrap();
        let mutant = |name: &str| Mutant {
            name: name.into(),
            package: "atf".into(),
            file: "atf/src/ring/mod.rs".into(),
            genre: Genre::FnValue,
            replacement: String::new(),
            span: Span {
                start: Place { line: 1, column: 1 },
            },
        };
        let mutants = ["a", "b", "c", "d (e)", "f"].map(mutant);
        let known = mutants.each_ref().map(|mutant| results.get(mutant));
        let expected = [
            Outcome::Caught,
            Outcome::Unreached,
            Outcome::Unviable,
            Outcome::Left,
        ];
        assert_eq!(known[..4], expected.map(Some));
        assert_eq!(known[4], None);
        let arguments = ["--re", r"^(d \(e\))$", "--file", "atf/src/ring/mod.rs"];
        assert_eq!(results.left(&mutants), arguments);
        assert!(results.left(&mutants[..3]).is_empty());
        results
            .add(&mutants[4], Outcome::Timeout, "atf read")
            .unwrap();
        let summary = Results::open(&path).unwrap().summary(&mutants);
        let lines: Vec<Vec<&str>> = summary
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        // Caught, timeout, missed, unreached, unviable, left.
        assert_eq!(lines[1], ["atf", "1", "1", "0", "1", "1", "1"]);
        assert_eq!(lines[2], ["atf/src/ring", "1", "1", "0", "1", "1", "1"]);
        assert_eq!(lines[3], ["unreached", "b"]);
        std::fs::remove_file(&path).unwrap();
    }
}
