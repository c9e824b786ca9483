//! A process and all that it has started: how to wait for it, and how to end all of them.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, getpid, kill_process,
    kill_process_group,
};

/// How long to try to end what cannot be ended: a process that waits for a broken disk.
const STUBBORN: Duration = Duration::from_secs(10);

/// Makes this process the parent of whatever its descendants leave behind.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        eprintln!("atf-conformance: orphans cannot be found: {error}");
    }
}

/// Waits for a change of a child, and leaves it to be reaped.
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

/// Ends a child, its group and all that they have started; says how many were still there besides
/// the child itself. All children of this process are reaped: none is left.
pub(super) fn end_all(leader: Pid) -> usize {
    let start = Instant::now();
    let mut left: HashSet<Pid> = HashSet::new();
    let _ = kill_process_group(leader, Signal::KILL);
    loop {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // No child at all.
                Err(_) => {
                    left.remove(&leader);
                    return left.len();
                }
            }
        }
        let found = descendants(getpid());
        // Stopped, they start no others while the rest is ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &found {
                let _ = kill_process(*process, signal);
            }
        }
        left.extend(found);
        if start.elapsed() > STUBBORN {
            eprintln!("atf-conformance: {} processes cannot be ended", left.len());
            return left.len();
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills all processes that descend from one. They are stopped first, until a search finds no new one: a
/// process that is stopped starts no other. Returns once they have ended.
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

fn is_running(process: Pid) -> bool {
    #[cfg(target_os = "linux")]
    return super::proc::is_running(process);
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = process;
        false
    };
}

/// All processes that descend from one. Other systems than Linux have no orphans' parent and no
/// `/proc`: what leaves its group is not found there.
pub(super) fn descendants(of: Pid) -> HashSet<Pid> {
    #[cfg(target_os = "linux")]
    return super::proc::descendants(of);
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = of;
        HashSet::new()
    };
}
