//! Tests killed writers. Starts this test as a writing process and kills that process with SIGKILL
//! at a random moment.

#![cfg(unix)]

#[path = "../support/written.rs"]
mod support_written;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use atf::DetailEventType;
use atf::detail::DetailReader;
use atf::follow::{Polled, ThreadFollower};
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use atf::write::{Detail, SessionWriter, ThreadWriter, WriteOptions};

use support_written::{assert_event, event};

/// The environment variable that contains a writing process's folder.
const FOLDER: &str = "ATF_TEST_KILL_FOLDER";
const RING: &str = "ATF_TEST_KILL_RING";
const THREADS: u32 = 2;

/// Returns how often to kill a writer with a ring. `ATF_TEST_KILLS` sets another number.
fn kills() -> u64 {
    let set = std::env::var("ATF_TEST_KILLS").ok();
    set.map_or(50, |kills| kills.parse().unwrap())
}

/// Returns a detail's payload. Payloads vary in size, and some are larger than the buffer.
fn payload(seq: u64) -> Vec<u8> {
    let size = match seq % 1000 {
        998 => 9000,
        rest => rest % 300,
    };
    (0..size)
        .map(|byte| (byte ^ seq).to_le_bytes()[0])
        .collect()
}

fn has_detail(seq: u64) -> bool {
    !seq.is_multiple_of(3)
}

/// Returns the number of events with details among the first `count` events.
fn details(count: u64) -> u64 {
    count - count.div_ceil(3)
}

/// Writes forever. Stores the number of returned calls after each call.
fn write(mut writer: ThreadWriter, returned: &File) {
    for seq in 0.. {
        let written = if has_detail(seq) {
            let payload = payload(seq);
            let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload);
            writer.write_with_detail(&event(seq), &detail).map(drop)
        } else {
            writer.write(&event(seq)).map(drop)
        };
        written.unwrap();
        let place = u64::from(writer.thread_id()) * 8;
        returned
            .write_all_at(&(seq + 1).to_le_bytes(), place)
            .unwrap();
    }
}

/// Writes events in the process that will be killed. Does nothing in an ordinary test run.
#[test]
fn writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let options = WriteOptions::default()
        .survive_kill(std::env::var(RING).is_ok())
        .buffer_size(4 << 10);
    let session = SessionWriter::create(folder.join("session"), &options).unwrap();
    let mut returned = OpenOptions::new();
    let returned = returned.write(true).open(folder.join("returned")).unwrap();
    std::thread::scope(|scope| {
        for id in 0..THREADS {
            let (writer, returned) = (session.thread(id).unwrap(), &returned);
            scope.spawn(move || write(writer, returned));
        }
    });
}

/// A writing process, killed if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // If the test passed, the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path, with_ring: bool) -> Running {
    fs::write(folder.join("returned"), vec![0; 8 * THREADS as usize]).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "writes_until_it_is_killed", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::null());
    if with_ring {
        command.env(RING, "1");
    }
    Running(command.spawn().unwrap())
}

/// Returns the number of returned calls per thread.
fn returned_calls(folder: &Path) -> Vec<u64> {
    let bytes = fs::read(folder.join("returned")).unwrap();
    let numbers = bytes.as_chunks().0.iter();
    numbers.map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Kills a writing process some milliseconds after its threads start, and returns its counts.
fn kill(folder: &Path, with_ring: bool, moment: Duration) -> Vec<u64> {
    let mut child = start(folder, with_ring);
    let began = Instant::now();
    while returned_calls(folder).contains(&0) {
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
        assert_eq!(child.0.try_wait().unwrap(), None, "it ended on its own");
    }
    std::thread::sleep(moment);
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    returned_calls(folder)
}

/// Returns a delay of less than 8 ms, different in each round and each run.
fn moment(round: u64) -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let noise = now.unwrap().subsec_nanos();
    let mixed = (u64::from(noise) ^ round << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Duration::from_micros(mixed % 8000)
}

/// Compares all events of a thread and their details with what was written.
fn check(thread: &ThreadReader) -> u64 {
    let mut detail_seq = 0;
    for (seq, read) in thread.index().events_in(..).enumerate() {
        let (seq, read) = (seq as u64, read.unwrap());
        assert_event(&read, seq);
        assert_eq!(read.detail_seq, has_detail(seq).then_some(detail_seq));
        if has_detail(seq) {
            let detail = thread.detail_of(&read).unwrap().found().unwrap();
            assert_eq!(detail.header.index_seq, seq);
            assert_eq!(detail.header.timestamp, read.timestamp_ns);
            let read = thread.detail().unwrap().payload(&detail, 10_000).unwrap();
            assert_eq!(read, payload(seq));
            detail_seq += 1;
        }
    }
    thread.index().event_count()
}

#[test]
fn sigkill_loses_no_event_whose_call_had_returned() {
    let (mut from_rings, mut followed) = (0, 0);
    for round in 0..kills() {
        let folder = tempfile::tempdir().unwrap();
        let returned = kill(folder.path(), true, moment(round));
        let session = SessionReader::open(folder.path().join("session")).unwrap();
        assert_eq!(session.threads().len(), returned.len());
        for (entry, returned) in session.threads().iter().zip(returned) {
            let thread = entry.open().unwrap();
            assert!(thread.ring_error().is_none(), "{:?}", thread.ring_error());
            let count = check(&thread);
            // There may be one more event if the writer was killed just before its call returned.
            let possible = returned..=returned + 1;
            assert!(possible.contains(&count), "{count} of {returned}");
            from_rings += thread.ring().unwrap().index_bytes / 32;

            // A reader continues where a follower of the files stops.
            let mut follower = ThreadFollower::new(entry.path());
            let last = loop {
                match follower.poll().unwrap() {
                    Polled::New(new) => {
                        assert_eq!(new.seq + 1, follower.next_seq());
                        assert_eq!(thread.index().get(new.seq).unwrap(), Some(new.event));
                    }
                    last => break last,
                }
            };
            assert_eq!(last, Polled::NotYet, "nobody finalized it");
            assert!(follower.next_seq() <= count);
            followed += follower.next_seq();

            // Without the ring, a prefix of the events remains, including their details.
            fs::remove_file(entry.path().join("ring.atf")).unwrap();
            let prefix = entry.open().unwrap();
            assert_eq!(prefix.ring(), None);
            assert!(check(&prefix) <= count);
        }
    }
    assert!(from_rings > 0, "no kill found an event in a ring");
    assert!(followed > 0, "no event was followed");
}

#[test]
fn sigkill_without_a_ring_leaves_a_prefix() {
    let mut lost = 0;
    for round in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let returned = kill(folder.path(), false, moment(round));
        let session = SessionReader::open(folder.path().join("session")).unwrap();
        for (entry, returned) in session.threads().iter().zip(returned) {
            let thread = entry.open().unwrap();
            let count = check(&thread);
            assert!(count <= returned + 1);
            // At most one buffer of events is lost.
            let missing = returned.saturating_sub(count);
            assert!(missing <= 128, "{count} of {returned}");
            assert!(details(count) <= thread.detail().map_or(0, DetailReader::event_count));
            lost += missing;
        }
    }
    assert!(lost > 0, "the ring was never needed");
}
