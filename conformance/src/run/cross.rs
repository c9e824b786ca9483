//! Runs every reader and validator on every writer's files. A reader must return the content of the
//! script, and a validator must return the correct verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atf::thread::{DETAIL_FILE, INDEX_FILE};
use serde_json::Value;

use super::Graded;
use super::pool::{Pool, Work};
use super::reading::Reading;
use super::store::Written;
use super::task::{About, Task};
use super::warden::Ended;
use crate::Verdict;
use crate::corpus::{Case, Class, FileVerdicts, Subject};
use crate::lacks::Lack;
use crate::protocol::{Answer, Broken, Feature, Manifest};
use crate::results::{CaseResult, CrossResult, Failure, Files, Outcome, Role};
use crate::written::Documents;

/// Runs all readers on all writers' files. `testees` contains the graded implementations and their
/// indices. Returns a cell for each writer–reader pair, and a result for each reader, script and
/// class of failure, combined over all writers, for failure lists.
pub(super) fn cross(
    pool: &Pool<'_>,
    testees: &[(usize, &Manifest)],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> io::Result<(Vec<CrossResult>, Vec<CaseResult>)> {
    let mut written = pool.keep.take_all();
    // Writers finish in any order.
    written.sort_by_key(|written| written.writer);
    let mut pairs = Vec::new();
    for written in &written {
        for (reader, manifest) in testees {
            let parts = parts(manifest, written);
            if !parts.is_empty() {
                pairs.push((written, *reader, *manifest, parts));
            }
        }
    }
    let done = AtomicUsize::new(0);
    let count: usize = pairs.iter().map(|(.., parts)| parts.len()).sum();
    // A reader gets all parts of a session in succession, so that the session is decoded only once
    // for it, and so that no more decoded sessions than jobs are in memory.
    let results = pool.map(&pairs, |(written, testee, manifest, parts)| {
        let documents = Documents::read(&written.scripted.script, &written.folder);
        let results = parts.iter().map(|(role, subject, path)| {
            let task = CrossTask {
                role: *role,
                written,
                path,
                needs: [(*subject).into()],
                reading: reading(*role, *subject, path, written, &documents),
            };
            let work = Work {
                testee: *testee,
                manifest,
                task: &task,
            };
            let result = pool.case(&work)?;
            let done = done.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            progress(done, count);
            Ok((written.writer, result))
        });
        results.collect::<io::Result<Vec<_>>>()
    })?;
    let results: Vec<_> = results.into_iter().flatten().collect();
    let name = |writer| {
        let mut testees = testees.iter();
        let found = testees.find(|(testee, _)| *testee == writer);
        found.map_or("", |(_, manifest)| manifest.name.as_str())
    };
    Ok((matrix(&results), cases(results, name)))
}

/// A part of a session for one role: its kind, and the path within the session folder, which is
/// empty for the folder itself.
type Part<'a> = (Role, Subject, &'a str);

/// Returns the parts that a reader gets: each file, and the folder if the reader supports sessions.
fn parts<'a>(reader: &Manifest, written: &'a Written) -> Vec<Part<'a>> {
    let files = written.files.iter().filter_map(|path| {
        let subject = match path.rsplit('/').next() {
            Some(INDEX_FILE) => Subject::Index,
            Some(DETAIL_FILE) => Subject::Detail,
            _ => return None,
        };
        Some((subject, path.as_str()))
    });
    let mut parts: Vec<_> = files.collect();
    // A reader that supports session folders must also read single files.
    // A writer that does not claim sessions may write an incomplete folder.
    if reader.has(Feature::Session) && written.is_session && !parts.is_empty() {
        parts.push((Subject::Session, ""));
    }
    let roles = [Role::Read, Role::Validate].into_iter();
    let roles = roles.filter(|role| reader.command(*role).is_some());
    let of_role = |role| {
        let parts = parts.iter();
        parts.map(move |(subject, path)| (role, *subject, *path))
    };
    roles.flat_map(of_role).collect()
}

