//! Finds a process's descendants and their memory use in `/proc`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// Returns all current descendants of a process, except spared processes and the descendants of
/// these.
pub(super) fn descendants(of: Pid, is_spared: impl Fn(Pid) -> bool) -> HashSet<Pid> {
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

/// Returns when a process started. Together, its id and this time identify it, because another
/// process may get the same id later.
pub(super) fn start_time(of: Pid) -> Option<u64> {
    stat(of)?.split_whitespace().nth(19)?.parse().ok()
}

/// Returns whether a process is still running. A zombie counts as ended.
pub(super) fn is_running(process: Pid) -> bool {
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
pub(super) fn memory_above(limit: u64, processes: &HashSet<Pid>) -> Option<u64> {
    memory_above_in(Path::new("/proc"), limit, processes)
}

fn memory_above_in(proc: &Path, limit: u64, processes: &HashSet<Pid>) -> Option<u64> {
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
        // A process may hide its proportional set size from all users but root.
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, getpid};

    use super::{
        children, children_by_parent, descendants, is_running, memory_above, memory_above_in,
    };

    #[test]
    fn both_methods_find_a_child() {
        let mut sleep = Command::new("sleep").arg("1000").spawn().unwrap();
        let child = Pid::from_child(&sleep);
        let found = [
            children(getpid()).contains(&child),
            children_by_parent(getpid()).contains(&child),
            descendants(getpid(), |_| false).contains(&child),
        ];
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert_eq!(found, [true; 3]);
    }

    #[test]
    fn a_name_that_is_not_utf8_hides_no_process() {
        let mut shell = Command::new("sh");
        shell.args(["-c", r"printf '\377)' >/proc/$$/comm; echo; read -r line"]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let named = BufReader::new(shell.stdout.take().unwrap()).lines().next();
        let process = Pid::from_child(&shell);
        let found = [
            children_by_parent(getpid()).contains(&process),
            is_running(process),
            memory_above(0, &HashSet::from([process])).is_some(),
        ];
        let comm = fs::read(format!("/proc/{}/comm", process.as_raw_nonzero()));
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert!(named.is_some());
        assert_eq!(comm.unwrap(), b"\xff)\n");
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

    #[test]
    fn a_process_whose_shares_are_unreadable_counts_with_its_whole_size() {
        let proc = tempfile::TempDir::new().unwrap();
        let write = |path: &str, text: &str| {
            let path = proc.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("7/status", "Name:\ta\nVmRSS:\t     100 kB\n");
        write("7/smaps_rollup", "Rss:  100 kB\nPss:  30 kB\n");
        write("8/status", "Name:\tb\nVmRSS:\t     50 kB\n");
        let processes = [7, 8].map(|process| Pid::from_raw(process).unwrap());
        let above =
            |limit: u64| memory_above_in(proc.path(), limit << 10, &HashSet::from(processes));
        assert_eq!(above(79), Some(80 << 10));
        assert_eq!(above(80), None);
    }
}
