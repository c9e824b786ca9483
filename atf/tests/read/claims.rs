//! Tests statements about readers that cannot be demonstrated with a file. `held_by` in the spec
//! refers to these tests.

use std::fs;
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::session::SessionReader;
use atf::thread::ThreadReader;
use tempfile::TempDir;

use crate::session::add_thread;
use atf_samples::files::{DetailFile, IndexFile};

/// Writes a session of threads with different events.
fn session(threads: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    for id in 0..threads {
        let file = IndexFile::finalized(1, 5 + u64::from(id));
        add_thread(folder.path(), id, &file);
    }
    folder
}

fn count(thread: &Path) -> usize {
    let thread = ThreadReader::open(thread).unwrap();
    thread.index().events_in(..).map(Result::unwrap).count()
}

/// S0, S1 and S4 state that other threads' folders are never read.
#[test]
fn a_thread_is_read_only_from_its_own_files() {
    let folder = session(3);
    let thread = folder.path().join("thread_1");
    assert_eq!(count(&thread), 6);
    let elsewhere = TempDir::new().unwrap();
    let alone = elsewhere.path().join("thread_1");
    fs::rename(&thread, &alone).unwrap();
    drop(folder);
    assert_eq!(count(&alone), 6);
}

/// S0 and S1 state that the threads' files are independent, so readers can work in parallel.
#[test]
fn threads_are_read_in_parallel() {
    let folder = session(8);
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let session = SessionReader::open(folder.path()).unwrap();
        let threads = session.threads().iter();
        let paths = threads.map(|thread| thread.path().to_owned());
        let readers: Vec<_> = paths
            .map(|path| scope.spawn(move || count(&path)))
            .collect();
        readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .collect()
    });
    assert_eq!(counts, [5, 6, 7, 8, 9, 10, 11, 12]);
}

/// S2 states the paths of the crate and its three readers. With other paths, this would not
/// compile.
#[test]
fn the_readers_have_the_published_names() {
    let index = IndexReader::from_bytes(IndexFile::finalized(2, 3).bytes()).unwrap();
    let last = index.events().last().map(Result::unwrap);
    assert_eq!(index.get(2).unwrap(), last);
    let detail = DetailReader::from_bytes(DetailFile::finalized(2, 3).bytes()).unwrap();
    assert_eq!(detail.events().map(Result::unwrap).count(), 3);
    let folder = session(2);
    let session = SessionReader::open(folder.path()).unwrap();
    let merge = session.merge();
    assert_eq!(merge.events().filter(Result::is_ok).count(), 5 + 6);
}
