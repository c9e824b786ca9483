//! Checks parts on their own: a manifest without its session, bytes without their file.

use std::fs;

use atf::FileKind;
use atf_conformance::check::check_bytes;
use atf_conformance::corpus::{Subject, cases};
use atf_conformance::{Checked, Kind};
use tempfile::TempDir;

use crate::support::{MANIFEST, Outcome, Trace};

#[test]
fn bytes_are_checked_like_their_file() {
    let folder = TempDir::new().unwrap();
    let mut compared = 0;
    for case in cases() {
        let (kind, name) = match case.subject {
            Subject::Index => (FileKind::Index, "index.atf"),
            Subject::Detail => (FileKind::Detail, "detail.atf"),
            Subject::Session => continue,
        };
        // Write the file under its usual name, which shows its kind even if the magic is wrong.
        let path = folder.path().join(name);
        let bytes = &case.files[&case.path];
        fs::write(&path, bytes).unwrap();
        let of_file = Checked::new(&path);
        let mut of_bytes = Checked::default();
        check_bytes(&path, kind, bytes.clone(), &mut of_bytes);
        let [of_bytes, of_file] = [of_bytes, of_file].map(|it| format!("{it:#?}"));
        assert_eq!(of_bytes, of_file, "{}", case.name);
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_lone_manifest_is_checked_without_its_threads() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(MANIFEST);
    let broken = |text: &str| {
        fs::write(&path, text).unwrap();
        let outcome = Outcome::check(&path);
        assert_eq!(outcome.unreadable, []);
        let [report] = outcome.reports.as_slice() else {
            panic!("{:?}", outcome.reports);
        };
        assert_eq!(report.kind, Kind::Manifest);
        let findings = report.findings().into_iter();
        findings.map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    let good = r#"{"threads": [{"id": 7, "has_detail": true}], "time_start_ns": 1, "time_end_ns": 2, "clock_type": 3}"#;
    assert_eq!(broken(good), [""; 0]);
    assert_eq!(broken("no object"), ["ATF-MANI-002"]);
}

#[test]
fn only_files_set_aside_by_a_recovery_are_skipped() {
    let folder = TempDir::new().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["session", "unreadable/old", "mine/unreadable/old"] {
        Trace::small(1).write(&at(path)).unwrap();
    }
    let checked = || {
        let outcome = Outcome::check(folder.path());
        assert_eq!(outcome.unreadable, []);
        let names = outcome.reports.iter().map(|report| {
            let name = report.path.strip_prefix(folder.path()).unwrap();
            name.to_string_lossy().into_owned()
        });
        names
            .filter(|name| name.ends_with("index.atf"))
            .collect::<Vec<_>>()
    };
    let [mine, session, old] = [
        "mine/unreadable/old/thread_7/index.atf",
        "session/thread_7/index.atf",
        "unreadable/old/thread_7/index.atf",
    ];
    assert_eq!(checked(), [mine, session, old]);
    // Next to a recovery's report, the folder `unreadable` contains files that the recovery set
    // aside. A check skips it.
    fs::write(at("recovery.json"), "{}").unwrap();
    assert_eq!(checked(), [mine, session]);
    // A check of the folder itself does not skip it.
    assert_eq!(Outcome::check(&at("unreadable")).reports.len(), 3);
}
