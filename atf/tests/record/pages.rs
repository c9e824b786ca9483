//! The system's work for a traced thread while it records.

#![cfg(target_os = "linux")]

use std::fs;

use atf::DetailEventType;
use atf::record::{Capacity, Overflow, channel};
use atf::write::Detail;

use crate::event;

/// Returns how often this thread touched a page that had no memory yet.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    // After the name, which may contain anything but ends with the last bracket: state, ppid, pgrp,
    // session, tty_nr, tpgid, flags, minflt.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_ring_is_in_memory_before_the_first_event() {
    let (mut recorder, _drain) = channel(Capacity::default(), Overflow::default()).unwrap();
    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[0; 16]);
    faults();
    let before = faults();
    for n in 0..1 << 16 {
        recorder.record_with_detail(&event(n), &detail).unwrap();
    }
    let touched = faults() - before;
    // 3 MiB of memory are 768 pages, if they were not resident.
    assert!(touched < 16, "{touched}");
}
