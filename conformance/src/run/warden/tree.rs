//! Waits for a process and ends its process tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, getpid, kill_process,
    kill_process_group,
};

use super::proc::{self, is_running, start_time};

/// How long to keep trying to end a process that resists SIGKILL, for example because it is waiting
/// for a broken disk.
const STUBBORN: Duration = Duration::from_secs(10);

/// After this many searches in a row that find nothing, only [`Spared`] processes are left.
const EMPTY_SEARCHES: u32 = 5;

/// The signal number of SIGKILL, as it appears in a process's exit status.
const KILLED: i32 = Signal::KILL.as_raw();

/// Running processes that must not be ended, with their start times.
#[derive(Default)]
pub(super) struct Spared(HashMap<Pid, Option<u64>>);

impl Spared {
    /// Returns all current descendants of this process.
    pub(super) fn descendants() -> Self {
        let found = descendants(getpid()).into_iter();
        let found = found.map(|process| (process, start_time(process)));
        Self(found.collect())
    }

    fn contains(&self, process: Pid) -> bool {
        let spared = self.0.get(&process);
        spared.is_some_and(|start| *start == start_time(process))
    }
}

/// Makes this process the parent of its orphaned descendants.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        eprintln!("atf-conformance: cannot track orphaned processes: {error}");
    }
}

/// Handles SIGCHLD, so that this process and the programs that it starts learn when children end,
/// even if it inherited an ignored SIGCHLD. A program starts with the default action for a signal
/// that has a handler.
pub(super) fn handle_sigchld() {
    let handler = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
    if let Err(error) = handler {
        eprintln!("atf-conformance: cannot receive SIGCHLD: {error}");
    }
}

/// Waits for a state change of a child, without reaping it.
pub(super) fn wait(
    process: Pid,
    change: WaitIdOptions,
) -> rustix::io::Result<Option<WaitIdStatus>> {
    loop {
        let status = rustix::process::waitid(WaitId::Pid(process), change | WaitIdOptions::NOWAIT);
        if !matches!(status, Err(Errno::INTR)) {
            return status;
        }
    }
}

/// Ends a child, its group and all descendants, and reaps all children of this process. Returns the
/// number of ended processes, not counting the child.
pub(super) fn end_all(leader: Pid) -> usize {
    let _ = kill_process_group(leader, Signal::KILL);
    let mut ended = end_children(&Spared::default());
    ended.remove(&leader);
    ended.len()
}

/// Ends all descendants of this process, except `spared` processes and their descendants, and reaps
/// its children. Returns the ended processes.
pub(super) fn end_children(spared: &Spared) -> HashSet<Pid> {
    let start = Instant::now();
    let mut left: HashSet<Pid> = HashSet::new();
    let mut empty_searches = 0_u32;
    loop {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                // Processes in the group may have been killed before a search found them, so count
                // them here.
                Ok(Some((process, status))) if status.terminating_signal() == Some(KILLED) => {
                    left.insert(process);
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // No children are left.
                Err(_) => return left,
            }
        }
        let found = proc::descendants(getpid(), |process| spared.contains(process));
        // A search can miss a process whose parent ends meanwhile.
        empty_searches = if found.is_empty() {
            empty_searches.saturating_add(1)
        } else {
            0
        };
        if !spared.0.is_empty() && empty_searches == EMPTY_SEARCHES {
            return left;
        }
        // Stopped processes cannot start others.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &found {
                let _ = kill_process(*process, signal);
            }
        }
        left.extend(found);
        if start.elapsed() > STUBBORN {
            eprintln!("atf-conformance: cannot end {} processes", left.len());
            return left;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills all descendants of a process and waits until they have ended. First stops the descendants,
/// until a search finds no new ones. A stopped process cannot start others.
pub(super) fn kill_descendants(of: Pid) {
    let mut stopped = HashSet::new();
    loop {
        let found = descendants(of);
        let before = stopped.len();
        for process in found {
            if stopped.insert(process) {
                let _ = kill_process(process, Signal::STOP);
            }
        }
        if stopped.len() == before {
            break;
        }
    }
    for process in &stopped {
        let _ = kill_process(*process, Signal::KILL);
    }
    let start = Instant::now();
    while stopped.iter().any(|process| is_running(*process)) && start.elapsed() < STUBBORN {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns all descendants of a process. Only Linux has subreapers and `/proc`; on other systems,
/// this function does not find processes that left their group.
pub(super) fn descendants(of: Pid) -> HashSet<Pid> {
    proc::descendants(of, |_| false)
}
