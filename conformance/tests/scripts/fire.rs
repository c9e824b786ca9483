//! Grades the files of writers that were killed, closed threads, or ran out of disk space.

use std::fs;
use std::path::Path;

use atf_conformance::results::{Failure, Note, Outcome};
use atf_conformance::rules::Severity;
use atf_conformance::scripts::{Script, Scripted};
use atf_conformance::written::{Graded, grade};
use tempfile::TempDir;

use super::{failure, scripted, written};

const OPEN: &str = "open thread=7 wire=1 clock=3 arch=2 os=4\n";

fn events(from: u64, to: u64) -> String {
    (from..to)
        .map(|seq| format!("index thread=7 ts={seq} fn=1 kind=1 depth=1 detail=-\n"))
        .collect()
}

/// Returns the folder left by a writer that flushed `kept` events.
fn left(kept: u64) -> TempDir {
    let text = format!("{OPEN}{}abort\n", events(0, kept));
    written(&text.parse::<Script>().unwrap())
}

/// Returns a script of four events, two of them flushed, that ends with `kill`.
fn killed() -> Scripted {
    let (first, rest) = (events(0, 2), events(2, 4));
    scripted(&format!("{OPEN}{first}flush thread=7\n{rest}kill\n"))
}

fn graded(scripted: &Scripted, out: &Path) -> Graded {
    grade(scripted, &["index".to_owned(), "kill".to_owned()], out)
}

#[test]
fn flushed_events_must_survive_a_kill_and_others_may_be_lost() {
    for kept in 2..=4 {
        let graded = graded(&killed(), left(kept).path());
        assert_eq!(graded.outcome, Outcome::Passed, "{kept}");
        let gone = 4 - kept;
        let note = format!(
            "ATF-WRTR-008 thread_7/index.atf: the kill lost {gone} of 4 events; 2 were flushed"
        );
        let expected = (gone > 0).then_some(note);
        let notes: Vec<_> = graded.notes.iter().map(Note::to_string).collect();
        assert_eq!(notes, expected.into_iter().collect::<Vec<_>>());
        let is_advice = |note: &Note| note.severity == Severity::Advice;
        assert!(graded.notes.iter().all(is_advice));
    }
    for kept in 0..2 {
        let (class, message, difference) = failure(graded(&killed(), left(kept).path()));
        assert_eq!(class, Failure::WrongFile);
        let start = format!(
            "thread_7/index.atf: the number of events: {kept}, expected at least 2, flushed"
        );
        assert!(message.starts_with(&start), "{message}");
        assert_eq!(difference.unwrap().rule.as_deref(), Some("ATF-WRTR-008"));
    }
}

#[test]
fn a_thread_finalized_before_the_kill_has_all_events() {
    let finalized = |to| format!("{OPEN}{}finalize thread=7\n", events(0, to));
    let script = scripted(&format!("{}kill\n", finalized(4)));
    let out = written(&finalized(4).parse().unwrap());
    let Graded { outcome, notes, .. } = graded(&script, out.path());
    assert_eq!((outcome, notes), (Outcome::Passed, Vec::new()));
    let out = written(&finalized(3).parse().unwrap());
    let (class, message, _) = failure(graded(&script, out.path()));
    assert_eq!(class, Failure::WrongFile);
    let start = "thread_7/index.atf: the number of events: 3, expected 4; ATF-WRTR-008";
    assert!(message.starts_with(start), "{message}");
    fs::remove_dir_all(out.path().join("thread_7")).unwrap();
    fs::remove_file(out.path().join("manifest.json")).unwrap();
    let (_, message, _) = failure(graded(&script, out.path()));
    assert_eq!(message, "thread_7/index.atf is missing");
}

#[test]
fn a_kill_may_tear_an_event_but_not_change_one() {
    let out = left(4);
    let path = out.path().join("thread_7/index.atf");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    assert_eq!(graded(&killed(), out.path()).outcome, Outcome::Passed);
    let mut other = bytes.clone();
    other[64 + 32 + 8] ^= 1;
    fs::write(&path, &other).unwrap();
    let (class, message, _) = failure(graded(&killed(), out.path()));
    assert_eq!(class, Failure::WrongFile);
    assert!(message.contains("events[1].function_id"), "{message}");
}

#[test]
fn a_file_that_a_kill_left_empty_is_a_loss_and_not_a_failure() {
    let script = scripted(&format!("{OPEN}{}kill\n", events(0, 3)));
    let out = left(3);
    let path = out.path().join("thread_7/index.atf");
    for is_there in [true, false] {
        fs::write(&path, "").unwrap();
        if !is_there {
            fs::remove_file(&path).unwrap();
        }
        let graded = graded(&script, out.path());
        assert_eq!(graded.outcome, Outcome::Passed);
        let lost = "the kill lost 3 of 3 events; 0 were flushed";
        assert!(graded.notes[0].text.ends_with(lost), "{:?}", graded.notes);
    }
}

#[test]
fn a_closed_thread_has_all_events_with_or_without_a_footer() {
    let script = scripted(&format!("{OPEN}{}close thread=7\n", events(0, 3)));
    let finalized = format!("{OPEN}{}finalize thread=7\n", events(0, 3));
    let finalized = written(&finalized.parse().unwrap());
    for out in [left(3), finalized] {
        assert_eq!(graded(&script, out.path()).outcome, Outcome::Passed);
    }
    assert!(graded(&script, left(2).path()).outcome != Outcome::Passed);
}

#[test]
fn on_a_full_disk_headers_count_no_missing_events_and_no_event_changes() {
    let finalized = format!("{OPEN}{}finalize thread=7\n", events(0, 10));
    let script = Scripted {
        limit: Some(64 + 32 * 4 + 5),
        ..scripted(&finalized)
    };
    // Events may also be missing in the middle.
    let some = format!("{OPEN}{}{}abort\n", events(0, 2), events(5, 9));
    let out = written(&some.parse().unwrap());
    assert_eq!(graded(&script, out.path()).outcome, Outcome::Passed);
    let path = out.path().join("thread_7/index.atf");
    let bytes = fs::read(&path).unwrap();
    #[rustfmt::skip]
    let changes = [
        (28, 10, "ATF-WRTR-001", "thread_7/index.atf: header.event_count"),
        (64 + 8, 2, "ATF-WRTR-005", "thread_7/index.atf: events[0]"),
    ];
    for (offset, byte, rule, place) in changes {
        let mut bytes = bytes.clone();
        bytes[offset] = byte;
        fs::write(&path, bytes).unwrap();
        let (class, message, difference) = failure(graded(&script, out.path()));
        assert_eq!(class, Failure::WrongFile);
        assert!(message.starts_with(place), "{message}");
        assert_eq!(difference.unwrap().rule.as_deref(), Some(rule));
    }
}
