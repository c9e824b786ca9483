//! Another user renames a session's folder during recording and replaces it with another one.
#![cfg(all(unix, not(miri)))]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use atf::session::SessionReader;
use atf::write::{Disk, SessionWriter, Storage, WriteOptions, add_symbols, brief_disk};
use tempfile::TempDir;

use super::{detail, event};

/// The names of all files of a thread, and of the manifest.
const NAMES: [&str; 5] = [
    "thread_0/index.atf",
    "thread_0/detail.atf",
    "thread_0/ring.atf",
    "manifest.json",
    "manifest.json.part",
];

/// Moves the session away, and replaces it with a folder whose files are symlinks to a victim.
fn plant(root: &Path) {
    fs::rename(root.join("pid_1"), root.join("moved")).unwrap();
    for name in NAMES {
        let path = root.join("pid_1").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(root.join("victim"), path).unwrap();
    }
}

fn root() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("victim"), "theirs").unwrap();
    root
}

/// Asserts that the planted files are untouched, and that the session's threads have this many
/// events.
#[track_caller]
fn assert_kept(root: &Path, events: [u64; 2]) {
    assert_eq!(fs::read(root.join("victim")).unwrap(), b"theirs");
    for name in NAMES {
        let path = root.join("pid_1").join(name);
        assert_eq!(fs::read_link(path).unwrap(), root.join("victim"));
    }
    let session = SessionReader::open(root.join("moved")).unwrap();
    let threads = session.threads().iter();
    let found = threads.map(|thread| thread.open().unwrap().index().event_count());
    assert_eq!(found.collect::<Vec<_>>(), events);
    assert_eq!(session.manifest().unwrap().threads.len(), 2);
}

#[test]
fn a_session_that_is_replaced_while_it_is_written_continues_in_its_own_folder() {
    for is_brief in [false, true] {
        for survive_kill in [false, true] {
            let root = root();
            let storage: Arc<dyn Storage> = if is_brief {
                brief_disk(root.path()).unwrap()
            } else {
                Arc::new(Disk)
            };
            let options = WriteOptions::default()
                .buffer_size(4096)
                .survive_kill(survive_kill);
            let path = root.path().join("pid_1");
            let session = SessionWriter::create_on(storage, path, &options).unwrap();
            session.write_manifest().unwrap();
            let mut first = session.thread(0).unwrap();
            for seq in 0..500 {
                first.write(&event(seq)).unwrap();
            }
            plant(root.path());
            for seq in 500..1000 {
                let detail = detail(seq, b"payload");
                first.write_with_detail(&event(seq), &detail).unwrap();
            }
            let mut second = session.thread(1).unwrap();
            second.write(&event(1000)).unwrap();
            first.finalize().unwrap();
            second.finalize().unwrap();
            session.finalize().unwrap();
            assert_kept(root.path(), [1000, 1]);
        }
    }
}

/// A planted file of the same name and content is recognized by its inode.
#[test]
fn a_file_that_was_replaced_is_not_written() {
    let root = root();
    let path = root.path().join("file");
    let mut file = brief_disk(root.path()).unwrap().create(&path).unwrap();
    file.write_at(0, b"mine").unwrap();
    fs::remove_file(&path).unwrap();
    for replace in [&|| fs::write(&path, "mine").unwrap(), &|| {
        symlink(root.path().join("victim"), &path).unwrap();
    }] as [&dyn Fn(); 2]
    {
        let _ = fs::remove_file(&path);
        replace();
        let before = fs::read(&path).unwrap();
        let _ = file.write_at(0, b"evil");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_manifest_is_replaced_without_changing_a_symlinks_target() {
    let root = root();
    let session = SessionWriter::create(root.path().join("s"), &WriteOptions::default()).unwrap();
    session.finalize().unwrap();
    let part = root.path().join("s/manifest.json.part");
    symlink(root.path().join("victim"), &part).unwrap();
    add_symbols(session.path(), &[]).unwrap();
    assert_eq!(fs::read(root.path().join("victim")).unwrap(), b"theirs");
    let metadata = fs::metadata(root.path().join("victim")).unwrap();
    assert_ne!(metadata.permissions().mode() & 0o200, 0);
}
