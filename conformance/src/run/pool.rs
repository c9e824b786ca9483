//! Runs cases in parallel, each under a warden. Results are in the order of the cases.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{self, Cases};
use super::outside::watch;
use super::persistent::Servers;
use super::store::WrittenStore;
use super::warden::{End, Warden, is_shortage};
use super::{About, Ended, Graded, Limits, Options, Task};
use crate::protocol::{Answer, Feature, Manifest, differences};
use crate::results::{CaseResult, Grading, Note, Outcome, Role, UNSTABLE};

/// How long to wait for a missing system resource before trying again.
const PAUSE: Duration = Duration::from_millis(20);

/// A task and the implementation that performs it.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The index of the implementation.
    pub testee: usize,
    /// The implementation's manifest.
    pub manifest: &'a Manifest,
    /// The task.
    pub task: &'a dyn Task,
}

/// A pool that runs cases in parallel.
#[derive(Debug)]
pub struct Pool<'a> {
    pub(super) options: &'a Options,
    /// Whether the last case waited for a resource in vain, so that the next one does not wait.
    is_short: AtomicBool,
    // The idle wardens, which must be dropped before the folder is removed.
    idle: Mutex<Vec<Warden>>,
    pub(super) servers: Servers,
    cases: Cases,
    /// The sessions of writers that passed.
    pub(super) keep: WrittenStore,
}

