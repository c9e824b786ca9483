//! Rewrites a session's folder: its threads, its manifest, and other files in it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};

use super::Engine;
use super::folder::{Route, is_unwritten};
use crate::error::Result;
use crate::rewrite::job::Failure;
use crate::rewrite::manifest::{self, Facts};
use crate::rewrite::report::loss;
use crate::rewrite::report::{Action, LeftBehind, Place, SessionReport, ThreadReport};
use crate::rewrite::stage::{self, Left, at, free_path, is_numbered, names};
use crate::rewrite::tree::{self, Item, left_behind};
use crate::session::{self, MANIFEST_FILE, Presence, SessionReader, THREAD_FOLDER};
use crate::thread::INDEX_FILE;

/// The name of the report in a changed session.
const RECOVERY: (&str, &str) = ("recovery", ".json");
/// The folder for unreadable files, which are copied unchanged.
const UNREADABLE: &str = "unreadable";

impl Engine<'_> {
    /// Rewrites a session, or a thread without a session. The outer error ends the whole rewrite; the
    /// inner error is why such a thread cannot be read.
    pub(super) fn session(
        &mut self,
        path: &Path,
        item: &Item,
        out: &Path,
    ) -> Result<Result<SessionReport>> {
        let mut report = SessionReport {
            folder: item.below.to_string_lossy().into_owned(),
            changed: false,
            losses: 0,
            threads: Vec::new(),
            manifest: None,
            left_behind: Vec::new(),
        };
        self.keep_earlier(path, out, &mut report)?;
        let read = if item.is_thread {
            self.lone_thread(path, out, &mut report)?
        } else {
            self.threads(path, out, &mut report).map(Ok)?
        };
        if let Err(error) = read {
            return Ok(Err(error));
        }
        report.changed |= !report.left_behind.is_empty();
        report.losses = loss::of_session(&report);
        if report.changed && self.job.keeps_rest {
            self.write_report(&report, out)?;
        }
        Ok(Ok(report))
    }

    /// Copies what an earlier rewrite left next to the threads.
    fn keep_earlier(&self, path: &Path, out: &Path, report: &mut SessionReport) -> Result<()> {
        for name in names(path)? {
            let text = name.to_string_lossy();
            let from = path.join(&name);
            if is_earlier(&text) {
                let is_folder = fs::symlink_metadata(&from).is_ok_and(|found| found.is_dir());
                if text == UNREADABLE && !is_folder {
                    let left = left_behind(Path::new(&name), "not a folder");
                    report.left_behind.push(left);
                } else if self.job.keeps_rest {
                    let left = stage::copy(&from, &out.join(&name), self.job.durability)?;
                    report.left_behind.extend(not_copied(path, left));
                } else {
                    let why = "set aside by an earlier recovery";
                    report.left_behind.push(LeftBehind {
                        // A report has no part of the trace.
                        is_loss: text == UNREADABLE,
                        ..left_behind(Path::new(&name), why)
                    });
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

    fn lone_thread(
        &mut self,
        path: &Path,
        out: &Path,
        report: &mut SessionReport,
    ) -> Result<Result<()>> {
        let real = fs::canonicalize(path).map_err(at(path))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let route = Route {
            root: path,
            from: path,
            to: out,
            unreadable: &out.join(UNREADABLE),
            id: session::thread_id(&name),
            listed: None,
        };
        let mut thread = ThreadReport::default();
        match self.thread(&route, &mut thread, report)? {
            Ok(_) => report.threads.push(thread),
            Err(Failure::Write(error)) => return Err(error),
            Err(Failure::Read(error)) => return Ok(Err(error)),
        }
        Ok(Ok(()))
    }

    fn threads(&mut self, path: &Path, out: &Path, report: &mut SessionReport) -> Result<()> {
        let session = SessionReader::open(path)?;
        let mut facts = Facts::default();
        let listed = session.manifest().into_iter();
        let listed = listed.flat_map(|manifest| &manifest.threads);
        let threads = session.threads().iter();
        for entry in threads.filter(|entry| self.job.has_thread(entry.id())) {
            let name = entry.path().file_name().unwrap_or_default();
            let why = match entry.presence() {
                Presence::Folder => None,
                Presence::SymbolicLink => Some("a symlink, which is not followed"),
                Presence::NotAFolder => Some("not a folder"),
                // The new manifest does not list it, and the report states that.
                Presence::Missing => continue,
            };
            if let Some(why) = why {
                report.left_behind.push(left_behind(Path::new(name), why));
                continue;
            }
            let unreadable = out.join(UNREADABLE);
            let route = Route {
                root: path,
                from: entry.path(),
                to: &out.join(name),
                unreadable: &match self.job.keeps_rest {
                    true => free_path(&unreadable, &name.to_string_lossy(), "")?,
                    false => unreadable,
                },
                id: Some(entry.id()),
                listed: listed.clone().find(|listed| listed.id == entry.id()),
            };
            let mut thread = ThreadReport {
                folder: name.to_string_lossy().into_owned(),
                ..ThreadReport::default()
            };
            let before = report.left_behind.len();
            match self.thread(&route, &mut thread, report)? {
                Ok(rewritten) => facts.add(entry.id(), &rewritten),
                Err(Failure::Write(error)) => return Err(error),
                Err(Failure::Read(error)) if is_unwritten(&route, &error) => {
                    thread.nothing_written = true;
                    report.changed = true;
                    fs::remove_dir_all(route.to).map_err(at(route.to))?;
                }
                Err(Failure::Read(error)) => {
                    thread = ThreadReport {
                        folder: thread.folder,
                        not_recovered: Some(Place::of(INDEX_FILE, &error)),
                        ..ThreadReport::default()
                    };
                    // All of its files are set aside below.
                    report.left_behind.truncate(before);
                    self.give_up(&route, report)?;
                }
            }
            report.threads.push(thread);
        }
        self.others(path, &session, out, report)?;
        let (manifest, loses) = manifest::rewrite(self.job, path, session.manifest(), &facts, out)?;
        let (old, new) = (path.join(MANIFEST_FILE), out.join(MANIFEST_FILE));
        if loses && self.job.keeps_rest {
            let folder = out.join(UNREADABLE);
            stage::create_folder(&folder)?;
            let to = free_path(&folder, "manifest", ".json")?;
            let left = stage::copy(&old, &to, self.job.durability)?;
            report.left_behind.extend(not_copied(path, left));
        }
        report.changed = report.changed || !stage::is_same(&old, &new);
        report.manifest = Some(manifest);
        Ok(())
    }

    /// Reports entries of a session's folder that are not part of it. A folder with thread files, or
    /// with a name similar to a thread's, may be a renamed thread: it is copied to `unreadable`.
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
            let from = path.join(&name);
            let is_thread = match is_renamed_thread(&from, &text) {
                Ok(is_thread) => is_thread,
                Err(error) => {
                    let why = stage::unreadable(&error);
                    report.left_behind.push(left_behind(Path::new(&name), &why));
                    continue;
                }
            };
            let why = match is_thread {
                false => "not part of a session",
                true if self.job.keeps_rest => {
                    let folder = out.join(UNREADABLE);
                    stage::create_folder(&folder)?;
                    let to = free_path(&folder, &text, "")?;
                    let left = stage::copy(&from, &to, self.job.durability)?;
                    report.left_behind.extend(not_copied(path, left));
                    "not a thread's name: rename it to thread_N to have it read; a copy is in unreadable/"
                }
                true => "not a thread's name: rename it to thread_N to have it read",
            };
            report.left_behind.push(left_behind(Path::new(&name), why));
        }
        Ok(())
    }
}

/// The report file of one session: what was done, and the session's report.
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

/// Returns whether this is a thread's folder whose name does not give its id.
fn is_renamed_thread(path: &Path, name: &str) -> Result<bool> {
    if !fs::symlink_metadata(path).map_err(at(path))?.is_dir() {
        return Ok(false);
    }
    Ok(name.starts_with(THREAD_FOLDER)
        || names(path)?.iter().any(|name| tree::is_thread_file(name)))
}

/// Returns whether an earlier rewrite leaves something with this name next to the threads.
pub(super) fn is_earlier(name: &str) -> bool {
    name == UNREADABLE || is_numbered(name, RECOVERY.0, RECOVERY.1)
}

/// Reports what was not copied, with paths relative to a session's folder.
pub(super) fn not_copied(root: &Path, left: Vec<Left>) -> impl Iterator<Item = LeftBehind> + '_ {
    left.into_iter().map(move |Left { path, why }| {
        let below = path.strip_prefix(root).unwrap_or(&path);
        left_behind(below, &why)
    })
}
