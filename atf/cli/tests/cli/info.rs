//! `info`: compares its output on the samples with an independent parser's.

use serde_json::Value;

use super::{expected, number, of_samples};

#[test]
fn sample_sessions_match_an_independent_parser() {
    for (path, expected) in expected() {
        let text = of_samples(&format!("info --json --verify {path}"));
        let session: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(session["what"], "session");
        assert_eq!(
            session["manifest"].is_object(),
            expected["manifest"] == true
        );
        let mut events = 0;
        for (position, (name, expected)) in
            expected["threads"].as_object().unwrap().iter().enumerate()
        {
            let thread = &session["threads"][position];
            assert_eq!(name, &format!("thread_{}", thread["id"]));
            let index = &thread["index"];
            events += number(&index["event_count"]);
            assert_eq!(number(&index["event_count"]), expected["events"]);
            let is_finalized = index["completeness"]["state"] == "finalized";
            assert_eq!(is_finalized, expected["finalized"] == true);
            assert_eq!(number(&index["time"]["start_ns"]), expected["ts_min"]);
            assert_eq!(number(&index["time"]["end_ns"]), expected["ts_max"]);
            let contents = &index["contents"];
            assert_eq!(number(&contents["out_of_order"]), 0);
            for (kind, count) in expected["kinds"].as_object().unwrap() {
                assert_eq!(number(&contents["kinds"][kind]), *count);
            }
            assert_eq!(number(&contents["links"]), expected["links"]);
            if let Some(details) = expected["details"].as_u64() {
                let (detail, links) = (&thread["detail"], &thread["links"]);
                assert_eq!(number(&detail["event_count"]), details);
                let dangling = expected["dangling_links"].as_u64().unwrap();
                assert_eq!(number(&links["dangling"]), dangling);
                assert_eq!(number(&links["orphans"]), expected["orphan_details"]);
                let good = expected["links"].as_u64().unwrap() - dangling;
                assert_eq!(number(&links["good"]), good);
                let trailing = &detail["completeness"]["trailing_bytes"];
                let trailing = trailing.as_str().map_or(0, |bytes| bytes.parse().unwrap());
                assert_eq!(Some(trailing), expected["detail_tail_bytes"].as_u64());
            } else {
                assert_eq!(thread["detail"], Value::Null);
            }
        }
        assert_eq!(number(&session["index_events"]), events);
    }
}
