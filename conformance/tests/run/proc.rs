//! Tests how descendants and their memory use are found in `/proc`.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, getpid};

use atf_conformance::run::warden::proc::{
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
fn a_process_with_unreadable_shares_counts_at_its_full_size() {
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
    let above = |limit: u64| memory_above_in(proc.path(), limit << 10, &HashSet::from(processes));
    assert_eq!(above(79), Some(80 << 10));
    assert_eq!(above(80), None);
}
