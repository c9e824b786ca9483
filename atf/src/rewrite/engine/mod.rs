//! Rewrites all sessions at a path, with each session's threads in parallel.

mod folder;
mod session;

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use self::session::Carried;
use super::job::{CutRange, Job, ProgressFn};
use super::report::{LeftBehind, Report, SessionReport};
use super::stage::{self, Stage, names};
use super::tree::{Item, Tree};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{DETAIL_FILE, INDEX_FILE, MANIFEST_FILE, ProcessName, thread_id};
use crate::manifest::{Manifest, Missing};
use crate::parallel::cores;
use crate::source::OpenOptions;

/// The memory limit, in bytes, for the details of all threads together.
const MEMORY: u64 = 256 << 20;

/// Rewrites the sessions at `path` and writes the result to `out`.
pub(super) fn run(
    job: &Job<'_>,
    progress: Option<ProgressFn<'_>>,
    path: &Path,
    out: &Path,
) -> Result<Report> {
    let mut tree = Tree::find(path)?;
    if let Some(thread) = tree
        .items
        .iter()
        .find(|item| item.is_thread && job.cut.is_some())
    {
        let error = Error::new(ErrorKind::NotASession);
        return Err(error.with_path(Some(&path.join(&thread.below))));
    }
    let sessions = tree.items.iter().map(|item| path.join(&item.below));
    let sessions: Vec<_> = sessions.collect();
    let stage = Stage::create(path, &sessions, out)?;
    let fixed = stage.folder.clone();
    let rewritten = rewrite(job, progress, path, &mut tree, stage);
    rewritten.map_err(|error| error.moved(&fixed, out))
}

fn rewrite(
    job: &Job<'_>,
    progress: Option<ProgressFn<'_>>,
    path: &Path,
    tree: &mut Tree,
    stage: Stage,
) -> Result<Report> {
    let total = tree.items.iter().map(|item| size(&path.join(&item.below)));
    let total = total.fold(0, u64::saturating_add);
    let engine = Engine {
        job,
        done: AtomicU64::new(0),
    };
    let notify = || {
        if let Some(callback) = progress {
            callback(engine.done.load(Ordering::Relaxed), total);
        }
    };
    notify();
    let mut report = Report {
        action: job.action,
        sessions: Vec::new(),
        left_behind: mem::take(&mut tree.left_behind),
    };
    let mut unread = None;
    for process in tree.processes() {
        let mut segments = Vec::new();
        let mut carried = Carried::default();
        let mut segment_before = None;
        for item in process {
            let segment = ProcessName::from_path(&item.below).map(|name| name.segment);
            if segment_before != segment.and_then(|segment| segment.checked_sub(1)) {
                carried.clear();
            }
            segment_before = segment;
            let target = stage.folder.join(&item.below);
            stage::create_folder(&target)?;
            match engine.session(
                &path.join(&item.below),
                item,
                &target,
                &mut carried,
                &notify,
            )? {
                Ok(session) => {
                    stage::keep_modes(path, &stage.folder, &item.below)?;
                    segments.push((item, session));
                }
                Err(error) => {
                    // The unfinished folder itself is removed at the end.
                    if !item.below.as_os_str().is_empty() {
                        fs::remove_dir_all(&target).map_err(stage::at(&target))?;
                    }
                    let left = LeftBehind::new(&item.below, &stage::unreadable(&error));
                    report.left_behind.push(left);
                    unread.get_or_insert(error);
                }
            }
        }
        if let Some(range) = job.cut {
            drop_outside(range, &stage, &mut segments, &mut report.left_behind)?;
        }
        let sessions = segments.into_iter().map(|(_, session)| session);
        report.sessions.extend(sessions);
    }
    // Without a readable session, there is nothing to write.
    if let (Some(error), []) = (unread, report.sessions.as_slice()) {
        return Err(error);
    }
    stage.publish(path, job.durability)?;
    Ok(report)
}

/// Removes a process's leading and trailing segments that have no events and are missing none in
/// the range, but keeps at least one segment. Reports removed segments that are damaged, because
/// they may have lost calls that are open in the others.
fn drop_outside(
    range: &CutRange,
    stage: &Stage,
    segments: &mut Vec<(&Item, SessionReport)>,
    left_behind: &mut Vec<LeftBehind>,
) -> Result<()> {
    let stays = |(item, session): &(&Item, SessionReport)| {
        session.events() > 0 || {
            let path = stage.folder.join(&item.below).join(MANIFEST_FILE);
            let manifest = Manifest::in_session(&path, OpenOptions::new());
            let missing = manifest.map_or_else(Vec::new, |manifest| manifest.missing());
            missing.iter().any(|(_, missing)| match missing {
                Missing::Lost(_, loss) => {
                    loss.first_ns <= range.to_ns && range.from_ns <= loss.last_ns
                }
                Missing::Unwritten { .. } => true,
            })
        }
    };
    let first = segments.iter().position(stays);
    let last = segments.iter().rposition(stays);
    let kept = first.zip(last).map_or(0..=0, |(first, last)| first..=last);
    for (position, (item, session)) in mem::take(segments).into_iter().enumerate() {
        if kept.contains(&position) {
            segments.push((item, session));
            continue;
        }
        let target = stage.folder.join(&item.below);
        fs::remove_dir_all(&target).map_err(stage::at(&target))?;
        if session.losses > 0 {
            let why = "a damaged segment outside the range";
            left_behind.push(LeftBehind::new(&item.below, why));
        }
    }
    Ok(())
}

/// The job and its progress.
struct Engine<'a> {
    job: &'a Job<'a>,
    /// The number of bytes processed.
    done: AtomicU64,
}

impl Engine<'_> {
    /// Returns the options for opening the files of a session with this many threads.
    fn options(&self, threads: usize) -> OpenOptions {
        let at_a_time = cores().get().min(threads).max(1) as u64;
        OpenOptions {
            past_missing: self.job.salvage,
            ring_without_details: true,
            detail_in_memory: MEMORY.checked_div(at_a_time).unwrap_or_default(),
            ..OpenOptions::new()
        }
    }
}

/// Returns the total size in bytes of a thread's files, or of all thread files in a session.
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
