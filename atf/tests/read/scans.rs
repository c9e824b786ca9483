//! Tests that scanning and checking details while opening them gives the same results as doing so
//! afterwards.

use std::path::Path;

use atf::OpenOptions;
use atf::check::{FileReport, Finding, Output, check};
use atf::thread::ThreadReader;

use crate::session::thread;
use atf_samples::files::{DetailFile, DetailRecord, IndexFile};

/// More than two blocks of index events.
const EVENTS: u64 = 4_200;

/// Returns a thread whose links are correct, except where `fault` changes the details.
fn files(version: u8, fault: Fault) -> (IndexFile, DetailFile) {
    let index = IndexFile::finalized(version, EVENTS);
    let detail = |seq: u64| {
        let event = &index.events[usize::try_from(seq).unwrap()];
        let stack = u16::try_from(seq % 18).unwrap();
        let mut detail = DetailRecord::call(seq, event.timestamp_ns, stack);
        detail.event_type = 2 + u16::from(event.kind);
        detail.payload[..8].copy_from_slice(&event.function_id.to_le_bytes());
        detail
    };
    let mut details = (0..EVENTS).step_by(3).map(detail).collect();
    fault(&mut details);
    (index, DetailFile::new(version, details))
}

/// Returns all faults, with the wire version alternating.
fn faults() -> impl Iterator<Item = (u8, &'static str, Fault)> {
    let versions = [1, 2].into_iter().cycle().zip(FAULTS);
    versions.map(|(version, (name, fault))| (version, name, fault))
}

type Fault = fn(&mut Vec<DetailRecord>);

const FAULTS: [(&str, Fault); 8] = [
    ("none", |_| ()),
    ("a long payload, then an opaque one", |details| {
        details[700].payload = vec![7; 300_000];
        details[701].payload = vec![8; 70_000];
    }),
    ("two details change places", |details| details.swap(3, 4)),
    ("a link far back", |details| details[1300].index_seq = 6),
    ("a link far ahead", |details| details[5].index_seq = 4197),
    ("a link to no event", |details| {
        details[1000].index_seq = EVENTS + 9;
    }),
    ("times that go back, unknown types", |details| {
        details[1200].timestamp = 5;
        let all = details.iter_mut().zip(0..);
        all.for_each(|(detail, number)| detail.event_type = number % 20);
    }),
    ("a stack that is too long", |details| {
        let timestamp = details[1250].timestamp;
        details[1250] = DetailRecord::call(3750, timestamp, 400);
    }),
];

#[test]
fn scans_on_opening_and_later_agree() {
    for (version, name, fault) in faults() {
        let (index, detail) = files(version, fault);
        let (folder, plain) = thread(&index, Some(&detail));
        let scanned = ThreadReader::open_with(&folder, OpenOptions::new().scan(true)).unwrap();
        assert!(scanned.index().known_checksum().is_some(), "{name}");
        assert_eq!(plain.index().known_checksum(), None);
        let scan = plain.scan_details().unwrap().unwrap();
        assert_eq!(scanned.scan_details().unwrap().unwrap(), scan, "{name}");
        let of_index = plain.index().scan().unwrap();
        assert_eq!(scanned.index().scan().unwrap(), of_index);
        let alone = plain.detail().unwrap().scan().unwrap();
        assert_eq!((alone.types, alone.linked), (scan.types, 0));
        assert!(scan.linked >= EVENTS / 3 - 2, "{name}: {}", scan.linked);
    }
}

struct Reports(Vec<FileReport>);

impl Output for Reports {
    fn file(&mut self, report: FileReport) {
        self.0.push(report);
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        panic!("{}: {why}", path.display());
    }
}

/// Returns the findings about a file, each with all places where it occurs.
fn findings(path: &Path, file: &str) -> Vec<String> {
    let mut reports = Reports(Vec::new());
    check(path, &mut reports);
    let mut reports = reports.0.iter();
    let report = reports.find(|report| report.path.ends_with(file)).unwrap();
    let text = |finding: &&Finding| format!("{} {:?}", finding.rule.id, finding);
    report.findings().iter().map(text).collect()
}

#[test]
fn an_index_has_the_same_findings_with_and_without_details() {
    for (version, name, fault) in faults() {
        let (mut index, detail) = files(version, fault);
        for seq in [10, 2047, 2048, 4098, 4190] {
            index.events[seq].timestamp_ns = 1;
            index.events[seq + 1].kind = 77;
        }
        let index = IndexFile::new(version, index.events);
        let (folder, _) = thread(&index, Some(&detail));
        let mut found = findings(folder.path(), "index.atf");
        found.retain(|finding| !finding.contains("ATF-LINK"));
        let alone = findings(&folder.path().join("index.atf"), "index.atf");
        assert_eq!(found, alone, "{name}");
        assert!(alone.iter().any(|finding| finding.contains("ATF-IEVT-001")));
    }
}

/// Faults in the details are found, even though the details are checked while they are being
/// opened.
#[test]
fn details_without_a_fault_have_no_findings_and_others_do() {
    for (version, name, fault) in faults() {
        let (index, detail) = files(version, fault);
        let (folder, _) = thread(&index, Some(&detail));
        let found = findings(folder.path(), "detail.atf").concat();
        let expected = match name {
            "none" => "",
            "a stack that is too long" => "ATF-DPAY-001",
            "a long payload, then an opaque one" => "ATF-DPAY-002",
            "times that go back, unknown types" => "ATF-LINK-006",
            _ => "ATF-LINK-003",
        };
        assert!(found.contains(expected), "{name}: {found}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{name}: {found}");
    }
}
