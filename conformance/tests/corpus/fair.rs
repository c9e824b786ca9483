//! Tests that the kit fails no reader unfairly: each verdict that a case excludes has a reason, and
//! a reader with correct data passes unless a sentence in a source excludes its verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use atf_conformance::Verdict;
use atf_conformance::corpus::{Because, Case, Effect, Reason};
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{Grade, Outcome, Role};
use atf_conformance::run::Reading;
use serde_json::{Value, json};

use crate::CASES;
use crate::pairs::composed;

const VERDICTS: [Verdict; 3] = [Verdict::Accept, Verdict::Recover, Verdict::Reject];

static READER: LazyLock<Manifest> = LazyLock::new(|| Manifest::reference(Path::new("scripted")));

fn reading(case: &Case) -> Reading {
    Reading::new(Role::Read, Arc::new(case.clone()))
}

/// Returns whether an answer contains wrong data.
fn harms(outcome: &Outcome) -> bool {
    let mut differences = outcome.differences().iter();
    differences.any(|it| it.grade == Grade::Data)
}

/// Returns the correct data with a verdict. A subject that must be rejected has no events.
fn with_verdict(right: &Value, verdict: Verdict) -> Value {
    let mut document = right.clone();
    if verdict == Verdict::Reject {
        return json!({"kind": right["kind"], "verdict": "reject"});
    }
    if right["verdict"] == "reject" {
        document["events"] = json!([]);
    }
    document["verdict"] = verdict.name().into();
    document
}

/// Returns a file's document with an event that was never traced.
fn with_phantom(right: &Value, verdict: Verdict) -> Value {
    let mut document = with_verdict(right, verdict);
    let event =
        json!({"timestamp_ns": "1", "function_id": "1", "event_kind": 1, "detail_seq": null});
    document["events"] = json!([event]);
    document
}

/// Checks the verdicts on a subject. `answer` puts a document of the subject into an answer and
/// grades it.
fn check(
    name: &str,
    right: &Value,
    allowed: &[Verdict],
    because: &Because,
    answer: impl Fn(Verdict, Value) -> Outcome,
) {
    for verdict in VERDICTS {
        let reasons = because.get(&verdict).map_or(&[][..], Vec::as_slice);
        let is_allowed = allowed.contains(&verdict);
        assert_eq!(is_allowed, reasons.is_empty(), "{name}: {verdict:?}");
        let outcome = answer(verdict, with_verdict(right, verdict));
        let has_sentence = reasons.iter().any(Reason::is_sentence);
        if is_allowed {
            assert_eq!(outcome, Outcome::Passed, "{name}: {verdict:?}");
            continue;
        }
        let loses = verdict == Verdict::Reject;
        let passes = outcome == Outcome::Passed;
        assert_eq!(passes, !has_sentence && !loses, "{name}: {outcome:?}");
        for reason in reasons {
            let Reason::Harm { effect, place, .. } = reason else {
                continue;
            };
            match effect {
                Effect::Lost => {
                    assert!(loses && harms(&outcome), "{name}: {outcome:?}");
                    assert_eq!(lost(right), *place, "{name}");
                }
                Effect::Phantom if right.get("threads").is_none() => {
                    let harmed = answer(verdict, with_phantom(right, verdict));
                    assert!(harms(&harmed), "{name}: {harmed:?}");
                }
                // A file of the session must be rejected, and is checked on its own.
                Effect::Phantom => assert!(!loses, "{name}"),
            }
        }
    }
}

/// Returns the place of the first events in a document.
fn lost(document: &Value) -> String {
    let events = |of: &Value, at: &str| {
        let count = of["events"].as_array().map_or(0, Vec::len);
        (count > 0).then(|| format!("{at}events[0..{count}]"))
    };
    let threads = document["threads"].as_array().into_iter().flatten();
    let files = threads.enumerate().flat_map(|(seq, thread)| {
        ["index", "detail"].map(|file| events(&thread[file], &format!("threads[{seq}].{file}.")))
    });
    let mut all = [events(document, "")].into_iter().chain(files);
    all.find_map(|found| found).unwrap_or_default()
}

#[test]
fn a_reader_with_correct_data_fails_only_if_a_source_excludes_its_verdict() {
    for case in CASES.iter().chain(composed()) {
        let reading = reading(case);
        check(
            &case.name,
            &case.expected,
            &case.verdicts,
            &case.because,
            |verdict, document| reading.compare(&READER, verdict, &document),
        );
        for right in &case.alternatives {
            let document = with_verdict(right, case.verdicts[0]);
            let outcome = reading.compare(&READER, case.verdicts[0], &document);
            assert_eq!(outcome, Outcome::Passed, "{}", case.name);
        }
    }
}

/// Varies the verdict on each file of a session, but not the verdict on the session.
#[test]
fn a_session_file_with_correct_data_fails_only_if_a_source_excludes_its_verdict() {
    let mut count = 0;
    for case in CASES.iter() {
        let reading = reading(case);
        for file in &case.file_verdicts {
            let mut threads = case.expected["threads"].as_array().unwrap().iter();
            let thread = threads
                .position(|it| it["thread_id"] == file.thread)
                .unwrap();
            let at = format!("/threads/{thread}/{}", file.file);
            let right = case.expected.pointer(&at).unwrap();
            let name = format!("{} {}", case.name, file.path);
            check(
                &name,
                right,
                &file.verdicts,
                &file.because,
                |verdict, document| {
                    // Without this file, links and order differ. Other tests cover such documents.
                    if verdict == Verdict::Reject && file.verdicts.contains(&verdict) {
                        return Outcome::Passed;
                    }
                    let mut answer = case.expected.clone();
                    *answer.pointer_mut(&at).unwrap() = document;
                    reading.compare(&READER, case.verdicts[0], &answer)
                },
            );
            count += 1;
        }
    }
    assert!(count > 500, "{count} files");
}

/// An event of zeros with a reserved byte that is set is no hole, but looks like one in a document.
#[test]
fn a_choice_of_verdict_does_not_change_which_events_are_holes() {
    let mut case = CASES
        .iter()
        .find(|case| case.name == "v2/link-004-a-hole-in-its-place-no-checksum")
        .unwrap()
        .clone();
    let index = &case.expected["threads"][0]["index"];
    assert_eq!(index["verdict"], "accept");
    let merged = case.expected["derived"]["merged"].as_array_mut().unwrap();
    merged.insert(0, json!([7, "3"]));
    case.expected["derived"]["time_start_ns"] = json!("0");
    let mut document = case.expected.clone();
    document["threads"][0]["index"]["verdict"] = json!("recover");
    let outcome = reading(&case).compare(&READER, Verdict::Recover, &document);
    assert_eq!(outcome, Outcome::Passed);
}

/// A sentence that excluded a verdict in most cases would not be specific to any of them.
#[test]
fn no_reason_fits_every_case() {
    let mut uses: BTreeMap<(Verdict, String), usize> = BTreeMap::new();
    let mut sentences = 0;
    for case in CASES.iter() {
        for (verdict, reasons) in &case.because {
            sentences += usize::from(reasons.iter().any(Reason::is_sentence));
            for reason in reasons.iter().filter(|it| it.is_sentence()) {
                *uses.entry((*verdict, reason.to_string())).or_default() += 1;
            }
        }
    }
    assert!(sentences > 500, "{sentences}");
    for ((verdict, reason), count) in uses {
        assert!(2 * count < CASES.len(), "{verdict:?}, {reason}: {count}");
    }
}
