//! Plants faults in correct answers to the whole corpus. For each fault, this file lists the causes
//! of its failures and the rules and fields that they break. Any others count as wrong.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use atf_conformance::cause::{Causes, settle_charges};
use atf_conformance::corpus::{self, Case};
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{CaseResult, Role};
use atf_conformance::run::{Reading, Task as _};
use atf_conformance::{Verdict, verdict_in};
use serde_json::{Value, json};

static CASES: LazyLock<Vec<Arc<Case>>> =
    LazyLock::new(|| corpus::cases().into_iter().map(Arc::new).collect());

/// A fault: its name, the change that it makes to a correct answer, and the ids of the causes and
/// the charges that are true for its failures. An id that ends in `*` matches any ending.
struct Fault {
    name: &'static str,
    change: fn(&Case, &mut Value),
    causes: &'static [&'static str],
    charges: &'static [&'static str],
}

/// Calls `change` with each file of a document that is read.
fn all_files(document: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    for kind in ["index", "detail"] {
        files(document, kind, change);
    }
}

/// Calls `change` with each file of this kind that is read.
fn files(document: &mut Value, kind: &str, change: &mut dyn FnMut(&mut Value)) {
    if document["kind"] == kind && document["verdict"] != "reject" && document["events"].is_array()
    {
        change(document);
    }
    let threads = document.get_mut("threads").and_then(Value::as_array_mut);
    for thread in threads.into_iter().flatten() {
        for file in ["index", "detail"] {
            if thread[file].is_object() {
                files(&mut thread[file], kind, change);
            }
        }
    }
}

fn events(document: &mut Value, kind: &str, change: &mut dyn FnMut(&mut Value)) {
    files(document, kind, &mut |file| {
        let events = file["events"].as_array_mut().into_iter().flatten();
        events.for_each(&mut *change);
    });
}

fn reject(document: &mut Value) {
    *document = json!({"kind": document["kind"], "verdict": "reject"});
}

/// Rejects the files that `is_bad` selects, and sessions that have no index left.
fn reject_files(document: &mut Value, is_bad: &dyn Fn(&Value) -> bool) {
    let mut any = false;
    all_files(document, &mut |file| {
        if is_bad(file) {
            reject(file);
            any = true;
        }
    });
    let threads = document["threads"].as_array();
    let mut indexes = threads.into_iter().flatten().map(|thread| &thread["index"]);
    let is_read = |file: &Value| file["events"].is_array();
    if document["kind"] == "session" && any && !indexes.any(is_read) {
        reject(document);
    } else {
        derive(document);
    }
}

/// Derives a session's values from its events, as a reader would.
fn derive(document: &mut Value) {
    let Some(threads) = document["threads"].as_array() else {
        return;
    };
    let mut merged = Vec::new();
    for thread in threads {
        let id = thread["thread_id"].as_u64().unwrap();
        let events = thread["index"]["events"].as_array();
        for (seq, event) in events.into_iter().flatten().enumerate() {
            let time: u64 = event["timestamp_ns"].as_str().unwrap().parse().unwrap();
            let is_proven = thread["index"]["derived"]["checksum"] == "good";
            let is_zero = time == 0 && event["function_id"] == "0" && event["event_kind"] == 0;
            if is_proven || !is_zero {
                merged.push((time, id, seq));
            }
        }
    }
    merged.sort_unstable();
    let derived = &mut document["derived"];
    derived["event_count"] = merged.len().to_string().into();
    derived["time_start_ns"] = merged.first().map(|it| it.0.to_string()).into();
    derived["time_end_ns"] = merged.last().map(|it| it.0.to_string()).into();
    let order = merged
        .iter()
        .map(|(_, id, seq)| json!([id, seq.to_string()]));
    derived["merged"] = order.collect();
}

fn breaks(case: &Case, rule: &str) -> bool {
    case.broken.iter().any(|(_, broken)| *broken == rule)
}

const CHECKSUMS: &[&str] = &[
    "ATF-IFTR-004",
    "ATF-DFTR-004",
    "ATF-IFTR-005",
    "ATF-DFTR-005",
];

