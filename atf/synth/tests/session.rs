//! Tests that a written session is valid.

use atf::session::SessionReader;
use atf::{EventKind, Wire};
use atf_conformance::Checked;
use atf_synth::{Shape, Synth, Written};

fn synth(shape: Shape, wire: Wire) -> Synth {
    Synth {
        seed: 5,
        threads: 3,
        events_per_thread: 4_000,
        detail_per_mille: 200,
        shape,
        wire,
        ..Synth::default()
    }
}

#[test]
fn the_validator_finds_no_problem() {
    let runs = Shape::Runs { min: 10, max: 100 };
    let shapes = [
        Shape::Independent,
        Shape::Random,
        runs,
        Shape::FewActive(2),
        Shape::Interleave,
    ];
    for &wire in Wire::ALL {
        for shape in shapes {
            let folder = tempfile::tempdir().unwrap();
            let written = synth(shape, wire).write(folder.path().join("session"));
            written.unwrap();
            let checked = Checked::new(folder.path());
            let findings: Vec<_> = checked
                .findings()
                .map(|(report, finding)| format!("{}: {finding:?}", report.path.display()))
                .collect();
            assert_eq!(findings, [""; 0]);
            assert!(checked.unreadable.is_empty(), "{:?}", checked.unreadable);
            // There are two files for each of three threads, and the manifest.
            assert_eq!(checked.reports.len(), 7);
        }
    }
}

#[test]
fn the_generated_events_are_read_back() {
    for &wire in Wire::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session");
        let synth = synth(Shape::Independent, wire);
        let mut progress = Vec::new();
        let written = synth
            .write_observed(&path, |events| progress.push(events))
            .unwrap();
        let session = SessionReader::open(&path).unwrap();
        let mut found = Written {
            threads: 3,
            ..Written::default()
        };
        for entry in session.threads() {
            let thread = entry.open().unwrap();
            let detail = thread.detail().unwrap();
            let mut events = thread.index().events();
            for made in synth.thread(entry.id()) {
                let read = events.next().unwrap().unwrap();
                found.index_events += 1;
                assert_eq!(read.timestamp_ns, made.event.timestamp_ns);
                assert_eq!(read.function_id, made.event.function_id);
                let function = session.symbols().function(read.function_id);
                assert!(function.name.is_some() && function.module.is_some());
                assert_eq!(read.event_kind, made.event.event_kind);
                let depth = (wire == Wire::V1).then_some(made.event.call_depth);
                assert_eq!(read.call_depth, depth);
                assert_eq!(read.detail_seq.is_some(), made.detail.is_some());
                let Some((seq, registers)) = read.detail_seq.zip(made.detail) else {
                    continue;
                };
                found.detail_events += 1;
                let event = detail.get(seq).unwrap().unwrap();
                let payload = detail.function_payload(&event).unwrap().unwrap();
                assert_eq!(event.header.event_type, registers.event_type);
                assert_eq!(payload.function_id, made.event.function_id);
                if made.event.event_kind == EventKind::CALL && made.event.call_depth > 1 {
                    assert_ne!(payload.lr, 0, "a call has a caller");
                }
            }
            assert!(events.next().is_none());
        }
        assert_eq!(found, written);
        assert_eq!(progress.last(), Some(&written.index_events));
    }
}
