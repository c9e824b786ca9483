//! What is no regular file where one should be: it is named, and neither waited for nor followed.

use std::os::unix::fs::symlink;
use std::path::Path;

use atf::rewrite::{RecoverOptions, Report, ScrubOptions, What, recover, scrub};

use crate::support::{DetailFile, IndexFile, patched};
use crate::{Places, files};

/// Threads 7 and 8; only the first is touched.
fn session() -> Places {
    let places = Places::new();
    for id in [7, 8] {
        // In version 2 only the header has the thread's id.
        let index = IndexFile {
            thread_id: id,
            ..IndexFile::finalized(2, 9)
        };
        let detail = DetailFile {
            thread_id: id,
            ..DetailFile::finalized(2, 3)
        };
        places.put(&format!("in/thread_{id}/index.atf"), index.bytes());
        places.put(&format!("in/thread_{id}/detail.atf"), detail.bytes());
    }
    places
}

fn replace_by_fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

fn recovered(places: &Places, out: &str, salvage: bool) -> Report {
    let options = RecoverOptions {
        salvage,
        ..RecoverOptions::default()
    };
    recover(places.path("in"), places.path(out), &options).unwrap()
}

#[test]
fn a_fifo_in_the_place_of_a_file_is_named_and_not_waited_for() {
    for (file, is_thread) in [
        ("manifest.json", false),
        ("recovery.json", false),
        ("unreadable", false),
        ("notes.txt", false),
        ("thread_9", false),
        ("thread_7/index.atf", true),
        ("thread_7/detail.atf", true),
        ("thread_7/ring.atf", true),
        ("thread_7/orphans.atf", true),
    ] {
        let places = session();
        replace_by_fifo(&places.path("in").join(file));
        for (out, salvage) in [("a", false), ("b", true)] {
            let report = recovered(&places, out, salvage);
            let left = &report.sessions[0].left_behind;
            assert!(
                left.iter().any(|left| left.path == file),
                "{file}: {report}"
            );
            assert!(report.changed() && report.losses() > 0, "{file}: {report}");
            let found = files(&places.path(out));
            let before = files(&places.path("in/thread_8"));
            for (name, bytes) in before {
                assert!(found[&format!("thread_8/{name}")] == bytes, "{file}");
            }
        }
        let options = ScrubOptions::default();
        let report = scrub(places.path("in"), places.path("c"), &options).unwrap();
        let threads = if is_thread && file.ends_with("index.atf") {
            1
        } else {
            2
        };
        assert_eq!(report.events(), threads * 9, "{file}: {report}");
    }
}

#[test]
fn a_link_to_details_elsewhere_is_not_followed_for_salvage() {
    let places = session();
    let path = places.path("in/thread_7");
    let index = patched(&IndexFile::finalized(2, 9).bytes(), 0, b"????");
    places.put("in/thread_7/index.atf", &index);
    places.put("elsewhere/detail.atf", DetailFile::finalized(2, 3).bytes());
    std::fs::remove_file(path.join("detail.atf")).unwrap();
    symlink(places.path("elsewhere/detail.atf"), path.join("detail.atf")).unwrap();
    let report = recovered(&places, "out", true);
    let thread = report.threads().next().unwrap();
    assert_eq!(
        (thread.events.kept, thread.details.kept),
        (9, 0),
        "{report}"
    );
    assert_eq!(thread.notes.count(What::DetailFileUnreadable), 1);
    let left = &report.sessions[0].left_behind[0];
    assert_eq!(left.path, "thread_7/detail.atf");
    assert_eq!(left.why, "neither a regular file nor a folder");
    assert!(!places.path("out/thread_7/detail.atf").exists());
}
