//! Answers queries about a session with the library.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use atf::clock::MediaTime;
use atf::merge::{Merge, MergedEvent};
use atf::session::SessionReader;
use atf::thread::{Linked, ThreadReader};
use serde_json::{Value, json};

use super::file::text;
use super::rejected;
use crate::protocol::exit;

/// Answers the queries in a file, one per line, about a session.
///
/// # Errors
///
/// Returns an error if the file of queries is unreadable.
pub fn query(queries: &Path, path: &Path) -> io::Result<Value> {
    let queries = fs::read_to_string(queries)?;
    let Ok(session) = SessionReader::open(path) else {
        return Ok(rejected("session"));
    };
    let answers: Vec<_> = queries.lines().map(|line| answer(&session, line)).collect();
    Ok(json!({"verdict": "accept", "answers": answers}))
}

fn answer(session: &SessionReader, line: &str) -> Value {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    // A name may contain spaces.
    if let Some(name) = rest.strip_prefix("name=") {
        let name: String = serde_json::from_str(name).unwrap_or_default();
        let symbols = session.symbols();
        return events(session.merge(), |event| {
            symbols.function(event.event.function_id).name == Some(&*name)
        });
    }
    let keys: HashMap<_, _> = rest
        .split(' ')
        .filter_map(|it| it.split_once('='))
        .collect();
    let number = |key: &str| keys.get(key).and_then(|value| value.parse::<u64>().ok());
    let thread = || {
        let id = number("thread")?;
        let mut threads = session.threads().iter();
        threads
            .find(|thread| u64::from(thread.id()) == id)?
            .open()
            .ok()
    };
    match word {
        "events" => match (number("thread"), number("from").zip(number("to"))) {
            (Some(id), _) => {
                let id = u32::try_from(id).unwrap_or(u32::MAX);
                events(session.merge().threads([id]), |_| true)
            }
            (None, Some((from, to))) => events(session.merge().time_range(from..=to), |_| true),
            (None, None) => events(session.merge(), |_| true),
        },
        "detail" => thread().and_then(|it| detail(&it, number("index")?)).into(),
        "index" => thread().and_then(|it| index(&it, number("detail")?)).into(),
        "time" => {
            let signed = |key: &str| keys.get(key).and_then(|value| value.parse::<i64>().ok());
            let scale = signed("scale").and_then(|scale| i32::try_from(scale).ok());
            let time = signed("media").zip(scale);
            let time = time.map(|(media, scale)| MediaTime::new(media, scale));
            let anchor = session.manifest().and_then(|it| it.timing_anchors.first());
            let host = time
                .zip(anchor)
                .and_then(|(time, anchor)| anchor.to_host_ns(time));
            host.map(text).into()
        }
        _ => exit::UNSUPPORTED.into(),
    }
}

fn events(merge: Merge, is_wanted: impl Fn(&MergedEvent) -> bool) -> Value {
    // Problems, which are not graded here, come as errors.
    let wanted = merge.into_events().flatten().filter(is_wanted);
    let entries = wanted.map(|event| json!([event.thread, text(event.seq)]));
    entries.collect()
}

/// Returns the position of an event's details.
fn detail(thread: &ThreadReader, seq: u64) -> Option<Value> {
    let event = thread.index().get(seq).ok()??;
    match thread.detail_of(&event).ok()? {
        Linked::To(detail) => Some(text(detail.seq)),
        _ => None,
    }
}

/// Returns the position of a detail's event.
fn index(thread: &ThreadReader, seq: u64) -> Option<Value> {
    let detail = thread.detail()?.get(seq).ok()??;
    match thread.event_of(&detail).ok()? {
        Linked::To(_) => Some(text(detail.header.index_seq)),
        _ => None,
    }
}
