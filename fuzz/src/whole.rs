//! Reads a whole session in every possible way and compares the results.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use atf::detail::DetailReader;
use atf::follow::{DetailFollower, Polled, SessionFollower};
use atf::index::{IndexEvent, IndexReader};
use atf::merge::MergedEvent;
use atf::rewrite::{ConvertOptions, RecoverOptions, convert, recover};
use atf::session::{SessionReader, ThreadEntry};
use atf::spans::{CallStack, Paired, Spans};
use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};
use atf::{Checksum, Completeness, OpenOptions, Wire};
use atf_conformance::{Checked, Verdict};

use crate::kept::{Kept, all_are_kept, kept_by_thread};
use crate::scratch::scratch;

/// Reads a session in every possible way.
///
/// - Mapped files and positioned reads yield the same events, payloads and problems.
/// - Merges, partitions and merges with small buffers return the same events as a simple merge. A
///   time range contains exactly the events within it.
/// - Calls are paired in the same way in a merge and in a single thread.
/// - For a finalized file, followers return each event once, in order, and then report the end. For
///   any other file, they return a prefix of its events.
/// - A reader opens every file that the checker accepts and reports no problem with it.
/// - A recovered session has the events and payloads before each gap, and still has them after a
///   conversion to the other wire version and back.
pub fn session(data: &[u8]) {
    let scratch = scratch();
    let folder = scratch.path().join("in");
    fs::create_dir(&folder).expect("we own this folder");
    if !crate::session::write(data, &folder) {
        return;
    }
    let Ok(session) = SessionReader::open(&folder) else {
        return;
    };
    let events = merged(&session);
    spans(&session, &events);
    converted(&session, &folder, scratch.path());
    readers(&folder);
}

/// Compares positioned reads with mapped files, followers with readers, and the checker with
/// readers.
pub fn readers(folder: &Path) {
    let Ok(session) = SessionReader::open(folder) else {
        return;
    };
    mapped(&session, folder);
    followed(&session);
    checked(&session, folder);
}

/// Everything that a reader reports about a thread.
#[derive(Debug, PartialEq)]
struct Reported {
    events: Vec<Result<IndexEvent, String>>,
    payloads: Vec<Result<Vec<u8>, String>>,
    problems: Vec<String>,
}

fn reported(thread: &ThreadReader) -> Reported {
    let text = |error: atf::Error| error.to_string();
    let details = thread.detail();
    let payload = |event: atf::Result<atf::detail::DetailEvent>| {
        let reader = details.expect("it returned the event");
        let payload = event.and_then(|event| reader.payload(&event, usize::MAX));
        payload.map_err(text)
    };
    let events = thread.index().events_in(..);
    let with_payloads = details.into_iter().flat_map(|reader| reader.events_in(..));
    Reported {
        events: events.map(|event| event.map_err(text)).collect(),
        payloads: with_payloads.map(payload).collect(),
        problems: match thread.problems() {
            Ok(problems) => problems.iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        },
    }
}

#[allow(unsafe_code, reason = "nothing else may change a mapped file")]
fn mapped(session: &SessionReader, folder: &Path) {
    // SAFETY: nothing else changes these files.
    let options = unsafe { OpenOptions::new().mapped() };
    let other = SessionReader::open_with(folder, options).expect("it was opened before");
    let of = |entry: &ThreadEntry| match entry.open() {
        Ok(thread) => Ok(reported(&thread)),
        Err(error) => Err(error.to_string()),
    };
    for (one, other) in session.threads().iter().zip(other.threads()) {
        same("mapped", &of(one), &of(other));
    }
}

#[track_caller]
fn same<T: PartialEq + Debug>(what: &str, one: &T, other: &T) {
    assert!(one == other, "{what}:\n{one:#?}\n{other:#?}");
}

/// Returns the events of a merge, without the problems at the end.
fn events(merged: impl Iterator<Item = atf::Result<MergedEvent>>) -> Vec<MergedEvent> {
    merged.filter_map(Result::ok).collect()
}

