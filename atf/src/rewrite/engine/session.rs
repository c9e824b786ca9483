//! Rewrites a session's folder: its threads, its manifest, and any other files in it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::mem;
use std::path::Path;
use std::sync::LazyLock;

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};

use super::Engine;
use super::folder::{Attempt, Beside, Route, is_unwritten};
use crate::check;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    DETAIL_FILE, INDEX_FILE, MANIFEST_FILE, MANIFEST_PART, RECOVERY, THREAD_FOLDER, is_thread_file,
    is_unfinished, thread_id,
};
use crate::manifest::{Manifest, ManifestThread};
use crate::parallel::{Results, cores, in_order};
use crate::rewrite::guess::{self, Machine};
use crate::rewrite::job::Failure;
use crate::rewrite::manifest::{self, Facts};
use crate::rewrite::report::loss;
use crate::rewrite::report::{
    Action, LeftBehind, NoteKind, Place, SessionReport, ThreadReport, copied,
};
use crate::rewrite::stage::{self, at, free_path, names, remove};
use crate::rewrite::thread::{Carry, Rewritten};
use crate::rewrite::tree::{Item, Tree, UNREADABLE, is_earlier};
use crate::rules::{Rule, table as rules};
use crate::session::{Presence, SessionReader, ThreadEntry};
use crate::source::OpenOptions;

/// The threads' states at the end of a segment, by folder name.
pub(super) type Carried = BTreeMap<String, Carry>;