impl<'a> Pool<'a> {
    /// Creates an empty folder for the cases. Wardens are started on demand.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    pub fn new(options: &'a Options) -> io::Result<Self> {
        let cases = Cases::new_in(&options.folder)?;
        Ok(Self {
            options,
            is_short: AtomicBool::new(false),
            idle: Mutex::new(Vec::new()),
            servers: Servers::default(),
            keep: WrittenStore::new(cases.run())?,
            cases,
        })
    }

    /// Runs all tasks. Calls `progress` with the number of finished tasks and the total number.
    ///
    /// # Errors
    ///
    /// Returns an error if the kit itself cannot continue.
    pub fn run(
        &self,
        work: &[Work<'_>],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> io::Result<Vec<CaseResult>> {
        let (done, count) = (AtomicUsize::new(0), work.len());
        self.map(work, |work| {
            let result = self.case(work);
            let done = done.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            progress(done, count);
            result
        })
    }

    /// Returns whether an implementation supports a task.
    #[must_use]
    pub fn asks(&self, manifest: &Manifest, task: &dyn Task) -> bool {
        manifest.command(task.about().role).is_some() && unsupported(manifest, task).is_none()
    }

    /// Applies `one` to all items and returns the results in order. Makes at most as many calls in
    /// parallel as the run has jobs.
    pub(super) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        one: impl Fn(&T) -> io::Result<R> + Sync,
    ) -> io::Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<io::Result<R>>>> =
            items.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let seq = next.fetch_add(1, Ordering::Relaxed);
                let Some((item, place)) = items.get(seq).zip(results.get(seq)) else {
                    return;
                };
                let result = one(item);
                if result.is_err() {
                    // The kit cannot continue, so start no other items.
                    next.store(items.len(), Ordering::Relaxed);
                }
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.options.jobs.get().min(items.len()) {
                // If a thread cannot be started, this thread does its work instead.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let taken = results
            .into_iter()
            .filter_map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
        taken.collect()
    }

    /// Runs a case and returns its result. Skips the case if the implementation does not support
    /// it.
    pub(super) fn case(&self, work: &Work<'_>) -> io::Result<CaseResult> {
        let (manifest, task) = (work.manifest, work.task);
        let run = match unsupported(manifest, task) {
            Some(why) => Attempt::skipped(why),
            None => self.repeated(work)?,
        };
        let about = task.about();
        Ok(CaseResult {
            testee: work.testee,
            role: about.role,
            case: about.name.to_owned(),
            rules: about.rules.iter().map(|rule| (*rule).to_owned()).collect(),
            note: about.note.to_owned(),
            not_graded: match run.graded.outcome {
                Outcome::Skipped { .. } => Vec::new(),
                _ => task.not_graded(manifest),
            },
            share: run.graded.share * task.share(manifest),
            files: task.files(),
            outcome: run.graded.outcome,
            notes: run.graded.notes,
            listed: None,
            elapsed: run.elapsed,
            stderr: run.stderr,
        })
    }

    /// Runs a case once, with a persistent process if `served` is its command. Keeps the files of a
    /// writer that passes if `keeps`.
    pub(super) fn once(
        &self,
        work: &Work<'_>,
        served: Option<&[String]>,
        keeps: bool,
    ) -> io::Result<Attempt> {
        let (manifest, task) = (work.manifest, work.task);
        let grade = |ended: &Ended, place: &Path| {
            let mut graded = task.grade(manifest, ended, place);
            if self.options.grading == Grading::Data {
                graded.outcome.forget_labels();
            }
            let is_session = manifest.has(Feature::Session);
            if keeps
                && let (Outcome::Passed, Some(written)) = (&graded.outcome, task.writes(place))
                && let Err(error) = self.keep.take(work.testee, is_session, written)
            {
                let text = format!("its files cannot be passed to readers: {error}");
                graded.notes.push(Note::advice(text));
            }
            let reads = task.about().role != Role::Write;
            let code = ended.exit_code().ok().filter(|_| reads);
            Attempt {
                graded,
                elapsed: ended.elapsed,
                stderr: ended.stderr.clone(),
                answer: code.map(|code| (code, ended.output.clone())),
            }
        };
        let (mut run, removed) = self.with(manifest, task, served, grade)?;
        let failed = removed.err();
        let note = failed.map(|error| format!("cannot remove its folder: {error}"));
        run.graded.notes.extend(note.map(Note::advice));
        Ok(run)
    }

    /// Runs an implementation's program for a task in a fresh folder, or asks its persistent process
    /// if `served` is its command, and calls `then` with the outcome and the folder. Returns the
    /// result of `then`, and whether the folder could be removed.
    ///
    /// If the system has run out of a resource, tries again, because an implementation that
    /// exhausts it loses it when its case ends. If that takes longer than a case may, or if the
    /// program cannot be run for any other reason, the outcome is [`End::Unwatched`]: an
    /// implementation may have damaged the kit's files, and the others are still graded. Fails only
    /// if the run is interrupted.
    pub(super) fn with<R>(
        &self,
        manifest: &Manifest,
        task: &dyn Task,
        served: Option<&[String]>,
        then: impl FnOnce(&Ended, &Path) -> R,
    ) -> io::Result<(R, io::Result<()>)> {
        let Limits { time, margin, .. } = self.options.limits;
        // As in `Warden::run`, count pauses instead of measuring time.
        let mut left = if self.is_short.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            time.saturating_add(margin)
        };
        loop {
            self.options.check_interrupt()?;
            let own = self.cases.next();
            // One level deeper, so that the program's parent folder also belongs to it alone.
            let folder = own.join("run");
            let input = folder.join("case");
            let ran = folder::create(&own);
            let ran = ran.and_then(|()| self.run_in(&folder, &input, manifest, task, served));
            let is_short = ran.as_ref().is_err_and(is_shortage);
            if is_short && !left.is_zero() {
                let _ = folder::remove(&own);
                thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
                continue;
            }
            self.is_short.store(is_short, Ordering::Relaxed);
            // Reports must not depend on the folder's name, which differs between runs.
            let name = folder.to_string_lossy();
            let mut ended = match ran {
                Ok(ended) => ended,
                Err(error) => {
                    self.options.check_interrupt()?;
                    let what = if is_short {
                        "lacked a resource"
                    } else {
                        "could not run the case"
                    };
                    let error = error.to_string().replace(name.as_ref(), "…");
                    unwatched(format!("the kit itself {what}: {error}"), Duration::ZERO)
                }
            };
            ended.stderr = ended.stderr.replace(name.as_ref(), "…");
            let result = then(&ended, &input);
            return Ok((result, folder::remove(&own)));
        }
    }

    /// Creates a folder with the files of a task in `input`, and runs an implementation's program in
    /// another subfolder, or asks its persistent process.
    fn run_in(
        &self,
        folder: &Path,
        input: &Path,
        manifest: &Manifest,
        task: &dyn Task,
        served: Option<&[String]>,
    ) -> io::Result<Ended> {
        let work = folder.join("work");
        fs::create_dir_all(input)?;
        fs::create_dir(&work)?;
        let placeholders = task.prepare(input)?;
        let opened = watch(task.decoys(input));
        let limits = self.options.limits;
        let limits = Limits {
            file_size: task.file_size(),
            output: task.output().unwrap_or(u64::MAX).min(limits.output),
            ..limits
        };
        let ran = match served {
            Some(command) => {
                let start = Instant::now();
                let (servers, options) = (&self.servers, self.options);
                let asked = servers.ask(command, &placeholders, &limits, options, &self.cases);
                self.watched(asked, start)
            }
            None => self.end(manifest, task, &placeholders, &work, &limits),
        };
        let mut ended = ran?;
        ended.opened = opened();
        Ok(ended)
    }

    /// Runs an implementation's program for a task under a warden.
    fn end(
        &self,
        manifest: &Manifest,
        task: &dyn Task,
        placeholders: &[(&str, PathBuf)],
        work: &Path,
        limits: &Limits,
    ) -> io::Result<Ended> {
        let command = manifest.command(task.about().role).unwrap_or_default();
        let (program, arguments) = command.split_at(command.len().min(1));
        let arguments = arguments.iter();
        let arguments = arguments.map(|argument| fill_in(argument, placeholders));
        let command: Vec<String> = program.iter().cloned().chain(arguments).collect();
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut warden = match taken {
            Some(warden) => warden,
            None => Warden::start(&self.options.kit, self.cases.run())?,
        };
        let start = Instant::now();
        let ran = warden.run(&command, work, None, limits, &self.options.interrupt);
        if ran.is_ok() {
            idle().push(warden);
        }
        self.watched(ran, start)
    }

    /// Turns a warden's failure into an outcome, unless a system resource is exhausted or the run
    /// is interrupted.
    fn watched(&self, ran: io::Result<Ended>, start: Instant) -> io::Result<Ended> {
        match ran {
            Ok(ended) => Ok(ended),
            Err(error) if is_shortage(&error) => Err(error),
            Err(error) => {
                self.options.check_interrupt()?;
                Ok(unwatched(error.to_string(), start.elapsed()))
            }
        }
    }
}

