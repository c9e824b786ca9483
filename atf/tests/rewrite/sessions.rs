//! Recovers sessions of several processes, sessions with symlinks that lead out of them, and
//! sessions without recoverable events.

use std::io;

use atf::ErrorKind;
use atf::rewrite::{RecoverOptions, Report, recover};

use crate::{Places, files, left_behind, left_paths, session_of, unlinked, without_details};
use atf_samples::files::{DetailFile, IndexFile};
use serde_json::Value;

/// Returns the folders of a report's sessions.
fn folders(report: &Report) -> Vec<String> {
    let all = serde_json::to_value(report).unwrap();
    let sessions = all["sessions"].as_array().unwrap().iter();
    let folder = |session: &Value| session["folder"].as_str().unwrap().to_owned();
    sessions.map(folder).collect()
}

#[test]
fn each_process_of_a_session_keeps_its_relative_path() {
    let places = Places::new();
    let whole = IndexFile::finalized(1, 9);
    let detail = DetailFile::finalized(1, 3);
    let thread = |place: &str, index: &[u8]| {
        places.put_thread(&format!("{place}/thread_7"), index, detail.bytes());
    };
    thread("session_1/pid_1", &whole.bytes());
    thread("session_1/pid_2", &whole.without_footer()[..64 + 4 * 32]);
    thread("session_1/pid_30", b"nothing");
    thread("session_2/pid_1", &whole.without_footer());
    places.put("in/session_1/notes.txt", "x");
    let report = places.recover_twice(&RecoverOptions::default());
    let all = serde_json::to_value(&report).unwrap();
    let kept = |session: &Value| {
        let thread = &session["threads"][0];
        ["events", "details"].map(|lane| thread[lane]["kept"].as_u64().unwrap())
    };
    let sessions = all["sessions"].as_array().unwrap().iter();
    let kept = folders(&report).into_iter().zip(sessions.map(kept));
    let expected = [
        ("session_1/pid_1", [9, 3]),
        ("session_1/pid_2", [4, 2]),
        ("session_1/pid_30", [0, 0]),
        ("session_2/pid_1", [9, 3]),
    ];
    let expected = expected.map(|(folder, kept)| (folder.to_owned(), kept));
    assert_eq!(kept.collect::<Vec<_>>(), expected);
    let left = left_paths(&report);
    assert_eq!(left, ["session_1/notes.txt"]);

    let found = files(&places.path("out"));
    assert!(found["session_1/pid_1/thread_7/index.atf"] == whole.bytes());
    assert!(found["session_2/pid_1/thread_7/index.atf"] == whole.bytes());
    let kept = &found["session_1/pid_30/unreadable/thread_7/index.atf"];
    assert_eq!(kept, b"nothing");
}

#[test]
fn a_session_without_events_is_reported_and_keeps_its_files() {
    let places = Places::new();
    let details = DetailFile::finalized(1, 3).bytes();
    places.put_thread("thread_7", b"nothing", &details);
    places.put("in/thread_7/notes.txt", b"mine");
    let header = IndexFile::finalized(1, 9).placeholder().header();
    places.put("in/thread_8/index.atf", header);
    let report = places.recover();
    let text = report.to_string();
    let first =
        "session: recovered, no events; 1 thread could not be read\n  thread_7: cannot be read: ";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("; a copy is in unreadable/\n"), "{text}");
    let line = "\n  thread_8: 0 events, 0 details\n";
    assert!(text.contains(line), "{text}");
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/thread_7/index.atf"], b"nothing");
    assert_eq!(found["unreadable/thread_7/detail.atf"], details);
    assert!(!found.keys().any(|name| name.starts_with("thread_7")));
    // The whole folder was copied into `unreadable`.
    assert_eq!(found["unreadable/thread_7/notes.txt"], b"mine");
    assert_eq!(left_paths(session_of(&report)), [""; 0], "{report}");
    assert!(found.contains_key("thread_8/index.atf"));
}

#[test]
fn a_thread_whose_writer_wrote_nothing_has_lost_nothing() {
    // The files in the thread's folder. A killed writer leaves an empty ring or a ring of zeros.
    let cases: [&[(&str, &[u8])]; 6] = [
        &[],
        &[("ring.atf", b"")],
        &[("ring.atf", &[0; 4096])],
        &[("detail.atf", b"")],
        &[("index.atf", b"")],
        &[("index.atf", b""), ("detail.atf", b"")],
    ];
    for written in cases {
        let places = Places::with_index(without_details(1));
        std::fs::create_dir(places.path("in/thread_8")).unwrap();
        for (name, bytes) in written {
            places.put(&format!("in/thread_8/{name}"), bytes);
        }
        let report = places.recover();
        assert_eq!((report.events(), report.losses()), (9, 0), "{report}");
        let thread = &session_of(&report)["threads"][1];
        assert_eq!(thread["nothing_written"], true, "{report}");
        assert!(!places.path("out/thread_8").exists(), "{report}");
        assert!(!places.path("out/unreadable").exists(), "{report}");
    }
}