impl Engine<'_> {
    /// Rewrites a session, or a thread without a session. The outer error ends the whole rewrite;
    /// the inner error is the reason why a thread without a session cannot be read. Threads
    /// continue from the previous segment.
    pub(super) fn session(
        &self,
        path: &Path,
        item: &Item,
        out: &Path,
        carried: &mut Carried,
        notify: &dyn Fn(),
    ) -> Result<Result<SessionReport>> {
        let mut report = SessionReport {
            folder: item.below.to_string_lossy().into_owned(),
            ..SessionReport::default()
        };
        if item.is_thread {
            if let Err(error) = self.lone_thread(path, out, &mut report, notify)? {
                return Ok(Err(error));
            }
        } else {
            self.keep_earlier(path, out, &mut report.left_behind)?;
            self.threads(path, out, &mut report, carried, notify)?;
        }
        report.changed |= !report.left_behind.is_empty();
        report.losses = loss::of_session(&report);
        if report.changed && self.job.keeps_rest {
            self.write_report(&report, out)?;
        }
        Ok(Ok(report))
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

    fn lone_thread(
        &self,
        path: &Path,
        out: &Path,
        report: &mut SessionReport,
        notify: &dyn Fn(),
    ) -> Result<Result<()>> {
        let real = fs::canonicalize(path).map_err(at(path))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let route = Route {
            root: path,
            from: path,
            to: out,
            unreadable: &out.join(UNREADABLE),
            id: thread_id(&name),
            listed: None,
            clock: None,
            machine: &|| None,
            before: None,
            options: self.options(1),
        };
        let Attempt {
            report: thread,
            beside,
            rewritten,
        } = self.thread("", route, notify)?;
        match rewritten {
            Ok(_) => report.threads.push(thread),
            Err(Failure::Write(error)) => return Err(error),
            Err(Failure::Read(error)) => return Ok(Err(error)),
        }
        report.add(beside);
        Ok(Ok(()))
    }

    fn threads(
        &self,
        path: &Path,
        out: &Path,
        report: &mut SessionReport,
        carried: &mut Carried,
        notify: &dyn Fn(),
    ) -> Result<()> {
        let before = mem::take(carried);
        let session = SessionReader::open(path)?;
        let mut facts = Facts::default();
        let threads = session.threads().iter();
        let missing = threads.filter(|entry| entry.presence() == Presence::Missing);
        facts.original.missing = missing.map(ThreadEntry::id).collect();
        let listed = session.manifest().into_iter().flat_map(|it| &it.threads);
        let listed: HashMap<u32, &ManifestThread> = listed.map(|it| (it.id, it)).collect();
        let machine = LazyLock::new(|| guess::machine(&session));
        let mut error = None;
        let produce = |take: &mut dyn FnMut(_) -> bool| {
            let threads = session.threads().iter();
            let threads = threads.filter(|entry| self.job.has_thread(entry.id()));
            let mut threads = threads.map(|entry| (entry, listed.get(&entry.id()).copied()));
            // The result only shows whether `take` stopped early.
            let _ = threads.all(take);
        };
        let work = |entry: (&ThreadEntry, _), found: &Results<'_, Found>| {
            let notify = || found.offer(Found::Progress);
            let machine = || *machine;
            let finished = self.entry((&session, &machine), entry, path, out, &before, &notify);
            if let Some(finished) = finished.transpose() {
                found.send(Found::Finished(finished.map(Box::new)));
            }
        };
        in_order(cores(), produce, work, |found| {
            match found {
                Found::Progress => {}
                Found::Finished(Ok(finished)) => {
                    let id = finished.id;
                    facts
                        .original
                        .add(id, finished.is_listed, &finished.original);
                    match (&finished.report, finished.rewritten) {
                        (Some(report), Some(rewritten)) => {
                            facts.add(id, report, &rewritten);
                            let carry = rewritten.carry;
                            carried.extend(carry.map(|carry| (report.folder.clone(), carry)));
                        }
                        (Some(report), None) => {
                            facts.leave_out(id, report.not_recovered.is_some());
                        }
                        (None, _) => {}
                    }
                    report.threads.extend(finished.report);
                    report.add(finished.beside);
                }
                Found::Finished(Err(first)) => error = Some(first),
            }
            notify();
            error.is_none()
        });
        if let Some(error) = error {
            return Err(error);
        }
        self.others(path, &session, out, report)?;
        let written = manifest::rewrite(
            self.job,
            path,
            session.manifest(),
            &facts,
            (&report.threads, &report.left_behind),
            out,
        )?;
        let (old, new) = (path.join(MANIFEST_FILE), out.join(MANIFEST_FILE));
        if written.loses && self.job.keeps_rest {
            let folder = out.join(UNREADABLE);
            stage::create_folder(&folder)?;
            let to = free_path(&folder, "manifest", ".json")?;
            let left = stage::copy(path, &old, &to, self.job.durability)?;
            report.left_behind.extend(left);
        }
        report.changed = report.changed || !(written.is_copied || stage::is_same(&old, &new));
        report.manifest = Some(written.report);
        Ok(())
    }

    /// Rewrites an entry of a session, with its entry in the manifest; returns `None` if there is
    /// nothing at its path.
    fn entry(
        &self,
        (session, machine): (&SessionReader, Machine<'_>),
        (entry, listed): (&ThreadEntry, Option<&ManifestThread>),
        path: &Path,
        out: &Path,
        before: &Carried,
        notify: &dyn Fn(),
    ) -> Result<Option<Finished>> {
        let name = entry.path().file_name().unwrap_or_default();
        let why = match entry.presence() {
            Presence::Folder => None,
            Presence::SymbolicLink => {
                Some(("a symlink, which is not followed", &rules::ATF_SESS_003))
            }
            Presence::NotAFolder => Some(("not a folder", &rules::ATF_SESS_002)),
            // The new manifest does not list the thread, and the report states this.
            Presence::Missing => return Ok(None),
        };
        if let Some((why, rule)) = why {
            let beside = Beside {
                left_behind: vec![LeftBehind::new(Path::new(name), why).breaks(Some(rule))],
                ..Beside::default()
            };
            return Ok(Some(Finished {
                id: entry.id(),
                is_listed: entry.is_listed(),
                report: None,
                beside,
                rewritten: None,
                original: check::thread::Facts::without_index(false),
            }));
        }
        let manifest = session.manifest();
        let unreadable = out.join(UNREADABLE);
        let route = Route {
            root: path,
            from: entry.path(),
            to: &out.join(name),
            unreadable: &if self.job.keeps_rest {
                free_path(&unreadable, &name.to_string_lossy(), "")?
            } else {
                unreadable
            },
            id: Some(entry.id()),
            listed,
            clock: manifest.and_then(|manifest| manifest.clock_type),
            machine,
            before: before.get(&*name.to_string_lossy()),
            options: self.options(session.threads().len()),
        };
        self.in_session(&name.to_string_lossy(), entry.id(), &route, notify)
            .map(Some)
    }

    /// Rewrites a thread of a session, or sets its files aside on failure.
    fn in_session(
        &self,
        name: &str,
        id: u32,
        route: &Route<'_>,
        notify: &dyn Fn(),
    ) -> Result<Finished> {
        let Attempt {
            mut report,
            mut beside,
            rewritten,
        } = self.thread(name, *route, notify)?;
        let mut rewritten = match rewritten {
            Ok(rewritten) => Some(rewritten),
            Err(Failure::Write(error)) => return Err(error),
            Err(Failure::Read(error)) if is_unwritten(route, &error) => {
                report.nothing_written = true;
                let rule = unread_rule(&error);
                let found = match error.kind() {
                    ErrorKind::Io(_) => "no such file",
                    _ => "0 bytes",
                };
                let place = || Place::new(INDEX_FILE, "", None).found(found);
                report.notes.add(NoteKind::NotFinalized, rule, place);
                beside.changed = true;
                remove(route.to)?;
                None
            }
            Err(Failure::Read(error)) => {
                let rule = unread_rule(&error);
                report = ThreadReport {
                    folder: report.folder,
                    not_recovered: Some(Place::from_error(INDEX_FILE, &error).breaks(rule)),
                    ..ThreadReport::default()
                };
                // All of its files are set aside below, so discard the results so far.
                beside = Beside::default();
                self.give_up(route, &mut beside)?;
                None
            }
        };
        let original = rewritten.as_mut().and_then(|it| it.original.take());
        let original = original.unwrap_or_else(|| {
            let detail = fs::symlink_metadata(route.from.join(DETAIL_FILE));
            check::thread::Facts::without_index(detail.is_ok())
        });
        Ok(Finished {
            id,
            is_listed: route.listed.is_some(),
            report: Some(report),
            beside,
            rewritten,
            original,
        })
    }

    /// Reports entries of a session's folder that are not part of the session. Copies to
    /// `unreadable` those that would be readable under another name or on their own: a folder with
    /// thread files or a name like a thread's; a folder with sessions; a manifest whose writer was
    /// killed before it renamed it.
    fn others(
        &self,
        path: &Path,
        session: &SessionReader,
        out: &Path,
        report: &mut SessionReport,
    ) -> Result<()> {
        let threads = session.threads().iter();
        let threads: HashSet<_> = threads.map(|entry| entry.path().file_name()).collect();
        for name in names(path)? {
            let text = name.to_string_lossy();
            let is_thread = threads.contains(&Some(name.as_os_str()));
            if is_thread || text == MANIFEST_FILE || is_earlier(&text) {
                continue;
            }
            let left_behind = &mut report.left_behind;
            if is_unfinished(&name) {
                left_behind.push(LeftBehind::unfinished(Path::new(&name)));
                continue;
            }
            let from = path.join(&name);
            let advice = match advice(&from, &text) {
                // A half-written manifest contains nothing that is missing from the previous
                // manifest and the threads.
                Ok(None) if text == MANIFEST_PART => continue,
                Ok(advice) => advice,
                Err(error) => {
                    let why = stage::unreadable(&error);
                    left_behind.push(LeftBehind::new(Path::new(&name), &why));
                    continue;
                }
            };
            let why = match advice {
                None => "not part of a session".to_owned(),
                Some(advice) if !self.job.keeps_rest => advice.to_owned(),
                Some(advice) => {
                    let folder = out.join(UNREADABLE);
                    stage::create_folder(&folder)?;
                    let to = free_path(&folder, &text, "")?;
                    let left = stage::copy(path, &from, &to, self.job.durability)?;
                    let copied = copied(&text, &left);
                    left_behind.extend(left);
                    let Some(copied) = copied else {
                        continue;
                    };
                    format!("{advice}{copied}")
                }
            };
            let is_noted = session.unrecognized().iter().any(|it| *it == text);
            let rule = is_noted.then_some(&rules::ATF_SESS_004);
            left_behind.push(LeftBehind::new(Path::new(&name), &why).breaks(rule));
        }
        Ok(())
    }
}

