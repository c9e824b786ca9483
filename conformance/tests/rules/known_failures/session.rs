//! Tests mistakes across files: in links, ids, threads or the manifest.

use atf_conformance::Verdict::{self, Accept, Recover, Reject};
use tempfile::TempDir;

use super::{assert_rules, each, each_breaks};
use crate::support::files::{IndexFile, RingFile};
use crate::support::{DETAIL, INDEX, MANIFEST, OTHER, Outcome, Trace};

#[test]
fn crossed_links_are_found_on_both_sides_and_no_event_is_lost() {
    let edit = |t: &mut Trace| {
        t.events(|events| {
            events[2].detail_seq = Some(2);
            events[3].detail_seq = Some(1);
        });
    };
    each(edit, |outcome| {
        assert_eq!(outcome.finding(INDEX, "ATF-LINK-001").unwrap().count, 2);
        assert_eq!(outcome.finding(DETAIL, "ATF-LINK-003").unwrap().count, 2);
        assert_eq!(outcome.verdict(INDEX), Accept);
        assert_eq!(outcome.verdict(DETAIL), Accept);
    });
}

#[test]
fn dangling_links_break_a_must_only_in_finalized_files() {
    each_breaks(INDEX, "ATF-LINK-001", Accept, |t| {
        t.details(|details| details.truncate(2));
    });
    each_breaks(INDEX, "ATF-LINK-002", Accept, |t| t.cut(DETAIL, 329));
}

#[test]
fn two_links_to_one_detail_are_found() {
    each_breaks(INDEX, "ATF-LINK-001", Accept, |t| {
        t.events(|events| events[5].detail_seq = Some(2));
    });
}

#[test]
fn mismatched_thread_ids_are_found_in_each_place() {
    let edit = |t: &mut Trace| {
        t.patch(INDEX, 12, &[8]);
        t.patch(DETAIL, 12, &[6]);
    };
    for version in [1, 2] {
        let mut trace = Trace::clean(version);
        edit(&mut trace);
        let outcome = Outcome::of_trace(&trace);
        match version {
            1 => {
                assert_rules(&outcome, INDEX, &["ATF-IEVT-003", "ATF-SESS-001"]);
                assert_rules(&outcome, DETAIL, &["ATF-DEVT-004", "ATF-LINK-009"]);
            }
            _ => {
                assert_rules(&outcome, INDEX, &["ATF-SESS-001"]);
                assert_rules(&outcome, DETAIL, &["ATF-LINK-009"]);
            }
        }
    }
}

#[test]
fn one_corrupt_thread_of_two_does_not_hide_the_other() {
    each(
        |t| t.put(INDEX, "nonsense"),
        |outcome| {
            assert_eq!(outcome.verdict(INDEX), Reject);
            assert_rules(outcome, OTHER, &[]);
            assert_eq!(outcome.report(OTHER).events, Some(2));
            assert_eq!(outcome.report(DETAIL).details, Some(3));
        },
    );
}

#[test]
fn a_thread_listed_twice_in_the_manifest_is_checked_once() {
    let edit = |t: &mut Trace| t.replace(MANIFEST, "{\"id\": 9", "{\"id\": 7}, {\"id\": 9");
    each_breaks(MANIFEST, "ATF-MANI-004", Accept, edit);
    each(edit, |outcome| {
        let events: u64 = outcome
            .reports
            .iter()
            .filter_map(|report| report.events)
            .sum();
        assert_eq!(events, 8);
        assert_eq!(outcome.reports.len(), 4);
    });
}

#[test]
fn a_path_in_a_thread_id_is_not_followed() {
    for id in [
        "../x",
        "/x",
        "../outside/thread_1",
        "7/../../outside/thread_1",
    ] {
        let folder = TempDir::new().unwrap();
        let mut trace = Trace::clean(1);
        trace.rename("thread_9", "session/thread_9");
        trace.rename("thread_7", "outside/thread_1");
        trace.remove(MANIFEST);
        trace.put("x/index.atf", "nonsense");
        let text = format!(r#"{{"threads": [{{"id": "{id}"}}, {{"id": 9}}]}}"#);
        trace.put("session/manifest.json", text);
        trace.write(folder.path()).unwrap();
        let outcome = Outcome::of(&folder.path().join("session"));
        assert_eq!(outcome.broken(), ["manifest.json ATF-MANI-003"]);
        assert_eq!(outcome.verdict(MANIFEST), Recover);
        let mut files: Vec<_> = outcome.reports.iter().map(|r| outcome.name(r)).collect();
        files.sort();
        assert_eq!(files, ["manifest.json", "thread_9/index.atf"]);
        assert!(outcome.unreadable.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_in_place_of_a_thread_folder_is_not_followed() {
    let edit = |t: &mut Trace| {
        t.rename("thread_9", "elsewhere");
        t.symlink("thread_9", "elsewhere");
    };
    each(edit, |outcome| {
        assert_rules(outcome, "thread_9", &["ATF-SESS-003"]);
        assert_eq!(outcome.verdict("thread_9"), Recover);
        assert!(outcome.reports.iter().all(|r| outcome.name(r) != OTHER));
    });
}

#[test]
fn all_threads_are_checked_with_a_malformed_empty_or_missing_manifest() {
    type Edit = fn(&mut Trace);
    let edits: [(&str, Verdict, Edit); 3] = [
        ("ATF-MANI-002", Recover, |t| {
            let text = [b"\xef\xbb\xbf", t.file(MANIFEST)].concat();
            t.put(MANIFEST, text);
        }),
        ("ATF-MANI-002", Recover, |t| t.put(MANIFEST, "")),
        ("ATF-MANI-001", Accept, |t| t.remove(MANIFEST)),
    ];
    for (rule, verdict, edit) in edits {
        each(edit, |outcome| {
            assert_eq!(outcome.broken(), [format!("{MANIFEST} {rule}")]);
            assert_eq!(outcome.verdict(MANIFEST), verdict);
            assert_eq!(outcome.report(INDEX).events, Some(6));
            assert_eq!(outcome.report(OTHER).events, Some(2));
        });
    }
}

#[test]
fn the_time_range_of_a_session_with_an_empty_thread_does_not_begin_at_0() {
    for version in [1, 2] {
        let mut trace = Trace::clean(version);
        let empty = IndexFile {
            thread_id: 8,
            flags: 0,
            ..IndexFile::of(version, Vec::new())
        };
        trace.put("thread_8/index.atf", empty.bytes());
        trace.replace(MANIFEST, "{\"id\": 9", "{\"id\": 8}, {\"id\": 9");
        assert_eq!(Outcome::of_trace(&trace).broken(), [""; 0]);
    }
}

#[test]
fn a_ring_of_a_missing_detail_file_is_reported_at_the_ring() {
    const RING: &str = "thread_7/ring.atf";
    for version in [1, 2] {
        let mut trace = Trace::clean(version);
        trace.without_details();
        trace.index(|file| *file = file.clone().placeholder());
        trace.cut(INDEX, 256);
        let mut ring = RingFile::of(version, 7);
        ring.detail.start = 64;
        ring.detail.bytes = vec![0; 24];
        trace.put(RING, ring.bytes());
        let outcome = Outcome::of_trace(&trace);
        assert_eq!(outcome.unreadable, []);
        let finding = outcome.finding(RING, "ATF-RING-002").unwrap();
        assert_eq!(finding.place.field, "detail.atf");
    }
}
