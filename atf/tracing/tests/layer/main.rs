//! Records programs' spans, and compares the result with the events that the programs themselves
//! noted.

mod children;
mod example;
mod fields;
mod layers;
mod programs;

use std::collections::BTreeMap;
use std::path::Path;

use atf::EventKind;
use atf::check::{FileReport, Output, check};
use atf::rules::Severity;
use atf::session::SessionReader;
use atf::write::{SessionWriter, WriteOptions};
use atf_record::{Capacity, Overflow, RecordOptions};
use atf_tracing::{AtfLayer, Guard};
use tempfile::TempDir;
use tracing::Dispatch;
use tracing_subscriber::prelude::*;

/// An event as noted by the program: kind, span and depth.
type Seen = (EventKind, &'static str, u32);

const CALL: EventKind = EventKind::CALL;
const RETURN: EventKind = EventKind::RETURN;

/// Starts recording into a new session.
fn layer_with(folder: &Path, survive_kill: bool, options: &RecordOptions) -> (AtfLayer, Guard) {
    let write = WriteOptions::default().survive_kill(survive_kill);
    let session = SessionWriter::create(folder, &write).unwrap();
    AtfLayer::new(session, options).unwrap()
}

fn layer(folder: &Path, survive_kill: bool) -> (AtfLayer, Guard) {
    // The ring is small, but loses nothing.
    let options = RecordOptions::default()
        .capacity(Capacity::default().events(64))
        .overflow(Overflow::Block);
    layer_with(folder, survive_kill, &options)
}

/// Returns a subscriber that has only this layer.
fn only(layer: AtfLayer) -> Dispatch {
    tracing_subscriber::registry().with(layer).into()
}

/// Returns a subscriber that records into a new folder.
fn subscriber(survive_kill: bool) -> (TempDir, Dispatch, Guard) {
    let folder = TempDir::new().unwrap();
    let (layer, guard) = layer(folder.path(), survive_kill);
    (folder, only(layer), guard)
}

fn within<T>(dispatch: &Dispatch, work: impl FnOnce() -> T) -> T {
    tracing::dispatcher::with_default(dispatch, work)
}

/// Records the spans of `program`, which has one thread, and returns its events.
fn recorded(program: impl FnOnce()) -> Vec<(EventKind, String, u32)> {
    let (folder, dispatch, guard) = subscriber(false);
    within(&dispatch, program);
    assert_eq!(guard.stop().unwrap().lost_events, 0);
    is_clean(folder.path());
    let mut threads = read(folder.path()).into_values();
    let events = threads.next().unwrap();
    assert!(threads.next().is_none());
    events
}

/// Returns the recorded events of each thread, keyed by thread name, with the functions' full
/// names.
fn read(session: &Path) -> BTreeMap<String, Vec<(EventKind, String, u32)>> {
    let session = SessionReader::open(session).unwrap();
    let names = session.manifest().unwrap().threads.iter();
    let names: BTreeMap<_, _> = names.map(|it| (it.id, it.name.clone().unwrap())).collect();
    let mut threads: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for event in session.merge().events() {
        let event = event.unwrap();
        let function = session.symbols().function(event.event.function_id);
        assert_eq!(function.module.unwrap().module_id, 1);
        let events = threads.entry(names[&event.thread].clone()).or_default();
        let depth = event.event.call_depth.unwrap();
        let name = function.name.unwrap().to_owned();
        events.push((event.event.event_kind, name, depth));
    }
    threads
}

/// Adds the module to the names of spans that these tests enter.
fn full(module: &str, events: &[Seen]) -> Vec<(EventKind, String, u32)> {
    let full = |(kind, name, depth): &Seen| (*kind, format!("layer::{module}::{name}"), *depth);
    events.iter().map(full).collect()
}

/// Checks that a session breaks no MUST or SHOULD rule.
fn is_clean(session: &Path) {
    struct Findings(u32);
    impl Output for Findings {
        fn file(&mut self, report: FileReport) {
            self.0 += 1;
            for found in report.findings() {
                assert_eq!(found.rule.severity, Severity::Advice, "{found:?}");
            }
        }
        fn unreadable(&mut self, path: &Path, why: &str) {
            panic!("{}: {why}", path.display());
        }
    }
    let mut findings = Findings(0);
    check(session, &mut findings);
    assert!(findings.0 > 0, "nothing was checked");
}
