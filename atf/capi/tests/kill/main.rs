//! Kills a C tracer of four threads at random times, then recovers and checks its session.
//!
//! The times come from a seed, which is printed. Set `ATF_KILL_SEED` to reproduce them, as far as
//! the machine's clock and load allow.

#![cfg(unix)]

#[path = "../c/support.rs"]
mod support;

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use atf::rewrite::{RecoverOptions, recover};
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use atf::{Completeness, DetailEventType, Error, ErrorKind, EventKind};
use atf_conformance::rules::Severity;
use atf_samples::random::Random;
use tempfile::TempDir;

use support::{Link, accepted, built, compiler, graded};

const THREADS: usize = 4;
/// How many kills must hit the tracer while it is writing.
const KILLS: usize = 50;
/// The maximum number of attempts: every tenth kill may come before all threads write.
const MOST_KILLS: usize = 60;
/// Sizes of a writer's buffer, used in turn.
const BUFFERS: [u64; 3] = [4 << 10, 16 << 10, 128 << 10];
/// SIGKILL.
const KILLED: i32 = 9;

/// The compiled tracer.
struct Tracer {
    program: PathBuf,
    /// How the tracer writes its events: `write`, `record`, `block` or `drop`.
    how: &'static str,
    _folder: TempDir,
}

impl Tracer {
    /// Compiles the tracer; returns `None` if there is no compiler.
    fn compile(how: &'static str) -> Option<Self> {
        let compiler = compiler()?;
        let folder = TempDir::new().unwrap();
        let source = "tests/kill/tracer.c";
        Some(Self {
            program: built(&folder, source, compiler, Link::Static, &["-O2"]),
            how,
            _folder: folder,
        })
    }

    /// Starts the tracer in a folder.
    fn start(&self, folder: &Path, survive_kill: bool, buffer_size: u64) -> Running {
        let returned = folder.join("returned");
        fs::write(&returned, [0; 64 * THREADS]).unwrap();
        let child = Command::new(&self.program)
            .arg(folder.join("session"))
            .arg(returned)
            .arg(if survive_kill { "1" } else { "0" })
            .arg(buffer_size.to_string())
            .arg(self.how)
            .spawn();
        Running(child.unwrap())
    }
}

/// A running tracer, killed if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // If the test passed, the tracer has already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns how many calls have returned in each thread.
fn returned(folder: &Path) -> [u64; THREADS] {
    let bytes = fs::read(folder.join("returned")).unwrap();
    std::array::from_fn(|id| u64::from_ne_bytes(bytes[64 * id..][..8].try_into().unwrap()))
}

/// A killed tracer.
struct Killed {
    folder: TempDir,
    /// The number of calls that had returned in each thread.
    returned: [u64; THREADS],
    /// Whether some threads wrote after all had started and before the kill.
    was_writing: bool,
}

impl Killed {
    fn session(&self) -> PathBuf {
        self.folder.path().join("session")
    }
}

/// Random times for kills.
struct Moments(Random);

impl Moments {
    fn new() -> Self {
        let seed = std::env::var("ATF_KILL_SEED").ok();
        let seed = seed.map_or(0x5eed, |seed| seed.parse().unwrap());
        println!("ATF_KILL_SEED={seed}");
        Self(Random::new(seed))
    }

    /// Returns a random duration below `end`.
    fn below(&mut self, end: Duration) -> Duration {
        end.mul_f64((self.0.number() >> 32) as f64 / f64::from(u32::MAX))
    }
}

