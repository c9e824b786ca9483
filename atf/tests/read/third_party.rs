//! Compares the readers' results with those of an independent parser, on sessions written by a
//! third party's writer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use atf::Completeness;
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn sha256(file: &Path, start: u64, end: u64) -> String {
    let bytes = fs::read(file).unwrap();
    let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
    format!("{:x}", Sha256::digest(&bytes[range]))
}

/// Returns the readers' results under the keys of `EXPECTED.json`.
fn found(thread: &ThreadReader) -> Value {
    let index = thread.index();
    let events: Vec<_> = index.events_in(..).collect::<Result<_, _>>().unwrap();
    let mut kinds = BTreeMap::new();
    for event in &events {
        *kinds
            .entry(u32::from(event.event_kind).to_string())
            .or_insert(0) += 1;
    }
    let linked = events.iter().filter(|event| event.detail_seq.is_some());
    let linked: Vec<_> = linked.collect();
    let dangling = linked
        .iter()
        .filter(|event| thread.detail_of(event).unwrap().found().is_none())
        .count();
    let mut found = serde_json::json!({
        "finalized": index.completeness().has_verified_footer(),
        "events": index.event_count(),
        "sha256_events": sha256(
            &thread.path().join("index.atf"),
            index.header().events_offset,
            index.events_end(),
        ),
        "ts_min": events.iter().map(|event| event.timestamp_ns).min(),
        "ts_max": events.iter().map(|event| event.timestamp_ns).max(),
        "monotone": events.is_sorted_by_key(|event| event.timestamp_ns),
        "kinds": kinds,
        "max_depth": events.iter().filter_map(|event| event.call_depth).max(),
        "flags": index.header().flags.0,
        "links": linked.len(),
    });
    let Some(detail) = thread.detail() else {
        return found;
    };
    let details = detail.events_in(..).map(Result::unwrap);
    let orphans = details
        .filter(|detail| thread.event_of(detail).unwrap().found().is_none())
        .count();
    let tail_bytes = match detail.completeness() {
        Completeness::Unfinalized { trailing_bytes, .. } => *trailing_bytes,
        _ => 0,
    };
    let of_detail = serde_json::json!({
        "detail_finalized": detail.completeness().has_verified_footer(),
        "details": detail.event_count(),
        "detail_tail_bytes": tail_bytes,
        "sha256_details": sha256(
            &thread.path().join("detail.atf"),
            detail.header().events_offset,
            detail.events_end(),
        ),
        "dangling_links": dangling,
        "orphan_details": orphans,
    });
    let object = found.as_object_mut().unwrap();
    object.extend(of_detail.as_object().unwrap().clone());
    found
}

#[test]
fn every_thread_agrees_with_an_independent_parser() {
    let expected = fs::read(atf_samples::folder().join("EXPECTED.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_slice(&expected).unwrap();
    assert_eq!(expected.len(), 3);
    for (session, expected) in expected {
        let reader = SessionReader::open(atf_samples::folder().join(&session)).unwrap();
        assert_eq!(expected["manifest"], reader.manifest().is_some());
        let threads = expected["threads"].as_object().unwrap();
        assert_eq!(reader.threads().len(), threads.len());
        for entry in reader.threads() {
            let thread = entry.open().unwrap();
            let expected = &threads[&format!("thread_{}", entry.id())];
            assert_eq!(&found(&thread), expected, "{session} {}", entry.id());
            assert_eq!(thread.index().header().thread_id, entry.id());
            assert!(thread.disagreements().is_empty());
        }
    }
}
