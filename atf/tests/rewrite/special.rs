//! Tests entries that should be regular files but are not. A rewrite reports them, never blocks on
//! them and never follows them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use atf::rewrite::{RecoverOptions, Report, ScrubOptions, recover, scrub};

use crate::{
    Places, count, files, left_behind, left_paths, session_of, thread_of, without_details,
};
use atf_samples::files::{DetailFile, IndexFile, patched};

/// Creates threads 7 and 8. Tests change only thread 7.
fn session() -> Places {
    let places = Places::new();
    for id in [7, 8] {
        // In version 2, only the header contains the thread id.
        let index = IndexFile {
            thread_id: id,
            ..IndexFile::finalized(2, 9)
        };
        let detail = DetailFile {
            thread_id: id,
            ..DetailFile::finalized(2, 3)
        };
        places.put_thread(&format!("thread_{id}"), index.bytes(), detail.bytes());
    }
    places
}

fn replace_by_fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

/// Returns the result of `run`, or fails if it blocks.
fn in_time(run: impl FnOnce() -> Report + Send + 'static) -> Report {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(run()));
    let report = receiver.recv_timeout(Duration::from_secs(60));
    report.expect("the rewrite blocked or failed")
}

#[test]
fn a_fifo_instead_of_a_file_is_reported_and_does_not_block() {
    for file in [
        "manifest.json",
        "recovery.json",
        "unreadable",
        "notes.txt",
        "thread_9",
        "thread_7/index.atf",
        "thread_7/detail.atf",
        "thread_7/ring.atf",
        "thread_7/orphans.atf",
    ] {
        let places = session();
        replace_by_fifo(&places.path("in").join(file));
        let (path, before) = (places.path("in"), files(&places.path("in/thread_8")));
        for (out, salvage) in [("a", false), ("b", true)] {
            let out = places.path(out);
            let (path, target) = (path.clone(), out.clone());
            let report = in_time(move || {
                let options = RecoverOptions::default().salvage(salvage);
                recover(path, target, &options).unwrap()
            });
            let left = left_paths(session_of(&report));
            assert!(left.iter().any(|path| path == file), "{file}: {report}");
            assert!(report.changed() && report.losses() > 0, "{file}: {report}");
            let found = files(&out);
            for (name, bytes) in &before {
                assert!(found[&format!("thread_8/{name}")] == *bytes, "{file}");
            }
        }
        let out = places.path("c");
        let report = in_time(move || scrub(path, out, &ScrubOptions::default()).unwrap());
        let threads = if file == "thread_7/index.atf" { 1 } else { 2 };
        assert_eq!(report.events(), threads * 9, "{file}: {report}");
    }
}

#[test]
fn a_symlink_that_leads_nowhere_does_not_affect_the_threads() {
    for file in ["manifest.json", "recovery.json", "thread_7/orphans.atf"] {
        for target in ["here.json", "manifest.json", "recovery.json", "orphans.atf"] {
            let places = session();
            symlink(target, places.path("in").join(file)).unwrap();
            // A report is written.
            let index = IndexFile::finalized(2, 9).without_footer();
            places.put("in/thread_8/index.atf", index);
            assert_eq!(places.recover().events(), 18, "{file} to {target}");
        }
    }
}

#[test]
fn a_symlink_to_details_elsewhere_is_not_followed_for_salvage() {
    let places = session();
    let path = places.path("in/thread_7");
    let index = patched(&IndexFile::finalized(2, 9).bytes(), 0, b"????");
    places.put("in/thread_7/index.atf", &index);
    places.put("elsewhere/detail.atf", DetailFile::finalized(2, 3).bytes());
    std::fs::remove_file(path.join("detail.atf")).unwrap();
    symlink(places.path("elsewhere/detail.atf"), path.join("detail.atf")).unwrap();
    let report = places.recover_by(&RecoverOptions::default().salvage(true));
    let thread = thread_of(&report);
    assert_eq!(thread["events"]["kept"], 9, "{report}");
    assert_eq!(thread["details"]["kept"], 0, "{report}");
    assert_eq!(count(&thread, "detail_file_unreadable"), 1);
    let [path, why] = &left_behind(session_of(&report))[0];
    assert_eq!(path, "thread_7/detail.atf");
    assert_eq!(why, "neither a regular file nor a folder");
    assert!(!places.path("out/thread_7/detail.atf").exists());
}

