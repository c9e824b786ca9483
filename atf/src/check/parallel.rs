//! Checks in parallel; the results come in the same order as from a sequential check.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::Output;
use super::walk::{Unit, units};
use crate::check::finding::FileReport;

/// The number of reports of one unit that may wait for their turn.
const WAITING: usize = 64;

enum Found {
    File(FileReport),
    Unreadable(PathBuf, String),
}

/// Checks several paths as [`check`](super::check) does, up to `jobs` threads, sessions or files at a
/// time. The results come in the same order for any number of jobs.
///
/// Memory does not grow with the number of files: a check waits until its results are taken.
pub fn check_all(paths: &[PathBuf], jobs: NonZero<usize>, output: &mut dyn Output) {
    let ahead = jobs.get().saturating_mul(2);
    // Each unit has its own channel. Channels are drained in the order in which units were queued,
    // and jobs take units in that order too. So a job is already working on the first unfinished
    // unit, and waiting for it cannot deadlock.
    let (queue, queued) = sync_channel::<(Unit, SyncSender<Found>)>(ahead);
    let (order, ordered) = sync_channel::<Receiver<Found>>(ahead);
    let queued = Mutex::new(queued);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut take = |unit| {
                let (found, results) = sync_channel(WAITING);
                order.send(results).is_ok() && queue.send((unit, found)).is_ok()
            };
            paths.iter().all(|path| units(path, &mut take))
        });
        for _ in 0..jobs.get() {
            scope.spawn(|| {
                while let Some((unit, found)) = next(&queued) {
                    unit.check(&mut Sent(found));
                }
            });
        }
        for results in ordered {
            for found in results {
                match found {
                    Found::File(report) => output.file(report),
                    Found::Unreadable(path, why) => output.unreadable(&path, &why),
                }
                if output.is_done() {
                    return;
                }
            }
        }
    });
}

/// Returns the next unit to check, or `None` if there are no more.
fn next<T>(queued: &Mutex<Receiver<T>>) -> Option<T> {
    queued.lock().ok()?.recv().ok()
}

/// Sends results to the collecting thread. They are dropped once it has stopped.
struct Sent(SyncSender<Found>);

impl Output for Sent {
    fn file(&mut self, report: FileReport) {
        let _ = self.0.send(Found::File(report));
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        let _ = self
            .0
            .send(Found::Unreadable(path.to_owned(), why.to_owned()));
    }
}
