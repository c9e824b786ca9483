//! From a path to new sessions: one thread after the other.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::guess;
use super::job::{Failure, Job, Progress};
use super::manifest::{self, Facts};
use super::report::{Action, LeftBehind, Place, Report, SessionReport, ThreadReport, What};
use super::stage::{self, Stage, at, free_path, is_numbered, names};
use super::thread::{self, ORPHANS, Pair, Rewritten, SALVAGED};
use super::tree::{self, Item, Tree, left_behind};
use crate::detail::DetailReader;
use crate::error::{ErrorKind, Result};
use crate::index::{IndexEvent, IndexReader};
use crate::session::{MANIFEST_FILE, Presence, SessionReader};
use crate::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};

/// The name of the report in a session that was changed.
const RECOVERY: (&str, &str) = ("recovery", ".json");
/// The folder with files that could not be read, as they were.
const UNREADABLE: &str = "unreadable";
/// The name of the buffer of a writer that was killed.
const RING_FILE: &str = "ring.atf";

/// Does the job on what is at `path`, and puts the result at `out`.
pub(super) fn run(job: &Job<'_>, path: &Path, out: &Path) -> Result<Report> {
    let tree = Tree::find(path)?;
    let stage = Stage::create(path, out)?;
    let total = tree.items.iter().map(|item| size(&path.join(&item.below)));
    let total = total.fold(0, u64::saturating_add);
    let mut engine = Engine {
        job,
        progress: Progress::new(job.progress, total),
        done: 0,
    };
    let mut report = Report {
        action: job.action,
        sessions: Vec::new(),
        left_behind: tree.left_behind,
    };
    for item in &tree.items {
        let target = stage.folder().join(&item.below);
        stage::create_folder(&target)?;
        let session = engine.session(&path.join(&item.below), item, &target)?;
        report.sessions.push(session);
        stage::sync_folder(&target, job.durability)?;
    }
    engine.progress.reach(total);
    stage.publish(job.durability)?;
    Ok(report)
}

/// Bytes of the files of a thread, or of all threads of a session.
fn size(folder: &Path) -> u64 {
    let size = |path: PathBuf| fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    let thread = |folder: &Path| {
        let [index, detail] = [INDEX_FILE, DETAIL_FILE].map(|name| size(folder.join(name)));
        index.saturating_add(detail)
    };
    let threads = names(folder).unwrap_or_default().into_iter();
    let threads = threads.filter(|name| tree::thread_id(&name.to_string_lossy()).is_some());
    threads
        .map(|name| thread(&folder.join(name)))
        .fold(thread(folder), u64::saturating_add)
}

struct Engine<'a> {
    job: &'a Job<'a>,
    progress: Progress<'a>,
    /// Bytes of the threads that are done.
    done: u64,
}

/// Where a thread comes from and goes to.
struct Route<'a> {
    from: &'a Path,
    to: &'a Path,
    /// Where files that cannot be read go: the folder, and the name of this thread's in it.
    unreadable: &'a Path,
    id: Option<u32>,
}

