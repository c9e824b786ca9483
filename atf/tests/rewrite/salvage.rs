//! Tests that salvaging past holes and damage finds exactly the original details, and nothing that
//! merely looks like a detail, and that it reconstructs unreadable headers.

use atf::index::IndexReader;
use atf::rewrite::{RecoverOptions, Report};
use atf::thread::ThreadReader;
use serde_json::{Value, json};

use crate::{Places, files, notes, thread_of, unlinked};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, patched};

/// The offset of the first detail in bytes.
const START: usize = 64;
/// The size of a call's detail in bytes.
const CALL: usize = 124;
const TIME: u64 = 0x0004_62d5_3c8a_0000;

/// Returns an index of version 1 in which every third event has a detail.
fn index(count: u64) -> Vec<u8> {
    IndexFile::finalized(1, count).bytes()
}

/// Returns `count` details, one for each third event.
fn calls(count: u64) -> Vec<DetailRecord> {
    let call = |seq| DetailRecord::call(3 * seq, TIME + 3000 * seq, 0);
    (0..count).map(call).collect()
}

/// Recovers thread 7 from these files, with salvage, and then recovers the result.
fn recovered(index: &[u8], detail: Option<&[u8]>) -> (Places, Report) {
    let places = Places::with_index(index);
    if let Some(detail) = detail {
        places.put("in/thread_7/detail.atf", detail);
    }
    let report = salvaged(&places);
    (places, report)
}

fn salvaged(places: &Places) -> Report {
    places.recover_twice(&RecoverOptions::default().salvage(true))
}

/// Returns the offsets of the salvaged details.
fn found(report: &Report) -> Vec<u64> {
    let thread = thread_of(report);
    let notes = notes(&thread, "detail_salvaged").into_iter();
    let places = notes.flat_map(|note| note["first"].as_array().unwrap());
    places
        .map(|place| place["offset"].as_u64().unwrap())
        .collect()
}

/// Returns the positions of the events with details in the new trace.
fn with_details(places: &Places) -> Vec<u64> {
    let thread = ThreadReader::open(places.path("out/thread_7")).unwrap();
    let events = (0..).zip(thread.index().events_in(..));
    let linked = events.filter(|(_, event)| event.as_ref().unwrap().detail_seq.is_some());
    linked.map(|(seq, _)| seq).collect()
}

fn number(size: usize) -> [u8; 4] {
    u32::try_from(size).unwrap().to_le_bytes()
}

#[test]
fn a_copy_in_another_details_payload_is_not_mistaken_for_the_detail() {
    // No event refers to the first detail, whose stack contains a copy of event 9's detail. The
    // third detail has an impossible length.
    let mut details = calls(4);
    let copied = DetailFile::new(1, vec![details[3].clone()]).section();
    details[0].payload.extend(copied);
    details[0].index_seq = 77;
    let file = DetailFile::new(1, details.clone());
    let places = file.places();
    let broken = usize::try_from(places[2]).unwrap();
    let bytes = patched(&file.without_footer(), broken, &number(5));
    let (out, report) = recovered(&index(12), Some(&bytes));
    assert_eq!(with_details(&out), [3, 9]);
    assert_eq!(found(&report), [places[3]], "{report}");
    let aside = DetailFile::new(1, details[..1].to_vec()).bytes();
    assert!(files(&out.path("out"))["thread_7/orphans.atf"] == aside);
}

