//! Recovers the samples, which a third party's tracer wrote, and compares the results with those of
//! an independent parser.

use std::fs;
use std::path::Path;

use atf::rewrite::{RecoverOptions, recover};
use atf::thread::ThreadReader;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Places, count, files, session_of};

/// Returns the SHA-256 of the events section in a file that this crate finalized.
fn sha256(file: &Path) -> String {
    let bytes = fs::read(file).unwrap();
    Sha256::digest(&bytes[64..bytes.len() - 64])
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

#[test]
fn each_thread_keeps_the_events_that_an_independent_parser_found() {
    let text = fs::read(atf_samples::folder().join("EXPECTED.json")).unwrap();
    let expected: Value = serde_json::from_slice(&text).unwrap();
    let mut threads = 0;
    for (session, expected) in expected.as_object().unwrap() {
        let places = Places::new();
        let out = places.path("out");
        let options = RecoverOptions::default();
        let report = recover(atf_samples::folder().join(session), &out, &options).unwrap();
        assert!(report.changed(), "the tracer wrote no checksum");
        let second = recover(&out, places.path("twice"), &options).unwrap();
        assert!(!second.changed(), "{second}");
        assert_eq!(files(&out), files(&places.path("twice")));
        let all = session_of(&report);
        for (folder, expected) in expected["threads"].as_object().unwrap() {
            let mut listed = all["threads"].as_array().unwrap().iter();
            let report = listed.find(|it| it["folder"] == **folder).unwrap();
            let (details, orphans) = (
                number(expected, "details"),
                number(expected, "orphan_details"),
            );
            assert_eq!(report["events"]["kept"], number(expected, "events"));
            assert_eq!(report["details"]["kept"], details - orphans);
            let dangling = number(expected, "dangling_links");
            assert_eq!(count(report, "link_to_nothing"), dangling);
            let listed = |key| report[key].as_array().into_iter().flatten();
            let aside = listed("set_aside").map(|it| number(it, "count"));
            assert_eq!(aside.sum::<u64>(), orphans);
            let tail = listed("dropped").find(|it| it["file"] == "detail.atf");
            assert_eq!(
                tail.map_or(0, |it| number(it, "size")),
                number(expected, "detail_tail_bytes")
            );

            let thread = ThreadReader::open(out.join(folder)).unwrap();
            assert!(matches!(
                thread.index().completeness(),
                atf::Completeness::Finalized
            ));
            assert_eq!(thread.index().checksum().unwrap(), atf::Checksum::Good);
            assert!(thread.disagreements().is_empty());
            if dangling == 0 {
                let found = sha256(&out.join(folder).join("index.atf"));
                assert_eq!(found, expected["sha256_events"]);
            }
            if details > 0 && orphans == 0 {
                let found = sha256(&out.join(folder).join("detail.atf"));
                assert_eq!(found, expected["sha256_details"]);
            }
            threads += 1;
        }
    }
    assert_eq!(threads, 9);
}