/// The result of rewriting a session entry that may be a thread.
struct Finished {
    id: u32,
    is_listed: bool,
    /// `None` if the entry is not a folder.
    report: Option<ThreadReport>,
    beside: Beside,
    rewritten: Option<Rewritten>,
    /// The facts about the original that the manifest repeats.
    original: check::thread::Facts,
}

/// A message from a thread's rewrite to the collecting thread.
enum Found {
    Progress,
    Finished(Result<Box<Finished>>),
}

impl SessionReport {
    fn add(&mut self, mut beside: Beside) {
        self.changed |= beside.changed;
        self.left_behind.append(&mut beside.left_behind);
    }
}

/// The contents of a session's report file: the action and the session's report.
struct Recovery<'a> {
    action: Action,
    report: &'a SessionReport,
}

impl Serialize for Recovery<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("action", &self.action)?;
        self.report.serialize_members(&mut object)?;
        object.end()
    }
}

/// Returns the rule broken by a thread that cannot be read.
fn unread_rule(error: &Error) -> Option<&'static Rule> {
    if error.is_not_found() {
        Some(&rules::ATF_SESS_002)
    } else {
        error.rule()
    }
}

/// Returns how to make an entry readable that is not part of the session, if it may contain events
/// or names.
fn advice(path: &Path, name: &str) -> Result<Option<&'static str>> {
    if name == MANIFEST_PART {
        return match Manifest::in_session(path, OpenOptions::new()) {
            Some(part) if part.is_unreadable() => {
                let mut problems = part.problems.into_iter();
                let error = problems.find(|problem| matches!(problem.kind(), ErrorKind::Io(_)));
                error.map_or(Ok(None), Err)
            }
            Some(_) => Ok(Some(
                "a complete manifest that was never renamed: to use it, rename it to manifest.json",
            )),
            None => Ok(None),
        };
    }
    let is_folder = fs::symlink_metadata(path).map_err(at(path))?.is_dir();
    let is_thread = is_folder
        && (name.starts_with(THREAD_FOLDER)
            || names(path)?.iter().any(|name| is_thread_file(name)));
    if is_thread {
        return Ok(Some(
            "not a thread's name: to read it, rename it to thread_N",
        ));
    }
    match is_folder.then(|| Tree::find(path)) {
        Some(Ok(_)) => Ok(Some("a session inside another one: recover it separately")),
        Some(Err(error)) if *error.kind() != ErrorKind::NotASession => Err(error),
        _ => Ok(None),
    }
}
