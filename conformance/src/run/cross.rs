//! Runs every reader and validator on every writer's files. A reader must return the content of the
//! script, and a validator must return the correct verdict.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use serde_json::Value;

use super::pool::{Pool, Work};
use super::reading::ignored;
use super::store::Written;
use super::task::{About, Task};
use super::warden::Ended;
use super::{Graded, failed};
use crate::lacks::leave_out;
use crate::protocol::{Answer, Broken, Feature, Manifest, Mismatch, differences};
use crate::results::{CaseResult, CrossResult, Difference, Failure, Grade, Outcome, Role};
use crate::written::Documents;

/// The results of readers on writers' files.
#[derive(Debug, Default)]
pub(super) struct CrossResults {
    /// One cell for each writer–reader pair.
    pub(super) matrix: Vec<CrossResult>,
    /// One result for each reader and script, combined over all writers, for failure lists.
    pub(super) cases: Vec<CaseResult>,
}

/// Runs all readers on all writers' files. `testees` contains the graded implementations and their
/// indices.
///
/// # Errors
///
/// Returns an error if the kit itself cannot continue.
pub(super) fn cross(
    pool: &Pool<'_>,
    testees: &[(usize, &Manifest)],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> io::Result<CrossResults> {
    let written = pool.keep.lock().clone();
    let mut tasks = Vec::new();
    for (reader, manifest) in testees {
        let roles = [Role::Read, Role::Validate].into_iter();
        for role in roles.filter(|role| manifest.command(*role).is_some()) {
            for written in &written {
                let parts = CrossTask::all(role, manifest, written).into_iter();
                tasks.extend(parts.map(|task| (*reader, *manifest, task)));
            }
        }
    }
    let work: Vec<_> = tasks
        .iter()
        .map(|(reader, manifest, task)| Work {
            testee: *reader,
            manifest,
            task,
        })
        .collect();
    // For each pair, role and script, the worst result over the script's files.
    let mut pairs = Pairs::new();
    for ((reader, _, task), result) in tasks.iter().zip(pool.run(&work, progress)?) {
        let pair = (task.written.writer, *reader, task.role, result.case.clone());
        match pairs.entry(pair) {
            Entry::Vacant(place) => drop(place.insert(result)),
            Entry::Occupied(mut place) => place.get_mut().add(result),
        }
    }
    let name = |writer| {
        let mut testees = testees.iter();
        let found = testees.find(|(testee, _)| *testee == writer);
        found.map_or("", |(_, manifest)| manifest.name.as_str())
    };
    Ok(CrossResults {
        matrix: matrix(&pairs),
        cases: cases(pairs, name),
    })
}

/// Results by writer, reader, role and script.
type Pairs = BTreeMap<(usize, usize, Role, String), CaseResult>;

fn matrix(pairs: &Pairs) -> Vec<CrossResult> {
    // An implementation that both reads and validates must pass in both roles.
    let mut worst: BTreeMap<(usize, usize, &str), &Outcome> = BTreeMap::new();
    for ((writer, reader, _, script), result) in pairs {
        let outcome = worst
            .entry((*writer, *reader, script))
            .or_insert(&result.outcome);
        if is_worse(&result.outcome, outcome) {
            *outcome = &result.outcome;
        }
    }
    let mut cells: BTreeMap<(usize, usize), CrossResult> = BTreeMap::new();
    for ((writer, reader, script), outcome) in worst {
        let cell = cells
            .entry((writer, reader))
            .or_insert_with(|| CrossResult {
                writer,
                reader,
                passed: 0,
                failed: Vec::new(),
                known: 0,
                skipped: 0,
            });
        match outcome {
            Outcome::Passed => cell.passed += 1,
            Outcome::Skipped { .. } => cell.skipped += 1,
            Outcome::Failed { message, .. } => {
                cell.failed.push((script.to_owned(), message.clone()));
            }
        }
    }
    cells.into_values().collect()
}

fn cases<'a>(pairs: Pairs, name: impl Fn(usize) -> &'a str) -> Vec<CaseResult> {
    let mut cases: BTreeMap<(usize, Role, String), CaseResult> = BTreeMap::new();
    for ((writer, reader, role, script), mut result) in pairs {
        if let Outcome::Failed { message, .. } = &mut result.outcome {
            *message = format!("written by {}: {message}", name(writer));
        }
        match cases.entry((reader, role, script)) {
            Entry::Vacant(place) => drop(place.insert(result)),
            Entry::Occupied(mut place) => place.get_mut().add(result),
        }
    }
    cases.into_values().collect()
}

impl CaseResult {
    /// Merges another result of the same case into this one. The first failure takes precedence,
    /// and a pass takes precedence over a skip.
    fn add(&mut self, mut more: Self) {
        let elapsed = self.elapsed + more.elapsed;
        let mut notes = std::mem::take(&mut self.notes);
        notes.append(&mut more.notes);
        if is_worse(&more.outcome, &self.outcome) {
            *self = more;
        }
        self.elapsed = elapsed;
        self.notes = notes;
    }
}

/// Returns whether an outcome replaces another outcome of the same case.
fn is_worse(outcome: &Outcome, than: &Outcome) -> bool {
    match (than, outcome) {
        (Outcome::Failed { .. }, _) => false,
        (_, Outcome::Failed { .. }) => true,
        (Outcome::Skipped { .. }, outcome) => *outcome == Outcome::Passed,
        (Outcome::Passed, _) => false,
    }
}

