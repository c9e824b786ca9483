//! Tests that hostile archives cost no more time and memory than others.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, RecordBatch};
use parquet::arrow::ArrowWriter;

use super::encode::Encoding;
use super::files::{Files, RowRange};
use super::read::Batches;
use super::restore::restore;
use super::sink::Disk;
use super::tests::{entry, packed};
use super::tree::Kind;
use super::*;

#[test]
#[cfg(unix)]
fn a_pipe_in_an_archive_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files/session=s/files.parquet");
    fs::create_dir_all(files.parent().unwrap()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&files).status();
    assert!(made.unwrap().success());
    let target = folder.path().join("unpacked");
    let error = unpack(folder.path(), target, &UnpackOptions::default()).unwrap_err();
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
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::new(folder.path());
    use super::sink::Sink;
    disk.begin(&entry("a", Kind::Link), Some("/etc")).unwrap();
    for kind in [Kind::File, Kind::Folder] {
        let error = disk.begin(&entry("a/b", kind), None).unwrap_err();
        assert!(error.to_string().contains("after a symlink"), "{error}");
    }
}
