//! Checks sessions from a third party's writer, and compares the results with an independent
//! parser's. `commands/check.txt` has the verdicts and the broken rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::outcome::Outcome;

/// Returns how many times a file breaks a rule.
fn times(outcome: &Outcome, file: &str, rule: &str) -> u64 {
    outcome
        .finding(file, rule)
        .map_or(0, |finding| finding.count)
}

/// Returns the results of a check for a thread, with the keys of `EXPECTED.json`.
fn found(outcome: &Outcome, thread: &str) -> BTreeMap<String, Value> {
    let [index, detail] = ["index", "detail"].map(|name| format!("{thread}/{name}.atf"));
    let mut found = BTreeMap::new();
    let mut say = |key: &str, value: Value| found.insert(key.to_owned(), value);
    let finalized = times(outcome, &index, "ATF-IFTR-001") == 0;
    say("finalized", finalized.into());
    say("events", outcome.report(&index).events.unwrap().into());
    let monotone = times(outcome, &index, "ATF-IEVT-001") == 0;
    say("monotone", monotone.into());
    let mut reports = outcome.reports.iter();
    if reports.all(|report| report.path != Path::new(&detail)) {
        return found;
    }
    let tail = outcome.finding(&detail, "ATF-DFTR-010");
    let tail = tail.map_or(0, |finding| {
        let (bytes, _) = finding.message.split_once(" trailing bytes").unwrap();
        bytes.parse().unwrap()
    });
    let finalized = times(outcome, &detail, "ATF-DFTR-001") == 0;
    say("detail_finalized", finalized.into());
    say("details", outcome.report(&detail).details.unwrap().into());
    say("detail_tail_bytes", tail.into());
    let dangling = times(outcome, &index, "ATF-LINK-002");
    say("dangling_links", dangling.into());
    let orphans = times(outcome, &detail, "ATF-LINK-004");
    say("orphan_details", orphans.into());
    found
}

#[test]
fn counts_and_links_match_an_independent_parser() {
    let expected = fs::read(atf_samples::folder().join("EXPECTED.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_slice(&expected).unwrap();
    assert_eq!(expected.len(), 3);
    let mut compared = 0;
    for (session, expected) in expected {
        let outcome = Outcome::check(&atf_samples::folder().join(&session));
        for (thread, expected) in expected["threads"].as_object().unwrap() {
            for (key, value) in found(&outcome, thread) {
                assert_eq!(value, expected[&key], "{session}/{thread}: {key}");
                compared += 1;
            }
        }
    }
    // There are nine threads, six of them with details.
    assert_eq!(compared, 9 * 3 + 6 * 5);
}