#[test]
fn details_skipped_by_a_damaged_length_are_found() {
    // The second detail has the length of three details, and its event does not exist. A walk along
    // the lengths therefore skips the third and the fourth detail. No event refers to the fourth.
    let mut details = calls(6);
    details[3].index_seq = 77;
    let bytes = DetailFile::new(1, details).placeholder().without_footer();
    let second = START + CALL;
    let bytes = patched(&bytes, second, &number(3 * CALL));
    let bytes = patched(&bytes, second + 8, &number(88));
    let (out, report) = recovered(&index(18), Some(&bytes));
    assert_eq!(with_details(&out), [0, 6, 12, 15]);
    let offsets = [2, 4, 5].map(|seq| (START + seq * CALL) as u64);
    assert_eq!(found(&report), offsets, "{report}");
    let thread = thread_of(&report);
    assert_eq!(thread["details"]["salvaged"], 3);
    // Only the second and the fourth are dropped.
    assert!(thread.get("set_aside").is_none(), "{report}");
    let line = "    dropped: bytes that overlap with details found by their links: \
                detail.atf: 248 bytes (at 0xbc and 1 place more)\n";
    assert!(report.to_string().contains(line), "{report}");
    assert_eq!(thread["dropped"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn bytes_that_look_like_a_detail_do_not_displace_found_details() {
    // As above, but the second detail ends inside the fourth, at bytes that look like a detail and
    // extend to the start of the fifth.
    let mut details = calls(5);
    let look_alike = [&number(60)[..], &[9; 56]].concat();
    let payload = &mut details[3].payload;
    let keep = payload.len() - look_alike.len();
    payload.splice(keep.., look_alike);
    let bytes = DetailFile::new(1, details).placeholder().without_footer();
    let second = START + CALL;
    let bytes = patched(&bytes, second, &number(3 * CALL - 60));
    let bytes = patched(&bytes, second + 8, &number(88));
    let (out, report) = recovered(&index(15), Some(&bytes));
    assert_eq!(with_details(&out), [0, 6, 9, 12]);
    let dropped = json!([{
        "file": "detail.atf", "why": "overlap", "count": 1, "offset": second, "size": CALL,
    }]);
    assert_eq!(thread_of(&report)["dropped"], dropped, "{report}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_detail_after_a_hole_is_found_without_reading_the_hole() {
    use std::os::unix::fs::FileExt as _;

    const HOLE: u64 = 1 << 40;
    let places = Places::with_index(index(6));
    let mut details = calls(2);
    // The length is 0x100, so its first byte is 0 and may be in the hole.
    details[1].payload.resize(0x100 - 24, 7);
    let last = DetailFile::new(1, details.split_off(1)).section();
    let first = DetailFile::new(1, details).placeholder().without_footer();
    places.put("in/thread_7/detail.atf", &first);
    let path = places.path("in/thread_7/detail.atf");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&last[1..], HOLE).unwrap();
    let report = salvaged(&places);
    assert_eq!(with_details(&places), [0, 3]);
    assert_eq!(found(&report), [HOLE - 1], "{report}");
}

#[test]
fn a_length_that_leads_into_a_damaged_footer_yields_no_detail() {
    let file = DetailFile {
        footer_bytes: 1,
        ..DetailFile::new(1, calls(3))
    };
    let last = START + 2 * CALL;
    let bytes = patched(&file.bytes(), last, &number(CALL + 64));
    let (out, report) = recovered(&index(9), Some(&bytes));
    assert_eq!(with_details(&out), [0, 3], "{report}");
    assert!(found(&report).is_empty(), "{report}");
}

#[test]
fn details_of_events_after_a_hole_are_set_aside_with_them_byte_for_byte() {
    // Both events sections begin later than necessary. Event 4 never reached the disk, the third
    // detail has an impossible length, and the headers contain wrong values.
    let file = IndexFile {
        events_offset: 96,
        footer_offset: 96 + 15 * 32,
        header_times: (1, 2),
        ..IndexFile::finalized(1, 15)
    };
    let hole = patched(&file.section(), 4 * 32, &[0; 32]);
    let index = [&file.header()[..], &[0; 32], &hole, &file.footer()].concat();
    let details = DetailFile {
        events_offset: 96,
        index_seqs: (0, 99),
        ..DetailFile::new(1, calls(5))
    };
    let broken = patched(&details.section(), 2 * CALL, &number(5));
    let header = patched(&details.header(), 8, &[7]);
    let detail = [&header[..], &[0; 32], &broken, &details.footer()].concat();
    let (out, report) = recovered(&index, Some(&detail));
    assert_eq!(with_details(&out), [0, 3]);
    let thread = thread_of(&report);
    assert_eq!(thread["events"], json!({"kept": 4, "salvaged": 10}));

    // The events set aside keep their links and positions in the original file.
    let mut rest = IndexFile::new(1, file.events[5..].to_vec());
    rest.flags = 0;
    let found = files(&out.path("out"));
    assert!(found["thread_7/salvaged.atf"] == rest.bytes());
    let rest = DetailFile::new(1, details.events[3..].to_vec());
    assert!(found["thread_7/orphans.atf"] == rest.bytes());
    let aside = thread["set_aside"].as_array().unwrap().iter();
    let found = aside.map(|it| (&it["file"], &it["from"], &it["runs"]));
    let run = |seq, offset, count| json!([{"seq": seq, "offset": offset, "count": count}]);
    let [events, rest] = [run(5, 96 + 5 * 32, 10), run(3, 96 + 3 * CALL, 2)];
    let names = ["salvaged.atf", "index.atf", "orphans.atf", "detail.atf"].map(Value::from);
    let expected = [
        (&names[0], &names[1], &events),
        (&names[2], &names[3], &rest),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn the_header_of_a_truncated_index_without_its_magic_is_also_guessed() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9).placeholder();
        let index = patched(&index.without_footer(), 0, b"????");
        let detail = DetailFile::finalized(version, 3).bytes();
        // Truncate the last event before its kind.
        let (_, report) = recovered(&index[..index.len() - 16], Some(&detail));
        assert_eq!((report.events(), report.details()), (8, 3), "{report}");
    }
}

#[test]
fn the_first_64_runs_are_listed_and_all_are_counted() {
    // Every second detail has an event, so each orphan is a separate run, except for the last two,
    // which are consecutive.
    let events = (0..150_u64).map(|seq| {
        let mut event = IndexFile::finalized(1, 1).events[0].clone();
        event.detail_seq = (seq % 2 == 0).then_some(seq);
        event
    });
    let index = IndexFile::new(1, events.collect());
    let details = (0..151).map(|seq| DetailRecord::call(seq, TIME, 0));
    let detail = DetailFile::new(1, details.collect());
    let (_, report) = recovered(&index.bytes(), Some(&detail.bytes()));
    let aside = &thread_of(&report)["set_aside"][0];
    assert_eq!(aside["count"], 76);
    let runs = (0..64).map(|at| 2 * at + 1);
    let runs = runs.map(|seq| json!({"seq": seq, "offset": START + CALL * seq, "count": 1}));
    assert_eq!(aside["runs"], runs.collect::<Value>());

    let (_, report) = recovered(&index.bytes()[..64 + 32 * 2], Some(&detail.bytes()));
    let aside = &thread_of(&report)["set_aside"][0];
    let run = json!([{"seq": 1, "offset": START + CALL, "count": 150}]);
    assert_eq!(aside["runs"], run);
}

#[test]
fn many_details_after_damage_are_each_recovered_once() {
    let bytes = DetailFile::new(1, calls(200))
        .placeholder()
        .without_footer();
    let bytes = patched(&bytes, START, &number(5));
    let (out, report) = recovered(&index(600), Some(&bytes));
    let expected: Vec<_> = (1..200).map(|seq| 3 * seq).collect();
    assert_eq!(with_details(&out), expected);
    assert!(thread_of(&report).get("set_aside").is_none(), "{report}");
}

#[test]
fn an_index_without_its_magic_keeps_the_rest_of_its_header() {
    for version in [1, 2] {
        let whole = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let index = patched(&whole, 0, b"\0\0\0\0");
        let (places, report) = recovered(&index, Some(&detail));
        let found = files(&places.path("out"));
        assert!(found["thread_7/index.atf"] == whole, "{report}");
        assert!(found["thread_7/detail.atf"] == detail, "{report}");
        assert!(found["unreadable/thread_7/index.atf"] == index);
    }
}

#[test]
fn a_header_of_zeros_is_reconstructed_from_the_detail_file_and_the_folder() {
    for version in [1, 2] {
        let whole = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let index = patched(&whole, 0, &[0; 64]);
        let (places, report) = recovered(&index, Some(&detail));
        let words = format!(
            "assumed wire version {version}, thread_id 7, arch x86_64, os linux, clock unknown"
        );
        assert!(report.to_string().contains(&words), "{report}");
        // Everything except the clock is reconstructed.
        let found = files(&places.path("out"));
        let expected = patched(&whole, 16, &[0]);
        assert!(found["thread_7/index.atf"] == expected, "{report}");
        assert!(found["thread_7/detail.atf"] == detail, "{report}");

        let alone = unlinked(IndexFile::finalized(version, 9)).bytes();
        let (_, report) = recovered(&patched(&alone, 0, &[0; 64]), None);
        let words = format!(
            "assumed wire version {version}, thread_id 7, arch unknown, os unknown, clock unknown"
        );
        assert!(report.to_string().contains(&words), "{report}");
        assert_eq!(report.events(), 9);
    }
}

#[test]
fn a_header_of_zeros_gets_the_other_threads_machine_unless_they_differ() {
    for (others, words) in [
        (&[[1, 4], [1, 4]][..], "arch x86_64, os linux,"),
        (&[[9, 9], [2, 3]], "arch arm64, os macos,"),
        (&[[1, 4], [2, 4]], "arch unknown, os unknown,"),
    ] {
        let places = Places::new();
        let whole = unlinked(IndexFile::finalized(1, 9)).bytes();
        let index = patched(&whole, 0, &[0; 64]);
        places.put("in/thread_7/index.atf", &index);
        for (id, machine) in (8..).zip(others) {
            let index = patched(&IndexFile::finalized(1, 0).bytes(), 6, machine);
            places.put(&format!("in/thread_{id}/index.atf"), &index);
        }
        let report = places.recover_by(&RecoverOptions::default().salvage(true));
        assert!(report.to_string().contains(words), "{report}");
    }
}

#[test]
fn two_headers_of_zeros_keep_all_events_and_details() {
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let broken = [index, detail].map(|bytes| patched(&bytes, 0, &[0; 64]));
        let (places, report) = recovered(&broken[0], Some(&broken[1]));
        assert_eq!((report.events(), report.details()), (9, 3), "{report}");
        let found = files(&places.path("out"));
        assert!(found["unreadable/thread_7/index.atf"] == broken[0]);
        assert!(found["unreadable/thread_7/detail.atf"] == broken[1]);
    }
}

#[test]
fn nothing_is_guessed_if_the_events_fit_no_version() {
    let without_magic = |version| {
        let index = IndexFile::finalized(version, 9).bytes();
        patched(&index, 0, b"\0\0\0\0")
    };
    // Put kind 99 at the offsets of both versions.
    let kinds = (0..9).fold(without_magic(1), |index, seq| {
        let event = 64 + seq * 32;
        patched(&patched(&index, event + 20, &[99]), event + 24, &[99])
    });
    // Set a reserved byte.
    let reserved = patched(&without_magic(2), 64 + 25, &[1]);
    // Give the second event a different thread id.
    let threads = patched(&without_magic(1), 64 + 32 + 16, &[9]);
    for index in [kinds, reserved, threads] {
        let (places, report) = recovered(&index, None);
        let thread = thread_of(&report);
        assert!(thread.get("not_recovered").is_some(), "{report}");
        let found = files(&places.path("out"));
        assert!(found["unreadable/thread_7/index.atf"] == index);
    }
}

#[test]
fn an_unknown_clock_is_taken_from_the_manifest() {
    let index = IndexFile::finalized(1, 9);
    let places = Places::new();
    let damaged = patched(&index.bytes(), 0, &[0; 64]);
    places.put("in/thread_7/index.atf", damaged);
    let manifest = r#"{"format_version": "2.0", "threads": [{"id": 7}], "clock_type": 4}"#;
    places.put("in/manifest.json", manifest);
    places.recover_by(&RecoverOptions::default().salvage(true));
    let index = IndexReader::open(places.path("out/thread_7/index.atf")).unwrap();
    assert_eq!(index.header().clock_type.0, 4);
    let clock = places.manifest("out").clock_type;
    assert_eq!(clock.map(|clock| clock.0), Some(4));
}