/// Moves `pack` so far down that its folder `longest` has the longest path that can be opened: not
/// even root can open a path of more than 4095 bytes.
#[cfg(target_os = "linux")]
fn moved_down(places: &Places, longest: &str) -> std::path::PathBuf {
    const LONGEST: usize = 4095;
    let rest = format!("/pack/{longest}").len();
    let mut way = places.path("way");
    loop {
        match LONGEST - rest - way.as_os_str().len() {
            0..2 => break,
            left => way.push("w".repeat((left - 1).min(150))),
        }
    }
    std::fs::create_dir_all(&way).unwrap();
    std::fs::rename(places.path("pack"), way.join("pack")).unwrap();
    way.join("pack")
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_whose_files_cannot_be_inspected_does_not_affect_the_others() {
    let places = Places::new();
    let closed = "c".repeat(60);
    for session in ["open", &closed] {
        let index = format!("pack/{session}/thread_7/index.atf");
        places.put(&index, without_details(2));
    }
    let path = moved_down(&places, &closed);
    let report = recover(path, places.path("out"), &RecoverOptions::default()).unwrap();
    assert_eq!(report.events(), 9, "{report}");
    let thread = thread_of(&report);
    assert!(thread.get("not_recovered").is_some(), "{report}");
    // The manifest is private, because other users may not be allowed to read the files it
    // describes.
    use std::os::unix::fs::PermissionsExt as _;
    let manifest = places.path("out").join(closed).join("manifest.json");
    let mode = std::fs::metadata(manifest).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn an_unreadable_manifest_that_was_never_renamed_is_reported() {
    let places = Places::new();
    places.put("pack/manifest.json", "{\"threads\": []}");
    places.put("pack/manifest.json.part", "{}");
    let path = moved_down(&places, "manifest.json");
    let report = recover(path, places.path("out"), &RecoverOptions::default()).unwrap();
    let left = &session_of(&report)["left_behind"][0];
    assert_eq!(left["path"], "manifest.json.part");
    assert_eq!(left["is_loss"], true);
}

#[test]
#[cfg(target_os = "linux")]
fn unreadable_entries_are_reported_with_the_reason_and_do_not_affect_others() {
    let places = Places::new();
    let index = without_details(2);
    let thread = format!("thread_{:0100}", 8);
    let renamed = "r".repeat(thread.len());
    let unseen = "u".repeat(200);
    for path in [
        "pack/in/thread_7/index.atf".to_owned(),
        format!("pack/in/{thread}/index.atf"),
        format!("pack/in/{renamed}/index.atf"),
        format!("pack/{unseen}/x"),
        format!("pack/below/{unseen}/x"),
    ] {
        places.put(&path, &index);
    }
    // The path is just short enough to open both folders, but too long to open the files in them.
    let path = moved_down(&places, &format!("in/{thread}"));
    let out = places.path("out");
    let report = recover(path, &out, &RecoverOptions::default()).unwrap();
    assert_eq!(report.events(), 9, "{report}");
    let too_long = "File name too long (os error 36)";
    let why = format!("cannot be read: {too_long}");
    let left = left_behind(session_of(&report));
    let advice = "not a thread's name: to read it, rename it to thread_N; a copy of the rest \
        is in unreadable/";
    let expected = [
        [&*format!("{thread}/index.atf"), &*why],
        [&format!("{renamed}/index.atf"), &why],
        [&renamed, advice],
    ];
    assert_eq!(left, expected);
    let session = session_of(&report);
    let mut threads = session["threads"].as_array().unwrap().iter();
    let unread = &threads.find(|it| it["folder"] == thread).unwrap()["not_recovered"];
    assert_eq!(unread["file"], "index.atf");
    assert_eq!(unread["found"], too_long);
    // Entries that may contain sessions are reported at any depth.
    let beside = left_behind(&report);
    let below = format!("below/{unseen}");
    assert_eq!(beside, [[&*below, &*why], [&unseen, &why]]);
    assert_eq!(report.losses(), 3 + 1 + 2, "{report}");
}
