//! Tests how many page faults a recording thread causes.

#![cfg(target_os = "linux")]

use std::fs;
use std::sync::{Arc, mpsc};
use std::thread;

use atf::DetailEventType;
use atf::write::{Detail, Memory, SessionWriter, WriteOptions};
use atf_record::{Capacity, Lanes, Overflow, RecordOptions, Recording, Window, channel};

use crate::event;

/// Returns the number of minor page faults of this thread.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    // The name may contain any characters, but it ends at the last parenthesis. The name is
    // followed by state, ppid, pgrp, session, tty_nr, tpgid, flags and minflt.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_ring_is_in_memory_before_the_first_event() {
    let (mut recorder, _drain) = channel(Capacity::default(), Overflow::DropNewest).unwrap();
    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[0; 16]);
    faults();
    let before = faults();
    for n in 0..1 << 16 {
        recorder.record_with_detail(&event(n), &detail).unwrap();
    }
    let touched = faults() - before;
    // If the pages were not resident, 3 MiB would cause 768 faults.
    assert!(touched < 16, "{touched}");
}

#[test]
fn a_ring_with_windows_uses_memory_only_once_it_is_written() {
    let storage = Arc::new(Memory::new());
    let session = SessionWriter::create_on(storage, "pid_42", &WriteOptions::default()).unwrap();
    // The events use 32 MiB, or 8192 pages.
    let capacity = Capacity::default().events(1 << 20);
    let window = Window::default().lanes(Lanes::Both);
    let options = RecordOptions::default()
        .capacity(capacity)
        .window(Some(window));
    let (sender, receiver) = mpsc::channel();
    let recording = Recording::start_on(session, &options, |work| {
        let drain = thread::spawn(move || {
            work();
            sender.send(faults()).unwrap();
        });
        Ok(Box::new(move || drain.join().is_ok()))
    });
    let recording = recording.unwrap();
    for n in 0..20 {
        let mut thread = recording.thread(None).unwrap();
        let before = faults();
        thread.record(&event(n)).unwrap();
        assert!(faults() - before < 16);
    }
    recording.stop().unwrap();
    let touched = receiver.recv().unwrap();
    assert!(touched < 8192, "{touched}");
}
