//! Tests what counts as a loss, and how the report shows losses.

use atf::Wire;
use atf::rewrite::{RecoverOptions, Report};
use serde_json::json;

use crate::{
    Places, count, files, left_behind, notes, session_of, thread_of, unlinked, without_details,
};
use atf_samples::files::{DetailFile, IndexFile, crc32c, patched};

/// Recovers thread 7 with these files, and then recovers the result.
fn thread(index: &[u8], detail: &[u8]) -> Report {
    let places = Places::new();
    places.put_thread("thread_7", index, detail);
    places.recover_twice(&RecoverOptions::default())
}

#[test]
fn zeros_that_match_the_checksum_were_written_and_are_kept() {
    for version in [1, 2] {
        let events = 64..64 + 9 * 32;
        let bytes = IndexFile::finalized(version, 9).bytes();
        let bytes = patched(&bytes, events.start + 4 * 32, &[0; 32]);
        let checksum = crc32c(&bytes[events.clone()]).to_le_bytes();
        let bytes = patched(&bytes, events.end + 4, &checksum);
        // Change the last time in the header, because an intact file would be copied unchanged.
        let bytes = patched(&bytes, 56, &[1]);
        let report = thread(&bytes, &DetailFile::finalized(version, 3).bytes());
        assert_eq!(report.events(), 9, "{report}");
        // Without a checksum, nothing proves that these events were written.
        let bytes = patched(&bytes, events.end + 4, &[0; 4]);
        let report = thread(&bytes, &DetailFile::finalized(version, 3).bytes());
        assert_eq!(report.events(), 4, "{report}");
    }
}

#[test]
fn an_invalid_manifest_is_a_loss() {
    let places = Places::with_index(without_details(1));
    places.put("in/manifest.json", "{\"symbols\"");
    let report = places.recover();
    assert_eq!(report.losses(), 1, "{report}");
    let line = "lost: the whole manifest: manifest.json: is not JSON: ";
    assert!(report.to_string().contains(line), "{report}");
    // An unreadable manifest is not reported as being wrong about the threads.
    assert!(!report.to_string().contains("was wrong"), "{report}");
}

