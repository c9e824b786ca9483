//! Tests that a check of a killed writer's session includes its kill journals.

use atf::detail::FunctionPayload;
use atf::write::{Detail, Event, SessionWriter, WriteOptions};
use atf::{DetailEventType, EventKind, Wire};

use crate::outcome::Outcome;

#[test]
fn events_from_a_kill_journal_are_checked() {
    for &wire in Wire::ALL {
        let root = tempfile::tempdir().unwrap();
        let options = WriteOptions::default().wire(wire).survive_kill(true);
        let session = SessionWriter::create(root.path(), &options).unwrap();
        let mut writer = session.thread(3).unwrap();
        let payload = FunctionPayload::default().function_id(7).encode().unwrap();
        let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload);
        for seq in 0..50 {
            let call = Event::new(5_000_000 + 2 * seq, 7, EventKind::CALL, 1);
            writer.write_with_detail(&call, &detail).unwrap();
            let end = Event::new(5_000_001 + 2 * seq, 7, EventKind::RETURN, 1);
            writer.write(&end).unwrap();
        }
        session.write_manifest().unwrap();
        // As after a kill, everything is in the kill journal and nothing is in the files.
        let outcome = Outcome::check(root.path());
        assert_eq!(outcome.unreadable, []);
        let index = outcome.report("thread_3/index.atf");
        assert_eq!(index.events, Some(100));
        let unfinished = ["ATF-IFTR-001", "ATF-DFTR-001"];
        // Ignore the manifest, which cannot contain the times of an unfinalized thread.
        for name in ["thread_3/index.atf", "thread_3/detail.atf"] {
            let report = outcome.report(name);
            for finding in report.findings() {
                assert!(unfinished.contains(&finding.rule.id), "{report:#?}");
            }
        }
    }
}
