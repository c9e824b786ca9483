//! Tests that calls last as long as in reports, even if time goes backwards or the process died.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
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

#[test]
fn open_calls_of_a_process_that_died_last_until_its_last_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid_42");
    let writer = SessionWriter::create(&path, &WriteOptions::default()).unwrap();
    for (id, events) in [(0, &[(100, CALL)][..]), (1, &[(200, CALL), (500, RETURN)])] {
        let mut thread = writer.thread(id).unwrap();
        for (time, kind) in events {
            thread.write(&Event::new(*time, 7, *kind, 1)).unwrap();
        }
        thread.finalize().unwrap();
    }
    writer.finalize().unwrap();
    let at_least = || {
        let session = Session::open(&path).unwrap();
        let stream = session.stream(Table::Calls, &Options::default()).unwrap();
        let mut all = Vec::new();
        for batch in stream {
            let batch = batch.unwrap();
            let column = batch.column_by_name("at_least_ns").unwrap();
            all.extend(column.as_primitive::<Int64Type>().iter());
        }
        all
    };
    assert_eq!(at_least(), [None, None]);
    atf::write::set_ended_by(&path, "SIGKILL").unwrap();
    assert_eq!(at_least(), [Some(400), None]);
}