impl Engine<'_> {
    fn session(&mut self, path: &Path, item: &Item, out: &Path) -> Result<SessionReport> {
        let mut report = SessionReport {
            folder: item.below.to_string_lossy().into_owned(),
            changed: false,
            threads: Vec::new(),
            manifest: None,
            left_behind: Vec::new(),
        };
        self.keep_earlier(path, out, &mut report)?;
        match item.is_thread {
            true => self.lone_thread(path, out, &mut report)?,
            false => self.threads(path, out, &mut report)?,
        }
        report.changed |= !report.left_behind.is_empty();
        if report.changed && self.job.keeps_rest {
            self.write_report(&report, out)?;
        }
        Ok(report)
    }

    /// Copies what an earlier rewriting left beside the threads.
    fn keep_earlier(&self, path: &Path, out: &Path, report: &mut SessionReport) -> Result<()> {
        for name in names(path)? {
            let text = name.to_string_lossy();
            let from = path.join(&name);
            if is_earlier(&text) {
                if self.job.keeps_rest {
                    let left = stage::copy(&from, &out.join(&name), self.job.durability)?;
                    report.left_behind.extend(linked(path, left));
                } else {
                    let why = "what an earlier recovery set aside";
                    report.left_behind.push(left_behind(Path::new(&name), why));
                }
            }
        }
        Ok(())
    }

    fn write_report(&self, report: &SessionReport, out: &Path) -> Result<()> {
        let path = free_path(out, RECOVERY.0, RECOVERY.1)?;
        let text = serde_json::to_vec_pretty(&Recovery {
            action: self.job.action,
            report,
        });
        let text = text.map_err(|error| at(&path)(error.into()))?;
        stage::write(&path, &text, self.job.durability)
    }

    fn lone_thread(&mut self, path: &Path, out: &Path, report: &mut SessionReport) -> Result<()> {
        let real = fs::canonicalize(path).map_err(at(path))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let route = Route {
            from: path,
            to: out,
            unreadable: &out.join(UNREADABLE),
            id: tree::thread_id(&name),
        };
        let mut thread = ThreadReport::default();
        // Where there is only one thread and it cannot be read, there is nothing to write.
        self.thread(&route, &mut thread, report)?
            .map_err(|failure| match failure {
                Failure::Read(error) | Failure::Write(error) => error,
            })?;
        report.threads.push(thread);
        Ok(())
    }

    fn threads(&mut self, path: &Path, out: &Path, report: &mut SessionReport) -> Result<()> {
        let session = SessionReader::open(path)?;
        let mut facts = Facts::default();
        for entry in session.threads() {
            let name = entry.path().file_name().unwrap_or_default();
            let why = match entry.presence() {
                Presence::Folder => None,
                Presence::SymbolicLink => Some("a symbolic link, which is not followed"),
                Presence::NotAFolder => Some("not a folder"),
                // The new manifest does not list it; the report says so.
                Presence::Missing => continue,
            };
            if let Some(why) = why {
                report.left_behind.push(left_behind(Path::new(name), why));
                continue;
            }
            let unreadable = out.join(UNREADABLE);
            let route = Route {
                from: entry.path(),
                to: &out.join(name),
                unreadable: &match self.job.keeps_rest {
                    true => free_path(&unreadable, &name.to_string_lossy(), "")?,
                    false => unreadable,
                },
                id: Some(entry.id()),
            };
            let mut thread = ThreadReport {
                folder: name.to_string_lossy().into_owned(),
                ..ThreadReport::default()
            };
            match self.thread(&route, &mut thread, report)? {
                Ok(rewritten) => facts.add(entry.id(), &rewritten),
                Err(Failure::Write(error)) => return Err(error),
                Err(Failure::Read(error)) => {
                    thread = ThreadReport {
                        folder: thread.folder,
                        not_recovered: Some(Place::of(INDEX_FILE, &error)),
                        ..ThreadReport::default()
                    };
                    self.give_up(&route, report)?;
                }
            }
            report.threads.push(thread);
        }
        self.others(path, &session, report)?;
        let (manifest, loses) = manifest::rewrite(self.job, path, session.manifest(), &facts, out)?;
        let (old, new) = (path.join(MANIFEST_FILE), out.join(MANIFEST_FILE));
        if loses && self.job.keeps_rest {
            let folder = out.join(UNREADABLE);
            stage::create_folder(&folder)?;
            let to = free_path(&folder, "manifest", ".json")?;
            let left = stage::copy(&old, &to, self.job.durability)?;
            report.left_behind.extend(linked(path, left));
        }
        report.changed |= loses || !stage::is_same(&old, &new)?;
        report.manifest = Some(manifest);
        Ok(())
    }

    /// Names what stands in a session's folder and is no part of it.
    fn others(
        &self,
        path: &Path,
        session: &SessionReader,
        report: &mut SessionReport,
    ) -> Result<()> {
        for name in names(path)? {
            let text = name.to_string_lossy();
            let is_thread = session
                .threads()
                .iter()
                .any(|entry| entry.path().file_name() == Some(&name));
            if !is_thread && text != MANIFEST_FILE && !is_earlier(&text) {
                let why = "no part of a session";
                report.left_behind.push(left_behind(Path::new(&name), why));
            }
        }
        Ok(())
    }

    /// Rewrites a thread. The outer error ends everything, the inner one this thread if it is one
    /// of reading.
    fn thread(
        &mut self,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Result<Rewritten, Failure>> {
        self.done = self.done.saturating_add(size(route.from));
        stage::create_folder(route.to)?;
        self.keep_sides(route, report, session)?;
        let mut rewritten = self.open_and_rewrite(route, report, session);
        self.progress.reach(self.done);
        if rewritten.is_ok()
            && let Err(failure) = self.keep_ring(route, report, session)
        {
            rewritten = Err(failure);
        }
        if rewritten.is_ok() {
            session.changed |= !report.set_aside.is_empty();
            for name in [INDEX_FILE, DETAIL_FILE] {
                session.changed |= !stage::is_same(&route.from.join(name), &route.to.join(name))?;
            }
        }
        Ok(rewritten)
    }

    fn open_and_rewrite(
        &mut self,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<Rewritten, Failure> {
        let detail_path = route.from.join(DETAIL_FILE);
        match ThreadReader::open(route.from) {
            Ok(thread) => {
                for error in thread.disagreements() {
                    let file = match error.kind() {
                        ErrorKind::WrongDetailFlag { .. } => INDEX_FILE,
                        _ => DETAIL_FILE,
                    };
                    report
                        .notes
                        .add(What::HeaderDisagrees, || Place::of(file, &error));
                }
                let guessed = match thread.detail_error() {
                    Some(error) => {
                        self.put_aside(route, DETAIL_FILE, session)?;
                        let place = || Place::of(DETAIL_FILE, error);
                        report.notes.add(What::DetailFileUnreadable, place);
                        self.guess_detail(&detail_path, thread.index(), report)
                    }
                    None => None,
                };
                let detail = thread.detail().or(guessed.as_ref());
                let rewritten = self.rewrite(route, thread.index(), detail, report);
                let ring = thread.ring().map_or(0, |ring| ring.index_bytes);
                report.events.from_ring = ring
                    .checked_div(IndexEvent::SIZE as u64)
                    .unwrap_or_default();
                rewritten
            }
            Err(error) if self.job.salvage && error.kind() != &ErrorKind::SymbolicLink => {
                let detail = DetailReader::open(&detail_path).ok();
                let header = detail.as_ref().map(DetailReader::header);
                let index = guess::index(&route.from.join(INDEX_FILE), route.id, header);
                let Ok(Some(index)) = index else {
                    return Err(Failure::Read(error));
                };
                self.put_aside(route, INDEX_FILE, session)?;
                let place = || Place::of(INDEX_FILE, &error);
                report.notes.add(What::HeaderGuessed, place);
                let detail = match detail {
                    Some(detail) => Some(detail),
                    None if detail_path.exists() => {
                        self.put_aside(route, DETAIL_FILE, session)?;
                        self.guess_detail(&detail_path, &index, report)
                    }
                    None => None,
                };
                self.rewrite(route, &index, detail.as_ref(), report)
            }
            Err(error) => Err(Failure::Read(error)),
        }
    }

    fn rewrite(
        &mut self,
        route: &Route<'_>,
        index: &IndexReader,
        detail: Option<&DetailReader>,
        report: &mut ThreadReport,
    ) -> Result<Rewritten, Failure> {
        let pair = Pair {
            index,
            detail,
            folder_id: route.id,
        };
        thread::rewrite(self.job, pair, route.to, report, &mut self.progress)
    }

    /// A detail file under a header that fits its index.
    fn guess_detail(
        &self,
        path: &Path,
        index: &IndexReader,
        report: &mut ThreadReport,
    ) -> Option<DetailReader> {
        if !self.job.salvage {
            return None;
        }
        let detail = guess::detail(path, index.header()).ok()?;
        let place = || Place::new(DETAIL_FILE, "header", Some(0));
        report.notes.add(What::HeaderGuessed, place);
        Some(detail)
    }

    /// Puts a writer's buffer aside: its events are not read, and must not be lost unsaid.
    fn keep_ring(
        &self,
        route: &Route<'_>,
        report: &mut ThreadReport,
        session: &mut SessionReport,
    ) -> Result<(), Failure> {
        let Ok(metadata) = fs::symlink_metadata(route.from.join(RING_FILE)) else {
            return Ok(());
        };
        // One that was read is in the new files.
        if ThreadReader::open(route.from).is_ok_and(|thread| thread.ring().is_some()) {
            return Ok(());
        }
        report.notes.add(What::RingNotRead, || {
            let size = format!("{} bytes", metadata.len());
            Place::new(RING_FILE, "", None).found(size)
        });
        self.put_aside(route, RING_FILE, session)
    }

    /// Copies a file that cannot be read, as it is.
    fn put_aside(
        &self,
        route: &Route<'_>,
        name: &str,
        session: &mut SessionReport,
    ) -> Result<(), Failure> {
        session.changed = true;
        let from = route.from.join(name);
        if !self.job.keeps_rest || fs::symlink_metadata(&from).is_err() {
            return Ok(());
        }
        let copied = stage::create_folder(route.unreadable)
            .and_then(|()| free_path(route.unreadable, name, ""))
            .and_then(|to| stage::copy(&from, &to, self.job.durability));
        let left = copied.map_err(Failure::Write)?;
        session.left_behind.extend(linked(route.from, left));
        Ok(())
    }

    /// Copies the files that an earlier rewriting left in a thread's folder, and names what does
    /// not belong there.
    fn keep_sides(
        &self,
        route: &Route<'_>,
        report: &ThreadReport,
        session: &mut SessionReport,
    ) -> Result<()> {
        for name in names(route.from)? {
            let text = name.to_string_lossy();
            let below = Path::new(&report.folder).join(&name);
            let is_side = [ORPHANS, SALVAGED]
                .into_iter()
                .any(|(stem, extension)| is_numbered(&text, stem, extension));
            if is_side && self.job.keeps_rest {
                let from = route.from.join(&name);
                let left = stage::copy(&from, &route.to.join(&name), self.job.durability)?;
                session.left_behind.extend(linked(route.from, left));
            } else if is_side {
                let why = "what an earlier recovery set aside";
                session.left_behind.push(left_behind(&below, why));
            } else if !is_known(&text, report.folder.is_empty()) {
                session
                    .left_behind
                    .push(left_behind(&below, "no part of a thread"));
            }
        }
        Ok(())
    }

    /// Puts all files of a thread aside that cannot be read, and removes what was written of it.
    fn give_up(&self, route: &Route<'_>, session: &mut SessionReport) -> Result<()> {
        session.changed = true;
        fs::remove_dir_all(route.to).map_err(at(route.to))?;
        if !self.job.keeps_rest {
            return Ok(());
        }
        if fs::symlink_metadata(route.unreadable).is_ok() {
            fs::remove_dir_all(route.unreadable).map_err(at(route.unreadable))?;
        }
        stage::create_folder(route.unreadable)?;
        for name in names(route.from)? {
            let from = route.from.join(&name);
            match stage::copy(&from, &route.unreadable.join(&name), self.job.durability) {
                Ok(left) => session.left_behind.extend(linked(route.from, left)),
                Err(error) => {
                    let why = format!("cannot be copied: {}", error.kind());
                    session
                        .left_behind
                        .push(left_behind(Path::new(&name), &why));
                }
            }
        }
        Ok(())
    }
}

/// The report as a file: that of one session, and what was done to it.
#[derive(Serialize)]
struct Recovery<'a> {
    action: Action,
    #[serde(flatten)]
    report: &'a SessionReport,
}

/// Whether a thread's file has this name, or in the folder of a thread by itself what an earlier
/// rewriting left there.
fn is_known(name: &str, is_alone: bool) -> bool {
    [INDEX_FILE, DETAIL_FILE, RING_FILE].contains(&name) || (is_alone && is_earlier(name))
}

/// Whether an earlier rewriting left something of this name beside the threads.
fn is_earlier(name: &str) -> bool {
    name == UNREADABLE || is_numbered(name, RECOVERY.0, RECOVERY.1)
}

/// Names what was not copied because it is neither file nor folder.
fn linked(root: &Path, left: Vec<PathBuf>) -> impl Iterator<Item = LeftBehind> + '_ {
    left.into_iter().map(move |path| {
        let below = path.strip_prefix(root).unwrap_or(&path);
        left_behind(below, "neither a regular file nor a folder")
    })
}