const FAULTS: &[Fault] = &[
    Fault {
        name: "call_depth is one too many",
        change: |_, document| {
            events(document, "index", &mut |event| {
                if let Some(depth) = event["call_depth"].as_u64() {
                    event["call_depth"] = (depth ^ 1).into();
                }
            });
        },
        causes: &["clean:events.call_depth"],
        charges: &["index_event.call_depth", "ATF-IEVT-004"],
    },
    Fault {
        name: "another polynomial, and mismatches are reported",
        change: |_, document| {
            let mut any = false;
            all_files(document, &mut |file| {
                if file["derived"]["checksum"] == "good" {
                    file["derived"]["checksum"] = "bad".into();
                    file["verdict"] = "recover".into();
                    any = true;
                }
            });
            if any {
                document["verdict"] = "recover".into();
            }
        },
        causes: &["clean:checksum"],
        charges: CHECKSUMS,
    },
    Fault {
        name: "another polynomial, and mismatches are rejected",
        change: |_, document| {
            reject_files(document, &|file| file["derived"]["checksum"] == "good");
        },
        causes: &["clean:rejected-because-of-their-checksum"],
        charges: &["ATF-IFTR-004", "ATF-DFTR-004"],
    },
    Fault {
        name: "get is off by one",
        change: |_, document| {
            files(document, "index", &mut |file| {
                let events = file["events"].as_array_mut().unwrap();
                if !events.is_empty() {
                    events.remove(0);
                    events.extend(events.last().cloned());
                }
            });
            derive(document);
        },
        causes: &["clean:events"],
        charges: &["index_event"],
    },
    Fault {
        name: "threads are merged in the order of their ids",
        change: |_, document| {
            if let Some(merged) = document["derived"]["merged"].as_array_mut() {
                merged.sort_by_key(|it| it[0].as_u64());
            }
        },
        causes: &["clean:merged"],
        charges: &["ATF-RDER-004"],
    },
    Fault {
        name: "timestamps are truncated to 32 bits",
        change: |_, document| {
            events(document, "index", &mut |event| {
                let time: u64 = event["timestamp_ns"].as_str().unwrap().parse().unwrap();
                event["timestamp_ns"] = (time & 0xffff_ffff).to_string().into();
            });
            derive(document);
        },
        causes: &["clean:events.timestamp_ns"],
        charges: &["index_event.timestamp_ns"],
    },
    Fault {
        name: "the footer's times are swapped",
        change: |_, document| {
            all_files(document, &mut |file| {
                if let Some(footer) = file["footer"].as_object_mut() {
                    let start = footer["time_start_ns"].clone();
                    let end = footer.insert("time_end_ns".to_owned(), start);
                    footer.insert("time_start_ns".to_owned(), end.unwrap());
                }
            });
        },
        causes: &["clean:footer"],
        charges: &[
            "index_footer.*",
            "detail_footer.*",
            "ATF-IFTR-007",
            "ATF-DFTR-007",
        ],
    },
    Fault {
        name: "the header's count is wrong",
        change: |_, document| {
            files(document, "index", &mut |file| {
                if file["header"]["event_count"].is_u64() {
                    file["header"]["event_count"] = 0xffff.into();
                }
            });
        },
        causes: &["clean:header.event_count"],
        charges: &["index_header.event_count", "ATF-IHDR-014"],
    },
    Fault {
        name: "payloads lose their last byte",
        change: |_, document| {
            events(document, "detail", &mut |event| {
                let payload = event["payload"].as_str().unwrap();
                event["payload"] = payload[..payload.len().saturating_sub(2)].into();
            });
        },
        causes: &["clean:events.payload"],
        charges: &["detail_event_header.total_length", "ATF-DEVT-*"],
    },
    Fault {
        name: "version 2 shows a thread's id in each event",
        change: |case, document| {
            if case.wire == 2 {
                events(document, "index", &mut |event| {
                    event["thread_id"] = 7.into();
                });
            }
        },
        causes: &["clean:events.thread_id"],
        charges: &["ATF-RDER-012"],
    },
    Fault {
        name: "a session starts at 0",
        change: |_, document| {
            if document["kind"] == "session" && document["derived"].is_object() {
                document["derived"]["time_start_ns"] = "0".into();
            }
        },
        causes: &["clean:time_start_ns"],
        charges: &["ATF-RDER-013"],
    },
    Fault {
        name: "the manifest is never found",
        change: |_, document| {
            if document["derived"]["manifest"].is_string() {
                document["derived"]["manifest"] = "absent".into();
            }
        },
        causes: &["clean:manifest"],
        charges: &["ATF-MANI-*"],
    },
    Fault {
        name: "bytes after the footer are not counted",
        change: |_, document| {
            all_files(document, &mut |file| {
                file["derived"]["trailing_bytes"] = "0".into();
            });
        },
        causes: &["label-trailing-bytes"],
        charges: &[
            "ATF-IFTR-*",
            "ATF-DFTR-*",
            "ATF-DEVT-*",
            "ATF-IHDR-*",
            "ATF-DHDR-*",
            "ATF-IEVT-*",
        ],
    },
    Fault {
        name: "checksums are never verified",
        change: |case, document| {
            if case.expected.to_string().contains("\"bad\"") {
                all_files(document, &mut |file| {
                    file["derived"]["checksum"] = "good".into();
                    file["verdict"] = "accept".into();
                });
                document["verdict"] = "accept".into();
            }
        },
        causes: &["checksum-*"],
        charges: CHECKSUMS,
    },
    Fault {
        name: "the last event of an unfinalized file is lost",
        change: |_, document| {
            all_files(document, &mut |file| {
                if file.get("footer") == Some(&Value::Null) {
                    file["events"].as_array_mut().unwrap().pop();
                }
            });
            derive(document);
        },
        causes: &["unfinalized-lost"],
        charges: &["ATF-RDER-001"],
    },
    Fault {
        name: "an unknown kind of event is rejected",
        change: |case, document| {
            if breaks(case, "ATF-IEVT-002") && document["kind"] == "index" {
                reject(document);
            }
        },
        causes: &["unknown-value-refused"],
        charges: &["ATF-IEVT-002"],
    },
    Fault {
        name: "a session with a rejected file is rejected",
        change: |case, document| {
            let mut files = case.file_verdicts.iter();
            if document["kind"] == "session"
                && files.any(|file| file.verdicts.contains(&Verdict::Reject))
            {
                reject(document);
            }
        },
        causes: &["thread-spoils-session"],
        charges: &["ATF-RDER-003"],
    },
    Fault {
        name: "an event that looks like a footer is taken for one",
        change: |case, document| {
            if case.name.contains("-an-event-like-a-footer-") {
                document["events"].as_array_mut().unwrap().truncate(1);
                document["derived"]["event_count"] = "1".into();
                document["derived"]["count_source"] = "footer".into();
            }
        },
        causes: &["*"],
        charges: &["ATF-IFTR-002", "ATF-IFTR-003"],
    },
    Fault {
        name: "links are never checked",
        change: |_, document| {
            let threads = document.get_mut("threads").and_then(Value::as_array_mut);
            for thread in threads.into_iter().flatten() {
                thread["derived"] = json!({"dangling_links": "0", "orphan_details": "0"});
            }
        },
        causes: &["links-unproven"],
        charges: &["ATF-LINK-*"],
    },
    Fault {
        name: "kinds and depths are swapped",
        change: |_, document| {
            events(document, "index", &mut |event| {
                let kind = event["event_kind"].clone();
                if event["call_depth"].is_u64() {
                    event["event_kind"] = event["call_depth"].take();
                    event["call_depth"] = kind;
                }
            });
        },
        causes: &["clean:events.call_depth", "clean:events.event_kind"],
        charges: &["index_event.*", "ATF-IEVT-*"],
    },
    Fault {
        name: "the clock is read with the reserved bytes after it",
        change: |case, document| {
            if breaks(case, "ATF-IHDR-012") && case.rules.contains(&"ATF-IHDR-012") {
                files(document, "index", &mut |file| {
                    let clock = file["header"]["clock_type"].as_u64().unwrap();
                    file["header"]["clock_type"] = (clock + 256).into();
                });
            }
        },
        causes: &["*"],
        charges: &["ATF-IHDR-012"],
    },
    Fault {
        name: "a link that is all ones is a position",
        change: |_, document| {
            events(document, "index", &mut |event| {
                if event["detail_seq"].is_null() {
                    event["detail_seq"] = "4294967295".into();
                }
            });
        },
        causes: &["clean:events.detail_seq"],
        charges: &["index_event.detail_seq", "ATF-LINK-*"],
    },
];

