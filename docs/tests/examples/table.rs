//! How to test the examples that do not run as they are: the entries of `table.txt`.
//!
//! `== PLACE` begins the entries for the code blocks of a document, for commands in the `sentences`
//! of all documents, or for commands in `--help`. An entry is an example (for a code block, its
//! first line), followed by an indented line:
//!
//! ```text
//! status N                 it runs in the sandbox, and ends with this status
//! status N of COMMAND      this command runs instead
//! rust                     it is in docs/tests/rust.rs, word for word
//! parses                   it parses in its language
//! WHY: FILE has `WORDS`    this file, which contains the words, runs or checks it
//! WHY: not run             it shows a form, so there is nothing to run
//! ```
//!
//! `== placeholders` begins the words that are replaced in commands, with their replacements.
//!
//! A command without an entry must run as written and succeed. The tests fail for any other example
//! without an entry, and for an entry that is in no document.

use std::sync::LazyLock;

/// How an example is tested.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// Runs in the [sandbox](crate::sandbox), ends with this status, and prints the output shown in
    /// a console block. If an example has placeholders, the given command runs in its place.
    Runs(i32, Option<&'static str>),
    /// Is also in a test in `docs/tests/rust.rs`, word for word.
    Rust,
    /// Parses in its language.
    Parses,
    /// Does not run here. Contains the file that runs or checks the example, and words that this
    /// file contains.
    Elsewhere(&'static str, &'static str),
    /// Shows the form of a command, so there is nothing to run.
    Form,
}

/// An entry of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: &'static str,
    pub(crate) example: &'static str,
    /// The indented line.
    test: &'static str,
}

pub(crate) static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let (mut entries, mut place, mut example) = (Vec::new(), "", "");
    let lines = include_str!("table.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.trim().starts_with("// ")) {
        if let Some(name) = line.strip_prefix("== ") {
            place = name;
        } else if let Some(test) = line.strip_prefix("    ") {
            entries.push(Entry {
                place,
                example,
                test,
            });
        } else {
            example = line;
        }
    }
    entries
});

/// Returns how an example is tested, if it has an entry.
pub(crate) fn find(place: &str, example: &str) -> Option<How> {
    let mut entries = ENTRIES.iter();
    let entry = entries.find(|it| it.place == place && it.example == example)?;
    let how = entry.how();
    Some(how.unwrap_or_else(|| panic!("table.txt: {entry:?}")))
}

/// Returns the placeholders and their replacements, in the order in which they are replaced.
pub(crate) fn placeholders() -> impl Iterator<Item = (&'static str, &'static str)> {
    let entries = ENTRIES.iter().filter(|it| it.place == "placeholders");
    entries.map(|it| (it.example, it.test))
}

impl Entry {
    /// Parses the indented line.
    fn how(&self) -> Option<How> {
        if let Some(status) = self.test.strip_prefix("status ") {
            let command = status.split_once(" of ");
            let status = command.map_or(status, |(status, _)| status);
            return Some(How::Runs(status.parse().ok()?, command.map(|(_, it)| it)));
        }
        match self.test {
            "rust" => Some(How::Rust),
            "parses" => Some(How::Parses),
            test => match test.split_once(": ")? {
                (_, "not run") => Some(How::Form),
                (_, elsewhere) => {
                    let (file, words) = elsewhere.split_once(" has `")?;
                    Some(How::Elsewhere(file, words.strip_suffix('`')?))
                }
            },
        }
    }
}
