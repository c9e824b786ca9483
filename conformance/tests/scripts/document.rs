//! Tests the expected documents of written files.

use atf_conformance::written::Documents;
use serde_json::json;

use super::{scripted, with_files};

const SCRIPT: &str = "\
open thread=7 wire=WIRE clock=3 arch=2 os=4
open thread=8 wire=WIRE clock=3 arch=2 os=4
index thread=7 ts=1000 fn=4294967297 kind=1 depth=1 detail=0
detail thread=7 index=0 ts=1000 type=3 flags=0 payload=00ff
index thread=8 ts=900 fn=5 kind=1 depth=2 detail=-
finalize thread=7
";

/// Returns the expected documents for the script that ends with `end`, in one wire version.
fn documents(wire: u8, end: &str) -> Documents {
    let text = SCRIPT.replace("WIRE", &wire.to_string());
    let (scripted, out) = with_files(scripted(&format!("{text}{end}\n")));
    Documents::read(&scripted.script, out.path()).unwrap()
}

#[test]
fn a_finalized_detail_file_is_accepted_with_all_fields() {
    let detail = json!({
        "kind": "detail",
        "verdict": "accept",
        "header": {"endian": 1, "version": 1, "arch": 2, "os": 4, "flags": 0, "thread_id": 7,
                   "events_offset": "64", "event_count": "1", "bytes_length": "26",
                   "index_seq_start": "0", "index_seq_end": "0"},
        "events": [{"total_length": 26, "event_type": 3, "flags": 0, "index_seq": "0",
                    "thread_id": 7, "timestamp": "1000", "payload": "00ff", "function": null}],
        // This is the CRC-32C of 1a000000 0300 0000 00000000 07000000 e803000000000000 00ff.
        "footer": {"checksum": 3_560_601_061_u32, "event_count": "1", "bytes_length": "26",
                   "time_start_ns": "1000", "time_end_ns": "1000"},
        "derived": {"event_count": "1", "count_source": "footer", "checksum": "good",
                    "trailing_bytes": "0"}
    });
    let documents = documents(1, "finalize thread=8");
    assert_eq!(
        documents.detail,
        [("thread_7/detail.atf".to_owned(), detail)]
    );
}

#[test]
fn a_session_with_an_open_thread_is_recovered() {
    let documents = documents(2, "abort");
    let open = json!({
        "kind": "index",
        "verdict": "recover",
        "header": {"endian": 1, "version": 2, "arch": 2, "os": 4, "flags": 0, "thread_id": 8,
                   "clock_type": 3, "event_size": 32, "event_count": "0", "events_offset": "64",
                   "footer_offset": "0", "time_start_ns": "0", "time_end_ns": "0"},
        "events": [{"timestamp_ns": "900", "function_id": "5", "event_kind": 1,
                    "detail_seq": null}],
        "footer": null,
        "derived": {"event_count": "1", "count_source": "file_size", "checksum": "not_checked",
                    "trailing_bytes": "0"}
    });
    assert_eq!(
        documents.index[1],
        ("thread_8/index.atf".to_owned(), open.clone())
    );
    let session = documents.session.unwrap();
    assert_eq!(session["verdict"], "recover");
    let expected = json!({
        "thread_id": 8,
        "index": open,
        "detail": null,
        "derived": {"dangling_links": "0", "orphan_details": "0"}
    });
    assert_eq!(session["threads"][1], expected);
    let derived = json!({
        "manifest": "used",
        "event_count": "2",
        "detail_count": "1",
        "time_start_ns": "900",
        "time_end_ns": "1000",
        "merged": [[8, "0"], [7, "0"]]
    });
    assert_eq!(session["derived"], derived);
}

#[test]
fn registers_and_stack_are_decoded() {
    let registers = (1..=12_u64).flat_map(u64::to_le_bytes);
    let registers: String = registers.map(|byte| format!("{byte:02x}")).collect();
    let payload = format!("{registers}02000000abcd");
    let text = SCRIPT.replace("WIRE", "1").replace("fn=4294967297", "fn=1");
    let text = text.replace("payload=00ff", &format!("payload={payload}"));
    let (scripted, out) = with_files(scripted(&format!("{text}abort\n")));
    let documents = Documents::read(&scripted.script, out.path()).unwrap();
    let function = json!({
        "function_id": "1",
        "x_regs": ["2", "3", "4", "5", "6", "7", "8", "9"],
        "lr": "10",
        "fp": "11",
        "sp": "12",
        "stack_size": 2,
        "stack": "abcd"
    });
    assert_eq!(documents.detail[0].1["events"][0]["function"], function);
}

#[test]
fn a_file_changed_after_grading_has_no_document() {
    let text = SCRIPT.replace("WIRE", "1");
    let (scripted, out) = with_files(scripted(&format!("{text}finalize thread=8\n")));
    let path = out.path().join("thread_8/index.atf");
    let bytes = std::fs::read(&path).unwrap();
    let error = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Documents::read(&scripted.script, out.path()).err()
    };
    assert_eq!(error(&bytes), None);
    assert!(error(&bytes[..bytes.len() - 1]).is_some());
}