/// Grades a fault's answers to all cases.
fn graded(fault: &Fault) -> Vec<CaseResult> {
    let manifest = Manifest::reference(Path::new("atf-conformance"));
    let result = |case: &Arc<Case>| {
        let mut document = case.expected.clone();
        document["verdict"] = case.verdicts[0].name().into();
        (fault.change)(case, &mut document);
        let verdict = verdict_in(&document).unwrap();
        let reading = Reading::new(Role::Read, Arc::clone(case));
        let outcome = reading.compare(&manifest, verdict, &document);
        CaseResult {
            rules: case.rules.iter().map(|rule| (*rule).to_owned()).collect(),
            files: reading.files(),
            ..CaseResult::new(0, Role::Read, &case.name, outcome)
        }
    };
    CASES.iter().map(result).collect()
}

fn is_expected(found: &str, expected: &[&str]) -> bool {
    expected.iter().any(|it| match it.strip_suffix('*') {
        Some(start) => found.starts_with(start),
        None => found == *it,
    })
}

#[test]
fn causes_and_charges_are_true_for_at_least_95_percent_of_the_failures_of_each_fault() {
    let mut bad = Vec::new();
    for fault in FAULTS {
        let mut results = graded(fault);
        settle_charges(&mut results);
        let causes = Causes::new(&results);
        let mut other: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        let (mut all, mut right) = (0, 0);
        for case in &results {
            let Some(cause) = causes.of(case) else {
                continue;
            };
            let first = &case.outcome.differences()[0];
            let charge = first.rule.as_deref().unwrap_or("no rule");
            all += 1;
            if is_expected(&cause.id, fault.causes) && is_expected(charge, fault.charges) {
                right += 1;
            } else {
                let key = (cause.id, charge.to_owned());
                other.entry(key).or_default().push(case.case.clone());
            }
        }
        println!("{right:4} of {all:4}  {}", fault.name);
        assert!(all > 0, "{} is not caught", fault.name);
        if right * 100 < all * 95 {
            bad.push((fault.name, format!("{right} of {all}"), other));
        }
        let first = &causes.groups()[0].cause.id;
        if !is_expected(first, fault.causes) {
            bad.push((fault.name, format!("first: {first}"), BTreeMap::new()));
        }
    }
    for (name, share, other) in &bad {
        println!("{name}: {share}");
        for ((cause, charge), cases) in other {
            println!(
                "  {:3} {cause} {charge} {:?}",
                cases.len(),
                &cases[..cases.len().min(3)]
            );
        }
    }
    assert!(bad.is_empty());
}
