//! Adds names from another run's manifest.

use atf::Wire;
use atf::manifest::Manifest;
use atf::rewrite::{ConvertOptions, RecoverOptions, Report, convert};
use atf::session::SessionReader;

use crate::{Places, count, files, session_of, unlinked};
use atf_samples::files::IndexFile;

/// A manifest with modules 1 and 2, both with build ids and named functions.
const OTHER: &str = r#"{"format_version": "2.1", "threads": [],
    "modules": [
        {"module_id": 1, "path": "/app", "base_address": "0x1000", "size": 16, "uuid": "AA-01"},
        {"module_id": 2, "path": "/lib", "base_address": "0x2000", "size": 16, "uuid": "AA-02"}],
    "symbols": [
        {"function_id": "0x0000000100000001", "module_id": 1, "symbol_index": 1, "name": "one"},
        {"function_id": "0x0000000100000002", "module_id": 1, "symbol_index": 2, "name": "two"},
        {"function_id": "0x0000000200000001", "module_id": 2, "symbol_index": 1, "name": "three"}
    ]}"#;

fn session(manifest: Option<&str>) -> Places {
    let index = unlinked(IndexFile::finalized(1, 3)).bytes();
    let places = Places::with_index(index);
    if let Some(text) = manifest {
        places.put("in/manifest.json", text);
    }
    places
}

/// Recovers a session with the names of another manifest.
fn recovered(places: &Places, other: &str) -> Report {
    let other = Manifest::parse(other.as_bytes());
    places.recover_twice(&RecoverOptions::default().symbols(Some(other)))
}

/// Returns the names of a session's functions.
fn names(places: &Places, out: &str) -> Vec<(u64, String)> {
    let session = SessionReader::open(places.path(out)).unwrap();
    let symbols = &session.manifest().unwrap().symbols;
    symbols
        .iter()
        .map(|symbol| (symbol.function_id, symbol.name.clone().unwrap()))
        .collect()
}

fn expected(names: &[(u64, &str)]) -> Vec<(u64, String)> {
    let own = |(id, name): &(u64, &str)| (*id, (*name).to_owned());
    names.iter().map(own).collect()
}

const ALL: [(u64, &str); 3] = [
    (0x1_0000_0001, "one"),
    (0x1_0000_0002, "two"),
    (0x2_0000_0001, "three"),
];

#[test]
fn a_function_without_a_name_gets_the_other_manifests_name_if_any() {
    let own = r#"{"format_version": "2.1", "threads": [{"id": 7, "has_detail": false}],
        "time_start_ns": 1000, "time_end_ns": 1020, "clock_type": 1,
        "symbols": [{"function_id": "0x0000000100000001", "name": ""},
            {"function_id": "0x0000000300000001"}]}"#;
    let places = session(Some(own));
    let report = recovered(&places, OTHER);
    let manifest = &session_of(&report)["manifest"];
    assert_eq!(manifest["symbols_taken"], 3);
    assert_eq!(manifest["symbols"], 4);
    let text = report.to_string();
    assert!(text.contains("repaired: 1 problem, first manifest.json: symbols[0].name: is empty"));
    // Nothing is lost, so nothing is set aside.
    let found = files(&places.path("out"));
    assert!(!found.keys().any(|path| path.contains("unreadable")));

    let places = session(Some(own));
    let report = places.recover();
    assert_eq!(report.losses(), 0, "{report}");
    let text = std::fs::read_to_string(places.path("out/manifest.json")).unwrap();
    assert!(!text.contains("\"name\""), "{text}");
    assert!(text.contains("0x0000000300000001"), "{text}");
}

#[test]
fn the_sessions_names_are_kept_and_missing_ones_are_added() {
    let own = r#"{"format_version": "2.1", "threads": [{"id": 7, "has_detail": false}],
        "modules": [{"module_id": 1, "path": "/app", "base_address": "0x1000", "size": 16,
            "uuid": "aa-01"}],
        "symbols": [{"function_id": "0x0000000100000002", "module_id": 1, "symbol_index": 2,
            "name": "own"}]}"#;
    let places = session(Some(own));
    let report = recovered(&places, OTHER);
    let manifest = &session_of(&report)["manifest"];
    assert_eq!(manifest["symbols_taken"], 2);
    assert_eq!(manifest["modules"], 2);
    assert_eq!(count(manifest, "other_build"), 0);
    let mut found = names(&places, "out");
    found.sort();
    let own = [ALL[0], (0x1_0000_0002, "own"), ALL[2]];
    assert_eq!(found, expected(&own));
}

#[test]
fn the_manifests_version_depends_on_the_written_content() {
    let own = r#"{"format_version": "2.1", "threads": [{"id": 7, "has_detail": false}]}"#;
    for (other, version) in [("{}", "2.0"), (OTHER, "2.1")] {
        let places = session(Some(own));
        recovered(&places, other);
        let session = SessionReader::open(places.path("out")).unwrap();
        let manifest = session.manifest().unwrap();
        assert_eq!(manifest.format_version.as_deref(), Some(version));
    }
}

#[test]
fn a_manifest_without_names_adds_none() {
    for other in ["", "no JSON", "[]", "{}"] {
        let places = session(None);
        let report = recovered(&places, other);
        let manifest = &session_of(&report)["manifest"];
        assert!(manifest.get("symbols_taken").is_none());
        assert_eq!(manifest["symbols"], 0);
    }
}

#[test]
fn names_can_be_added_while_converting() {
    let places = session(None);
    let options = ConvertOptions::default().symbols(Some(Manifest::parse(OTHER.as_bytes())));
    convert(places.path("in"), places.path("out"), Wire::V2, &options).unwrap();
    assert_eq!(names(&places, "out"), expected(&ALL));
}