/// Creates a task for a part of a session, as if it were a case of the corpus. Returns a message if
/// the part has no expected document.
fn reading(
    role: Role,
    subject: Subject,
    path: &str,
    written: &Written,
    documents: &Result<Documents, String>,
) -> Result<Reading, String> {
    let Written {
        scripted,
        files,
        broken,
        ..
    } = written;
    let documents = documents.as_ref().map_err(String::clone)?;
    let is_session = subject == Subject::Session;
    let expected = if is_session {
        documents.session.as_ref()
    } else {
        let mut all = documents.files.iter();
        all.find(|(known, _)| known == path).map(|(_, it)| it)
    };
    let is_own = |(file, _): &&(String, &str)| is_session || file == path;
    let threads = scripted.script.threads().into_keys();
    let file_verdicts = threads.flat_map(|thread| {
        [("index", INDEX_FILE), ("detail", DETAIL_FILE)].map(|(file, name)| FileVerdicts {
            thread,
            file,
            path: format!("thread_{thread}/{name}"),
            ..FileVerdicts::default()
        })
    });
    let mut case = Case {
        name: scripted.name.clone(),
        wire: scripted.wire,
        class: Class::Valid,
        path: path.to_owned(),
        subject,
        note: scripted.note.to_owned(),
        file_verdicts: file_verdicts
            .filter(|file| files.contains(&file.path))
            .collect(),
        expected: expected.cloned().ok_or("it has no expected document")?,
        broken: broken.iter().filter(is_own).cloned().collect(),
        ..Case::default()
    };
    let all = broken.iter().map(|(file, rule)| (file.as_str(), *rule));
    case.judge(&all.collect::<Vec<_>>());
    Ok(Reading::new(role, Arc::new(case)))
}

/// Combines results, each with its writer, into cells.
fn matrix(results: &[(usize, CaseResult)]) -> Vec<CrossResult> {
    // For each pair and script, the worst outcome and all classes of failure, over the script's
    // files. An implementation that both reads and validates must pass in both roles.
    let mut pairs: BTreeMap<(usize, usize, &str), (&Outcome, BTreeSet<Failure>)> = BTreeMap::new();
    for (writer, result) in results {
        let outcome = &result.outcome;
        let (worst, classes) = pairs
            .entry((*writer, result.testee, &result.case))
            .or_insert_with(|| (outcome, BTreeSet::new()));
        if is_worse(outcome, worst) {
            *worst = outcome;
        }
        classes.extend(outcome.class());
    }
    let mut cells: BTreeMap<(usize, usize), CrossResult> = BTreeMap::new();
    for ((writer, reader, script), (outcome, classes)) in pairs {
        let cell = cells
            .entry((writer, reader))
            .or_insert_with(|| CrossResult {
                writer,
                reader,
                ..CrossResult::default()
            });
        match outcome {
            Outcome::Passed => cell.passed += 1,
            Outcome::Skipped { .. } => cell.skipped += 1,
            Outcome::Failed { message, .. } => {
                cell.failed.push((script.to_owned(), message.clone()));
                cell.classes.insert(script.to_owned(), classes);
            }
        }
    }
    cells.into_values().collect()
}

/// Combines the results of each reader, role and script. Each class of failure keeps a result,
/// because failure lists name classes.
fn cases<'a>(
    results: Vec<(usize, CaseResult)>,
    name: impl Fn(usize) -> &'a str,
) -> Vec<CaseResult> {
    let mut cases: BTreeMap<(usize, Role, String), Vec<CaseResult>> = BTreeMap::new();
    for (writer, mut result) in results {
        if let Outcome::Failed { message, .. } = &mut result.outcome {
            *message = format!("written by {}: {message}", name(writer));
        }
        let script = (result.testee, result.role, result.case.clone());
        let of_script = cases.entry(script).or_default();
        let class = result.outcome.class();
        let is_one = |other: &&mut CaseResult| match (class, other.outcome.class()) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        match of_script.iter_mut().find(is_one) {
            Some(other) => other.add(result),
            None => of_script.push(result),
        }
    }
    cases.into_values().flatten().collect()
}

