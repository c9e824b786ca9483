//! Recovers files with holes, broken framing, mismatched links and wrong footers.

use atf::index::IndexReader;
use atf::rewrite::{DropReason, NoteKind, RecoverOptions, Report, ThreadReport, recover};
use atf::thread::ThreadReader;

use crate::Places;
use atf_samples::files::{DetailFile, IndexFile, patched};

/// Recovers thread 7 with these files.
fn recovered(index: &[u8], detail: &[u8], salvage: bool) -> (Places, Report) {
    let places = Places::new();
    places.put("in/thread_7/index.atf", index);
    places.put("in/thread_7/detail.atf", detail);
    let options = RecoverOptions::default().salvage(salvage);
    let report = recover(places.path("in"), places.path("out"), &options).unwrap();
    (places, report)
}

fn links(places: &Places) -> Vec<Option<u64>> {
    let thread = ThreadReader::open(places.path("out/thread_7")).unwrap();
    let events = thread.index().events_in(..);
    events.map(|event| event.unwrap().detail_seq).collect()
}

/// Returns the offset and the size of the data dropped for this reason, and the number of places.
fn dropped(thread: &ThreadReport, why: DropReason) -> Option<(u64, u64, u64)> {
    let found = thread.dropped.iter().find(|dropped| dropped.why == why);
    found.map(|dropped| (dropped.offset, dropped.size, dropped.count))
}

#[test]
fn events_after_a_hole_are_reported_as_dropped_or_salvaged_separately() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9).bytes();
        let index = patched(&index, 64 + 4 * 32, &[0; 32]);
        let detail = DetailFile::finalized(version, 3).bytes();
        for salvage in [false, true] {
            let (places, report) = recovered(&index, &detail, salvage);
            let thread = report.threads().next().unwrap();
            assert_eq!(links(&places), [Some(0), None, None, Some(1)]);
            let hole = dropped(thread, DropReason::Hole);
            assert_eq!(hole, Some((64 + 4 * 32, 32, 1)));
            let behind = dropped(thread, DropReason::AfterHole);
            let path = places.path("out/thread_7/salvaged.atf");
            if !salvage {
                assert_eq!(behind, Some((64 + 5 * 32, 4 * 32, 1)));
                assert!(!path.exists());
                continue;
            }
            assert_eq!((behind, thread.events.salvaged), (None, 4));
            let mut aside = thread.set_aside.iter();
            let aside = aside.find(|aside| aside.file == "salvaged.atf").unwrap();
            let run = aside.runs[0];
            assert_eq!((run.seq, run.offset, run.count), (5, 64 + 5 * 32, 4));
            let salvaged = IndexReader::open(path).unwrap();
            assert_eq!(salvaged.checksum().unwrap(), atf::Checksum::Good);
            let times = salvaged
                .events_in(..)
                .map(|event| event.unwrap().timestamp_ns);
            let first = 0x0004_62d5_3c8a_0000;
            assert!(times.eq((5..9).map(|seq| first + seq * 1000)));
        }
    }
}

#[test]
fn details_after_a_framing_fault_are_found_by_their_links() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 15).bytes();
        let detail = DetailFile::finalized(version, 5);
        let broken = usize::try_from(detail.places()[1]).unwrap();
        let bytes = patched(&detail.bytes(), broken, &5_u32.to_le_bytes());
        for (salvage, kept) in [(false, 1), (true, 4)] {
            let (places, report) = recovered(&index, &bytes, salvage);
            let thread = report.threads().next().unwrap();
            assert_eq!((thread.events.kept, thread.details.kept), (15, kept));
            assert_eq!(thread.details.salvaged, kept - 1);
            let found: Vec<_> = links(&places).into_iter().step_by(3).collect();
            let expected = if salvage {
                [Some(0), None, Some(1), Some(2), Some(3)]
            } else {
                [Some(0), None, None, None, None]
            };
            assert_eq!(found, expected);
            let size = if salvage {
                detail.places()[2] - detail.places()[1]
            } else {
                detail.places()[5] - detail.places()[1]
            };
            let gap = dropped(thread, DropReason::AfterFramingProblem);
            assert_eq!(gap, Some((detail.places()[1], size, 1)));
        }
    }
}

#[test]
fn a_link_to_the_detail_of_another_event_is_removed() {
    for version in [1, 2] {
        let mut events = IndexFile::finalized(version, 9).events;
        events[3].detail_seq = Some(0);
        events[5].detail_seq = Some(77);
        let index = IndexFile::of(version, events).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let (places, report) = recovered(&index, &detail, false);
        let found: Vec<_> = links(&places).into_iter().step_by(3).collect();
        assert_eq!(found, [Some(0), None, Some(1)]);
        let thread = report.threads().next().unwrap();
        assert_eq!(thread.notes.count(NoteKind::LinkNotReturned), 1);
        assert_eq!(thread.notes.count(NoteKind::LinkToNothing), 1);
        assert_eq!(thread.set_aside[0].count, 1);
    }
}

#[test]
fn a_wrong_footer_costs_no_event() {
    for version in [1, 2] {
        let true_index = IndexFile::finalized(version, 9);
        let true_detail = DetailFile::finalized(version, 3);
        for (count, bytes) in [(8, 9 * 32), (100, 9 * 32), (9, 5), (9, u64::MAX), (0, 0)] {
            let index = IndexFile {
                footer_count: count,
                bytes_written: bytes,
                ..true_index.clone()
            };
            let detail = DetailFile {
                footer_count: count,
                footer_bytes: bytes,
                ..true_detail.clone()
            };
            let (places, report) = recovered(&index.bytes(), &detail.bytes(), false);
            let case = format!("{count}, {bytes}, wire {version}\n{report}");
            assert_eq!((report.events(), report.details()), (9, 3), "{case}");
            let thread = report.threads().next().unwrap();
            let mended = [NoteKind::Damaged, NoteKind::HeaderDisagrees];
            assert!(mended.iter().any(|w| thread.notes.count(*w) > 0), "{case}");
            assert_eq!(links(&places).len(), 9);
        }
    }
}
