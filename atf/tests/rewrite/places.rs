//! Where a new trace can stand, and that nothing is left where it cannot.

use std::fs;
use std::io;

use atf::ErrorKind;
use atf::rewrite::{RecoverOptions, recover};

use crate::support::IndexFile;
use crate::{Places, files};

/// A session at `in`, and a file beside it.
fn places() -> Places {
    let places = Places::new();
    places.put("in/thread_7/index.atf", IndexFile::finalized(1, 3).bytes());
    places.put("file", "");
    places
}

#[track_caller]
fn error(places: &Places, path: &str, out: &str) -> atf::Error {
    let before = (places.names(), files(places.folder.path()));
    let (path, out) = (places.path(path), places.path(out));
    let error = recover(path, out, &RecoverOptions::default()).unwrap_err();
    assert_eq!((places.names(), files(places.folder.path())), before);
    error
}

#[track_caller]
fn assert_io(error: &atf::Error, kind: io::ErrorKind) {
    let ErrorKind::Io(found) = error.kind() else {
        panic!("{error}");
    };
    assert_eq!(*found, kind, "{error}");
}

#[test]
fn what_stands_there_is_not_replaced() {
    let places = places();
    fs::create_dir(places.path("empty")).unwrap();
    for out in ["file", "empty", "in"] {
        assert_eq!(*error(&places, "in", out).kind(), ErrorKind::OutputExists);
    }
}

#[test]
fn what_is_read_does_not_grow() {
    let places = places();
    for out in ["in/out", "in/thread_7/out", "in/../in/out"] {
        assert_eq!(*error(&places, "in", out).kind(), ErrorKind::OutputInside);
    }
}

#[test]
fn the_folder_above_must_be_there() {
    let places = places();
    assert_io(&error(&places, "in", "no/out"), io::ErrorKind::NotFound);
    let error = error(&places, "in", "file/out");
    assert_io(&error, io::ErrorKind::NotADirectory);
}

#[test]
fn a_name_that_is_too_long_leaves_nothing() {
    let places = places();
    let error = error(&places, "in", &"n".repeat(300));
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
}

#[test]
fn where_no_trace_is_nothing_is_made() {
    let places = places();
    fs::create_dir(places.path("empty")).unwrap();
    let found = error(&places, "empty", "out");
    assert_eq!(*found.kind(), ErrorKind::NotASession);
    assert_io(&error(&places, "no", "out"), io::ErrorKind::NotFound);
}
