//! Follows a session as threads and names appear.

use std::fs;

use atf::follow::{FollowedThread, Polled, SessionFollower};
use atf::manifest::{Module, Symbol};
use atf::write::{Event, SessionWriter, WriteOptions};
use atf::{ErrorKind, EventKind};

fn ids(threads: &[FollowedThread]) -> Vec<u32> {
    threads.iter().map(FollowedThread::id).collect()
}

fn event(seq: u64) -> Event {
    Event::new(1000 + seq, 7, EventKind::CALL, 1)
}

#[test]
fn each_thread_is_returned_once_with_its_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("pid_1");
    let mut session = SessionFollower::new(&folder);
    assert_eq!(session.poll_threads().unwrap(), []);
    for name in ["thread_x", "thread_", "thread_+1", "other", "thread_11"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join("thread_5"), "a file").unwrap();
    fs::create_dir(folder.join("thread_2")).unwrap();
    // The ids are ordered by number, not by name.
    assert_eq!(ids(&session.poll_threads().unwrap()), [2, 11]);
    assert_eq!(session.poll_threads().unwrap(), []);
    fs::create_dir(folder.join("thread_0")).unwrap();
    let new = session.poll_threads().unwrap();
    assert_eq!(ids(&new), [0]);
    assert_eq!(new[0].path(), folder.join("thread_0"));
}

#[cfg(unix)]
#[test]
fn a_symlink_to_a_thread_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("pid_1");
    fs::create_dir_all(root.path().join("elsewhere")).unwrap();
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("../elsewhere", folder.join("thread_1")).unwrap();
    assert_eq!(SessionFollower::new(&folder).poll_threads().unwrap(), []);
}

#[test]
fn a_path_that_is_not_a_folder_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = SessionFollower::new(file.path()).poll_threads();
    let error = error.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
    assert_eq!(error.path(), Some(file.path()));
    // A file can never contain a session.
    let mut below = SessionFollower::new(file.path().join("session"));
    let kind = ErrorKind::Io(std::io::ErrorKind::NotADirectory);
    assert_eq!(below.poll_threads().unwrap_err().kind(), &kind);
    assert_eq!(below.poll_manifest().unwrap_err().kind(), &kind);
}

#[test]
fn the_events_of_all_threads_are_returned_while_a_session_is_written() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("pid_1");
    let mut session = SessionFollower::new(&folder);
    let writer = SessionWriter::create(&folder, &WriteOptions::default()).unwrap();
    let mut writers = Vec::new();
    let mut followers = Vec::new();
    for round in 0..4 {
        writers.push(writer.thread(round).unwrap());
        let new = session.poll_threads().unwrap();
        assert_eq!(ids(&new), [round]);
        followers.extend(new.iter().map(FollowedThread::follow));
        for writer in &mut writers {
            writer.write(&event(round.into())).unwrap();
            writer.flush().unwrap();
        }
        for follower in &mut followers {
            let Polled::New(new) = follower.poll().unwrap() else {
                panic!("it was flushed");
            };
            assert_eq!(new.event.timestamp_ns, 1000 + u64::from(round));
            assert_eq!(follower.poll().unwrap(), Polled::NotYet);
        }
    }
    for (writer, follower) in writers.iter_mut().zip(&mut followers) {
        writer.finalize().unwrap();
        assert_eq!(follower.poll().unwrap(), Polled::Finalized);
    }
    assert_eq!(session.poll_threads().unwrap(), []);
}

#[test]
fn names_are_updated_whenever_the_manifest_changes() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("pid_1");
    let mut session = SessionFollower::new(&folder);
    assert!(!session.poll_manifest().unwrap());
    let writer = SessionWriter::create(&folder, &WriteOptions::default()).unwrap();
    assert!(!session.poll_manifest().unwrap());
    assert!(session.manifest().is_none());
    // Use names of equal length, so that the file's size stays the same.
    for name in ["main", "exit", "loop"] {
        let path = format!("/bin/{name}");
        writer.set_modules(vec![Module::new(3).path(path.clone())]);
        writer.set_symbols(vec![Symbol::new(7, name)]);
        writer.write_manifest().unwrap();
        assert!(session.poll_manifest().unwrap());
        assert_eq!(session.symbols().function(7).name, Some(name));
        let modules = &session.manifest().unwrap().modules;
        assert_eq!(modules[0].path.as_deref(), Some(&*path));
        assert!(!session.poll_manifest().unwrap());
        assert_eq!(session.symbols().function(7).name, Some(name));
    }
    // Some existing tracers rewrite the manifest in place, so a poll may find only part of it.
    let path = folder.join("manifest.json");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..40]).unwrap();
    assert!(session.poll_manifest().unwrap());
    assert_eq!(session.manifest().unwrap().problems.len(), 1);
    assert_eq!(session.symbols().function(7).name, None);
    fs::write(&path, whole).unwrap();
    assert!(session.poll_manifest().unwrap());
    assert_eq!(session.symbols().function(7).name, Some("loop"));
    fs::remove_file(&path).unwrap();
    assert!(session.poll_manifest().unwrap());
    assert!(session.manifest().is_none());
}
