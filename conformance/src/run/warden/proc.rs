//! Finds a process's descendants and their memory use in `/proc`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// Returns all current descendants of a process.
pub(super) fn descendants(of: Pid) -> HashSet<Pid> {
    let mut found = HashSet::new();
    let mut left = vec![of];
    while let Some(parent) = left.pop() {
        for child in children(parent) {
            if found.insert(child) {
                left.push(child);
            }
        }
    }
    found
}

/// Returns the children that any thread of a process has started.
fn children(of: Pid) -> Vec<Pid> {
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
fn children_by_parent(of: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| pid(&entry.file_name().to_string_lossy()));
    pids.filter(|process| parent(*process) == Some(of))
        .collect()
}

fn parent(of: Pid) -> Option<Pid> {
    pid(stat(of)?.split_whitespace().nth(1)?)
}

/// Returns whether a process is still running. A zombie counts as ended.
pub(super) fn is_running(process: Pid) -> bool {
    stat(process).is_some_and(|fields| !fields.trim_start().starts_with(['Z', 'X']))
}

/// Returns the fields of `/proc/PID/stat`, starting with the state.
fn stat(of: Pid) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", of.as_raw_nonzero())).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.to_owned())
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Returns the number of resident bytes of the processes, if it exceeds `limit`.
///
/// Shared pages must be counted only once. If the sum of the resident sizes is above the limit,
/// uses the proportional set sizes, which take longer to read.
pub(super) fn memory_above(limit: u64, processes: &HashSet<Pid>) -> Option<u64> {
    let sum = |file: &str, key: &str| {
        let bytes = processes.iter().filter_map(|process| {
            let path = format!("/proc/{}/{file}", process.as_raw_nonzero());
            kibibytes(&fs::read_to_string(path).ok()?, key)
        });
        bytes.fold(0_u64, |sum, bytes| {
            sum.saturating_add(bytes.saturating_mul(1024))
        })
    };
    let resident = sum("status", "VmRSS:");
    if resident <= limit {
        return None;
    }
    let shares = match processes.len() {
        1 => resident,
        _ => sum("smaps_rollup", "Pss:"),
    };
    (shares > limit).then_some(shares)
}

/// Parses the number after a key at the start of a line.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::process::Command;

    use rustix::process::{Pid, getpid};

    use super::{children, children_by_parent, descendants, memory_above};

    #[test]
    fn both_methods_find_a_child() {
        let mut sleep = Command::new("sleep").arg("1000").spawn().unwrap();
        let child = Pid::from_child(&sleep);
        let found = [
            children(getpid()).contains(&child),
            children_by_parent(getpid()).contains(&child),
            descendants(getpid()).contains(&child),
        ];
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert_eq!(found, [true; 3]);
    }

    #[test]
    fn memory_is_reported_only_above_the_limit() {
        let own = HashSet::from([getpid()]);
        let resident = memory_above(0, &own).unwrap();
        assert!(resident > 100_000, "{resident}");
        assert_eq!(memory_above(resident * 100, &own), None);
        assert_eq!(memory_above(0, &HashSet::new()), None);
    }
}
