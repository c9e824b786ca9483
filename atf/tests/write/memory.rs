//! Tests that the in-memory storage behaves like a disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use atf::write::{
    Disk, Durability, Fate, Memory, SessionWriter, Step, Storage, StorageFile, ThreadWriter,
    WriteOptions,
};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::put;

/// A call to the storage, with numbers instead of paths.
#[derive(Debug, Clone)]
enum Call {
    CreateFolder(usize),
    Exists(usize),
    Create(usize, Vec<u8>, u64),
    Rename(usize, usize),
    Remove(usize),
    RemoveFolder(usize),
}

const PATHS: [&str; 6] = ["a", "a/b", "a/b/c", "a/d", "e", "e/f"];

fn call() -> impl Strategy<Value = Call> {
    let path = || 0..PATHS.len();
    prop_oneof![
        path().prop_map(Call::CreateFolder),
        path().prop_map(Call::Exists),
        (path(), vec(any::<u8>(), 0..4), 0..9_u64)
            .prop_map(|(path, bytes, size)| Call::Create(path, bytes, size)),
        (path(), path()).prop_map(|(from, to)| Call::Rename(from, to)),
        path().prop_map(Call::Remove),
        path().prop_map(Call::RemoveFolder),
    ]
}

/// Returns whether a call is ordinary: it does not use a file as a folder. Writers only make calls
/// like these.
fn is_ordinary(disk: &Path, call: &Call) -> bool {
    let path = |number: &usize| disk.join(PATHS[*number]);
    let has_folder = |number: &usize| path(number).parent().is_some_and(Path::is_dir);
    let no_file_above = |number: &usize| {
        let path = path(number);
        !path
            .ancestors()
            .take_while(|above| *above != disk)
            .any(Path::is_file)
    };
    match call {
        Call::CreateFolder(at) => no_file_above(at),
        Call::Exists(at) => has_folder(at),
        Call::Create(at, ..) => has_folder(at) && !path(at).is_dir(),
        Call::Rename(from, to) => {
            has_folder(from) && !path(from).is_dir() && has_folder(to) && !path(to).is_dir()
        }
        Call::Remove(at) => has_folder(at) && !path(at).is_dir(),
        Call::RemoveFolder(at) => has_folder(at) && !path(at).is_file(),
    }
}

fn make(storage: &dyn Storage, root: &Path, call: &Call) -> io::Result<bool> {
    let path = |number: &usize| root.join(PATHS[*number]);
    let yes = |()| true;
    match call {
        Call::CreateFolder(at) => storage.create_folder(&path(at)),
        Call::Exists(at) => storage.exists(&path(at)),
        Call::Create(at, bytes, size) => {
            let mut file = storage.create(&path(at))?;
            let written = StorageFile::write_at(&mut *file, 1, bytes)?;
            file.set_size(*size)?;
            Ok(written == bytes.len())
        }
        Call::Rename(from, to) => storage.rename(&path(from), &path(to)).map(yes),
        Call::Remove(at) => storage.remove(&path(at)).map(yes),
        Call::RemoveFolder(at) => storage.remove_folder(&path(at)).map(yes),
    }
}

proptest! {
    #[test]
    fn every_call_has_the_same_effect_as_on_a_disk(calls in vec(call(), 1..40)) {
        let folder = TempDir::new().unwrap();
        let memory = Memory::new();
        Storage::create_folder(&memory, folder.path()).unwrap();
        for call in &calls {
            if !is_ordinary(folder.path(), call) {
                continue;
            }
            let on_disk = make(&Disk, folder.path(), call).map_err(|error| error.kind());
            let in_memory = make(&memory, folder.path(), call).map_err(|error| error.kind());
            prop_assert_eq!(&in_memory, &on_disk, "{:?}", call);
        }
        let mut files = PATHS.map(|path| folder.path().join(path)).to_vec();
        files.retain(|path| path.is_file());
        files.sort();
        prop_assert_eq!(memory.paths(), files);
        for path in PATHS.map(|path| folder.path().join(path)) {
            let on_disk = std::fs::read(&path).ok();
            prop_assert_eq!(memory.bytes(&path), on_disk, "{:?}", path);
        }
    }
}

