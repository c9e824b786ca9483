//! The ways to open a file: from bytes, with positioned reads, mapped, or through anything that can
//! seek. A reader's results must not depend on how the file was opened.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::{Error, OpenOptions, Seekable};
use tempfile::TempDir;

/// Returns options that map files.
#[expect(unsafe_code, reason = "mapping requires a promise")]
pub(crate) fn mapped() -> OpenOptions {
    // SAFETY: each test owns its files and does not change them while a reader is alive.
    unsafe { OpenOptions::new().mapped() }
}

/// Opens an index file in all ways, compares the results, and returns the reader that was opened
/// from bytes.
pub(crate) fn index(bytes: impl Into<Vec<u8>>) -> atf::Result<IndexReader> {
    let bytes = bytes.into();
    let (_folder, path) = file(&bytes);
    agree(
        IndexReader::from_bytes(bytes.clone()),
        [
            IndexReader::open(&path),
            IndexReader::open_with(&path, mapped()),
            IndexReader::from_source(Seekable::new(Cursor::new(bytes)).unwrap()),
        ],
        describe_index,
    )
}

/// Opens a detail file in all ways, like [`index`].
pub(crate) fn detail(bytes: impl Into<Vec<u8>>) -> atf::Result<DetailReader> {
    let bytes = bytes.into();
    let (_folder, path) = file(&bytes);
    agree(
        DetailReader::from_bytes(bytes.clone()),
        [
            DetailReader::open(&path),
            DetailReader::open_with(&path, mapped()),
            DetailReader::from_source(Seekable::new(Cursor::new(bytes)).unwrap()),
        ],
        describe_detail,
    )
}

/// Writes a file into a new folder.
pub(crate) fn file(bytes: &[u8]) -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file.atf");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn agree<R>(
    first: atf::Result<R>,
    others: impl IntoIterator<Item = atf::Result<R>>,
    describe: impl Fn(&R) -> String,
) -> atf::Result<R> {
    let expected = first.as_ref().map_or_else(describe_error, &describe);
    for other in others {
        let found = other.as_ref().map_or_else(describe_error, &describe);
        assert_eq!(found, expected);
    }
    first
}

/// Formats an error without its path, because files in memory have none.
fn describe_error(error: &Error) -> String {
    format!("{:?}", (error.kind(), error.field(), error.offset()))
}

fn without_path(text: &str) -> String {
    let is_path = |word: &&str| Path::new(word).extension().is_some_and(|e| e == "atf:");
    let words = text.split([' ', '"']).filter(|word| !is_path(word));
    words.collect::<Vec<_>>().join(" ")
}

fn describe_index(index: &IndexReader) -> String {
    let events = crate::events(index);
    let holes: Vec<_> = index.holes().map(Result::unwrap).collect();
    without_path(&format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        index.header(),
        index.footer(),
        index.completeness(),
        index.count_source(),
        index.disagreements(),
        index.checksum().unwrap(),
        index.time_range().unwrap(),
        holes,
        events,
    ))
}

fn describe_detail(detail: &DetailReader) -> String {
    let events: Vec<_> = detail.events_in(..).map(Result::unwrap).collect();
    let payloads = events.iter().map(|event| {
        let payload = detail.payload(event, usize::MAX).unwrap();
        (payload, detail.function_payload(event).unwrap())
    });
    let payloads: Vec<_> = payloads.collect();
    without_path(&format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        detail.header(),
        detail.footer(),
        detail.completeness(),
        detail.count_source(),
        detail.framing_problem(),
        detail.disagreements(),
        detail.checksum().unwrap(),
        detail.time_range().unwrap(),
        events,
        payloads,
    ))
}
