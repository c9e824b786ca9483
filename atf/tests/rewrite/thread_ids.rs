//! Recovers threads whose folder name, headers and events contain different ids.

use atf::Wire;
use atf::rewrite::RecoverOptions;
use atf::thread::ThreadReader;

use crate::{Places, files, notes, thread_of, unlinked};
use atf_samples::files::{DetailFile, IndexFile, patched};
use serde_json::Value;

/// The offset of the id in both headers.
const ID: usize = 12;

/// Recovers a thread in a folder with this name. Returns its report and its new files.
fn recovered(folder: &str, index: &[u8], detail: Option<&[u8]>) -> (Value, Vec<Vec<u8>>) {
    let places = Places::new();
    places.put(&format!("in/{folder}/index.atf"), index);
    if let Some(detail) = detail {
        places.put(&format!("in/{folder}/detail.atf"), detail);
    }
    let report = places.recover_twice(&RecoverOptions::default());
    let mut files = files(&places.path("out"));
    let names = ["index.atf", "detail.atf"];
    let found = names.map(|name| files.remove(&format!("{folder}/{name}")));
    let thread = thread_of(&report);
    (thread, found.into_iter().flatten().collect())
}

/// Returns the notes on content that was kept although it breaks a rule.
fn broken<'a>(thread: &'a Value, rule: &str) -> Vec<&'a Value> {
    let notes = notes(thread, "content").into_iter();
    notes.filter(|note| note["rule"] == rule).collect()
}

#[test]
fn a_folder_id_that_contradicts_its_files_is_reported_and_stays() {
    for version in [1, 2] {
        let whole = IndexFile::finalized(version, 9);
        let detail = DetailFile::finalized(version, 3).bytes();
        // Without details, nothing in version 2 confirms the header's id.
        let alone = unlinked(whole.clone()).bytes();
        for (index, detail) in [(whole.bytes(), Some(detail)), (alone, None)] {
            let (thread, found) = recovered("thread_8", &index, detail.as_deref());
            let place = &broken(&thread, "ATF-SESS-001")[0]["first"][0];
            assert_eq!(place["field"], "header.thread_id");
            assert_eq!(place["found"], "7, the folder is thread_8");
            assert_eq!(place["offset"], ID);
            let kept: Vec<_> = [Some(index), detail].into_iter().flatten().collect();
            assert_eq!(found, kept);
        }
    }
}

#[test]
fn a_header_contradicted_by_the_folder_and_another_source_is_repaired() {
    // In version 1, the events confirm the id. In version 2, the detail file confirms it.
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let wrong = patched(&index, ID, &8_u32.to_le_bytes());
        let (thread, found) = recovered("thread_7", &wrong, Some(&detail));
        let mut repaired = notes(&thread, "header_disagrees").into_iter();
        let note = repaired.find(|note| note["rule"] == "ATF-SESS-001");
        let place = &note.unwrap()["first"][0];
        assert_eq!(place["found"], "8, the folder is thread_7");
        assert!(broken(&thread, "ATF-SESS-001").is_empty());
        assert_eq!(found, [index, detail]);
    }
}

#[test]
fn a_detail_file_with_another_id_gets_the_id_of_its_index() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let wrong = patched(&detail, ID, &8_u32.to_le_bytes());
        let (thread, found) = recovered("thread_7", &index, Some(&wrong));
        let place = &notes(&thread, "header_disagrees")[0]["first"][0];
        assert_eq!(place["field"], "header.thread_id");
        assert_eq!(found, [index, detail]);
    }
}

#[test]
fn an_event_of_another_thread_keeps_its_id_and_is_reported() {
    let index = IndexFile::finalized(1, 9);
    let clean = index.bytes();
    // Change the third event's id. Omit the footer, because its checksum would no longer match.
    let place = 64 + 2 * 32 + 16;
    let wrong = patched(&index.without_footer(), place, &8_u32.to_le_bytes());
    let detail = DetailFile::finalized(1, 3).bytes();
    let (thread, found) = recovered("thread_7", &wrong, Some(&detail));
    assert_eq!(broken(&thread, "ATF-IEVT-003").len(), 1);
    let section = 64..clean.len() - 64;
    assert_eq!(found[0][section.clone()], wrong[section]);
}

#[test]
fn events_of_the_other_version_get_the_id_of_the_repaired_header() {
    let index = IndexFile::finalized(2, 9).bytes();
    let places = Places::new();
    let wrong = patched(&index, ID, &8_u32.to_le_bytes());
    places.put_thread("thread_7", wrong, DetailFile::finalized(2, 3).bytes());
    let report = places.convert("in", "out", Wire::V1);
    let thread = thread_of(&report);
    assert!(broken(&thread, "ATF-IEVT-003").is_empty(), "{report}");
    let reader = ThreadReader::open(places.path("out/thread_7")).unwrap();
    assert_eq!(reader.index().header().thread_id, 7);
    for event in reader.index().events_in(..) {
        assert_eq!(event.unwrap().thread_id, 7);
    }
}
