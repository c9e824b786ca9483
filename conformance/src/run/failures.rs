//! Reads lists of known failures and finds their stale entries.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};

use crate::protocol::text::read_text;
use crate::results::{CaseResult, Failure, Grading, Outcome, Role};

/// A list of known failures.
#[derive(Debug, Clone)]
pub struct Failures {
    path: PathBuf,
    lines: Vec<Line>,
}

#[derive(Debug, Clone)]
enum Line {
    /// An empty line or a comment.
    Other(String),
    /// An invalid line, and why the line is invalid.
    Wrong(String, String),
    Entry(Entry),
}

#[derive(Debug, Clone)]
struct Entry {
    text: String,
    class: Failure,
    cases: GlobMatcher,
    reason: String,
}

/// The parts that a run covered, which determine whether the entries of a failure list are stale.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Whether all roles ran. If not, an entry is stale only if it matches no case, because another
    /// role may fail.
    pub all_roles: bool,
    /// The graded parts. If labels were not graded, lines about labels are not stale.
    pub grading: Grading,
    /// Whether SHOULDs were denied. If not, lines about SHOULDs are not stale.
    pub denies_shoulds: bool,
    /// The cases that the implementation could run, but that were not selected. Their lines are
    /// kept and not stale.
    pub unselected: &'a BTreeSet<&'a str>,
    /// Whether the implementation is a reader or validator, but received no other writer's files.
    /// If so, passing a script does not make a line stale, because it may be about such files.
    pub only_own_files: bool,
}

impl Scope<'_> {
    /// Returns whether the run would have shown a failure of this class in every role.
    fn covers(self, class: Failure) -> bool {
        let is_graded = match class {
            Failure::WrongLabel => self.grading == Grading::All,
            Failure::Should => self.denies_shoulds,
            _ => true,
        };
        is_graded && self.all_roles
    }
}

/// The outcomes of one case over all roles.
#[derive(Default)]
struct Ways {
    /// The classes of the case's failures.
    failed: BTreeSet<Failure>,
    /// Whether the case ran in any role.
    ran: bool,
    /// Whether the case is a script that the implementation writes.
    is_written: bool,
    /// Whether the case was read or validated.
    is_read: bool,
}

impl Ways {
    /// Returns whether a failure of this class can occur with the files of another writer, which
    /// were not read.
    fn is_undecided(&self, class: Failure, scope: Scope<'_>) -> bool {
        let is_of_writers = matches!(class, Failure::Rule | Failure::WrongFile | Failure::Should);
        // Readers do not receive the files of every script.
        let is_unread = self.ran && self.failed.is_empty() && !self.is_read;
        scope.only_own_files && self.is_written && !is_of_writers && !is_unread
    }
}

impl Failures {
    /// Reads a list. Invalid lines are reported by [`apply`](Self::apply).
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::parse(path, &read_text(path)?))
    }

    /// Parses a list. Messages refer to the list as `path`.
    #[must_use]
    pub fn parse(path: &Path, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            lines: text.lines().map(Line::parse).collect(),
        }
    }

    /// Marks the implementation's failures that are on the list as known, and returns the list's
    /// stale lines.
    ///
    /// `results` are the implementation's results, and `names` are the names of all existing cases.
    /// A list covers all roles and both grades. `scope` describes which of these ran.
    pub fn apply(
        &self,
        results: &mut [&mut CaseResult],
        names: &BTreeSet<&str>,
        scope: Scope<'_>,
    ) -> Vec<String> {
        for result in results.iter_mut() {
            let class = result.outcome.class();
            result.listed = self.lines.iter().find_map(|line| match line {
                Line::Entry(it) if Some(it.class) == class && it.cases.is_match(&result.case) => {
                    Some(it.reason.clone())
                }
                _ => None,
            });
        }
        let ways = ways(results.iter().map(|result| &**result));
        let mut stale = Vec::new();
        for (number, line) in (1_usize..).zip(&self.lines) {
            let mut say =
                |why: &str| stale.push(format!("{}:{number}: {why}", self.path.display()));
            match line {
                Line::Other(_) => {}
                Line::Wrong(_, why) => say(why),
                Line::Entry(entry) => entry.check(&ways, names, scope, &mut say),
            }
        }
        stale
    }

    /// Returns the list, updated for these results. Removes stale lines and appends unlisted
    /// failures with `reason`. If the reason is empty, it must be filled in later. A comment is
    /// removed once all lines directly below it are gone.
    #[must_use]
    pub fn updated(
        &self,
        results: &[&CaseResult],
        names: &BTreeSet<&str>,
        scope: Scope<'_>,
        reason: &str,
    ) -> String {
        let ways = ways(results.iter().copied());
        let mut text = String::new();
        let mut listed: BTreeSet<(Failure, &str)> = BTreeSet::new();
        let (mut comments, mut entries) = (String::new(), None::<String>);
        // The lines that belong to a comment end before the next comment or empty line, or at the
        // end of the list.
        for line in self.lines.iter().map(Some).chain([None]) {
            let is_entry = matches!(line, Some(Line::Entry(_)));
            if !is_entry && let Some(kept) = entries.take() {
                if !kept.is_empty() {
                    text.push_str(&comments);
                }
                text.push_str(&kept);
                comments.clear();
            }
            match line {
                Some(Line::Other(line)) if line.trim().is_empty() => {
                    text.push_str(&std::mem::take(&mut comments));
                    push(&mut text, line);
                }
                Some(Line::Other(line)) => push(&mut comments, line),
                Some(Line::Wrong(line, _)) => {
                    text.push_str(&std::mem::take(&mut comments));
                    push(&mut text, line);
                }
                Some(Line::Entry(entry)) => {
                    let kept = entries.get_or_insert_default();
                    entry.updated(&ways, names, scope, &mut listed, kept);
                }
                None => text.push_str(&comments),
            }
        }
        for result in results {
            if let Outcome::Failed { class, message, .. } = &result.outcome
                && listed.insert((*class, &result.case))
            {
                push(&mut text, &format!("# {}", message.replace('\n', " ")));
                push(&mut text, &entry_line(*class, &result.case, reason));
            }
        }
        text
    }
}

