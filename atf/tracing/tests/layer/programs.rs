//! Calls, threads, unusual orders and tasks.

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use atf::session::SessionReader;
use tracing::instrument;

use crate::{CALL, RETURN, Seen, full, is_clean, read, recorded, subscriber, within};

thread_local! {
    /// The calls and returns of the functions below, as noted by the functions themselves.
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

fn see(seen: Seen) {
    SEEN.with_borrow_mut(|all| all.push(seen));
}

#[instrument(skip_all)]
fn even(n: u32, depth: u32) {
    see((CALL, "even", depth));
    branch(n, depth);
    see((RETURN, "even", depth));
}

#[instrument(skip_all)]
fn odd(n: u32, depth: u32) {
    see((CALL, "odd", depth));
    branch(n, depth);
    see((RETURN, "odd", depth));
}

/// Calls `even` or `odd` for each of `n / 2` and `n / 3`. They call this function again until `n`
/// is 0.
fn branch(n: u32, depth: u32) {
    for next in [n / 2, n / 3].into_iter().filter(|_| n > 0) {
        match next % 2 {
            0 => even(next, depth + 1),
            _ => odd(next, depth + 1),
        }
    }
}

#[test]
fn each_thread_has_the_calls_that_it_made() {
    for survive_kill in [false, true] {
        let (folder, dispatch, guard) = subscriber(survive_kill);
        let mut expected = Vec::new();
        thread::scope(|scope| {
            let threads: Vec<_> = ["one", "two", "three"]
                .into_iter()
                .zip([100_000_u32, 5_000, 0])
                .map(|(name, n)| {
                    let dispatch = &dispatch;
                    let work = move || within(dispatch, || even(n, 1));
                    let traced = move || {
                        work();
                        SEEN.take()
                    };
                    let thread = thread::Builder::new().name(name.to_owned());
                    (name, thread.spawn_scoped(scope, traced).unwrap())
                })
                .collect();
            for (name, thread) in threads {
                expected.push((name, thread.join().unwrap()));
            }
        });
        let summary = guard.stop().unwrap();
        assert_eq!(summary.lost_events, 0);
        let count: usize = expected.iter().map(|(_, seen)| seen.len()).sum();
        assert_eq!(summary.totals.event_count, count as u64);
        assert!(count > 4_000, "{count}");

        let found = read(folder.path());
        assert_eq!(found.len(), 3);
        for (name, seen) in expected {
            assert_eq!(found[name], full("programs", &seen), "{name}");
        }
        is_clean(folder.path());
    }
}

#[test]
fn the_program_is_the_module_and_each_callsite_a_function() {
    let (folder, dispatch, guard) = subscriber(false);
    within(&dispatch, || {
        for _ in 0..2 {
            tracing::info_span!(target: "http", "fetch").in_scope(|| {});
        }
        tracing::info_span!(target: "http", "fetch").in_scope(|| {});
        // This span is never entered.
        let _span = tracing::info_span!("other");
    });
    guard.stop().unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let manifest = session.manifest().unwrap();
    let program = std::env::current_exe().unwrap();
    assert_eq!(manifest.modules.len(), 1);
    assert_eq!(manifest.modules[0].path.as_deref(), program.to_str());
    assert_eq!(manifest.modules[0].function_offsets, None);
    let symbols = manifest.symbols.iter();
    let symbols: Vec<_> = symbols
        .map(|it| (it.function_id, it.name.as_deref().unwrap()))
        .collect();
    // There are two callsites, one of which is entered twice.
    assert_eq!(
        symbols,
        [(1 << 32, "http::fetch"), (1 << 32 | 1, "http::fetch")]
    );
    let events = session.merge();
    let ids: Vec<_> = events
        .events()
        .map(|event| event.unwrap().event.function_id & 1)
        .collect();
    assert_eq!(ids, [0, 0, 0, 0, 1, 1]);
}

#[test]
fn names_are_in_the_manifest_while_the_program_runs() {
    let (folder, dispatch, _guard) = subscriber(false);
    for name in ["early", "late"] {
        within(&dispatch, || match name {
            "early" => tracing::info_span!("early").in_scope(|| {}),
            _ => tracing::info_span!("late").in_scope(|| {}),
        });
        let is_named = || {
            let session = SessionReader::open(folder.path()).unwrap();
            let mut symbols = session.manifest().unwrap().symbols.iter();
            symbols.any(|it| it.name.as_deref().is_some_and(|it| it.ends_with(name)))
        };
        let began = Instant::now();
        while !is_named() {
            assert!(began.elapsed() < Duration::from_secs(60), "{name}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn spans_that_exit_out_of_order_return_with_the_depth_of_their_calls() {
    let found = recorded(|| {
        let spans = [
            tracing::info_span!("a"),
            tracing::info_span!("b"),
            tracing::info_span!("c"),
        ];
        let [a, b, c] = spans.each_ref().map(tracing::Span::enter);
        drop(b);
        drop(a);
        // This span is inside c, the third span.
        tracing::info_span!("d").in_scope(|| {});
        // Enter the same span again.
        let again = spans[2].enter();
        drop(again);
        drop(c);
        spans[0].in_scope(|| {});
    });
    let expected = [
        (CALL, "a", 1),
        (CALL, "b", 2),
        (CALL, "c", 3),
        (RETURN, "b", 2),
        (RETURN, "a", 1),
        (CALL, "d", 4),
        (RETURN, "d", 4),
        (CALL, "c", 4),
        (RETURN, "c", 4),
        (RETURN, "c", 3),
        (CALL, "a", 1),
        (RETURN, "a", 1),
    ];
    assert_eq!(found, full("programs", &expected));
}

#[test]
fn a_return_without_a_call_is_recorded_as_such() {
    let found = recorded(|| {
        let never_entered = tracing::info_span!("other");
        let exit = || never_entered.with_subscriber(|(id, dispatch)| dispatch.exit(id));
        exit();
        let twice = tracing::info_span!("twice");
        twice.in_scope(|| twice.in_scope(exit));
    });
    let expected = [
        (RETURN, "other", 1),
        (CALL, "twice", 1),
        (CALL, "twice", 2),
        (RETURN, "other", 2),
        (RETURN, "twice", 2),
        (RETURN, "twice", 1),
    ];
    assert_eq!(found, full("programs", &expected));
}

/// A value that enters its span when its thread ends.
struct Last(tracing::Span);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.in_scope(|| {});
    }
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

#[test]
fn spans_of_a_threads_last_destructors_are_recorded_or_counted() {
    for (survive_kill, is_early) in [(false, false), (false, true), (true, false), (true, true)] {
        let (folder, dispatch, guard) = subscriber(survive_kill);
        let work = || {
            // The registry's own variables must be initialized first: it panics if they have been
            // destroyed.
            within(&tracing_subscriber::registry().into(), || {
                tracing::info_span!("not recorded").in_scope(|| {});
            });
            within(&dispatch, || {
                let last = || LAST.set(Some(Last(tracing::info_span!("last"))));
                // Linux destroys variables in the reverse order of their first use.
                if is_early {
                    last();
                }
                tracing::info_span!("first").in_scope(|| {});
                if !is_early {
                    last();
                }
            });
        };
        // Unlike the end of a scope, `join` waits for the destructors.
        thread::scope(|scope| scope.spawn(work).join().unwrap());
        let summary = guard.stop().unwrap();
        assert_eq!(summary.lost_events, guard.lost_events());
        assert_eq!(summary.totals.event_count + summary.lost_events, 4);
        if cfg!(target_os = "linux") {
            assert_eq!(summary.lost_events, if is_early { 2 } else { 0 });
        }
        is_clean(folder.path());
    }
}

#[test]
fn hundreds_of_functions_keep_their_names() {
    /// Creates 2^n callsites.
    macro_rules! functions {
        (@ [$($path:tt)*]) => {
            tracing::info_span!(concat!("f", $($path),*)).in_scope(|| {})
        };
        (@ [$($path:tt)*] $first:tt $($rest:tt)*) => {{
            functions!(@ [$($path)* "0"] $($rest)*);
            functions!(@ [$($path)* "1"] $($rest)*);
        }};
        ($($bit:tt)*) => { functions!(@ [] $($bit)*) };
    }
    let found = recorded(|| {
        for _ in 0..2 {
            functions!(x x x x x x x x x);
        }
    });
    let expected: Vec<_> = (0..1024)
        .flat_map(|n| {
            let name = format!("layer::programs::f{:09b}", n % 512);
            [(CALL, name.clone(), 1), (RETURN, name, 1)]
        })
        .collect();
    assert_eq!(found, expected);
}

/// A future that returns [`Poll::Pending`] once.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[instrument]
async fn task() {
    Pause(false).await;
}

#[test]
fn a_task_has_a_call_for_each_poll_on_the_thread_that_polls() {
    let (folder, dispatch, guard) = subscriber(false);
    let mut task = pin!(within(&dispatch, task));
    for (name, outcome) in [("first", Poll::Pending), ("second", Poll::Ready(()))] {
        let task = task.as_mut();
        let poll = || {
            within(&dispatch, || {
                assert_eq!(task.poll(&mut Context::from_waker(Waker::noop())), outcome);
            });
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn_scoped(scope, poll).unwrap();
        });
    }
    guard.stop().unwrap();
    let poll = [(CALL, "task", 1), (RETURN, "task", 1)];
    // The future is also dropped inside its span.
    let expected = [("first", poll.to_vec()), ("second", poll.repeat(2))];
    let expected = expected.map(|(name, events)| (name.to_owned(), full("programs", &events)));
    assert_eq!(read(folder.path()), expected.into());
}
