//! Compares analyses of arbitrary events with a naive computation.

mod cut;
mod diff;
mod ends;
mod hostile;
mod media;
mod model;
mod numbers;
mod segments;

use std::fs;
use std::path::Path;

use atf::session::SessionReader;
use tempfile::TempDir;

use atf_samples::files::{EventRecord, IndexFile, crc32c};

/// An event: time, kind, function.
type Short = (u64, u32, u64);

const CALL: u32 = 1;
const RETURN: u32 = 2;
const EXCEPTION: u32 = 3;

/// Creates the index file of a thread with these events.
fn file(thread: u32, events: &[Short]) -> IndexFile {
    let event = |(timestamp_ns, kind, function_id): &Short| EventRecord {
        timestamp_ns: *timestamp_ns,
        function_id: *function_id,
        kind: u8::try_from(*kind).unwrap(),
        depth: 0,
        detail_seq: None,
    };
    let mut file = IndexFile::new(1, events.iter().map(event).collect());
    file.thread_id = thread;
    file.checksum = crc32c(&file.section());
    file
}

/// Writes a thread's index file below a session's folder.
fn write_index(session: &Path, thread: u32, bytes: &[u8]) {
    let thread = session.join(format!("thread_{thread}"));
    fs::create_dir(&thread).unwrap();
    fs::write(thread.join("index.atf"), bytes).unwrap();
}

/// Writes a session of these threads, with ids starting at 0.
fn session(threads: &[Vec<Short>]) -> (TempDir, SessionReader) {
    let folder = TempDir::new().unwrap();
    for (id, events) in (0..).zip(threads) {
        write_index(folder.path(), id, &file(id, events).bytes());
    }
    let session = SessionReader::open(folder.path()).unwrap();
    (folder, session)
}