/// Kills a tracer, usually while its four threads write, but every tenth one right after it starts.
fn kill(tracer: &Tracer, round: usize, survive_kill: bool, moments: &mut Moments) -> Killed {
    let folder = TempDir::new().unwrap();
    let buffer_size = BUFFERS[round % BUFFERS.len()];
    let began = Instant::now();
    let mut child = tracer.start(folder.path(), survive_kill, buffer_size);
    let is_early = round % 10 == 9;
    let wait = moments.below(Duration::from_millis(if is_early { 4 } else { 10 }));
    let mut until = |is_reached: &dyn Fn([u64; THREADS]) -> bool| loop {
        let now = returned(folder.path());
        if is_reached(now) {
            break now;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it never wrote");
        assert_eq!(child.0.try_wait().unwrap(), None, "it exited early");
    };
    let mut before = [0; THREADS];
    if !is_early {
        before = until(&|now| !now.contains(&0));
        // On a busy machine, the tracer may not run during the wait below.
        until(&|now| now != before);
    }
    thread::sleep(wait);
    child.0.kill().unwrap();
    let status = child.0.wait().unwrap();
    assert_eq!(status.signal(), Some(KILLED), "it exited early");
    let returned = returned(folder.path());
    println!("round {round}, {wait:?}, a buffer of {buffer_size}: {returned:?} calls had returned");
    Killed {
        was_writing: !before.contains(&0) && before != returned,
        folder,
        returned,
    }
}

/// Compares a thread's events and details with those that the tracer wrote, and counts them.
#[track_caller]
fn count(reader: &ThreadReader, id: u64) -> u64 {
    let mut details = 0;
    for (seq, read) in reader.index().events_in(..).enumerate() {
        let (seq, read) = (seq as u64, read.unwrap());
        let function = (id << 32) + seq / 2;
        assert_eq!(read.function_id, function, "thread {id}, {seq}");
        let (kind, event_type) = match seq % 2 {
            0 => (EventKind::CALL, DetailEventType::FUNCTION_CALL),
            _ => (EventKind::RETURN, DetailEventType::FUNCTION_RETURN),
        };
        assert_eq!(read.event_kind, kind);
        let Some(found) = reader.detail_of(&read).unwrap().found() else {
            assert!(seq % 3 != 0, "thread {id}, event {seq} lost its detail");
            continue;
        };
        assert_eq!((seq % 3, read.detail_seq), (0, Some(details)));
        assert_eq!(found.header.index_seq, seq);
        assert_eq!(found.header.event_type, event_type);
        assert_eq!(found.header.timestamp, read.timestamp_ns);
        let payload = reader.detail().unwrap().function_payload(&found).unwrap();
        let payload = payload.unwrap();
        assert_eq!(payload.function_id, read.function_id);
        assert_eq!(payload.x_regs, [seq, 0, 0, 0, 0, 0, 0, 0]);
        let byte = (seq % 256).to_le_bytes()[0];
        assert_eq!(payload.stack.len() as u64, seq % 100);
        assert!(payload.stack.iter().all(|found| *found == byte));
        details += 1;
    }
    reader.index().event_count()
}

/// Recovers a session, and asserts that the result breaks no rule and contains the written events.
/// Returns the number of each thread's events, and of events and details that came from a ring.
fn recovered(killed: &Killed) -> ([u64; THREADS], u64) {
    let mut events = [0; THREADS];
    let out = killed.folder.path().join("recovered");
    let report = match recover(killed.session(), &out, &RecoverOptions::default()) {
        Ok(report) => report,
        // The tracer was killed before it created a thread's folder.
        Err(error) if is_nothing(&error) => {
            assert_eq!(killed.returned, [0; THREADS]);
            return (events, 0);
        }
        Err(error) => panic!("{error}"),
    };
    accepted(&out);
    let session = SessionReader::open(&out).unwrap();
    for entry in session.threads() {
        let id = u64::from(entry.id());
        let reader = entry.open().unwrap();
        let completeness = reader.index().completeness();
        assert!(matches!(completeness, Completeness::Finalized));
        events[usize::try_from(id).unwrap()] = count(&reader, id);
    }
    let report = serde_json::to_value(&report).unwrap();
    let threads = report["sessions"][0]["threads"].as_array().unwrap().iter();
    let from_rings = threads.map(|thread| {
        let counts = ["events", "details"].map(|lane| thread[lane]["from_ring"].as_u64());
        counts.into_iter().flatten().sum::<u64>()
    });
    (events, from_rings.sum())
}

/// Returns whether there is no session to recover.
fn is_nothing(error: &Error) -> bool {
    let kinds = [
        ErrorKind::NotASession,
        ErrorKind::Io(io::ErrorKind::NotFound),
    ];
    kinds.contains(error.kind())
}

#[test]
fn fifty_kills_lose_no_event_whose_call_had_returned() {
    kills("write");
}

#[test]
fn fifty_kills_of_a_recording_lose_no_event_whose_call_had_returned() {
    kills("record");
}

fn kills(how: &'static str) {
    let Some(tracer) = Tracer::compile(how) else {
        return;
    };
    let mut moments = Moments::new();
    let (mut while_writing, mut found_in_rings, mut one_more) = (0, 0, 0);
    for round in 0..MOST_KILLS {
        if while_writing == KILLS {
            break;
        }
        let killed = kill(&tracer, round, true, &mut moments);
        if killed.was_writing {
            // The manifest lists the existing threads and contains the names.
            graded(&killed.session(), Severity::Must);
            let session = SessionReader::open(killed.session()).unwrap();
            assert_eq!(session.symbols().function(1).name, Some("a name"));
        }
        let (events, from_rings) = recovered(&killed);
        for (id, (&events, &returned)) in events.iter().zip(&killed.returned).enumerate() {
            // There may be one more event, whose call was about to return.
            assert!(
                events == returned || events == returned + 1,
                "thread {id}: {events} events, {returned} calls had returned"
            );
            one_more += events - returned;
        }
        while_writing += usize::from(killed.was_writing);
        found_in_rings += usize::from(from_rings > 0);
    }
    println!(
        "{while_writing} kills while it wrote, {found_in_rings} with a ring, {one_more} one more"
    );
    assert_eq!(while_writing, KILLS);
    assert!(found_in_rings >= 40, "{found_in_rings} of {KILLS}");
}

#[test]
fn a_killed_recording_loses_no_more_than_its_manifest_states() {
    for (how, drops) in [("block", None), ("drop", Some(true))] {
        let Some(tracer) = Tracer::compile(how) else {
            return;
        };
        let mut moments = Moments::new();
        let (mut lost, mut dropped) = (0, 0);
        for round in 0..KILLS / 2 {
            let killed = kill(&tracer, round, false, &mut moments);
            if !killed.was_writing {
                continue;
            }
            let session = SessionReader::open(killed.session()).unwrap();
            let manifest = session.manifest().unwrap();
            let most = 1024 + BUFFERS[round % BUFFERS.len()] / 32;
            assert_eq!(manifest.unwritten_events, Some(most));
            assert_eq!(manifest.drops_events, drops);
            for entry in session.threads() {
                let id = usize::try_from(entry.id()).unwrap();
                let reader = entry.open_index().unwrap();
                let (events, returned) = (reader.event_count(), killed.returned[id]);
                // There may be one more event, whose call was about to return.
                assert!(events <= returned + 1, "thread {id}: {events}, {returned}");
                let missing = returned.saturating_sub(events);
                let is_bounded = missing <= most;
                assert!(is_bounded || drops.is_some(), "thread {id}: {missing}");
                lost += missing;
                dropped += u64::from(!is_bounded);
            }
        }
        println!("{how}: {lost} missing, {dropped} threads with more missing than the bound");
        assert!(lost > 0);
        assert_eq!(dropped > 0, drops.is_some());
    }
}
