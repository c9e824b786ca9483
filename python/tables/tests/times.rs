//! Tests that calls last as long as in reports if a thread's time goes back.

use arrow_array::RecordBatch;
use atf::EventKind;
use atf::write::{Event, SessionWriter, WriteOptions};
use atf_tables::{Options, Session, Table};

const CALL: EventKind = EventKind::CALL;
const RETURN: EventKind = EventKind::RETURN;

/// The rows of `calls` for a thread whose events have these times.
fn calls(times: [u64; 8]) -> Vec<RecordBatch> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid_42");
    let options = WriteOptions::default().verbatim(true);
    let writer = SessionWriter::create(&path, &options).unwrap();
    let mut thread = writer.thread(0).unwrap();
    let events = [
        (CALL, 1),
        (CALL, 2),
        (RETURN, 2),
        (RETURN, 1),
        (CALL, 3),
        (RETURN, 3),
        (CALL, 4),
        (CALL, 5),
    ];
    for (time, (kind, function)) in times.into_iter().zip(events) {
        thread.write(&Event::new(time, function, kind, 1)).unwrap();
    }
    thread.finalize().unwrap();
    writer.finalize().unwrap();
    let session = Session::open(path).unwrap();
    let stream = session.stream(Table::Calls, &Options::default()).unwrap();
    stream.map(|batch| batch.unwrap()).collect()
}

#[test]
fn wrong_times_affect_no_other_call() {
    let found = calls([1000, u64::MAX / 2, 1200, 1309, 1150, 1320, 1400, 1190]);
    let expected = calls([1000, 1200, 1200, 1309, 1309, 1320, 1400, 1400]);
    assert_eq!(found, expected);
}
