//! Finds a process's descendants and their memory use in `/proc`. Without this folder, as on other
//! systems, finds none.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// Returns all current descendants of a process, except spared processes and the descendants of
/// these.
pub fn descendants(of: Pid, is_spared: impl Fn(Pid) -> bool) -> HashSet<Pid> {
    let mut found = HashSet::new();
    let mut left = vec![of];
    while let Some(parent) = left.pop() {
        for child in children(parent) {
            if !is_spared(child) && found.insert(child) {
                left.push(child);
            }
        }
    }
    found
}

/// Returns the children that any thread of a process has started.
#[must_use]
pub fn children(of: Pid) -> Vec<Pid> {
    let tasks = format!("/proc/{}/task", of.as_raw_nonzero());
    let mut children = Vec::new();
    for task in fs::read_dir(tasks).into_iter().flatten().flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => children.extend(text.split_whitespace().filter_map(pid)),
            // Either the thread is gone, or the kernel does not provide this file.
            Err(_) if !Path::new("/proc/thread-self/children").exists() => {
                return children_by_parent(of);
            }
            Err(_) => {}
        }
    }
    children
}

/// Finds the children by checking the parent of every process.
#[must_use]
pub fn children_by_parent(of: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| pid(&entry.file_name().to_string_lossy()));
    pids.filter(|process| parent(*process) == Some(of))
        .collect()
}

fn parent(of: Pid) -> Option<Pid> {
    pid(stat(of)?.split_whitespace().nth(1)?)
}

/// Returns when a process started. Together, its id and this time identify it, because another
/// process may later have the same id.
#[must_use]
pub fn start_time(of: Pid) -> Option<u64> {
    stat(of)?.split_whitespace().nth(19)?.parse().ok()
}

/// Returns whether a process is still running. A zombie counts as ended.
#[must_use]
pub fn is_running(process: Pid) -> bool {
    stat(process).is_some_and(|fields| !fields.trim_start().starts_with(['Z', 'X']))
}

/// Returns the fields of `/proc/PID/stat`, starting with the state.
fn stat(of: Pid) -> Option<String> {
    let stat = text(Path::new(&format!("/proc/{}/stat", of.as_raw_nonzero())))?;
    // The name is in parentheses and may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.to_owned())
}

/// Reads a file of a process. The process's name in it may be any bytes.
fn text(file: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(file).ok()?).into_owned())
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Returns the number of resident bytes of the processes, if it exceeds `limit`.
///
/// Shared pages must be counted only once. If the sum of the resident sizes is above the limit,
/// uses the proportional set sizes, which take longer to read.
#[must_use]
pub fn memory_above(limit: u64, processes: &HashSet<Pid>) -> Option<u64> {
    memory_above_in(Path::new("/proc"), limit, processes)
}

/// Like [`memory_above`], but with a folder other than `/proc`.
#[must_use]
pub fn memory_above_in(proc: &Path, limit: u64, processes: &HashSet<Pid>) -> Option<u64> {
    let sum = |size: &dyn Fn(&Path) -> Option<u64>| {
        let folders = processes
            .iter()
            .map(|process| proc.join(process.as_raw_nonzero().to_string()));
        let bytes = folders.filter_map(|folder| size(&folder));
        bytes.fold(0_u64, |sum, bytes| {
            sum.saturating_add(bytes.saturating_mul(1024))
        })
    };
    let resident = |process: &Path| kibibytes(process, "status", "VmRSS:");
    let all = sum(&resident);
    if all <= limit {
        return None;
    }
    let shares = match processes.len() {
        1 => all,
        // A process may hide its proportional set size from all users except root.
        _ => {
            let share = |process: &Path| kibibytes(process, "smaps_rollup", "Pss:");
            sum(&|process| share(process).or_else(|| resident(process)))
        }
    };
    (shares > limit).then_some(shares)
}

/// Returns the number after a key in a file of a process.
///
/// Once the main thread has ended, only the files of the other threads have this number.
fn kibibytes(process: &Path, file: &str, key: &str) -> Option<u64> {
    let of = |folder: &Path| number(&text(&folder.join(file))?, key);
    of(process).or_else(|| {
        let tasks = fs::read_dir(process.join("task")).into_iter().flatten();
        tasks.flatten().find_map(|task| of(&task.path()))
    })
}

/// Parses the number after a key at the start of a line.
fn number(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}