impl Line {
    fn parse(line: &str) -> Self {
        let text = line.to_owned();
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return Self::Other(text);
        }
        let (class, rest) = word(trimmed);
        let (cases, reason) = word(rest);
        let Some(class) = Failure::ALL.iter().find(|known| known.name() == class) else {
            let names: Vec<_> = Failure::ALL.iter().map(|known| known.name()).collect();
            let names = names.join(", ");
            return Self::Wrong(
                text,
                format!("unknown class {class}; known classes: {names}"),
            );
        };
        if cases.is_empty() {
            return Self::Wrong(text, "no case pattern".to_owned());
        }
        match Glob::new(cases) {
            Err(error) => Self::Wrong(text, error.to_string()),
            Ok(glob) => Self::Entry(Entry {
                text,
                class: *class,
                cases: glob.compile_matcher(),
                reason: reason.to_owned(),
            }),
        }
    }
}

impl Entry {
    fn check(
        &self,
        ways: &BTreeMap<&str, Ways>,
        names: &BTreeSet<&str>,
        scope: Scope<'_>,
        say: &mut dyn FnMut(&str),
    ) {
        let cases = self.cases.glob();
        if self.reason.is_empty() {
            say("no reason");
        }
        if !names.iter().any(|name| self.cases.is_match(name)) {
            return say(&format!("{cases} matches no case"));
        }
        if !scope.covers(self.class) {
            return;
        }
        let matched = || ways.iter().filter(|(name, _)| self.cases.is_match(name));
        let undecided = |ways: &Ways| ways.is_undecided(self.class, scope);
        let is_whole =
            self.unselected(scope).next().is_none() && !matched().any(|(_, ways)| undecided(ways));
        if is_whole && matched().next().is_some() && matched().all(|(_, ways)| !ways.ran) {
            return say(&format!("{cases} matches only skipped cases"));
        }
        let class = self.class.name();
        for (name, ways) in matched().filter(|(_, ways)| ways.ran) {
            if ways.failed.contains(&self.class) || undecided(ways) {
                continue;
            }
            let others: Vec<_> = ways.failed.iter().map(|class| class.name()).collect();
            match others.as_slice() {
                [] => say(&format!("{name} passes")),
                others => say(&format!(
                    "{name} fails as {}, not {class}",
                    others.join(", ")
                )),
            }
        }
    }

    /// Returns the matching cases that were not selected.
    fn unselected<'a>(&self, scope: Scope<'a>) -> impl Iterator<Item = &'a str> {
        let names = scope.unselected.iter().copied();
        names.filter(|name| self.cases.is_match(name))
    }

    fn updated<'a>(
        &self,
        ways: &BTreeMap<&'a str, Ways>,
        names: &BTreeSet<&str>,
        scope: Scope<'_>,
        listed: &mut BTreeSet<(Failure, &'a str)>,
        text: &mut String,
    ) {
        if !names.iter().any(|name| self.cases.is_match(name)) {
            return;
        }
        let matched = ways.iter().filter(|(name, _)| self.cases.is_match(name));
        let matched: Vec<_> = matched.collect();
        let fails = |ways: &Ways| ways.failed.contains(&self.class);
        let stays = |ways: &Ways| fails(ways) || ways.is_undecided(self.class, scope);
        // If the run did not include the case or the role, the line may still be correct.
        let is_covered = !matched.is_empty() && scope.covers(self.class);
        let kept = matched.iter().filter(|(_, ways)| stays(ways));
        let kept = kept.map(|(name, _)| **name).chain(self.unselected(scope));
        let kept: BTreeSet<&str> = kept.collect();
        let all_stay = matched.iter().all(|(_, ways)| !ways.ran || stays(ways));
        if !is_covered || all_stay && !kept.is_empty() {
            push(text, &self.text);
        } else {
            for name in kept {
                push(text, &entry_line(self.class, name, &self.reason));
            }
        }
        let holds = matched.iter().filter(|(_, ways)| fails(ways));
        listed.extend(holds.map(|(name, _)| (self.class, **name)));
    }
}

/// Collects the outcomes of each case over all roles.
fn ways<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> BTreeMap<&'a str, Ways> {
    let mut ways: BTreeMap<&str, Ways> = BTreeMap::new();
    for result in results {
        let ways = ways.entry(&result.case).or_default();
        let has_run = !matches!(result.outcome, Outcome::Skipped { .. });
        ways.ran |= has_run;
        ways.is_written |= result.role == Role::Write;
        ways.is_read |= result.role.reads() && has_run;
        ways.failed.extend(result.outcome.class());
    }
    ways
}

/// Splits off the first word.
fn word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

fn entry_line(class: Failure, case: &str, reason: &str) -> String {
    let (class, case) = (class.name(), globset::escape(case));
    let line = format!("{class:13} {case} {reason}");
    line.trim_end().to_owned()
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