/// Returns the paths that are synchronized during `write`, in order.
fn synced(write: impl FnOnce(Arc<Memory>)) -> Vec<(Step, PathBuf)> {
    let memory = Memory::new();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&steps);
    memory.decide(move |step, path| {
        if matches!(step, Step::Sync | Step::SyncFolder) {
            seen.lock().unwrap().push((step, path.to_path_buf()));
        }
        Fate::Done
    });
    write(Arc::new(memory));
    std::mem::take(&mut steps.lock().unwrap())
}

fn options(durability: Durability) -> WriteOptions {
    WriteOptions::default().durability(durability)
}

/// Returns the paths that are synchronized while a thread is written and finalized, in order.
fn synced_of_thread(durability: Durability) -> Vec<(Step, PathBuf)> {
    synced(|memory| {
        let options = options(durability);
        let mut writer = ThreadWriter::create_on(memory, "s/thread_7", 7, &options).unwrap();
        put(&mut writer, 0, Some(b"x")).unwrap();
        writer.flush().unwrap();
        writer.finalize().unwrap();
    })
}

fn folder(path: &str) -> (Step, PathBuf) {
    (Step::SyncFolder, PathBuf::from(path))
}

#[test]
fn everything_that_must_survive_a_power_loss_is_synchronized() {
    let files = ["detail", "index"].map(|file| format!("s/thread_7/{file}.atf"));
    let files = files.map(|file| (Step::Sync, PathBuf::from(file)));
    assert_eq!(synced_of_thread(Durability::None), []);
    // The events are synchronized first, then the headers that count them, and finally the names.
    let names = [folder("s/thread_7"), folder("s")];
    let finalized = [&files[..], &files, &names].concat();
    assert_eq!(synced_of_thread(Durability::Finalize), finalized);
    // The names are synchronized first, followed by the data of each flush. Finalizing begins with
    // a flush.
    let detail = [folder("s/thread_7")];
    let each = [&names[..], &detail, &files, &files, &finalized].concat();
    assert_eq!(synced_of_thread(Durability::EachFlush), each);
}

#[test]
fn the_name_of_a_new_session_survives_a_power_loss() {
    let create = |path: &'static str, durability| {
        synced(|memory| {
            drop(SessionWriter::create_on(memory, path, &options(durability)).unwrap());
        })
    };
    assert_eq!(create("s", Durability::None), []);
    assert_eq!(create("s", Durability::Finalize), [folder(".")]);
    // The ancestors are synchronized because they are new too.
    let above = ["all/today", "all", "."].map(folder);
    assert_eq!(create("all/today/s", Durability::EachFlush), above);
    let again = synced(|memory| {
        Storage::create_folder(&*memory, Path::new("all/s")).unwrap();
        let options = options(Durability::Finalize);
        drop(SessionWriter::create_on(memory, "all/s", &options).unwrap());
    });
    assert_eq!(again, []);
}

#[test]
fn disk_errors_are_returned() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "theirs").unwrap();
    let below = file.join("below");
    let exists = Disk.exists(&below).map_err(|error| error.kind());
    assert_eq!(exists, Err(io::ErrorKind::NotADirectory));
    let create = |path: &Path| Disk.create_folder(path).map_err(|error| error.kind());
    assert_eq!(create(&below), Err(io::ErrorKind::NotADirectory));
    assert_eq!(create(&file), Err(io::ErrorKind::AlreadyExists));
    assert_eq!(create(root.path()), Ok(false));
    #[cfg(unix)]
    {
        let nowhere = root.path().join("nowhere");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        assert_eq!(create(&nowhere), Err(io::ErrorKind::NotFound));
    }
    assert_eq!(create(&root.path().join("a/b/c")), Ok(true));
    let synced = Disk.sync_folder(&root.path().join("gone"));
    assert_eq!(synced.unwrap_err().kind(), io::ErrorKind::NotFound);
}