impl CaseResult {
    /// Merges another result of the same case into this one. The worse outcome takes precedence,
    /// and the first of two equally bad ones.
    fn add(&mut self, mut more: Self) {
        let elapsed = self.elapsed + more.elapsed;
        let mut notes = std::mem::take(&mut self.notes);
        notes.append(&mut more.notes);
        let mut not_graded = std::mem::take(&mut self.not_graded);
        not_graded.append(&mut more.not_graded);
        not_graded.sort_unstable();
        not_graded.dedup();
        if is_worse(&more.outcome, &self.outcome) {
            *self = more;
        }
        self.elapsed = elapsed;
        self.notes = notes;
        self.not_graded = not_graded;
    }
}

/// Returns whether an outcome replaces another outcome of the same case. A pass replaces a skip.
fn is_worse(outcome: &Outcome, than: &Outcome) -> bool {
    match (than, outcome) {
        (Outcome::Failed { class: than, .. }, Outcome::Failed { class, .. }) => class < than,
        (Outcome::Failed { .. }, _) => false,
        (_, Outcome::Failed { .. }) => true,
        (Outcome::Skipped { .. }, outcome) => *outcome == Outcome::Passed,
        (Outcome::Passed, _) => false,
    }
}

/// A task to read or validate a part of a written session.
struct CrossTask<'a> {
    role: Role,
    written: &'a Written,
    /// The path within the session folder; empty for the folder itself.
    path: &'a str,
    needs: [Feature; 1],
    /// The task that compares the answer, or why the part has no expected document.
    reading: Result<Reading, String>,
}

impl CrossTask<'_> {
    fn compare(&self, manifest: &Manifest, verdict: Verdict, document: &Value) -> Outcome {
        let mut outcome = match &self.reading {
            Ok(reading) => reading.compare(manifest, verdict, document),
            Err(why) => return Outcome::Skipped { why: why.clone() },
        };
        if let Outcome::Failed {
            message,
            differences,
            ..
        } = &mut outcome
            && !self.path.is_empty()
        {
            let places = differences.iter_mut().map(|one| &mut one.place);
            for text in places.chain([message]) {
                *text = format!("{}: {text}", self.path);
            }
        }
        outcome
    }
}

impl Task for CrossTask<'_> {
    fn about(&self) -> About<'_> {
        About {
            role: self.role,
            name: &self.written.scripted.name,
            wire: self.written.scripted.wire,
            needs: &self.needs,
            rules: &self.written.scripted.rules,
            note: self.written.scripted.note,
        }
    }

    /// Copies the files for each reader, because a reader may change them.
    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let out = place.join("out");
        for file in &self.written.files {
            let to = out.join(file);
            fs::create_dir_all(to.parent().unwrap_or(&out))?;
            fs::copy(self.written.folder.join(file), to)?;
        }
        let path = match self.path {
            "" => out,
            path => out.join(path),
        };
        Ok(vec![("path", path)])
    }

    fn output(&self) -> Option<u64> {
        self.reading.as_ref().ok()?.output()
    }

    fn not_graded(&self, manifest: &Manifest) -> Vec<Lack> {
        let reading = self.reading.as_ref().ok().into_iter();
        reading.flat_map(|it| it.not_graded(manifest)).collect()
    }

    fn share(&self, manifest: &Manifest) -> f64 {
        self.reading.as_ref().map_or(1.0, |it| it.share(manifest))
    }

    fn files(&self) -> Files {
        let reading = self.reading.as_ref();
        reading.map_or_else(|_| Files::default(), Task::files)
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, _: &Path) -> Graded {
        match ended.answer() {
            Err(Broken { class, message }) => {
                Outcome::failed(class, format!("{}: {message}", class.name()))
            }
            Ok(Answer::Unsupported) => Outcome::unsupported(),
            Ok(Answer::Document(verdict, document)) => self.compare(manifest, verdict, &document),
        }
        .into()
    }
}
