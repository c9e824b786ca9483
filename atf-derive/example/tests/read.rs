//! Reads the example's files with the library.

use atf::Completeness;
use atf::check::{FileReport, Output, check_bytes};
use atf::index::IndexReader;
use atf_example_tracer::{EventKind, Full, Tracer};

/// The rules that a file breaks.
struct Broken(Vec<&'static str>);

impl Output for Broken {
    fn file(&mut self, report: FileReport) {
        self.0 = report.findings().iter().map(|it| it.rule.id).collect();
    }
    fn unreadable(&mut self, _path: &std::path::Path, why: &str) {
        panic!("{why}");
    }
}

#[test]
fn a_finalized_file_breaks_only_the_rule_that_requires_a_checksum() {
    let mut memory = [0; 64 + 3 * 32 + 64];
    let mut tracer = Tracer::start(&mut memory, 7).unwrap();
    tracer.event(100, 1, EventKind::CALL).unwrap();
    tracer.event(200, 2, EventKind::CALL).unwrap();
    tracer.event(300, 2, EventKind::RETURN).unwrap();
    assert_eq!(tracer.event(400, 1, EventKind::RETURN), Err(Full));
    let file = tracer.finish().unwrap();
    let index = IndexReader::from_bytes(file).unwrap();
    let times = index.events().map(|event| event.unwrap().timestamp_ns);
    assert!(times.eq([100, 200, 300]));
    assert!(matches!(index.completeness(), Completeness::Finalized));
    let mut broken = Broken(Vec::new());
    check_bytes(
        "index.atf".as_ref(),
        atf::FileKind::Index,
        file.to_vec(),
        &mut broken,
    );
    assert_eq!(broken.0, ["ATF-IFTR-006"]);
}

#[test]
fn an_unfinalized_file_contains_every_event() {
    let mut memory = [0; 1024];
    let mut tracer = Tracer::start(&mut memory, 7).unwrap();
    for time in 1..=5 {
        tracer.event(time, 1, EventKind::CALL).unwrap();
    }
    let index = IndexReader::from_bytes(memory).unwrap();
    assert_eq!(index.event_count(), 5);
}
