//! Whole programs: this test runs itself as a program that records itself.

#![cfg(unix)]

use std::env;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use atf::ErrorKind;
use atf::session::SessionReader;
use atf::write::{Fate, Memory, SessionWriter, WriteOptions};
use atf_record::{Capacity, Overflow, RecordOptions};
use atf_tracing::{AtfLayer, InitError};

use crate::{CALL, RETURN, full, is_clean, layer, layer_with, only, read, within};

const PROGRAM: &str = "ATF_TEST_PROGRAM";
const FOLDER: &str = "ATF_TEST_FOLDER";

/// Acts as the started program. In an ordinary test run it does nothing.
#[test]
fn is_a_program() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let options = RecordOptions::default();
    let one_event = Capacity::default().events(1);
    let few_fields = Capacity::default().payload_size(64);
    match env::var(PROGRAM).unwrap().as_str() {
        "init" => init(&folder),
        "loses" => {
            let options = options.overflow(Overflow::DropNewest);
            loses(&folder, MANY / 2, &options.capacity(one_event));
        }
        "loses fields" => loses(&folder, 1, &options.capacity(few_fields)),
        "fails" => loses(&folder, 1, &options.max_threads(0)),
        "is killed" => is_killed(&folder),
        other => panic!("{other}"),
    }
}

fn program(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "children::is_a_program", "--test-threads=1"])
        .env(PROGRAM, name)
        .env(FOLDER, folder)
        .stdout(Stdio::null());
    command
}

/// Runs a program and returns its standard error.
fn run(name: &str, folder: &Path) -> String {
    let output = program(name, folder).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    errors
}

fn init(folder: &Path) {
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    let InitError::Recording(error) = atf_tracing::init(&file).unwrap_err() else {
        panic!("a session was created inside a file");
    };
    assert!(error.path().unwrap().starts_with(&file), "{error}");
    let guard = atf_tracing::init(folder).unwrap();
    assert!(!tracing::enabled!(tracing::Level::ERROR));
    tracing::info_span!("one").in_scope(|| tracing::info!("an event"));
    fs::write(folder.join("path"), guard.path().to_str().unwrap()).unwrap();
    let error = atf_tracing::init(folder).unwrap_err();
    assert!(matches!(error, InitError::HasSubscriber), "{error}");
}

#[test]
fn one_line_records_a_program_and_prints_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run("init", folder.path()), "");
    let session = PathBuf::from(fs::read_to_string(folder.path().join("path")).unwrap());
    assert!(session.starts_with(folder.path()));
    let found: Vec<_> = read(&session).into_values().flatten().collect();
    let expected = [(CALL, "one", 1), (RETURN, "one", 1)];
    assert_eq!(found, full("children", &expected));
    is_clean(&session);
    // A full ring would have made the thread wait.
    let manifest = SessionReader::open(&session).unwrap();
    assert_eq!(manifest.manifest().unwrap().drops_events, None);
    // The failed `init` left no session behind.
    assert_eq!(fs::read_dir(session.parent().unwrap()).unwrap().count(), 1);
}

#[test]
#[expect(
    unsafe_code,
    reason = "std runs code in a forked child only through an unsafe function"
)]
fn a_forked_child_never_waits_for_a_thread_that_only_its_parent_has() {
    unsafe extern "C" {
        fn alarm(seconds: u32) -> u32;
    }
    let (is_held, hold) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let memory = Memory::new();
    let held = Mutex::new(held);
    memory.decide(move |_, path| {
        if path.ends_with("thread_1/index.atf") {
            // Later calls find the channels closed.
            let _ = is_held.send(());
            let _ = held.lock().unwrap().recv();
        }
        Fate::Done
    });
    let session = SessionWriter::create_on(Arc::new(memory), "pid_42", &WriteOptions::default());
    let (layer, guard) = AtfLayer::new(session.unwrap(), &RecordOptions::default()).unwrap();
    let dispatch = only(layer);
    within(&dispatch, || tracing::info_span!("parent").in_scope(|| {}));
    let guard = Arc::new(guard);
    thread::scope(|scope| {
        scope.spawn(|| within(&dispatch, || tracing::info_span!("held").in_scope(|| {})));
        hold.recv().unwrap();
        let (child, theirs) = (dispatch.clone(), Arc::clone(&guard));
        let in_child = move || {
            // SAFETY: the call has no preconditions. Only a failing test waits this long.
            unsafe { alarm(60) };
            within(&child, || tracing::info_span!("child").in_scope(|| {}));
            let refused = theirs.stop().unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::Forked { .. }));
            Ok(())
        };
        let mut command = Command::new("true");
        // SAFETY: this test checks that the function waits for no other thread of its parent; the C
        // library's memory allocation works in forked children.
        unsafe { command.pre_exec(in_child) };
        let status = command.status();
        drop(release);
        assert!(status.unwrap().success(), "the child waits");
    });
    assert_eq!(guard.stop().unwrap().totals.event_count, 4);
}

