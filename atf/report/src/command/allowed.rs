//! A list of rules that files may break, each with a reason.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Printable, counted};
use atf::check::FileReport;
use atf::rules;

#[derive(Debug, Default)]
pub(super) struct Allowed {
    path: PathBuf,
    rules: BTreeMap<&'static str, Line>,
}

#[derive(Debug)]
struct Line {
    number: usize,
    reason: String,
    /// In how many files the rule is broken.
    files: u64,
}

impl Allowed {
    /// Reads a list. Each line has a rule's id and a reason; lines that start with `#` are comments.
    ///
    /// # Errors
    ///
    /// Returns a message if the file cannot be read, or with the first invalid line.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let shown = Printable(path.display());
        let text = fs::read_to_string(path).map_err(|error| {
            format!("{shown}: {error}; --allow takes a file with a rule and a reason per line")
        })?;
        let mut this = Self {
            path: path.to_owned(),
            rules: BTreeMap::new(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: &str| format!("{shown}:{number}: {}", Printable(why));
            let (id, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rule = rules::find(id).ok_or_else(|| at(&format!("there is no rule {id}")))?;
            let reason = reason.trim();
            if reason.is_empty() {
                return Err(at(&format!("{id} has no reason")));
            }
            let line = Line {
                number,
                reason: reason.to_owned(),
                files: 0,
            };
            if let Some(first) = this.rules.insert(rule.id, line) {
                return Err(at(&format!("{id} is already on line {}", first.number)));
            }
        }
        Ok(this)
    }

    /// Removes the findings of allowed rules from a file's report.
    pub(super) fn remove_from(&mut self, report: &mut FileReport) {
        report.retain(|finding| match self.rules.get_mut(finding.rule.id) {
            Some(line) => {
                line.files += 1;
                false
            }
            None => true,
        });
    }
}

/// Writes a line for each rule, with the number of files in which it was allowed.
impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, line) in &self.rules {
            let place = format_args!("{}:{}", self.path.display(), line.number).to_string();
            let place = Printable(place);
            match line.files {
                0 => writeln!(f, "{place}: {id} is not broken; remove this line")?,
                count => {
                    let (files, reason) = (counted(count, "file"), Printable(&line.reason));
                    writeln!(f, "{place}: {id} is allowed in {files}: {reason}")?;
                }
            }
        }
        Ok(())
    }
}
