//! `dump`: dumps a detail that is larger than any buffer.

use std::fs;

use tempfile::TempDir;

use super::{clean, lines};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};

#[test]
fn a_large_payload_is_dumped_completely() {
    let folder = TempDir::new().unwrap();
    let event = EventRecord {
        timestamp_ns: 1000,
        function_id: 1,
        kind: 1,
        depth: 1,
        detail_seq: Some(0),
    };
    let detail = DetailRecord {
        event_type: 3,
        index_seq: 0,
        timestamp: 1000,
        payload: vec![0xab; 200_000],
    };
    let index = IndexFile::new(1, vec![event]).bytes();
    fs::write(folder.path().join("index.atf"), index).unwrap();
    let detail = DetailFile::new(1, vec![detail]).bytes();
    fs::write(folder.path().join("detail.atf"), detail).unwrap();
    let dump = |path| {
        lines(&clean(
            folder.path(),
            &["dump", "--json", "--details", path],
        ))
        .remove(0)
    };
    let event = dump(".");
    assert_eq!(event["detail"]["payload"], "ab".repeat(200_000));
    assert_eq!(dump("detail.atf"), event["detail"]);
}