const MANY: u64 = 20_000;

/// Enters a span so many times, and drops the guard.
fn loses(folder: &Path, times: u64, options: &RecordOptions) {
    let (layer, _guard) = layer_with(folder, false, options);
    within(&only(layer.record_fields()), || {
        for _ in 0..times {
            tracing::info_span!("busy", path = "x".repeat(100)).in_scope(|| {});
        }
    });
}

#[test]
fn a_dropped_guard_reports_lost_events() {
    let folder = tempfile::tempdir().unwrap();
    let errors = run("loses", folder.path());
    let session = SessionReader::open(folder.path()).unwrap();
    let loss = session.manifest().unwrap().threads[0].lost_events.unwrap();
    let kept = session.summary().index_events;
    assert_eq!(kept + loss.count, MANY);
    let path = folder.path().display();
    let lost = loss.count;
    let expected = format!("atf-tracing: {path}: {kept} events are recorded, {lost} are lost\n");
    assert_eq!(errors, expected);
}

#[test]
fn a_dropped_guard_reports_lost_fields() {
    let folder = tempfile::tempdir().unwrap();
    let errors = run("loses fields", folder.path());
    let counts = "2 events are recorded, 1 of them without their fields; 0 are lost";
    let path = folder.path().display();
    assert_eq!(errors, format!("atf-tracing: {path}: {counts}\n"));
}

#[test]
fn a_dropped_guard_reports_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let errors = run("fails", folder.path());
    let start = format!("atf-tracing: {}: ", folder.path().display());
    assert!(errors.starts_with(&start), "{errors}");
    assert!(errors.contains("max_threads"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

const THREADS: [&str; 2] = ["first", "second"];

/// Enters and exits two spans forever, and counts the rounds in a file.
fn is_killed(folder: &Path) {
    let (layer, _guard) = layer(&folder.join("session"), true);
    let dispatch = only(layer);
    let returned = OpenOptions::new().write(true).open(folder.join("returned"));
    let returned = returned.unwrap();
    let work = |place: u64| {
        for rounds in 1_u64.. {
            tracing::info_span!("outer").in_scope(|| {
                tracing::info_span!("inner").in_scope(|| {});
            });
            returned.write_all_at(&rounds.to_le_bytes(), place).unwrap();
        }
    };
    thread::scope(|scope| {
        for (name, place) in THREADS.into_iter().zip([0, 8]) {
            let thread = thread::Builder::new().name(name.to_owned());
            let dispatch = &dispatch;
            let traced = move || within(dispatch, || work(place));
            thread.spawn_scoped(scope, traced).unwrap();
        }
    });
}

/// A running program, killed if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // If the test passed, the program has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_program_keeps_every_event_and_every_name() {
    for moment in [0, 1, 3, 9, 27] {
        let folder = tempfile::tempdir().unwrap();
        let returned = folder.path().join("returned");
        fs::write(&returned, [0; 16]).unwrap();
        let mut child = Running(program("is killed", folder.path()).spawn().unwrap());
        let rounds = || {
            let bytes = fs::read(&returned).unwrap();
            let numbers = bytes.chunks(8);
            let rounds = numbers.map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
            rounds.collect::<Vec<_>>()
        };
        let began = Instant::now();
        while rounds().contains(&0) {
            assert!(began.elapsed() < Duration::from_secs(60), "it never began");
            assert_eq!(child.0.try_wait().unwrap(), None, "it ended on its own");
        }
        thread::sleep(Duration::from_millis(moment));
        child.0.kill().unwrap();
        child.0.wait().unwrap();

        let session = SessionReader::open(folder.path().join("session")).unwrap();
        assert_eq!(session.threads().len(), THREADS.len());
        let mut counts = Vec::new();
        for thread in session.threads() {
            let thread = thread.open().unwrap();
            let mut events = 0;
            let round = [
                (CALL, "layer::children::outer", 1),
                (CALL, "layer::children::inner", 2),
                (RETURN, "layer::children::inner", 2),
                (RETURN, "layer::children::outer", 1),
            ];
            for (event, expected) in thread.index().events_in(..).zip(round.iter().cycle()) {
                let event = event.unwrap();
                let name = session.symbols().function(event.function_id).name;
                let name = name.expect("the name was written before the event");
                assert_eq!(
                    (event.event_kind, name, event.call_depth.unwrap()),
                    *expected
                );
                events += 1;
            }
            counts.push(events);
        }
        // Threads are numbered in the order in which they register.
        let mut least: Vec<_> = rounds().iter().map(|rounds| rounds * 4).collect();
        least.sort_unstable();
        counts.sort_unstable();
        for (count, least) in counts.into_iter().zip(least) {
            assert!((least..=least + 4).contains(&count), "{count} of {least}");
        }
    }
}