#[test]
#[cfg(unix)]
fn names_never_break_lines_of_the_report() {
    let index = IndexFile::finalized(1, 9).bytes();
    let places = Places::with_index(&index);
    places.put("in/thread_7/a\nb", "x");
    places.put("in/thread_\n2/index.atf", &index);
    places.put("in/manifest.json", r#"{"a\nkey": 1}"#);
    let text = places.recover().to_string();
    assert!(text.contains("\n  thread_7/a\\u{a}b: not copied"), "{text}");
    assert!(text.contains("\n  thread_\\u{a}2: not read"), "{text}");
    let indented = |line: &str| line.starts_with("  ") || line.starts_with("session: ");
    assert!(text.lines().all(indented), "{text}");
}

#[test]
fn problems_are_counted_and_their_first_eight_places_listed() {
    let mut index = IndexFile::finalized(1, 20);
    index.events.iter_mut().for_each(|event| event.kind = 9);
    let places = Places::with_index(unlinked(index).bytes());
    let thread = thread_of(&places.convert("in", "out", Wire::V2));
    let kinds = notes(&thread, "content")[0];
    assert_eq!(kinds["rule"], "ATF-IEVT-002");
    let places = kinds["first"].as_array().unwrap().iter();
    let places: Vec<_> = places.map(|place| place["offset"].as_u64()).collect();
    let expected: Vec<_> = (0..8).map(|seq| Some(64 + 32 * seq + 20)).collect();
    assert_eq!(kinds["count"], 20);
    assert_eq!(places, expected);
    // The note covers every event but lists only one place.
    let depths = notes(&thread, "call_depth_lost")[0];
    assert_eq!(depths["count"], 20);
    assert_eq!(depths["first"].as_array().unwrap().len(), 1);
}

#[test]
fn counts_of_zero_are_omitted_from_the_json_report() {
    let index = IndexFile::finalized(1, 9).bytes();
    let detail = DetailFile::finalized(1, 3);
    let json = serde_json::to_value(thread(&index, &detail.bytes())).unwrap();
    let session = &json["sessions"][0];
    let found = &session["threads"][0];
    assert_eq!(found["events"], json!({"kept": 9}));
    assert_eq!(found["details"], json!({"kept": 3}));
    let missing = json!({
        "what": "manifest_missing", "rule": "ATF-MANI-001", "effect": "repaired", "count": 1,
        "first": [{"file": "manifest.json", "found": ""}],
    });
    let manifest = json!({"was_there": false, "modules": 0, "symbols": 0, "notes": [missing]});
    assert_eq!(session["manifest"], manifest);
    assert!(json.get("left_behind").is_none());

    // Damage the file before its second detail, and leave the index unfinalized.
    let second = usize::try_from(detail.places()[1]).unwrap();
    let footless = DetailFile::finalized(1, 3).placeholder().without_footer();
    let broken = patched(&footless, second, &5_u32.to_le_bytes());
    let places = Places::new();
    let footless = IndexFile::finalized(1, 9).placeholder().without_footer();
    places.put_thread("thread_7", footless, broken);
    places.put(
        "in/manifest.json",
        r#"{"threads": [], "time_start_ns": "x"}"#,
    );
    let report = places.recover_by(&RecoverOptions::default().salvage(true));
    let json = serde_json::to_value(&report).unwrap();
    let session = &json["sessions"][0];
    let found = &session["threads"][0];
    assert_eq!(found["details"], json!({"kept": 2, "salvaged": 1}));
    assert_eq!(session["manifest"]["problem_count"], 1);
    let note = |rule, file, offset| {
        json!({
            "what": "not_finalized",
            "rule": rule,
            "effect": "repaired",
            "count": 1,
            "first": [{"file": file, "field": "footer", "offset": offset, "found": "no footer"}],
        })
    };
    let detail = note("ATF-DFTR-001", "detail.atf", second);
    assert_eq!(found["notes"][0], detail);
    let index = note("ATF-IFTR-001", "index.atf", 64 + 9 * 32);
    assert_eq!(found["notes"][1], index);
    let problem = &session["manifest"]["problems"][0];
    assert_eq!(problem["rule"], "ATF-MANI-003");
    let dropped = &found["dropped"][0];
    assert_eq!(dropped["why"], "after_framing_problem");
    assert_eq!(dropped["rule"], "ATF-DFTR-010");
    let file = std::fs::read(places.path("out/recovery.json")).unwrap();
    let mut file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let action = file.as_object_mut().unwrap().remove("action");
    assert_eq!((action, &file), (Some(json!("recover")), session));
}

/// Writers set these bytes to 0, so the checksum matches the repaired file but not the original.
#[test]
fn repaired_bytes_that_the_checksum_covers_are_a_change() {
    let index = IndexFile::finalized(2, 9);
    let bytes = patched(&index.bytes(), 64 + 3 * 32 + 28, &[7]);
    let detail = DetailFile::finalized(2, 3).bytes();
    let report = thread(&bytes, &detail);
    assert!(report.changed() && report.losses() > 0, "{report}");
    assert_eq!(count(&thread_of(&report), "checksum_bad"), 1);
}

#[test]
fn a_manifest_half_written_by_a_killed_writer_is_not_a_loss() {
    let places = Places::with_index(without_details(1));
    places.put("in/manifest.json.part", "{");
    let report = places.recover();
    assert_eq!((report.events(), report.losses()), (9, 0), "{report}");
}

#[test]
fn a_complete_manifest_not_yet_renamed_by_a_killed_writer_is_kept() {
    let index = IndexFile::finalized(1, 9).placeholder().without_footer();
    let places = Places::with_index(index);
    let names = r#"{"symbols": [{"function_id": "0x1", "name": "main"}]}"#;
    places.put("in/manifest.json.part", names);
    let report = places.recover();
    let advice = "a complete manifest that was never renamed: to use it, rename it to manifest.json; \
                  a copy is in unreadable/";
    let left = left_behind(session_of(&report));
    assert_eq!(left, [["manifest.json.part", advice]]);
    let found = files(&places.path("out"));
    assert_eq!(found["unreadable/manifest.json.part"], names.as_bytes());
}

#[test]
fn details_lost_next_to_a_finalized_index_are_a_loss() {
    for version in [1, 2] {
        let whole = IndexFile::finalized(version, 9);
        // The second header was not yet rewritten, but the details are finalized before the index.
        for index in [whole.bytes(), whole.placeholder().bytes()] {
            let places = Places::with_index(index);
            let report = places.recover();
            assert_eq!(report.losses(), 3, "{report}");
        }
    }
}

#[test]
fn a_wrong_length_before_linked_details_is_not_a_torn_event() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9);
        let index = index.placeholder().without_footer();
        let file = DetailFile::finalized(version, 3).placeholder();
        let second = usize::try_from(file.places()[1]).unwrap();
        let detail = patched(&file.without_footer(), second + 3, &[1]);
        let report = thread(&index, &detail);
        let dropped = &thread_of(&report)["dropped"];
        assert_eq!(dropped.as_array().unwrap().len(), 1, "{report}");
        assert_eq!(dropped[0]["why"], "after_framing_problem", "{report}");
        assert_eq!(report.losses(), 1, "{report}");
        // The last detail is torn, so there is nothing to find.
        let report = thread(&index, &file.without_footer()[..detail.len() - 1]);
        assert_eq!(report.losses(), 0, "{report}");
    }
}