fn merged(session: &SessionReader) -> Vec<MergedEvent> {
    let merge = session.merge();
    let all = events(merge.events());
    same("merge", &simple_merge(session), &all);
    for count in [2, 3] {
        let parts = merge.partitions(count).into_iter().flatten();
        same("partitions", &all, &events(parts));
    }
    same(
        "small buffers",
        &all,
        &events(session.merge().buffer_budget(1).events()),
    );
    let mut times: Vec<_> = all.iter().map(|event| event.event.timestamp_ns).collect();
    times.sort_unstable();
    if let (Some(from), Some(to)) = (times.get(times.len() / 3), times.get(times.len() * 2 / 3)) {
        let range = *from..*to;
        let key = |event: &MergedEvent| (event.thread, event.seq);
        let mut found = events(session.merge().time_range(range.clone()).events());
        let inside = all
            .iter()
            .filter(|event| range.contains(&event.event.timestamp_ns));
        let mut expected: Vec<_> = inside.copied().collect();
        found.sort_by_key(key);
        expected.sort_by_key(key);
        assert!(found.iter().all(|event| expected.contains(event)));
        // If time goes backwards within a thread, a time range need not contain all of its events.
        if ordered(session) {
            same("a time range", &expected, &found);
        }
    }
    all
}

fn ordered(session: &SessionReader) -> bool {
    let entries = session.threads().iter();
    let indexes = entries.filter_map(|entry| entry.open_index().ok());
    let mut scans = indexes.map(|index| index.scan().expect("we own this folder"));
    scans.all(|scan| scan.is_ordered())
}

/// Repeatedly takes the earliest of the threads' next events. If several have the same time, takes
/// the one from the first thread.
fn simple_merge(session: &SessionReader) -> Vec<MergedEvent> {
    let entries = session.threads().iter();
    let threads = entries.filter_map(|entry| Some((entry.id(), entry.open_index().ok()?)));
    let mut threads: Vec<_> = threads
        .map(|(id, index)| {
            let events: Vec<_> = index.events_in(..).map_while(Result::ok).collect();
            (id, (0..).zip(events).collect::<VecDeque<_>>())
        })
        .collect();
    let mut merged = Vec::new();
    loop {
        let next = threads
            .iter_mut()
            .enumerate()
            .filter_map(|(place, (_, events))| {
                events.front().map(|(_, event)| (event.timestamp_ns, place))
            });
        let Some((_, place)) = next.min() else {
            return merged;
        };
        let (thread, events) = &mut threads[place];
        let (seq, event) = events.pop_front().expect("the front was checked");
        merged.push(MergedEvent::new(0, *thread, seq, event));
    }
}

fn spans(session: &SessionReader, events: &[MergedEvent]) {
    let mut stacks: BTreeMap<u32, (CallStack, Vec<Paired>)> = BTreeMap::new();
    for event in events {
        let (stack, paired) = stacks.entry(event.thread).or_default();
        stack.push(event.seq, &event.event, |one| paired.push(one));
    }
    for entry in session.threads() {
        let Ok(index) = entry.open_index() else {
            continue;
        };
        // Two folders can share an id, such as `thread_1` and `thread_01`.
        let entries = session.threads().iter();
        if entries.filter(|other| other.id() == entry.id()).count() > 1 {
            continue;
        }
        let (mut stack, mut paired) = stacks.remove(&entry.id()).unwrap_or_default();
        stack.finish(|one| paired.push(one));
        let spans: Vec<_> = Spans::new(index.events_in(..))
            .filter_map(Result::ok)
            .collect();
        same("spans", &paired, &spans);
    }
}

fn followed(session: &SessionReader) {
    let mut follower = SessionFollower::new(session.path());
    let threads = follower.poll_threads().expect("we own this folder");
    for thread in threads {
        let mut follower = thread.follow_index();
        let (given, end) = drained(|| follower.poll_event());
        let Ok(index) = IndexReader::open(thread.path().join(INDEX_FILE)) else {
            continue;
        };
        let all: Vec<_> = index.events_in(..).map_while(Result::ok).collect();
        // To a follower, a footer that is followed by bytes may be the first half of an event if
        // the header is a placeholder.
        let is_certain = !index.header().is_placeholder() || index.bytes_after_footer() == 0;
        let must_end = is_certain && is_whole(index.completeness(), &index.disagreements());
        if must_end || end.is_finalized() {
            let expected = End::finalized(&index.checksum(), None);
            same("followed", &(&all, expected), &(&given, end));
        } else {
            // Followers do not read the kill journal, and return only events that are certain.
            assert!(all.starts_with(&given), "{all:#?}\n{given:#?}");
        }
        let mut follower = DetailFollower::new(thread.path().join(DETAIL_FILE));
        let (given, end) = drained(|| follower.poll());
        let Ok(detail) = DetailReader::open(thread.path().join(DETAIL_FILE)) else {
            continue;
        };
        let all: Vec<_> = detail.events_in(..).map_while(Result::ok).collect();
        if is_whole(detail.completeness(), &detail.disagreements()) || end.is_finalized() {
            let expected = End::finalized(&detail.checksum(), detail.framing_problem());
            same("followed", &(&all, expected), &(&given, end));
        } else {
            assert!(all.starts_with(&given), "{all:#?}\n{given:#?}");
        }
    }
}