/// A task to read or validate a part of a written session.
struct CrossTask {
    role: Role,
    written: Arc<Written>,
    needs: [Feature; 1],
    /// The path within the session folder; empty for the folder itself.
    path: String,
}

impl CrossTask {
    /// Returns the tasks for a session: one per file, and one for the folder if the reader supports
    /// sessions.
    fn all(role: Role, reader: &Manifest, written: &Arc<Written>) -> Vec<Self> {
        let part = |needs, path| Self {
            role,
            written: Arc::clone(written),
            needs: [needs],
            path,
        };
        let mut files = Vec::new();
        for id in written.scripted.script.threads().keys() {
            for (needs, name) in [(Feature::Index, INDEX_FILE), (Feature::Detail, DETAIL_FILE)] {
                let path = format!("thread_{id}/{name}");
                if written.folder.join(&path).is_file() {
                    files.push(part(needs, path));
                }
            }
        }
        // A reader that supports session folders must also read single files.
        if reader.has(Feature::Session) && !files.is_empty() {
            files.push(part(Feature::Session, String::new()));
        }
        files
    }

    /// Returns the expected document of this part, if it has one.
    fn expected(&self) -> Result<Option<Value>, String> {
        let Written {
            scripted, folder, ..
        } = &*self.written;
        let documents = Documents::of(&scripted.script, folder)?;
        if self.path.is_empty() {
            return Ok(documents.session);
        }
        let mut files = documents.index.into_iter().chain(documents.detail);
        Ok(files
            .find(|(path, _)| *path == self.path)
            .map(|(_, document)| document))
    }

    fn compare(&self, manifest: &Manifest, document: &Value) -> Outcome {
        let expected = match self.expected() {
            Ok(expected) => expected.unwrap_or_default(),
            Err(why) => return Outcome::Skipped { why },
        };
        let mut expected = expected;
        leave_out(&mut expected, &manifest.lacks);
        // A validator returns only a verdict.
        let (expected, document) = match self.role {
            Role::Validate => (&expected["verdict"], &document["verdict"]),
            _ => (&expected, document),
        };
        let file = match self.path.as_str() {
            "" => String::new(),
            path => format!("{path}: "),
        };
        let class = match self.role {
            Role::Validate if document == "reject" => Failure::WrongReject,
            Role::Validate => Failure::WrongAccept,
            _ => Failure::WrongDecode,
        };
        let difference = |mismatch: Mismatch| {
            let nothing = || "nothing".to_owned();
            Difference {
                // For a validator, the verdict is the data.
                grade: match self.role {
                    Role::Validate => Grade::Data,
                    _ => mismatch.grade,
                },
                place: match self.role {
                    Role::Validate => format!("{file}verdict"),
                    _ => format!("{file}{}", mismatch.place()),
                },
                expected: mismatch.expected.unwrap_or_else(nothing),
                got: mismatch.got.unwrap_or_else(nothing),
                rule: None,
                hexdump: None,
            }
        };
        let mismatches = differences(expected, document, &ignored(manifest)).into_iter();
        let message = |first: &Difference| {
            format!(
                "{}: {}, expected {}",
                first.place, first.got, first.expected
            )
        };
        Outcome::of_differences(class, message, mismatches.map(difference).collect())
    }
}

impl Task for CrossTask {
    fn about(&self) -> About<'_> {
        About {
            role: self.role,
            name: &self.written.scripted.name,
            wire: self.written.scripted.wire,
            needs: &self.needs,
            rules: &self.written.rules,
            note: self.written.scripted.note,
        }
    }

    /// Copies the files for each reader, because a reader may change them.
    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let out = place.join("out");
        fs::create_dir(&out)?;
        copy(&self.written.folder, &out, MANIFEST_FILE)?;
        for id in self.written.scripted.script.threads().keys() {
            let name = format!("thread_{id}");
            let (from, to) = (self.written.folder.join(&name), out.join(&name));
            if from.is_dir() {
                fs::create_dir(&to)?;
                copy(&from, &to, INDEX_FILE)?;
                copy(&from, &to, DETAIL_FILE)?;
            }
        }
        let path = match self.path.as_str() {
            "" => out,
            path => out.join(path),
        };
        Ok(vec![("path", path)])
    }

    fn output(&self) -> Option<u64> {
        let expected = self.expected().ok()?;
        expected.map(|document| Answer::limit(&document))
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, _: &Path) -> Graded {
        let answer = ended.exit_code();
        let answer = answer.and_then(|code| Answer::of(code, &ended.output));
        let outcome = match answer {
            Err(Broken { class, message }) => failed(class, format!("{}: {message}", class.name())),
            Ok(Answer::Unsupported) => Outcome::Skipped {
                why: "exit code 77".to_owned(),
            },
            Ok(Answer::Document(_, document)) => self.compare(manifest, &document),
        };
        Graded {
            outcome,
            notes: Vec::new(),
        }
    }
}

/// Copies a file, if it exists. Skips symlinks, which are not part of a session and may lead
/// anywhere.
fn copy(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    let from = from.join(name);
    if fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_file()) {
        fs::copy(from, to.join(name)).map(drop)
    } else {
        Ok(())
    }
}
