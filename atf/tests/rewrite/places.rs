//! Tests where a new trace can be written and that a rejected rewrite leaves nothing behind.

use std::fs;
use std::io;

use atf::ErrorKind;
use atf::rewrite::{RecoverOptions, recover};

use crate::{Places, files, left_paths, session_of};
use atf_samples::files::IndexFile;

/// Creates a session at `in` and a file next to it.
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
fn an_existing_output_is_not_replaced() {
    let places = places();
    fs::create_dir(places.path("empty")).unwrap();
    for out in ["file", "empty", "in"] {
        assert_eq!(*error(&places, "in", out).kind(), ErrorKind::OutputExists);
    }
}

#[test]
fn an_output_inside_the_input_is_refused() {
    let places = places();
    for out in ["in/out", "in/thread_7/out", "in/../in/out"] {
        assert_eq!(*error(&places, "in", out).kind(), ErrorKind::OutputInside);
    }
}

#[test]
fn the_parent_folder_must_exist() {
    let places = places();
    assert_io(&error(&places, "in", "no/out"), io::ErrorKind::NotFound);
    let error = error(&places, "in", "file/out");
    assert_io(&error, io::ErrorKind::NotADirectory);
}

#[test]
fn a_name_that_is_too_long_is_refused_before_anything_is_read_or_created() {
    let places = places();
    let out = places.path(&"n".repeat(300));
    let begun = |_, _| panic!("the rewrite began");
    let options = RecoverOptions::default().progress(Some(&begun));
    let error = recover(places.path("in"), &out, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
    assert_eq!(error.path(), Some(&*out));
    assert_eq!(places.names(), ["file", "in"]);
}

#[test]
fn nothing_is_created_without_a_trace() {
    let places = places();
    fs::create_dir(places.path("empty")).unwrap();
    let found = error(&places, "empty", "out");
    assert_eq!(*found.kind(), ErrorKind::NotASession);
    assert_io(&error(&places, "no", "out"), io::ErrorKind::NotFound);
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_without_permission_for_new_files_is_named() {
    use std::path::Path;
    // Not even root can create anything in `/proc`.
    let out = Path::new("/proc/recovered");
    let options = RecoverOptions::default();
    let error = recover(places().path("in"), out, &options).unwrap_err();
    let ErrorKind::Io(kind) = error.kind() else {
        panic!("{error}");
    };
    // Another name is tried only if the first one is taken.
    assert_ne!(*kind, io::ErrorKind::AlreadyExists);
    assert_eq!(error.path(), Some(Path::new("/proc")));
}

/// Tests names that are not UTF-8.
#[cfg(target_os = "linux")]
mod not_utf_8 {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use atf::rewrite::Report;

    use super::*;

    fn name(bytes: &[u8]) -> &OsStr {
        OsStr::from_bytes(bytes)
    }

    /// Creates a session whose folder has such a name. Puts files with such names next to its
    /// thread and into the thread's folder.
    fn put(root: &Path) -> PathBuf {
        let session = root.join(name(b"s\xff"));
        let thread = session.join("thread_7");
        fs::create_dir_all(&thread).unwrap();
        let index = IndexFile::finalized(1, 3).without_footer();
        fs::write(thread.join("index.atf"), index).unwrap();
        fs::write(thread.join(name(b"\xfd.txt")), "x").unwrap();
        fs::write(session.join(name(b"\xfe")), "y").unwrap();
        session
    }

    fn assert_named(report: &Report) {
        let left = left_paths(session_of(report));
        assert_eq!(left, ["thread_7/\u{fffd}.txt", "\u{fffd}"]);
        assert_eq!(report.events(), 3);
    }

    #[test]
    fn paths_are_used_unchanged() {
        let places = Places::new();
        let session = put(&places.path("in"));
        let out = places.folder.path().join(name(b"o\xc3"));
        let options = RecoverOptions::default();
        assert_named(&recover(&session, &out, &options).unwrap());
        assert!(out.join("thread_7/index.atf").is_file());
        // Such names are also allowed for folders above a session.
        let above = places.recover_by(&options);
        assert_named(&above);
        assert_eq!(session_of(&above)["folder"], "s\u{fffd}");
        let below = places.path("out").join(name(b"s\xff"));
        assert!(below.join("thread_7/index.atf").is_file());
    }

    #[test]
    fn an_error_names_them() {
        let places = Places::new();
        let (session, missing) = (put(&places.path("in")), places.path("no"));
        let out = missing.join(name(b"o\xc3"));
        let error = recover(&session, out, &RecoverOptions::default()).unwrap_err();
        assert_eq!(error.path(), Some(&*missing));
        let path = places.folder.path().join(name(b"\xff"));
        let error = recover(&path, places.path("out"), &RecoverOptions::default());
        let error = error.unwrap_err();
        assert_eq!(error.path(), Some(&*path));
        assert!(error.to_string().contains('\u{fffd}'), "{error}");
    }
}

#[test]
fn an_unfinished_folder_of_another_run_stays() {
    let places = places();
    // This is the first name that is tried. It may be taken, because a killed process with the same
    // id left its folder behind.
    let left = format!(".atf-{}-0", std::process::id());
    places.put(&format!("{left}/x"), "y");
    places.recover();
    assert_eq!(places.names(), [&left, "file", "in", "out"]);
    assert_eq!(files(&places.path(&left))["x"], b"y");
}

#[test]
fn an_output_created_meanwhile_is_not_replaced() {
    let places = places();
    let out = places.path("out");
    let make = |_, _| fs::create_dir_all(&out).unwrap();
    let options = RecoverOptions::default().progress(Some(&make));
    let error = recover(places.path("in"), &out, &options).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutputExists);
    assert_eq!(error.path(), Some(&*out));
    assert_eq!(places.names(), ["file", "in", "out"]);
    assert!(files(&out).is_empty());
}
