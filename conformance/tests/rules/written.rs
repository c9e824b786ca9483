//! Tests that sessions written by the library produce no findings in either wire version.

use atf::detail::FunctionPayload;
use atf::manifest::{Module, Symbol};
use atf::write::{Detail, Event, SessionWriter, ThreadWriter, WriteOptions};
use atf::{DetailEventType, EventKind, Wire};

use crate::outcome::Outcome;

const MODULE: u64 = 0x0644_4fc1;

/// Writes `count` events of nested calls, some with registers and stack.
fn write(writer: &mut ThreadWriter, count: u64) {
    for seq in 0..count {
        // Repeat three calls and their three returns.
        let (kind, detail_type, depth) = match seq % 6 {
            step @ 0..3 => (EventKind::CALL, DetailEventType::FUNCTION_CALL, step + 1),
            step => (
                EventKind::RETURN,
                DetailEventType::FUNCTION_RETURN,
                6 - step,
            ),
        };
        let function_id = MODULE << 32 | depth;
        let (time, depth) = (5_000_000 + seq * 17, u32::try_from(depth).unwrap());
        let event = Event::new(time, function_id, kind, depth);
        let payload = FunctionPayload::default()
            .function_id(function_id)
            .stack(vec![9; usize::try_from(seq % 257).unwrap()])
            .encode()
            .unwrap();
        let detail = Detail::new(detail_type, &payload);
        match seq % 4 {
            1 => drop(writer.write_with_detail(&event, &detail).unwrap()),
            _ => drop(writer.write(&event).unwrap()),
        }
    }
}

fn symbols() -> Vec<Symbol> {
    let symbol = |index: u32| {
        let name = format!("function \"{index}\"\n\u{1f980}");
        Symbol::new(MODULE << 32 | u64::from(index), name)
    };
    (1..=3).map(symbol).collect()
}

fn module() -> Module {
    Module::new(u32::try_from(MODULE).unwrap())
        .path("/usr/bin/traced".to_owned())
        .base_address(0x5555_5555_0000)
        .size(0x4000)
        .uuid("0fc3".to_owned())
}

#[test]
fn a_written_session_has_no_findings() {
    for &wire in Wire::ALL {
        let root = tempfile::tempdir().unwrap();
        let options = WriteOptions::default().wire(wire).buffer_size(4 << 10);
        let session = SessionWriter::create_in(root.path(), &options).unwrap();
        for (id, count) in [(0, 0), (1, 1), (2, 2), (3, 5000), (u32::MAX, 6)] {
            let mut writer = session.thread(id).unwrap();
            write(&mut writer, count);
            writer.finalize().unwrap();
        }
        session.set_modules(vec![module()]);
        session.set_symbols(symbols());
        session.finalize().unwrap();
        let outcome = Outcome::check(root.path());
        assert_eq!(outcome.unreadable, []);
        assert_eq!(outcome.broken(), [""; 0]);

        let reader = atf::session::SessionReader::open(session.path()).unwrap();
        let names = |symbols: &[Symbol]| -> Vec<_> {
            symbols.iter().map(|symbol| symbol.name.clone()).collect()
        };
        let read = &reader.manifest().unwrap().symbols;
        assert_eq!(names(read), names(&symbols()));
    }
}

#[test]
fn events_from_a_kill_journal_are_checked() {
    for &wire in Wire::ALL {
        let root = tempfile::tempdir().unwrap();
        let options = WriteOptions::default().wire(wire).survive_kill(true);
        let session = SessionWriter::create(root.path(), &options).unwrap();
        let mut writer = session.thread(3).unwrap();
        write(&mut writer, 100);
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
