//! Tests of changed sessions and of hostile archives, which cost no more time and memory than others.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, RecordBatch};
use parquet::arrow::ArrowWriter;

use super::encode::Encoding;
use super::files::{Files, RowRange};
use super::read::Batches;
use super::restore::restore;
use super::sink::{Comparer, Disk};
use super::tree::{Entry, Kind};
use super::*;

/// Packs a session of threads with two events each. Returns the session's path and the archive.
fn packed(folder: &Path, threads: u32) -> (PathBuf, Layout) {
    let [root, archive] = ["session", "archive"].map(|name| folder.join(name));
    let writer = atf::write::SessionWriter::create(&root, &Default::default()).unwrap();
    for id in 0..threads {
        let mut thread = writer.thread(id).unwrap();
        for timestamp_ns in [100, 250] {
            let event = atf::write::Event::new(timestamp_ns, 7, atf::EventKind::CALL, 1);
            thread.write(&event).unwrap();
        }
        thread.finalize().unwrap();
    }
    writer.finalize().unwrap();
    let packed = pack(&root, &archive, None, None, None).unwrap();
    let place = packed.written.folders.last().unwrap().file_name().unwrap();
    let place = place.into();
    (root, Layout { archive, place })
}

/// Returns an entry without a mode.
fn entry(path: &str, kind: Kind) -> Entry {
    Entry {
        path: path.to_owned(),
        kind,
        mode: None,
    }
}

/// A change to a session's folder, and the error it should cause.
type Change = (fn(&Path), &'static str);

const CHANGES: [Change; 7] = [
    (|root| edit(root, |data| data[100] ^= 1), "different bytes"),
    (
        |root| edit(root, |data| data.truncate(100)),
        "different bytes",
    ),
    (
        |root| edit(root, |data| data.push(0)),
        "more bytes at offset 192",
    ),
    (
        |root| fs::remove_file(index(root)).unwrap(),
        "changed or removed",
    ),
    (|root| fs::write(root.join("new"), "").unwrap(), "appeared"),
    (
        |root| fs::create_dir(root.join("thread_9")).unwrap(),
        "appeared",
    ),
    (
        |root| {
            fs::remove_file(index(root)).unwrap();
            fs::create_dir(index(root)).unwrap();
        },
        "changed or removed",
    ),
];

fn index(root: &Path) -> PathBuf {
    root.join("thread_0/index.atf")
}

fn edit(root: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut data = fs::read(index(root)).unwrap();
    change(&mut data);
    fs::write(index(root), data).unwrap();
}

#[test]
fn the_comparison_finds_every_change_of_the_session() {
    for (change, expected) in CHANGES {
        let folder = tempfile::tempdir().unwrap();
        let (root, layout) = packed(folder.path(), 1);
        let compare = || restore(&layout, &mut Comparer::new(&root)?);
        compare().unwrap();
        change(&root);
        let error = compare().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Unpacks an archive of a folder and symlinks.
#[cfg(unix)]
fn unpack_links(folder: &Path, links: &[(&str, &str)]) -> Result<Unpacked, Error> {
    let archive = folder.join("archive");
    let layout = Layout {
        archive: archive.clone(),
        place: "session=hostile".into(),
    };
    fs::create_dir_all(layout.files().parent().unwrap()).unwrap();
    let mut files = Files::create(&layout.files()).unwrap();
    files.add_whole(&entry("real", Kind::Folder), None).unwrap();
    for (path, target) in links {
        let link = entry(path, Kind::Link);
        files.add_whole(&link, Some(target)).unwrap();
    }
    files.close([("atf.archive", VERSION.to_owned())]).unwrap();
    unpack(archive, folder.join("unpacked"), None, None)
}

#[test]
#[cfg(unix)]
fn a_symlink_below_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir_all(outside.join("below")).unwrap();
    let target = outside.to_str().unwrap();
    for path in ["a/evil", "a/below/evil", "./a/evil", "real/../a/evil"] {
        let links = [("a", target), (path, "/etc/passwd")];
        let error = unpack_links(folder.path(), &links).unwrap_err().to_string();
        assert!(error.contains("folder"), "{error}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{path}");
        assert_eq!(fs::read_dir(outside.join("below")).unwrap().count(), 0);
        assert!(!folder.path().join("unpacked").exists());
    }
    let links = [("a", target), ("real/b", "../a")];
    unpack_links(folder.path(), &links).unwrap();
    let link = folder.path().join("unpacked/real/b");
    assert_eq!(fs::read_link(link).unwrap(), Path::new("../a"));
}

#[test]
#[cfg(unix)]
fn a_pipe_in_an_archive_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files/session=s/files.parquet");
    fs::create_dir_all(files.parent().unwrap()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&files).status();
    assert!(made.unwrap().success());
    let target = folder.path().join("unpacked");
    let error = unpack(folder.path(), target, None, None).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

/// A dictionary stores the value once, however many rows contain it.
#[test]
fn a_batch_has_few_rows_if_a_value_is_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files.parquet");
    let value = vec![7; 512 << 10];
    let long: BinaryArray = std::iter::repeat_n(Some(&value), 200).collect();
    let batch = RecordBatch::try_from_iter([("bytes", Arc::new(long) as Arc<dyn Array>)]);
    let batch = batch.unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 4 << 20);

    let mut batches = Batches::open(&path, &["bytes"]).unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = batches.next().unwrap() {
        rows.push(batch.num_rows());
    }
    // The first batch has 64 MiB.
    assert_eq!(rows, [128, 72]);
}

/// Packs a session of two threads with two events each, and restores a file of these rows of the
/// table `events`, each given by its thread and its position.
fn restore_rows(folder: &Path, parts: &[(u32, u64)]) -> Result<(), Error> {
    let (_, layout) = packed(folder, 2);
    fs::remove_file(layout.files()).unwrap();
    let mut files = Files::create(&layout.files()).unwrap();
    let file = entry("file", Kind::File);
    for (offset, (thread, row)) in (0..).step_by(32).zip(parts) {
        let rows = RowRange {
            table: Table::Events,
            thread: *thread,
            row: *row,
            rows: 1,
            encoding: Encoding {
                wire: atf::Wire::V1,
                thread_id: *thread,
            },
        };
        files.add_rows(&file, offset, 32, &rows).unwrap();
    }
    files.close([("atf.archive", VERSION.to_owned())]).unwrap();
    let target = folder.join("restored");
    fs::create_dir(&target).unwrap();
    restore(&layout, &mut Disk::new(&target)).map(|_| ())
}

#[test]
fn each_row_is_read_once() {
    for (parts, expected) in [
        (&[(0, 0), (0, 1), (1, 0)][..], "the last part of file"),
        (&[(0, 0), (1, 0), (0, 1)], "thread 0 after rows of another"),
        (&[(0, 1), (0, 0)], "row 0: it belongs to an earlier part"),
        (&[(0, 0), (0, 0)], "row 0: it belongs to an earlier part"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = restore_rows(folder.path(), parts).unwrap_err().to_string();
        assert!(error.contains(expected), "{parts:?}: {error}");
    }
}

#[test]
#[cfg(unix)]
fn nothing_follows_a_symlink() {
    use super::sink::Sink as _;
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::new(folder.path());
    disk.begin(&entry("a", Kind::Link), Some("/etc")).unwrap();
    for kind in [Kind::File, Kind::Folder] {
        let error = disk.begin(&entry("a/b", kind), None).unwrap_err();
        assert!(error.to_string().contains("after a symlink"), "{error}");
    }
}
