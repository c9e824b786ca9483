//! Tests the writers.

#[path = "../support/written.rs"]
mod support_written;

mod claims;
mod encode;
mod faults;
mod held;
mod interleavings;
mod limits;
mod memory;
mod names;
mod refusals;
mod reserve;
mod ring;
mod round_trip;

use atf::write::{Detail, ThreadWriter, WriteOptions};
use atf::{Error, Result};
use tempfile::TempDir;

use support_written::{assert_event, event};

/// Creates the writer of thread 7 in a new folder.
fn created(options: &WriteOptions) -> (TempDir, ThreadWriter) {
    let folder = TempDir::new().unwrap();
    let writer = ThreadWriter::create(folder.path(), 7, options).unwrap();
    (folder, writer)
}

/// Returns the detail of a call or a return.
fn detail(seq: u64, payload: &[u8]) -> Detail<'_> {
    Detail::new(event(seq).event_kind.detail_type(), payload)
}

/// Writes event `seq`, with a detail if there is a payload.
fn put(writer: &mut ThreadWriter, seq: u64, payload: Option<&[u8]>) -> Result<()> {
    match payload {
        Some(payload) => {
            let written = writer.write_with_detail(&event(seq), &detail(seq, payload));
            written.map(drop)
        }
        None => writer.write(&event(seq)).map(drop),
    }
}

/// Makes all calls that a writer refuses after it has failed or has been finalized. Returns the
/// errors.
fn refused(writer: &mut ThreadWriter, seq: u64) -> [Error; 8] {
    let (of, next) = (detail(seq, b"x"), writer.next_detail_seq());
    [
        writer.write(&event(seq)).unwrap_err(),
        // The error stays the same, even for an event that would be rejected.
        writer.write(&event(0)).unwrap_err(),
        writer.write_with_detail(&event(seq), &of).unwrap_err(),
        writer.write_index(&event(seq), None).unwrap_err(),
        writer.write_index(&event(seq), Some(next)).unwrap_err(),
        writer.write_detail(seq, 1, &of).unwrap_err(),
        writer.flush().unwrap_err(),
        writer.finalize().unwrap_err(),
    ]
}
