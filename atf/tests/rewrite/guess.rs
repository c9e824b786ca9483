//! Tests the reconstruction of unreadable headers.

use atf::index::IndexReader;
use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, Report, recover};

use crate::{Places, files, notes, thread_of};
use atf_samples::files::{DetailFile, IndexFile, patched};
use serde_json::Value;

/// Recovers thread 7 from these files, with salvage, and then recovers the result.
fn recovered(index: &[u8], detail: Option<&[u8]>) -> (Places, Report) {
    let places = Places::new();
    places.put("in/thread_7/index.atf", index);
    if let Some(detail) = detail {
        places.put("in/thread_7/detail.atf", detail);
    }
    let report = places.recover_twice(&RecoverOptions::default().salvage(true));
    (places, report)
}

/// Returns the notes on reconstructed headers, each with its file, field and text.
fn guesses(report: &Report) -> Vec<(String, String, String)> {
    let thread = thread_of(report);
    let notes = notes(&thread, "header_guessed").into_iter();
    let places = notes.flat_map(|note| note["first"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    places
        .map(|place| {
            ["file", "field", "found"]
                .map(|key| text(&place[key]))
                .into()
        })
        .collect()
}

#[test]
fn an_index_without_its_magic_keeps_the_rest_of_its_header() {
    for version in [1, 2] {
        let whole = IndexFile::finalized(version, 9).bytes();
        let detail = DetailFile::finalized(version, 3).bytes();
        let index = patched(&whole, 0, b"\0\0\0\0");
        let (places, report) = recovered(&index, Some(&detail));
        let words = format!(
            "assumed wire version {version}, thread_id 7, arch x86_64, os linux, clock boottime"
        );
        let guesses = guesses(&report);
        assert_eq!(guesses.len(), 1, "{report}");
        assert_eq!(
            (&*guesses[0].0, &*guesses[0].1),
            ("index.atf", "header.magic")
        );
        assert!(guesses[0].2.ends_with(&words), "{report}");
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
        assert!(guesses(&report)[0].2.ends_with(&words), "{report}");
        // Everything except the clock is reconstructed.
        let found = files(&places.path("out"));
        let expected = patched(&whole, 16, &[0]);
        assert!(found["thread_7/index.atf"] == expected, "{report}");
        assert!(found["thread_7/detail.atf"] == detail, "{report}");

        let events = IndexFile::finalized(version, 9).events;
        let alone = events.into_iter().map(|mut event| {
            event.detail_seq = None;
            event
        });
        let alone = IndexFile::new(version, alone.collect()).bytes();
        let (_, report) = recovered(&patched(&alone, 0, &[0; 64]), None);
        let words = format!(
            "assumed wire version {version}, thread_id 7, arch unknown, os unknown, clock unknown"
        );
        assert!(guesses(&report)[0].2.ends_with(&words), "{report}");
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
        let mut whole = IndexFile::finalized(1, 9);
        whole.events.iter_mut().for_each(|it| it.detail_seq = None);
        let index = patched(&whole.bytes(), 0, &[0; 64]);
        places.put("in/thread_7/index.atf", &index);
        for (id, machine) in (8..).zip(others) {
            let index = patched(&IndexFile::finalized(1, 0).bytes(), 6, machine);
            places.put(&format!("in/thread_{id}/index.atf"), &index);
        }
        let report = places.recover_by(&RecoverOptions::default().salvage(true));
        assert!(guesses(&report)[0].2.contains(words), "{report}");
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
        let guesses = guesses(&report);
        assert_eq!(guesses.len(), 2);
        let detail = ["detail.atf", "header", "assumed to match index.atf"].map(str::to_owned);
        assert!(guesses.contains(&detail.into()));
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
    let options = RecoverOptions::default().salvage(true);
    let out = places.path("out");
    recover(places.path("in"), &out, &options).unwrap();
    let index = IndexReader::open(out.join("thread_7/index.atf")).unwrap();
    assert_eq!(index.header().clock_type.0, 4);
    let manifest = Manifest::open(out.join("manifest.json")).unwrap();
    assert_eq!(manifest.clock_type.map(|clock| clock.0), Some(4));
}
