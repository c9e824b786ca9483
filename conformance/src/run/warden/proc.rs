//! Who descends from a process, and how much memory they have: `/proc`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// All processes that descend from one, as they stood a moment ago.
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

/// The children of all threads of a process.
fn children(of: Pid) -> Vec<Pid> {
    let tasks = format!("/proc/{}/task", of.as_raw_nonzero());
    let mut children = Vec::new();
    for task in fs::read_dir(tasks).into_iter().flatten().flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => children.extend(text.split_whitespace().filter_map(pid)),
            // The thread is gone, or this kernel has no such file.
            Err(_) if !Path::new("/proc/thread-self/children").exists() => {
                return children_by_parent(of);
            }
            Err(_) => {}
        }
    }
    children
}

/// The same, where all processes must be asked for their parent.
fn children_by_parent(of: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| pid(&entry.file_name().to_string_lossy()));
    pids.filter(|process| parent(*process) == Some(of))
        .collect()
}

fn parent(of: Pid) -> Option<Pid> {
    pid(stat(of)?.split_whitespace().nth(1)?)
}

/// Whether a process has not ended; one that ended and was not reaped has.
pub(super) fn is_running(process: Pid) -> bool {
    stat(process).is_some_and(|fields| !fields.trim_start().starts_with(['Z', 'X']))
}

/// The fields of a process in `/proc`, from its state on.
fn stat(of: Pid) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", of.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.to_owned())
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Bytes that the processes have resident, if these are more than `limit`.
///
/// What they share counts once: where the plain sum is above the limit, each process's share of
/// its pages is asked for, which takes longer.
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

/// The number behind a key at the start of a line.
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
    fn both_ways_to_ask_find_a_child() {
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
    fn memory_is_told_only_above_the_limit() {
        let own = HashSet::from([getpid()]);
        let resident = memory_above(0, &own).unwrap();
        assert!(resident > 100_000, "{resident}");
        assert_eq!(memory_above(resident * 100, &own), None);
        assert_eq!(memory_above(0, &HashSet::new()), None);
    }
}
