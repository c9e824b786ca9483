//! Merges a large number of files, some of which fail.

use std::fs;
use std::path::Path;

use atf::session::SessionReader;
use atf::{Error, ErrorKind};
use tempfile::TempDir;

use crate::model::{Thread, expected, places};

/// Writes the threads into a session's folder.
fn session(threads: &[Thread]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for thread in threads {
        let path = folder.path().join(format!("thread_{}", thread.id));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("index.atf"), thread.file(1).bytes()).unwrap();
    }
    folder
}

fn index(session: &Path, id: u32) -> std::path::PathBuf {
    session.join(format!("thread_{id}")).join("index.atf")
}

/// Creates threads `0..count` with `events` events each. The events' times interleave and are often
/// equal.
fn threads(count: u32, events: u64) -> Vec<Thread> {
    let time = |id: u32, seq: u64| seq * 100 + u64::from(id) * 7 % 100;
    let thread = |id| Thread::new(id, (0..events).map(move |seq| time(id, seq)));
    (0..count).map(thread).collect()
}

#[cfg(unix)]
#[test]
fn a_thread_whose_file_is_replaced_ends_and_the_others_continue() {
    let threads = threads(130, 300);
    let folder = session(&threads);
    let merge = SessionReader::open(folder.path()).unwrap().merge();
    let mut merged = merge.buffer_budget(0).into_events();
    let mut found = places(merged.by_ref().take(1));

    let other = folder.path().join("other");
    fs::write(&other, threads[5].file(1).bytes()).unwrap();
    fs::rename(other, index(folder.path(), 5)).unwrap();
    let mut errors = Vec::new();
    for event in merged.by_ref() {
        match event {
            Ok(event) => found.push((event.thread, event.seq)),
            Err(error) => errors.push(error),
        }
    }
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].kind(), &ErrorKind::Replaced);
    assert_eq!(errors[0].path(), Some(index(folder.path(), 5).as_path()));
    assert_eq!(merged.problems().len(), 1);
    assert_eq!(merged.problems()[0].thread, Some(5));
    // The smallest buffer is 4 KiB, which is 128 events.
    let mut read = threads;
    read[5].times.truncate(128);
    assert_eq!(found, expected(&read, 0..=u64::MAX));
}

#[test]
fn a_truncated_file_ends_its_thread_and_the_others_continue() {
    let threads = threads(2, 300);
    let folder = session(&threads);
    let merge = SessionReader::open(folder.path()).unwrap().merge();
    let mut merged = merge.buffer_budget(0).into_events();
    assert!(merged.next().unwrap().is_ok());
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).open(index(folder.path(), 0));
    file.unwrap().set_len(64).unwrap();
    let mut count = [0_u64; 2];
    let mut errors = 0;
    merged.for_each(|event| match event {
        Ok(event) => count[event.thread as usize] += 1,
        Err(error) => {
            assert_eq!(error.path(), Some(index(folder.path(), 0).as_path()));
            errors += 1;
        }
    });
    assert_eq!((count, errors), ([127, 300], 1));
}

#[test]
fn one_corrupt_thread_of_two_does_not_hide_the_other() {
    let threads = threads(2, 10);
    let folder = session(&threads);
    fs::write(index(folder.path(), 0), b"nonsense").unwrap();
    let merge = SessionReader::open(folder.path()).unwrap().merge();
    let (found, needed) = (8, 64);
    let kind = ErrorKind::TooShort { found, needed };
    assert_eq!(merge.problems().len(), 1);
    assert_eq!(merge.problems()[0].thread, Some(0));
    assert_eq!(merge.problems()[0].error.kind(), &kind);
    let merged = merge.events();
    assert_eq!(merged.problems().len(), 1);
    let (found, errors): (Vec<_>, Vec<_>) = merged.partition(Result::is_ok);
    let found = places(found.into_iter());
    assert_eq!(found, expected(&threads[1..], 0..=u64::MAX));
    let errors: Vec<_> = errors.into_iter().map(Result::unwrap_err).collect();
    assert_eq!(errors.iter().map(Error::kind).collect::<Vec<_>>(), [&kind]);
    let parts = merge.partitions(2).into_iter();
    assert_eq!(parts.flatten().filter(Result::is_ok).count(), 10);
}

/// Writes a session of `threads` threads whose writers were killed, each with `events` events left
/// in its ring.
fn killed(folder: &Path, threads: u32, events: u64) {
    use atf::write::{Event, ThreadWriter, WriteOptions};
    let options = WriteOptions::default()
        .survive_kill(true)
        .buffer_size(4 << 10);
    for id in 0..threads {
        let folder = folder.join(format!("thread_{id}"));
        let mut writer = ThreadWriter::create(folder, id, &options).unwrap();
        for seq in 0..events {
            let event = Event::new(1000 * seq + u64::from(id), seq, atf::EventKind::CALL, 1);
            writer.write(&event).unwrap();
        }
        // Do not run the destructor, because it does not run in a killed process either.
        std::mem::forget(writer);
    }
}

#[test]
fn events_that_a_killed_writer_left_in_its_ring_are_merged() {
    // Cover small thread counts, for which files stay open, and large ones, for which they do not,
    // and event counts that do and do not fill the ring.
    for (threads, events) in [(3, 10), (3, 300), (140, 2)] {
        let folder = TempDir::new().unwrap();
        killed(folder.path(), threads, events);
        let session = SessionReader::open(folder.path()).unwrap();
        let merge = session.merge();
        let (merged, errors): (Vec<_>, Vec<_>) = merge.events().partition(Result::is_ok);
        let is_unfinalized = |event: &atf::Result<_>| {
            let kind = event.as_ref().unwrap_err().kind().clone();
            matches!(kind, ErrorKind::NotFinalized { .. })
        };
        assert_eq!(errors.len(), threads as usize);
        assert!(errors.iter().all(is_unfinalized));
        let expected = (0..events).flat_map(|seq| (0..threads).map(move |id| (seq, id)));
        let parts = merge.partitions(3).into_iter().flatten();
        for merged in [merged, parts.filter(Result::is_ok).collect()] {
            let merged = merged.into_iter().map(Result::unwrap);
            let merged = merged.map(|event| (event.seq, event.thread));
            assert!(merged.eq(expected.clone()), "{threads} {events}");
        }
        let index = session.threads()[1].open_index().unwrap();
        assert_eq!(index.event_count(), events);
    }
}
