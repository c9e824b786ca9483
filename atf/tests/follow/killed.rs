//! Kills a writer while it is followed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use atf::EventKind;
use atf::follow::{Polled, ThreadFollower};
use atf::thread::ThreadReader;
use atf::write::{Event, ThreadWriter, WriteOptions};

/// The environment variable that contains a writing process's folder.
const FOLDER: &str = "ATF_TEST_FOLLOW_FOLDER";

/// Writes events in the process that will be killed. Does nothing in an ordinary test run.
#[test]
fn writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let options = WriteOptions::default()
        .survive_kill(true)
        .buffer_size(4 << 10);
    let mut writer = ThreadWriter::create(Path::new(&folder), 0, &options).unwrap();
    // Do not write forever, in case this process is not killed.
    for seq in 0..1_000_000 {
        let event = Event::new(seq, seq, EventKind::CALL, 1);
        writer.write(&event).unwrap();
        if seq % 100 == 0 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

#[test]
fn a_reader_continues_where_the_follower_of_a_killed_writer_stopped() {
    for round in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("thread_0");
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::writes_until_it_is_killed"])
            .env(FOLDER, &folder)
            .stdout(Stdio::null())
            .spawn();
        let mut follower = ThreadFollower::new(&folder);
        let mut given = 0;
        let began = Instant::now();
        let mut child = Some(child.unwrap());
        loop {
            match follower.poll().unwrap() {
                Polled::New(new) => {
                    assert_eq!(new.seq, given);
                    assert_eq!(new.event.timestamp_ns, given);
                    given += 1;
                }
                Polled::NotYet if child.is_none() => break,
                Polled::NotYet => {}
                Polled::Finalized => panic!("nobody finalized it"),
            }
            let is_time = given >= 3000 + round * 777;
            if let Some(mut child) = child.take_if(|_| is_time) {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            assert!(began.elapsed() < Duration::from_secs(60));
        }
        let reader = ThreadReader::open(&folder).unwrap();
        let mut seq = follower.next_seq();
        assert_eq!(seq, given);
        assert!(reader.ring().is_some());
        for event in reader.index().events_in(seq..) {
            assert_eq!(event.unwrap().timestamp_ns, seq);
            seq += 1;
        }
        assert_eq!(seq, reader.index().event_count());
    }
}
