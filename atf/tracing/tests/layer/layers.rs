//! Filters, other layers, and events after the recording has ended.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use atf::ErrorKind;
use atf::manifest::Manifest;
use atf_record::RecordOptions;
use tracing::{Dispatch, Level, Subscriber, span};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::prelude::*;

use crate::{CALL, RETURN, full, is_clean, layer, layer_with, only, read, subscriber, within};

fn outer() {
    tracing::info_span!("outer").in_scope(|| {
        tracing::debug_span!("middle").in_scope(|| {
            tracing::info_span!("inner").in_scope(|| tracing::info!("an event"));
            tracing::info_span!(target: "elsewhere", "inner").in_scope(|| {});
        });
    });
}

/// The program's own layer, which counts the calls to its methods.
#[derive(Clone, Default)]
struct Counter {
    enters: Arc<AtomicU64>,
    exits: Arc<AtomicU64>,
    events: Arc<AtomicU64>,
}

impl<S: Subscriber> Layer<S> for Counter {
    fn on_enter(&self, _: &span::Id, _: Context<'_, S>) {
        self.enters.fetch_add(1, Ordering::Relaxed);
    }

    fn on_exit(&self, _: &span::Id, _: Context<'_, S>) {
        self.exits.fetch_add(1, Ordering::Relaxed);
    }

    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counter {
    fn counts(&self) -> [u64; 3] {
        [&self.enters, &self.exits, &self.events].map(|count| count.load(Ordering::Relaxed))
    }
}

#[test]
fn a_layers_own_filter_hides_spans_only_from_that_layer() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, guard) = layer(folder.path(), false);
    let filter = Targets::new().with_target("layer", Level::INFO);
    let counter = Counter::default();
    let subscriber = tracing_subscriber::registry()
        .with(counter.clone())
        .with(layer.with_filter(filter));
    within(&Dispatch::new(subscriber), || {
        for _ in 0..3 {
            outer();
        }
    });
    assert_eq!(guard.stop().unwrap().totals.event_count, 12);
    assert_eq!(counter.counts(), [12, 12, 3]);
    let once = [
        (CALL, "outer", 1),
        (CALL, "inner", 2),
        (RETURN, "inner", 2),
        (RETURN, "outer", 1),
    ];
    let found = read(folder.path()).into_values().next().unwrap();
    assert_eq!(found, full("layers", &once.repeat(3)));
    is_clean(folder.path());
}

#[test]
fn a_global_filter_hides_spans_from_the_layer_too() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, guard) = layer(folder.path(), false);
    let subscriber = tracing_subscriber::registry()
        .with(layer)
        .with(LevelFilter::INFO);
    within(&Dispatch::new(subscriber), outer);
    assert_eq!(guard.stop().unwrap().totals.event_count, 6);
}

#[test]
fn two_layers_record_two_sessions() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [(one, first), (two, second)] = folders.each_ref().map(|it| layer(it.path(), false));
    let subscriber = Dispatch::new(tracing_subscriber::registry().with(one).with(two));
    within(&subscriber, outer);
    assert_eq!(first.stop().unwrap().totals.event_count, 8);
    within(&subscriber, outer);
    assert_eq!(second.stop().unwrap().totals.event_count, 16);
    assert_eq!([first.lost_events(), second.lost_events()], [8, 0]);
    for folder in folders {
        is_clean(folder.path());
    }
}

#[test]
fn events_after_the_end_are_lost_and_counted() {
    for survive_kill in [false, true] {
        let (folder, dispatch, guard) = subscriber(survive_kill);
        within(&dispatch, || {
            tracing::info_span!("early").in_scope(|| {
                assert_eq!(guard.lost_events(), 0);
                let summary = guard.stop().unwrap();
                assert_eq!((summary.totals.event_count, summary.lost_events), (1, 0));
                // A second `stop` changes nothing.
                assert_eq!(guard.stop().unwrap(), summary);
            });
            // The return of `early` is lost.
            assert_eq!(guard.lost_events(), 1);
            tracing::info_span!("late").in_scope(|| {});
            assert_eq!(guard.lost_events(), 3);
        });
        // This thread has not been registered.
        thread::scope(|scope| {
            scope.spawn(|| within(&dispatch, outer));
        });
        assert_eq!(guard.lost_events(), 11);
        assert_eq!(guard.stop().unwrap().lost_events, 0);
        drop(guard);
        let found: Vec<_> = read(folder.path()).into_values().flatten().collect();
        assert_eq!(found, full("layers", &[(CALL, "early", 1)]));
        is_clean(folder.path());
    }
}

#[test]
fn a_thread_beyond_the_limit_is_lost_and_stop_reports_why() {
    let folder = tempfile::tempdir().unwrap();
    let options = RecordOptions::default().max_threads(1);
    let (layer, guard) = layer_with(folder.path(), false, &options);
    let dispatch = only(layer);
    within(&dispatch, outer);
    thread::scope(|scope| {
        scope.spawn(|| within(&dispatch, outer));
    });
    assert_eq!(guard.lost_events(), 8);
    for _ in 0..2 {
        let error = guard.stop().unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::LimitReached { limit: 1 });
        assert_eq!(error.field(), Some("max_threads"));
    }
    let lost = Manifest::parse(&fs::read(folder.path().join("manifest.json")).unwrap()).lost_events;
    assert_eq!(lost.unwrap().count, 8);
    // The events of the first thread are in the trace.
    assert_eq!(
        read(folder.path()).into_values().next().map(|it| it.len()),
        Some(8)
    );
    is_clean(folder.path());
}