/// The result of running a case once.
pub(super) struct Attempt {
    graded: Graded,
    elapsed: Duration,
    stderr: String,
    /// A reader's or validator's exit code and output.
    answer: Option<(i32, Vec<u8>)>,
}

impl Attempt {
    fn skipped(why: String) -> Self {
        Self {
            graded: Outcome::Skipped { why }.into(),
            elapsed: Duration::ZERO,
            stderr: String::new(),
            answer: None,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.graded.outcome, Outcome::Failed { .. })
    }

    /// Returns whether another run of the same case has the same result.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.graded.outcome, &other.graded.outcome) {
            // Messages on missing answers contain measured times and sizes.
            (Outcome::Failed { class: one, .. }, Outcome::Failed { class: other, .. })
                if one.is_broken() =>
            {
                one == other
            }
            (one, other) if one != other => false,
            _ => self.answer == other.answer || self.has_same_document(other),
        }
    }

    /// Returns whether two answers are equal as documents.
    fn has_same_document(&self, other: &Self) -> bool {
        let document = |run: &Self| {
            let (code, output) = run.answer.as_ref()?;
            Answer::parse(*code, output).ok()
        };
        match (document(self), document(other)) {
            (Some(Answer::Document(one, own)), Some(Answer::Document(other, others))) => {
                one == other && differences(&own, &others, &[]).is_empty()
            }
            (one, other) => one == other,
        }
    }

    /// Adds a note that the results of a case differ.
    pub(super) fn differs(&mut self, text: &str) {
        let note = Note::advice(format!("{UNSTABLE}{text}"));
        self.graded.notes.push(note);
    }

    pub(super) fn describe(&self) -> String {
        match &self.graded.outcome {
            Outcome::Passed => "passes".to_owned(),
            Outcome::Skipped { .. } => "skips the case".to_owned(),
            Outcome::Failed { class, message, .. } => {
                format!("fails ({}: {message})", class.name())
            }
        }
    }
}

/// Creates the outcome of a process that was not watched to its end.
fn unwatched(why: String, elapsed: Duration) -> Ended {
    Ended {
        end: End::Unwatched(why),
        output: Vec::new(),
        stderr: String::new(),
        elapsed,
        opened: Ok(Vec::new()),
    }
}

/// Returns why an implementation does not support a task.
pub(super) fn unsupported(manifest: &Manifest, task: &dyn Task) -> Option<String> {
    let About { wire, needs, .. } = task.about();
    if !manifest.wire.contains(&wire) {
        return Some(format!("wire version {wire}"));
    }
    let mut needs = needs.iter();
    let missing = needs.find(|feature| !manifest.has(**feature))?;
    Some(format!("feature {}", missing.name()))
}

/// Replaces the placeholders in an argument in one pass, so that text in a path is never mistaken
/// for a placeholder.
#[must_use]
pub fn fill_in(argument: &str, placeholders: &[(&str, PathBuf)]) -> String {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let found = placeholders.iter().find_map(|(name, path)| {
            let after = after.strip_prefix(name)?.strip_prefix('}')?;
            Some((path.to_string_lossy(), after))
        });
        let (value, after) = found.unwrap_or(("{".into(), after));
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    filled
}
