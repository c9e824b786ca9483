//! Follows a thread's folder while it is being written.

use std::time::{Duration, Instant};

use atf::follow::{Polled, ThreadEvent, ThreadFollower};
use atf::thread::ThreadReader;
use atf::write::{Detail, ThreadWriter, WriteOptions};
use atf::{DetailEventType, Wire};

use crate::support_written::{assert_event, event};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile};
use atf_samples::random::Random;
use tempfile::TempDir;

fn write(folder: &std::path::Path, wire: Wire, count: u64, survive_kill: bool) {
    let options = WriteOptions::default()
        .wire(wire)
        .survive_kill(survive_kill)
        .buffer_size(4 << 10);
    let mut writer = ThreadWriter::create(folder, 3, &options).unwrap();
    let mut random = Random::new(0);
    for seq in 0..count {
        let payload: Vec<u8> = (0..random.number() % 400)
            .map(|byte| byte.to_le_bytes()[0])
            .collect();
        match random.number() % 3 {
            0 => writer.write(&event(seq)).map(drop).unwrap(),
            _ => {
                let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload);
                writer.write_with_detail(&event(seq), &detail).unwrap();
            }
        }
        if random.number().is_multiple_of(50) {
            writer.flush().unwrap();
        }
    }
    writer.finalize().unwrap();
}

fn put(folder: &TempDir, name: &str, bytes: &[u8]) {
    std::fs::write(folder.path().join(name), bytes).unwrap();
}

/// Begins to follow a thread with these files.
fn followed(index: &[u8], detail: Option<&[u8]>) -> (TempDir, ThreadFollower) {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "index.atf", index);
    if let Some(detail) = detail {
        put(&folder, "detail.atf", detail);
    }
    let follower = ThreadFollower::new(folder.path());
    (folder, follower)
}

/// Takes all certain events. Returns their positions and those of their details, and the last poll.
fn drain(follower: &mut ThreadFollower) -> (Vec<(u64, Option<u64>)>, Polled<ThreadEvent>) {
    let mut events = Vec::new();
    loop {
        match follower.poll().unwrap() {
            Polled::New(new) => events.push((new.seq, new.detail.map(|detail| detail.seq))),
            last => return (events, last),
        }
    }
}

#[test]
fn a_follower_of_a_running_writer_agrees_with_a_later_reader() {
    for (wire, survive_kill) in [(Wire::V1, false), (Wire::V2, false), (Wire::V1, true)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("thread_3");
        let mut follower = ThreadFollower::new(&folder);
        let mut given: Vec<(ThreadEvent, Vec<u8>)> = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| write(&folder, wire, 20_000, survive_kill));
            let began = Instant::now();
            loop {
                match follower.poll().unwrap() {
                    Polled::New(new) => {
                        let size = new.detail.map_or(0, |detail| detail.payload_size());
                        let mut payload = vec![0; usize::try_from(size).unwrap()];
                        if let Some(detail) = &new.detail {
                            let detail_file = follower.detail();
                            detail_file.read_payload(detail, 0, &mut payload).unwrap();
                        }
                        given.push((new, payload));
                        assert_eq!(follower.next_seq(), given.len() as u64);
                    }
                    Polled::NotYet => std::thread::yield_now(),
                    Polled::Finalized => break,
                }
                assert!(began.elapsed() < Duration::from_secs(120));
            }
        });
        assert_eq!(given.len(), 20_000);
        let reader = ThreadReader::open(&folder).unwrap();
        let detail = reader.detail().unwrap();
        for (seq, (new, payload)) in given.iter().enumerate() {
            assert_eq!(new.seq, seq as u64);
            assert_event(&new.event, new.seq);
            assert_eq!(reader.index().get(new.seq).unwrap(), Some(new.event));
            assert_eq!(reader.detail_of(&new.event).unwrap().found(), new.detail);
            if let Some(found) = &new.detail {
                assert_eq!(&detail.payload(found, 1 << 20).unwrap(), payload);
            }
        }
        assert_eq!(follower.index().checksum(), atf::Checksum::Good);
    }
}