#[test]
fn details_next_to_an_empty_index_are_kept() {
    let places = Places::with_index(without_details(1));
    let details = DetailFile::finalized(1, 3).bytes();
    places.put_thread("thread_10", b"", &details);
    let report = places.recover();
    let line = "\n  thread_10: cannot be read: ";
    assert!(report.to_string().contains(line), "{report}");
    assert_eq!(report.losses(), 1, "{report}");
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/thread_10/index.atf"], b"");
    assert_eq!(found["unreadable/thread_10/detail.atf"], details);
}

#[test]
fn an_unreadable_thread_without_a_session_does_not_affect_the_others() {
    let places = Places::new();
    let index = without_details(1);
    places.put("in/a/index.atf", b"nothing");
    places.put("in/b/index.atf", &index);
    places.put("in/c/thread_7/index.atf", &index);
    places.put("in/d/detail.atf", b"nothing");
    let options = RecoverOptions::default();
    let report = places.recover_by(&options);
    let folders = folders(&report);
    assert_eq!(folders, ["b", "c"]);
    assert_eq!(left_paths(&report), ["a", "d"]);
    assert_eq!(report.losses(), 2);
    let why = "cannot be read: truncated: 7 of 64 bytes";
    assert_eq!(left_behind(&report)[0][1], why);
    assert!(!places.path("out/a").exists());

    // The thread is the only one, so there is nothing to write.
    let index = "index.atf";
    let (found, needed) = (7, 64);
    for (path, kind) in [
        ("in/a", ErrorKind::TooShort { found, needed }),
        ("in/d", ErrorKind::Io(io::ErrorKind::NotFound)),
    ] {
        let path = places.path(path);
        let error = recover(&path, places.path("none"), &options).unwrap_err();
        assert_eq!(error.kind(), &kind);
        assert_eq!(error.path(), Some(&*path.join(index)));
        assert!(!places.path("none").exists());
    }
}

#[test]
fn a_file_named_unreadable_does_not_block_the_folder_of_that_name() {
    let places = Places::with_index(IndexFile::finalized(1, 9).bytes());
    places.put("in/thread_8/index.atf", b"nothing");
    places.put("in/unreadable", b"mine");
    let report = places.recover();
    let left = left_behind(session_of(&report));
    assert_eq!(left, [["unreadable", "not a folder"]]);
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/thread_8/index.atf"], b"nothing");
    assert_eq!(report.events(), 9);
}

#[test]
fn only_names_that_a_recovery_uses_are_kept_as_its_files() {
    let index = IndexFile::finalized(1, 9).bytes();
    let places = Places::with_index(&index);
    let kept = ["recovery.json", "recovery-2.json", "recovery-10.json"];
    let strange = [
        "recovery-.json",
        "recovery-0.json",
        "recovery-1.json",
        "recovery-2",
        "recovery-x.json",
        "recovery2.json",
    ];
    let in_thread = ["recovery.json", "salvaged-1.atf", "unreadable"];
    for name in kept.iter().chain(&strange) {
        places.put(&format!("in/{name}"), name);
    }
    // In a thread's folder, a recovery uses different names.
    for name in in_thread {
        places.put(&format!("in/thread_7/{name}"), name);
    }
    let report = places.recover();
    let left = left_paths(session_of(&report));
    let in_thread = in_thread.map(|name| format!("thread_7/{name}"));
    let expected = in_thread.into_iter().chain(strange.map(str::to_owned));
    assert_eq!(left, expected.collect::<Vec<_>>());
    let found = files(&places.path("out"));
    for name in kept {
        assert_eq!(found[name], name.as_bytes());
    }
    // The new report gets the first name that is still free.
    assert!(found.contains_key("recovery-3.json"), "{:?}", found.keys());
}

