//! Adapts the expected result to a reader's choices. If a reader may either read or reject a file,
//! the derived parts of the session's document depend on its choice.

use serde_json::{Value, json};

use crate::corpus::{Because, Case, FileVerdicts, Reason, derive_session, derive_thread};
use crate::lacks::{Lack, allows, breaks_checksum};
use crate::protocol::{Mismatch, Step, holds_events, is_rejected, is_same_thread};
use crate::results::Grade;
use crate::{Verdict, verdict_in};

/// Returns the document expected from a reader that made these choices, and the session files that
/// it wrongly rejected.
///
/// `expected` is one of the case's correct documents.
pub(super) fn settle(
    case: &Case,
    expected: &Value,
    lacks: &[Lack],
    got: &Value,
) -> (Value, Vec<Mismatch>) {
    let mut expected = expected.clone();
    let mut refused = Vec::new();
    let Some(threads) = expected.get_mut("threads").and_then(Value::as_array_mut) else {
        return (expected, refused);
    };
    let of_thread = |thread: &Value| {
        let mut all = got["threads"].as_array().into_iter().flatten();
        all.find(|other| is_same_thread(other, thread))
    };
    // The values derived from the bytes hold as long as the reader reads the same events: a document
    // does not show whether reserved bytes of an event of zeros are set.
    let count = threads.len();
    threads.retain(|thread| {
        let is_optional = |id: &u32| thread["thread_id"] == *id;
        of_thread(thread).is_some() || !case.optional.iter().any(is_optional)
    });
    let mut reads_less = threads.len() < count;
    for (seq, thread) in threads.iter_mut().enumerate() {
        let mut reads_less_of_thread = false;
        let Some(answer) = of_thread(thread) else {
            continue;
        };
        for file in &case.file_verdicts {
            if thread["thread_id"] != file.thread {
                continue;
            }
            let given = &answer[file.file];
            let Some(document) = thread.get_mut(file.file) else {
                continue;
            };
            let breaks_checksum = breaks_checksum(case, |path| path == file.path);
            let allowed = |verdict| {
                allows(lacks, &file.verdicts, verdict, breaks_checksum)
                    || is_harmless(&file.because, &file.verdicts, verdict, given)
            };
            let had_events = holds_events(Some(document));
            let mismatch = choose(file, document, given, allowed);
            reads_less_of_thread |= had_events && !holds_events(Some(document));
            if let Some(mismatch) = mismatch {
                let steps = ["threads", file.file, "verdict"].map(|key| Step::Key(key.to_owned()));
                let [threads, kind, verdict] = steps;
                refused.push(Mismatch {
                    steps: vec![threads, Step::Element(seq), kind, verdict],
                    ..mismatch
                });
            }
        }
        if reads_less_of_thread {
            derive_thread(thread);
            reads_less = true;
        }
        if answer.pointer("/derived/links").is_some() {
            let links = links(thread);
            if let Some(derived) = thread.get_mut("derived").and_then(Value::as_object_mut) {
                derived.insert("links".to_owned(), links);
            }
        }
    }
    if let Some(manifest) = expected["derived"]["manifest"].as_str()
        && reads_less
    {
        let threads = expected["threads"].as_array();
        let derived = derive_session(threads.map_or(&[], Vec::as_slice), manifest);
        let slots = expected.get_mut("derived").and_then(Value::as_object_mut);
        for (name, slot) in slots.into_iter().flatten() {
            *slot = derived[name].clone();
        }
    }
    (expected, refused)
}

/// Returns whether a verdict is excluded only because of harm that is not in the document.
pub(super) fn is_harmless(
    because: &Because,
    verdicts: &[Verdict],
    verdict: Verdict,
    document: &Value,
) -> bool {
    let reasons = because.get(&verdict).map_or(&[][..], Vec::as_slice);
    let is_harm = !reasons.is_empty() && !reasons.iter().any(Reason::is_sentence);
    let has_document = verdicts.iter().any(|verdict| *verdict != Verdict::Reject);
    is_harm && verdict != Verdict::Reject && (has_document || !holds_events(Some(document)))
}

/// Returns the pairs of a thread's index and detail events that link to each other.
fn links(thread: &Value) -> Value {
    let events = |file: &str| thread[file]["events"].as_array().into_iter().flatten();
    let details: Vec<_> = events("detail").collect();
    let pair = |(seq, event): (usize, &Value)| {
        let link = event["detail_seq"].as_str()?;
        let back = &details.get(link.parse::<usize>().ok()?)?["index_seq"];
        let seq = seq.to_string();
        (*back == *seq).then(|| json!([seq, link]))
    };
    events("index").enumerate().filter_map(pair).collect()
}

/// If the reported verdict is allowed, copies it into the expected document. Returns a mismatch if
/// the file was wrongly rejected.
fn choose(
    file: &FileVerdicts,
    expected: &mut Value,
    given: &Value,
    allowed: impl Fn(Verdict) -> bool,
) -> Option<Mismatch> {
    // A file that may be rejected may also be reported as absent.
    if given.is_null() && allowed(Verdict::Reject) {
        *expected = Value::Null;
    }
    let verdict = verdict_in(given)?;
    let is_allowed = allowed(verdict);
    if verdict != Verdict::Reject {
        if is_allowed && !file.verdicts.contains(&verdict) && is_rejected(expected) {
            // A file that must be rejected was read, but yielded no events.
            *expected = given.clone();
        } else if is_allowed && let Some(slot) = expected.get_mut("verdict") {
            *slot = verdict.name().into();
        }
        return None;
    }
    let holds_events = holds_events(Some(expected));
    *expected = json!({"kind": file.file, "verdict": "reject"});
    if is_allowed {
        return None;
    }
    let right: Vec<_> = file.verdicts.iter().map(|verdict| verdict.name()).collect();
    Some(Mismatch {
        steps: Vec::new(),
        grade: if holds_events {
            Grade::Data
        } else {
            Grade::Label
        },
        expected: Some(right.join(" or ")),
        got: Some(verdict.name().to_owned()),
    })
}
