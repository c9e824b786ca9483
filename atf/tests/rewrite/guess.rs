//! Tests the reconstruction of unreadable headers.

use atf::index::IndexReader;
use atf::manifest::Manifest;
use atf::rewrite::RecoverOptions;

use crate::salvage::recovered;
use crate::{Places, files, thread_of, unlinked};
use atf_samples::files::{DetailFile, IndexFile, patched};

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
    let out = places.path("out");
    let index = IndexReader::open(out.join("thread_7/index.atf")).unwrap();
    assert_eq!(index.header().clock_type.0, 4);
    let manifest = Manifest::open(out.join("manifest.json")).unwrap();
    assert_eq!(manifest.clock_type.map(|clock| clock.0), Some(4));
}
