//! Queries about sessions of the corpus: S1's query patterns, names, and times of a recording.
//!
//! The answers follow from a case's expected document, not from a reader.

use serde_json::{Value, json};

use crate::corpus::{Case, Subject, number, trace};

/// Cases whose sessions are queried; `*` matches any end.
const CASES: [&str; 7] = [
    "clean-session",
    "session-*",
    "ievt-006-a-time-of-0-and-function-0-in-a-session-no-checksum",
    "iftr-001-in-one-thread-and-no-manifest",
    "ihdr-016-a-time-before-all-others-in-one-thread",
    "link-001-to-an-event-behind-the-last",
    "mani-011-names-offsets-and-anchors",
];

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// A query and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The query: a line of the file that a program gets.
    pub text: String,
    /// The answer.
    pub answer: Value,
    /// The rule that a wrong answer breaks, if there is one.
    pub rule: Option<&'static str>,
}

/// Returns the queries about a case's session; none if it is not queried.
#[must_use]
pub fn queries(case: &Case) -> Vec<Query> {
    let slug = case.name.split('/').nth(1).unwrap_or_default();
    let is_chosen = CASES.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => slug.starts_with(start),
        None => slug == *name,
    });
    // Where several documents are correct, so are several answers.
    let is_definite = case.alternatives.is_empty() && case.optional.is_empty();
    if !is_chosen || !is_definite || case.subject != Subject::Session || case.is_large() {
        return Vec::new();
    }
    let mut queries = of_events(case);
    queries.extend(of_links(case));
    queries.extend(of_anchor(case));
    queries
}

/// An event in merged order.
struct Event {
    thread: u64,
    seq: u64,
    timestamp_ns: u64,
    function_id: u64,
}

fn of_events(case: &Case) -> Vec<Query> {
    let merged = merged(&case.expected);
    let query = |text: String, rule, is_wanted: &dyn Fn(&Event) -> bool| {
        let wanted = merged.iter().filter(|event| is_wanted(event));
        let answer = wanted.map(|event| json!([event.thread, event.seq.to_string()]));
        let answer = answer.collect();
        Query { text, answer, rule }
    };
    let mut queries = vec![query("events".to_owned(), Some("ATF-RDER-004"), &|_| true)];
    for thread in list(&case.expected, "threads") {
        let id = thread["thread_id"].as_u64().unwrap_or_default();
        let text = format!("events thread={id}");
        queries.push(query(text, Some("ATF-SESS-001"), &|it| it.thread == id));
    }
    // Each time is a boundary of a range, and so are the times next to it.
    let mut times: Vec<_> = merged.iter().map(|event| event.timestamp_ns).collect();
    times.dedup();
    let (first, last) = (times.first().copied(), times.last().copied());
    let inner = times
        .get(1)
        .copied()
        .zip(times.iter().rev().nth(1).copied());
    let single = first.map(|time| (time, time));
    let all = first.zip(last);
    let before = first.and_then(|time| Some((0, time.checked_sub(1)?)));
    let after = last.and_then(|time| Some((time.checked_add(1)?, u64::MAX)));
    let ranges = [all, inner, single, before, after, Some((0, u64::MAX))];
    for (from, to) in ranges.into_iter().flatten() {
        let text = format!("events from={from} to={to}");
        let rule = Some("ATF-RDER-008");
        queries.push(query(text, rule, &|it| {
            (from..=to).contains(&it.timestamp_ns)
        }));
    }
    for (name, function_id) in names(case) {
        let text = format!("events name={}", Value::from(name));
        queries.push(query(text, None, &|it| Some(it.function_id) == function_id));
    }
    queries
}

fn merged(session: &Value) -> Vec<Event> {
    let threads = list(session, "threads");
    let event = |entry: &Value| {
        let (thread, seq) = (entry[0].as_u64()?, number(&entry[1])?);
        let own = threads.iter().find(|it| it["thread_id"] == thread)?;
        let event = list(&own["index"], "events").get(usize::try_from(seq).ok()?)?;
        Some(Event {
            thread,
            seq,
            timestamp_ns: number(&event["timestamp_ns"])?,
            function_id: number(&event["function_id"])?,
        })
    };
    let merged = list(&session["derived"], "merged").iter();
    merged.filter_map(event).collect()
}

/// Returns queries for the details of each event, and for the event of each detail.
fn of_links(case: &Case) -> Vec<Query> {
    let mut queries = Vec::new();
    for thread in list(&case.expected, "threads") {
        let [index, detail] = ["index", "detail"].map(|file| list(&thread[file], "events"));
        let (links, backs) = ((index, "detail_seq"), (detail, "index_seq"));
        let sides = [
            ("detail", "index", "ATF-LINK-001", [links, backs]),
            ("index", "detail", "ATF-LINK-003", [backs, links]),
        ];
        for (wanted, known, rule, [(from, link), (to, back)]) in sides {
            let linked = |seq: u64, event: &Value| {
                let to = to.get(usize::try_from(number(&event[link])?).ok()?)?;
                (number(&to[back])? == seq).then(|| event[link].clone())
            };
            let mut query = |seq: u64, answer: Option<Value>| {
                queries.push(Query {
                    text: format!("{wanted} thread={} {known}={seq}", thread["thread_id"]),
                    answer: answer.unwrap_or_default(),
                    rule: Some(rule),
                });
            };
            for (seq, event) in (0..).zip(from) {
                query(seq, linked(seq, event));
            }
            query(from.len() as u64, None);
        }
    }
    queries
}

/// Returns a query for the trace's time a second after its only anchor.
fn of_anchor(case: &Case) -> Option<Query> {
    let manifest = manifest(case);
    let [anchor] = list(&manifest, "timing_anchors") else {
        return None;
    };
    let scale = anchor["media_timescale"].as_i64()?;
    let media = anchor["media_time"].as_i64()?.checked_add(scale)?;
    let host = anchor["host_time_ns"].as_u64()?;
    Some(Query {
        text: format!("time media={media} scale={scale}"),
        answer: host.checked_add(NANOSECONDS_PER_SECOND)?.to_string().into(),
        rule: None,
    })
}

/// Returns the names of functions in the manifest, and one that is in no manifest.
fn names(case: &Case) -> Vec<(String, Option<u64>)> {
    let manifest = manifest(case);
    let symbols = list(&manifest, "symbols").iter();
    let names = symbols.filter_map(|symbol| {
        let digits = symbol["function_id"].as_str()?.trim_start_matches("0x");
        let function_id = u64::from_str_radix(digits, 16).ok()?;
        Some((symbol["name"].as_str()?.to_owned(), Some(function_id)))
    });
    names
        .chain([("no such function".to_owned(), None)])
        .collect()
}

fn manifest(case: &Case) -> Value {
    let manifest = case.files.get(trace::MANIFEST);
    let manifest = manifest.and_then(|bytes| serde_json::from_slice(bytes).ok());
    manifest.unwrap_or_default()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}