/// The last result of a follower.
#[derive(Debug, PartialEq)]
enum End {
    Finalized { is_damaged: bool },
    NotYet,
    Error,
}

impl End {
    /// Returns the expected last result of a follower of a finalized file.
    fn finalized(checksum: &atf::Result<Checksum>, framing: Option<&atf::Error>) -> Self {
        let is_damaged = matches!(checksum, Ok(Checksum::Bad { .. })) || framing.is_some();
        Self::Finalized { is_damaged }
    }

    fn is_finalized(&self) -> bool {
        matches!(self, Self::Finalized { .. })
    }
}

/// Polls a follower until it returns nothing new.
fn drained<T>(mut poll: impl FnMut() -> atf::Result<Polled<T>>) -> (Vec<T>, End) {
    let mut given = Vec::new();
    let mut is_damaged = false;
    loop {
        let end = match poll() {
            Ok(Polled::New(event)) => {
                given.push(event);
                continue;
            }
            Ok(Polled::Finalized) => End::Finalized { is_damaged },
            Ok(Polled::NotYet) if !is_damaged => End::NotYet,
            // A follower reports a problem with returned events only once.
            Err(_) if !is_damaged => {
                is_damaged = true;
                continue;
            }
            Ok(Polled::NotYet) | Err(_) => End::Error,
        };
        return (given, end);
    }
}

/// Returns whether a file is finalized and does not contradict itself.
pub(crate) fn is_whole(completeness: &Completeness, disagreements: &[atf::Error]) -> bool {
    matches!(completeness, Completeness::Finalized) && disagreements.is_empty()
}

fn checked(session: &SessionReader, folder: &Path) {
    let checked = Checked::new(folder);
    for entry in session.threads() {
        let path = entry.path().join(INDEX_FILE);
        let Some(report) = checked.reports.iter().find(|it| it.path == path) else {
            continue;
        };
        let findings = report.findings();
        match entry.open_index() {
            Ok(index) if report.verdict() == Verdict::Accept => {
                let problems = index.problems();
                assert!(problems.is_empty(), "{problems:?} {findings:?}");
            }
            Err(error) => assert_ne!(report.verdict(), Verdict::Accept, "{error} {findings:?}"),
            Ok(_) => {}
        }
    }
}

/// Returns each thread's events, without the depth, which only one wire version stores.
fn kept_of(session: &SessionReader) -> BTreeMap<String, Vec<Kept>> {
    let mut threads = kept_by_thread(session);
    let events = threads.values_mut().flatten();
    events.for_each(|event| event.depth = None);
    assert_eq!(threads.len(), session.threads().len(), "just written");
    threads
}

fn converted(original: &SessionReader, folder: &Path, scratch: &Path) {
    let [out, there, back] = ["out", "there", "back"].map(|name| scratch.join(name));
    let Ok(report) = recover(folder, &out, &RecoverOptions::default()) else {
        return;
    };
    let recovered = SessionReader::open(&out).expect("it was just written");
    followed(&recovered);
    all_are_kept(original, &recovered, &report);
    let expected = kept_of(&recovered);
    for [first, second] in [[Wire::V1, Wire::V2], [Wire::V2, Wire::V1]] {
        let options = ConvertOptions::default();
        // A number may be too large for the other wire version.
        if convert(&out, &there, first, &options).is_err()
            || convert(&there, &back, second, &options).is_err()
        {
            continue;
        }
        for path in [&there, &back] {
            let session = SessionReader::open(path).expect("it was just written");
            same("converted", &expected, &kept_of(&session));
        }
        fs::remove_dir_all(&there).expect("we own this folder");
        fs::remove_dir_all(&back).expect("we own this folder");
    }
}
