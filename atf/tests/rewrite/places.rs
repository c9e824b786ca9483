//! Tests where a new trace can be written and that a rejected rewrite leaves nothing behind.

use std::fs;
use std::io;

use atf::ErrorKind;
use atf::rewrite::{RecoverOptions, recover};

use crate::{Places, files, left_paths, session_of, without_details};
use atf_samples::files::IndexFile;

/// Creates a session at `in` and a file next to it.
fn places() -> Places {
    let places = Places::with_index(IndexFile::finalized(1, 3).bytes());
    places.put("file", "");
    places
}

#[test]
fn a_refused_rewrite_leaves_nothing_behind() {
    let places = places();
    fs::create_dir(places.path("empty")).unwrap();
    places.put("other/thread_0/index.atf", without_details(1));
    let before = (places.names(), files(places.folder.path()));
    for (path, out, kind) in [
        // An existing output is not replaced.
        ("in", "file", ErrorKind::OutputExists),
        ("in", "empty", ErrorKind::OutputExists),
        ("in", "in", ErrorKind::OutputExists),
        ("in", "in/out", ErrorKind::OutputInside),
        ("in", "in/thread_7/out", ErrorKind::OutputInside),
        ("in", "in/../in/out", ErrorKind::OutputInside),
        // No thread is added to a session.
        ("in/thread_7", "in/thread_9", ErrorKind::OutputInside),
        ("in/thread_7", "in/ring.atf", ErrorKind::OutputInside),
        ("in/thread_7", "other/thread_9", ErrorKind::OutputInside),
        (
            "in/thread_7",
            "other/thread_0/detail.atf",
            ErrorKind::OutputInside,
        ),
        // The parent folder must exist.
        ("in", "no/out", ErrorKind::Io(io::ErrorKind::NotFound)),
        (
            "in",
            "file/out",
            ErrorKind::Io(io::ErrorKind::NotADirectory),
        ),
        // There must be a trace.
        ("empty", "out", ErrorKind::NotASession),
        ("no", "out", ErrorKind::Io(io::ErrorKind::NotFound)),
    ] {
        let options = RecoverOptions::default();
        let error = recover(places.path(path), places.path(out), &options).unwrap_err();
        assert_eq!(*error.kind(), kind, "{path} to {out}");
        let after = (places.names(), files(places.folder.path()));
        assert_eq!(after, before, "{path} to {out}");
    }
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
