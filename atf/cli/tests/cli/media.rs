//! Sessions of several machines in the time of a recording.

use std::path::Path;

use atf::EventKind;
use atf::clock::{MediaTime, TimingAnchor};
use atf::manifest::Symbol;
use atf::write::{Event, SessionWriter, WriteOptions};
use tempfile::TempDir;

use super::{atf, texts};

/// Writes a session with a call of a function, and anchors.
fn session(folder: &Path, (name, start, end): (&str, u64, u64), anchors: &[TimingAnchor]) {
    let writer = SessionWriter::create(folder, &WriteOptions::default()).unwrap();
    let mut thread = writer.thread(0).unwrap();
    for (time, kind) in [(start, EventKind::CALL), (end, EventKind::RETURN)] {
        thread.write(&Event::new(time, 1, kind, 1)).unwrap();
    }
    thread.finalize().unwrap();
    writer.set_symbols(vec![Symbol::new(1, name)]);
    for anchor in anchors {
        writer.add_timing_anchor(*anchor).unwrap();
    }
    writer.finalize().unwrap();
}

fn at(host_ns: u64, value: i64, timescale: i32) -> TimingAnchor {
    TimingAnchor::new(host_ns, MediaTime::new(value, timescale))
}

/// Exports both sessions as CSV; returns process, function, start and duration of each call, or the message.
fn export(folder: &TempDir, options: &[&str]) -> Result<Vec<[String; 4]>, String> {
    let arguments = ["export", "--format", "csv", "--out", "-"];
    let output = atf(folder.path(), &[&arguments[..], options].concat());
    let (status, text, messages) = texts(&output);
    if status != 0 {
        return Err(messages.to_owned());
    }
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').map(str::to_owned).collect();
        [0, 3, 4, 5].map(|place: usize| cells[place].clone())
    };
    Ok(text.lines().skip(1).map(row).collect())
}

#[test]
fn sessions_of_two_machines_share_the_time_of_a_recording() {
    let folder = TempDir::new().unwrap();
    // The recording began at 1000 ns of the first clock and at 7,000,000 ns of the second.
    let first = [at(1_000, 0, 1_000_000_000), at(2_000, 1_000, 1_000_000_000)];
    let second = [at(7_000_500, 500, 1_000_000_000)];
    session(
        &folder.path().join("one/pid_1"),
        ("send", 1_200, 1_900),
        &first,
    );
    session(
        &folder.path().join("two/pid_1"),
        ("receive", 7_000_300, 7_000_800),
        &second,
    );
    let both = ["--clock", "media", "one", "two"];
    let rows = export(&folder, &both).unwrap();
    let expected = [["1", "send", "200", "700"], ["2", "receive", "300", "500"]];
    assert_eq!(rows, expected.map(|row| row.map(str::to_owned)));
    // --from and --to are times of the recording.
    let rows = export(
        &folder,
        &[
            "--from", "400", "--to", "600", "--clock", "media", "one", "two",
        ],
    );
    let expected = [["1", "send", "400", "200"], ["2", "receive", "400", "200"]];
    assert_eq!(rows.unwrap(), expected.map(|row| row.map(str::to_owned)));
    // Without it, they have different clocks.
    let message = export(&folder, &["one", "two"]).unwrap_err();
    assert!(
        message.contains("several sessions; name one of"),
        "{message}"
    );
}

#[test]
fn sessions_without_a_common_recording_are_refused() {
    let refused = |anchors: &[TimingAnchor], expected: &str| {
        let folder = TempDir::new().unwrap();
        session(
            &folder.path().join("one"),
            ("f", 1_200, 1_900),
            &[at(1_000, 0, 600)],
        );
        session(&folder.path().join("two"), ("g", 2_000, 3_000), anchors);
        let message = export(&folder, &["--clock", "media", "one", "two"]).unwrap_err();
        assert!(message.contains("two: --clock media: "), "{message}");
        assert!(message.contains(expected), "{message}");
    };
    refused(&[], "the manifest has no timing anchors");
    refused(
        &[at(1_000, 0, 48_000)],
        "a timescale of 48000, those of one have 600",
    );
    let back = [at(1_000, 600, 600), at(2_000, 0, 600)];
    refused(&back, "the 2 timing anchors are not those of one recording");
    refused(
        &[at(2_001, 0, 600)],
        "cut them off with `atf cut --from 2001`",
    );
}
