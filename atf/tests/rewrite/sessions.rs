//! Sessions of several processes, links out of them, and sessions of which nothing is left.

use atf::rewrite::{RecoverOptions, recover};

use crate::support::{DetailFile, IndexFile};
use crate::{Places, files};

#[test]
fn each_process_of_a_session_is_recovered_in_its_place() {
    let places = Places::new();
    let whole = IndexFile::finalized(1, 9);
    let detail = DetailFile::finalized(1, 3);
    let thread = |place: &str, index: &[u8]| {
        places.put(&format!("in/{place}/thread_7/index.atf"), index);
        let detail = detail.bytes();
        places.put(&format!("in/{place}/thread_7/detail.atf"), detail);
    };
    thread("session_1/pid_1", &whole.bytes());
    thread("session_1/pid_2", &whole.without_footer()[..64 + 4 * 32]);
    thread("session_1/pid_30", b"nothing");
    thread("session_2/pid_1", &whole.without_footer());
    places.put("in/session_1/notes.txt", "x");
    let (out, again) = (places.path("out"), places.path("again"));
    let options = RecoverOptions::default();
    let report = recover(places.path("in"), &out, &options).unwrap();
    let sessions: Vec<_> = report
        .sessions
        .iter()
        .map(|session| (&*session.folder, session.events(), session.details()))
        .collect();
    let expected = [
        ("session_1/pid_1", 9, 3),
        ("session_1/pid_2", 4, 2),
        ("session_1/pid_30", 0, 0),
        ("session_2/pid_1", 9, 3),
    ];
    assert_eq!(sessions, expected);
    let left: Vec<_> = report.left_behind.iter().map(|left| &*left.path).collect();
    assert_eq!(left, ["session_1/notes.txt"]);

    let found = files(&out);
    assert!(found["session_1/pid_1/thread_7/index.atf"] == whole.bytes());
    assert!(found["session_2/pid_1/thread_7/index.atf"] == whole.bytes());
    let kept = &found["session_1/pid_30/unreadable/thread_7/index.atf"];
    assert_eq!(kept, b"nothing");
    let second = recover(&out, &again, &options).unwrap();
    assert!(!second.changed(), "{second}");
    assert_eq!(files(&out), files(&again));
}

#[test]
fn a_session_without_events_says_so_and_keeps_its_files() {
    let places = Places::new();
    places.put("in/thread_7/index.atf", b"nothing");
    places.put("in/thread_7/notes.txt", b"mine");
    let header = IndexFile::finalized(1, 9).placeholder().header();
    places.put("in/thread_8/index.atf", header);
    let options = RecoverOptions::default();
    let report = recover(places.path("in"), places.path("out"), &options).unwrap();
    let text = report.to_string();
    let first = "session: recovered, but there is no event in it\n  thread_7: cannot be read: ";
    assert!(text.starts_with(first), "{text}");
    assert!(
        text.contains("; what can be copied of it is in unreadable/\n"),
        "{text}"
    );
    assert!(
        text.contains("\n  thread_8: 0 events, 0 details\n"),
        "{text}"
    );
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/thread_7/index.atf"], b"nothing");
    // Nothing of that folder is left behind.
    assert_eq!(found["unreadable/thread_7/notes.txt"], b"mine");
    assert!(report.sessions[0].left_behind.is_empty(), "{report}");
    assert!(found.contains_key("thread_8/index.atf"));
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use atf::rewrite::{ScrubOptions, scrub};

    use super::*;

    /// A thread, a link to a thread elsewhere, and a thread whose index is a link to elsewhere.
    fn session() -> Places {
        let places = Places::new();
        let index = IndexFile::finalized(1, 3).bytes();
        places.put("in/thread_7/index.atf", &index);
        places.put("elsewhere/index.atf", &index);
        symlink(places.path("elsewhere"), places.path("in/thread_8")).unwrap();
        places.put("in/thread_9/detail.atf", b"x");
        let target = places.path("elsewhere/index.atf");
        symlink(target, places.path("in/thread_9/index.atf")).unwrap();
        places
    }

    #[test]
    fn links_out_of_a_session_are_named_and_not_followed() {
        let places = session();
        let (path, out) = (places.path("in"), places.path("out"));
        let report = recover(&path, &out, &RecoverOptions::default()).unwrap();
        assert_eq!(report.events(), 3);
        let left = &report.sessions[0].left_behind;
        let left: Vec<_> = left.iter().map(|left| (&*left.path, &*left.why)).collect();
        let expected = [
            ("thread_8", "a symbolic link, which is not followed"),
            ("thread_9/index.atf", "neither a regular file nor a folder"),
        ];
        assert_eq!(left, expected);
        let found = files(&out);
        assert!(!found.keys().any(|name| name.contains("thread_8")));
        assert_eq!(found["unreadable/thread_9/detail.atf"], b"x");
        assert!(!found.contains_key("unreadable/thread_9/index.atf"));

        let report = scrub(&path, places.path("b"), &ScrubOptions::default()).unwrap();
        assert_eq!(report.events(), 3);
        assert!(!files(&places.path("b")).keys().any(|n| n.contains("_8")));
    }

    #[test]
    fn a_path_that_is_a_link_itself_is_followed() {
        let places = session();
        symlink(places.path("in"), places.path("link")).unwrap();
        let options = RecoverOptions::default();
        let report = recover(places.path("link"), places.path("out"), &options).unwrap();
        assert_eq!(report.events(), 3);
    }
}