/// Events may reach the file before some or all of their details. Our writer never produces this
/// order.
#[test]
fn an_event_waits_for_its_details() {
    let (index, detail) = (IndexFile::finalized(1, 9), DetailFile::finalized(1, 3));
    let bytes = detail.clone().placeholder().bytes();
    for index in [index.clone().placeholder(), index] {
        let folder = tempfile::tempdir().unwrap();
        let mut follower = ThreadFollower::new(folder.path());
        put(&folder, "detail.atf", &bytes[..64]);
        put(&folder, "index.atf", &index.bytes());
        assert_eq!(follower.poll().unwrap(), Polled::NotYet);
        assert_eq!(follower.next_seq(), 0);
        let cut = usize::try_from(detail.places()[1]).unwrap();
        put(&folder, "detail.atf", &bytes[..cut]);
        let events = vec![(0, Some(0)), (1, None), (2, None)];
        assert_eq!(drain(&mut follower), (events, Polled::NotYet));
        assert_eq!(follower.next_seq(), 3);
    }
}

#[test]
fn a_finalized_thread_without_its_details_returns_events_without_them() {
    let (_folder, mut follower) = followed(&IndexFile::finalized(2, 9).bytes(), None);
    let events = (0..9).map(|seq| (seq, None)).collect();
    assert_eq!(drain(&mut follower), (events, Polled::Finalized));
}

/// A corrupt file does not hide the other file.
#[test]
fn events_can_be_returned_without_unreadable_details() {
    let index = IndexFile::finalized(2, 9).bytes();
    let (_folder, mut follower) = followed(&index, Some(&[b'x'; 100]));
    let error = follower.poll().unwrap_err();
    assert_eq!(error.path(), Some(follower.detail().path()));
    assert_eq!(follower.next_seq(), 0);
    follower.ignore_details();
    let events = (0..9).map(|seq| (seq, None)).collect();
    assert_eq!(drain(&mut follower), (events, Polled::Finalized));
}

#[test]
fn links_that_lead_back_or_nowhere_have_no_detail() {
    let mut index = IndexFile::finalized(2, 4);
    let mut detail = DetailFile::finalized(2, 3);
    let time = index.events[0].timestamp_ns;
    for (event, link) in index.events.iter_mut().zip([1, 0, 1, 7]) {
        (event.timestamp_ns, event.detail_seq) = (time, Some(link));
    }
    for event in &mut detail.events {
        event.timestamp = time;
    }
    detail.events[1].index_seq = 2;
    let index = IndexFile::new(2, index.events).bytes();
    let detail = DetailFile::new(2, detail.events).bytes();
    let (_folder, mut follower) = followed(&index, Some(&detail));
    let (events, _) = drain(&mut follower);
    assert_eq!(events, [(0, None), (1, None), (2, Some(1)), (3, None)]);
}

#[test]
fn a_detail_of_another_event_is_not_returned_as_an_events_own() {
    for version in [1, 2] {
        let event = |time, link| EventRecord::new(time, 7, 1, Some(link));
        let detail = |seq, time| DetailRecord::new(3, seq, time, vec![5; 3]);
        let index = IndexFile::new(version, vec![event(100, 0), event(200, 1)]).bytes();
        let details = DetailFile::new(version, vec![detail(0, 999), detail(1, 200)]).bytes();
        let (folder, mut follower) = followed(&index, Some(&details));
        let reader = ThreadReader::open(folder.path()).unwrap();
        let mut links = Vec::new();
        while let Polled::New(new) = follower.poll().unwrap() {
            assert_eq!(reader.detail_of(&new.event).unwrap().found(), new.detail);
            links.push(new.detail.map(|detail| detail.seq));
        }
        assert_eq!(links, [None, Some(1)]);
        // The events have the same time, and each links to the other's detail.
        let index = IndexFile::new(version, vec![event(100, 1), event(100, 0)]).bytes();
        let details = DetailFile::new(version, vec![detail(0, 100), detail(1, 100)]).bytes();
        let (_folder, mut follower) = followed(&index, Some(&details));
        assert_eq!(drain(&mut follower).0, [(0, None), (1, None)]);
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_in_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let target = other.path().join("index.atf");
    std::fs::write(&target, IndexFile::finalized(1, 1).bytes()).unwrap();
    std::os::unix::fs::symlink(&target, folder.path().join("index.atf")).unwrap();
    let error = ThreadFollower::new(folder.path()).poll().unwrap_err();
    assert_eq!(error.kind(), &atf::ErrorKind::SymbolicLink);
}