#[test]
fn dropping_part_of_a_file_counts_as_a_change() {
    let index = IndexFile::finalized(1, 1);
    let bytes = index.bytes();
    // Use bytes after a footer, and a detail file without any details.
    let longer = [&bytes[..], b"more"].concat();
    let unlinked = unlinked(index).bytes();
    let details = DetailFile::finalized(1, 1).bytes();
    let empty = DetailFile::finalized(1, 0).placeholder().header();
    for (index, detail, is_changed) in [
        (&bytes, &details, false),
        (&longer, &details, true),
        (&bytes, &[&details[..], b"more"].concat(), true),
        (&unlinked, &empty, true),
    ] {
        let places = Places::new();
        places.put("in/index.atf", index);
        places.put("in/detail.atf", detail);
        let report = places.recover();
        assert_eq!(report.changed(), is_changed, "{report}");
        assert_eq!(places.path("out/recovery.json").is_file(), is_changed);
    }
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates a thread, a symlink to a thread outside the session, and a thread whose index is a
    /// symlink to an index outside.
    fn session() -> Places {
        let index = IndexFile::finalized(1, 3).bytes();
        let places = Places::with_index(&index);
        places.put("elsewhere/index.atf", &index);
        symlink(places.path("elsewhere"), places.path("in/thread_8")).unwrap();
        places.put("in/thread_9/detail.atf", b"x");
        let target = places.path("elsewhere/index.atf");
        symlink(target, places.path("in/thread_9/index.atf")).unwrap();
        places
    }

    #[test]
    fn symlinks_out_of_a_session_are_reported_and_not_followed() {
        let places = session();
        let report = places.recover();
        assert_eq!(report.events(), 3);
        let left = left_behind(session_of(&report));
        let expected = [
            ["thread_8", "a symlink, which is not followed"],
            ["thread_9/index.atf", "neither a regular file nor a folder"],
        ];
        assert_eq!(left, expected);
        let found = files(&places.path("out"));
        assert!(!found.keys().any(|name| name.contains("thread_8")));
        assert_eq!(found["unreadable/thread_9/detail.atf"], b"x");
        assert!(!found.contains_key("unreadable/thread_9/index.atf"));

        assert_eq!(places.scrub("b").events(), 3);
        assert!(!files(&places.path("b")).keys().any(|n| n.contains("_8")));
    }

    #[test]
    fn symlinks_next_to_sessions_are_reported_and_not_followed() {
        let places = session();
        std::fs::create_dir(places.path("tree")).unwrap();
        std::fs::rename(places.path("in"), places.path("tree/in")).unwrap();
        symlink(places.path("tree/in"), places.path("tree/link")).unwrap();
        let options = RecoverOptions::default();
        let report = recover(places.path("tree"), places.path("out"), &options).unwrap();
        assert_eq!(report.events(), 3, "{report}");
        let left = left_behind(&report);
        assert_eq!(left, [["link", "a symlink, which is not followed"]]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["left_behind"][0]["is_loss"], false);
    }

    #[test]
    fn a_path_that_is_a_symlink_is_followed() {
        let places = session();
        symlink(places.path("in"), places.path("link")).unwrap();
        let options = RecoverOptions::default();
        let report = recover(places.path("link"), places.path("out"), &options).unwrap();
        assert_eq!(report.events(), 3);
    }
}

#[test]
fn sessions_inside_a_session_are_kept_with_advice() {
    let places = Places::new();
    let index = without_details(1);
    places.put("in/manifest.json", "{\"threads\": []}");
    for inner in ["pid_1", "pid_1_segment_000002", "deep/pid_2"] {
        places.put(&format!("in/{inner}/thread_7/index.atf"), &index);
    }
    places.put("in/notes/x", "x");
    let report = places.recover();
    let left = left_behind(session_of(&report));
    let why = "a session inside another one: recover it separately; a copy is in unreadable/";
    let expected = [
        ["deep", why],
        ["notes", "not part of a session"],
        ["pid_1", why],
        ["pid_1_segment_000002", why],
    ];
    assert_eq!(left, expected);
    let found = files(&places.path("out"));
    for inner in ["pid_1", "pid_1_segment_000002", "deep/pid_2"] {
        assert!(found[&format!("unreadable/{inner}/thread_7/index.atf")] == index);
    }
}

#[test]
fn the_losses_of_an_omitted_thread_stay_in_the_manifest() {
    let places = Places::with_index(without_details(1));
    places.put("in/thread_8/index.atf", b"");
    let loss = |count| format!(r#"{{"count": {count}, "first_ns": 10, "last_ns": 30}}"#);
    let manifest = format!(
        r#"{{"threads": [{{"id": 7}}, {{"id": 8, "name": "worker", "lost_events": {}}},
            {{"id": 9, "lost_events": {}}}], "lost_events": {}}}"#,
        loss(500),
        loss(60),
        loss(7)
    );
    places.put("in/manifest.json", &manifest);
    let report = places.recover();
    let lost = |out| places.manifest(out).lost_events.unwrap().count;
    assert_eq!(lost("out"), 567, "{report}");
    // The name exists only in the old manifest.
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/manifest.json"], manifest.as_bytes());
    let line = "the entry of an omitted thread";
    assert!(report.to_string().contains(line), "{report}");
    places.scrub("scrubbed");
    assert_eq!(lost("scrubbed"), 567);
}
