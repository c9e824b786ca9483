//! Runs every reader and validator on every writer's files. A reader must return the content of the
//! script, and a validator must return the correct verdict.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    let mut written = pool.keep.lock().clone();
    // Writers finish in any order.
    written.sort_by_key(|written| written.writer);
    let decoded = Decoded {
        capacity: pool.options.jobs.get(),
        recent: Mutex::default(),
    };
    let mut tasks = Vec::new();
    // All readers of a session run in succession, so that it is decoded only once.
    for written in &written {
        for (reader, manifest) in testees {
            let roles = [Role::Read, Role::Validate].into_iter();
            for role in roles.filter(|role| manifest.command(*role).is_some()) {
                let parts = CrossTask::all(role, manifest, written, &decoded).into_iter();
                tasks.extend(parts.map(|task| (*reader, *manifest, task)));
            }
        }
    }
    let work = tasks.iter().map(|(reader, manifest, task)| Work {
        testee: *reader,
        manifest,
        task,
    });
    let work: Vec<_> = work.collect();
    let writers = tasks.iter().map(|(_, _, task)| task.written.writer);
    let results: Vec<_> = writers.zip(pool.run(&work, progress)?).collect();
    let name = |writer| {
        let mut testees = testees.iter();
        let found = testees.find(|(testee, _)| *testee == writer);
        found.map_or("", |(_, manifest)| manifest.name.as_str())
    };
    Ok((matrix(&results), cases(results, name)))
}

/// The expected documents of the sessions that were decoded last.
#[derive(Debug)]
struct Decoded {
    capacity: usize,
    recent: Mutex<VecDeque<(Arc<Written>, Arc<Documents>)>>,
}

impl Decoded {
    /// Returns a session's documents, or a message if a file is no longer readable.
    fn documents(&self, written: &Arc<Written>) -> Result<Arc<Documents>, String> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = recent.iter();
        if let Some((_, documents)) = known.find(|(known, _)| Arc::ptr_eq(known, written)) {
            return Ok(Arc::clone(documents));
        }
        let documents = Documents::read(&written.scripted.script, &written.folder)?;
        let documents = Arc::new(documents);
        recent.push_back((Arc::clone(written), Arc::clone(&documents)));
        if recent.len() > self.capacity {
            recent.pop_front();
        }
        Ok(documents)
    }
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
    reader: &'a Manifest,
    written: Arc<Written>,
    decoded: &'a Decoded,
    subject: Subject,
    needs: [Feature; 1],
    /// The path within the session folder; empty for the folder itself.
    path: String,
    facts: OnceLock<Facts>,
}

/// Facts about a task that do not depend on its result.
#[derive(Default)]
struct Facts {
    output: Option<u64>,
    not_graded: Vec<Lack>,
    share: f64,
    files: Files,
}

impl<'a> CrossTask<'a> {
    /// Returns the tasks for a session: one per file, and one for the folder if the reader supports
    /// sessions.
    fn all(
        role: Role,
        reader: &'a Manifest,
        written: &Arc<Written>,
        decoded: &'a Decoded,
    ) -> Vec<Self> {
        let part = |subject: Subject, path: &str| Self {
            role,
            reader,
            written: Arc::clone(written),
            decoded,
            subject,
            needs: [subject.into()],
            path: path.to_owned(),
            facts: OnceLock::new(),
        };
        let mut parts = Vec::new();
        for path in &written.files {
            match path.rsplit('/').next() {
                Some(INDEX_FILE) => parts.push(part(Subject::Index, path)),
                Some(DETAIL_FILE) => parts.push(part(Subject::Detail, path)),
                _ => {}
            }
        }
        // A reader that supports session folders must also read single files.
        // A writer that does not claim sessions may write an incomplete folder.
        if reader.has(Feature::Session) && written.is_session && !parts.is_empty() {
            parts.push(part(Subject::Session, ""));
        }
        parts
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| match self.reading() {
            Ok(reading) => Facts {
                output: reading.output(),
                not_graded: reading.not_graded(self.reader),
                share: reading.share(self.reader),
                files: reading.files(),
            },
            Err(_) => Facts {
                share: 1.0,
                ..Facts::default()
            },
        })
    }

    /// Creates a task for the part, as if it were a case of the corpus. Returns a message if the
    /// part has no expected document.
    fn reading(&self) -> Result<Reading, String> {
        let Written {
            scripted,
            files,
            broken,
            ..
        } = &*self.written;
        let documents = self.decoded.documents(&self.written)?;
        let document = |path: &str| {
            let mut all = documents.index.iter().chain(&documents.detail);
            all.find(|(known, _)| known == path).map(|(_, it)| it)
        };
        let is_session = self.subject == Subject::Session;
        let expected = if is_session {
            documents.session.as_ref()
        } else {
            document(&self.path)
        };
        let is_own = |(file, _): &&(String, &str)| is_session || *file == self.path;
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
            path: self.path.clone(),
            subject: self.subject,
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
        Ok(Reading::new(self.role, Arc::new(case)))
    }

    fn compare(&self, manifest: &Manifest, verdict: Verdict, document: &Value) -> Outcome {
        let mut outcome = match self.reading() {
            Ok(reading) => reading.compare(manifest, verdict, document),
            Err(why) => return Outcome::Skipped { why },
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
            rules: &self.written.rules,
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
        let path = match self.path.as_str() {
            "" => out,
            path => out.join(path),
        };
        Ok(vec![("path", path)])
    }

    fn output(&self) -> Option<u64> {
        self.facts().output
    }

    fn not_graded(&self, _: &Manifest) -> Vec<Lack> {
        self.facts().not_graded.clone()
    }

    fn share(&self, _: &Manifest) -> f64 {
        self.facts().share
    }

    fn files(&self) -> Files {
        self.facts().files.clone()
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
