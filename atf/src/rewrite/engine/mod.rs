//! Rewrites all sessions at a path, one thread after the other.

mod folder;
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use super::job::{Job, Progress};
use super::modes;
use super::report::Report;
use super::stage::{self, Stage, names};
use super::tree::{self, Tree};
use crate::error::{Error, ErrorKind, Result};
use crate::session::thread_id;
use crate::thread::{DETAIL_FILE, INDEX_FILE};

/// Rewrites what is at `path` and writes the result to `out`.
pub(super) fn run(job: &Job<'_>, path: &Path, out: &Path) -> Result<Report> {
    let tree = Tree::find(path)?;
    if let Some(thread) = tree
        .items
        .iter()
        .find(|item| item.is_thread && job.cut.is_some())
    {
        let error = Error::new(ErrorKind::NotASession);
        return Err(error.with_path(Some(&path.join(&thread.below))));
    }
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
    let mut unread = None;
    for item in &tree.items {
        let target = stage.folder().join(&item.below);
        stage::create_folder(&target)?;
        match engine.session(&path.join(&item.below), item, &target)? {
            Ok(session) => {
                modes::keep(&path.join(&item.below), &target)?;
                report.sessions.push(session);
                stage::sync_folder(&target, job.durability)?;
            }
            Err(error) => {
                fs::remove_dir_all(&target).map_err(stage::at(&target))?;
                let left = tree::left_behind(&item.below, &stage::unreadable(&error));
                report.left_behind.push(left);
                unread.get_or_insert(error);
            }
        }
    }
    // Without any readable session there is nothing to write.
    if let (Some(error), []) = (unread, report.sessions.as_slice()) {
        return Err(error);
    }
    engine.progress.reach(total);
    stage.publish(path, job.durability)?;
    Ok(report)
}

/// The job and its progress.
struct Engine<'a> {
    job: &'a Job<'a>,
    progress: Progress<'a>,
    /// The size in bytes of the threads that are done.
    done: u64,
}

/// Returns the size in bytes of the files of a thread, or of all threads of a session.
fn size(folder: &Path) -> u64 {
    let size = |path: PathBuf| fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    let thread = |folder: &Path| {
        let [index, detail] = [INDEX_FILE, DETAIL_FILE].map(|name| size(folder.join(name)));
        index.saturating_add(detail)
    };
    let threads = names(folder).unwrap_or_default().into_iter();
    let threads = threads.filter(|name| thread_id(&name.to_string_lossy()).is_some());
    threads
        .map(|name| thread(&folder.join(name)))
        .fold(thread(folder), u64::saturating_add)
}
