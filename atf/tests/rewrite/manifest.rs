//! Tests the manifest of a recovered session, and names from another run's manifest.

use atf::clock::{MediaTime, TimingAnchor};
use atf::manifest::{Loss, Manifest};
use atf::rewrite::{
    ConvertOptions, CutOptions, RecoverOptions, Report, ScrubOptions, convert, cut, recover, scrub,
};
use atf::session::SessionReader;
use atf::{Clock, Wire};

use crate::{Places, count, files, session_of, unlinked};
use atf_samples::files::{DetailFile, IndexFile};

#[test]
fn a_new_manifest_lists_each_thread_with_its_details_and_covers_all_times() {
    // Thread 3 begins before thread 7 and ends after it.
    let mut early = IndexFile::finalized(1, 2);
    early.thread_id = 3;
    (early.events[0].timestamp_ns, early.events[1].timestamp_ns) = (1, 1 << 60);
    let late = IndexFile::finalized(1, 9);
    assert_eq!(late.thread_id, 7);
    let places = Places::new();
    places.put("in/thread_3/index.atf", early.without_footer());
    places.put_thread(
        "thread_7",
        late.without_footer(),
        DetailFile::finalized(1, 3).bytes(),
    );
    places.recover();

    let session = SessionReader::open(places.path("out")).unwrap();
    let manifest = session.manifest().unwrap();
    let threads = manifest.threads.iter().map(|t| (t.id, t.has_detail));
    let expected = [(3, Some(false)), (7, Some(true))];
    assert_eq!(threads.collect::<Vec<_>>(), expected);
    let times = (manifest.time_start_ns, manifest.time_end_ns);
    assert_eq!(times, (Some(1), Some(1 << 60)));
    assert_eq!(manifest.format_version.as_deref(), Some("2.0"));
    assert_eq!(session.threads().len(), 2);
}

#[test]
fn keys_written_by_another_tool_stay_as_they_are_and_in_order() {
    let places = Places::with_index(IndexFile::finalized(1, 9).bytes());
    // List no threads, so that the manifest is wrong and must be rewritten.
    let own =
        r#"{"x_tool": 1, "x_b": 1.50, "threads": [], "x_a": 2, "x_tool": {"run": [1, "two"]}}"#;
    places.put("in/manifest.json", own);
    places.recover();
    let text = std::fs::read(places.path("out/manifest.json")).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(found["threads"][0]["id"], 7);
    // If a member occurs twice, the last value is used, in the position of the first one.
    let text = String::from_utf8(text).unwrap();
    let end = "  \"x_tool\": {\"run\": [1, \"two\"]},\n  \"x_b\": 1.50,\n  \"x_a\": 2\n}\n";
    assert!(text.ends_with(end), "{text}");
}

const TIME: u64 = 0x0004_62d5_3c8a_0000;

/// Creates a thread with one event and no details.
fn thread() -> Places {
    Places::with_index(unlinked(IndexFile::finalized(2, 1)).bytes())
}

/// Creates such a thread, and a manifest.
fn session(manifest: &str) -> Places {
    let places = thread();
    places.put("in/manifest.json", manifest);
    places
}

/// Returns the correct manifest with one value replaced.
fn manifest(old: &str, new: &str) -> String {
    let text = format!(
        r#"{{ "format_version": "2.0",
        "threads": [ {{"id": 7, "has_detail": false}} ],
        "time_start_ns": {TIME}, "time_end_ns": {TIME}, "clock_type": 3 }}"#
    );
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[test]
fn a_correct_manifest_stays_unchanged() {
    for own in [
        manifest("7", "7"),
        manifest(
            r#""clock_type""#,
            r#""modules": [{"module_id": 1}], "clock_type""#,
        ),
        manifest(
            r#""clock_type""#,
            r#""timing_anchors": [{"host_time_ns": 1, "media_time": 2, "media_timescale": 3}],
            "clock_type""#,
        ),
        manifest(r#""has_detail""#, r#""name": "ui", "has_detail""#),
    ] {
        let places = session(&own);
        let report = places.recover();
        assert!(!report.changed(), "{report}");
        let found = files(&places.path("out"));
        assert_eq!(found["manifest.json"], own.as_bytes());
        assert_eq!(found.len(), 2);
    }
}

#[test]
fn wrong_values_are_repaired_and_reported_as_a_change() {
    let time = &TIME.to_string();
    let start = format!("\"time_start_ns\": {time}");
    let end = format!("\"time_end_ns\": {time}");
    for (old, new) in [
        (r#""2.0""#, r#""2.1""#),
        ("false", "true"),
        (r#", "has_detail": false"#, ""),
        (&*start, r#""time_start_ns": 0"#),
        (&*end, r#""time_end_ns": 0"#),
        (r#""clock_type": 3"#, r#""clock_type": 4"#),
        // Test a thread that is listed twice, and text that is not a valid manifest.
        ("false} ", r#"false}, {"id": 7} "#),
        ("{", "?"),
    ] {
        let places = session(&manifest(old, new));
        let report = places.recover();
        assert!(report.changed(), "{new}: {report}");
        assert!(places.path("out/recovery.json").is_file(), "{new}");
        let found = places.manifest("out");
        assert_eq!(found.problem_count, 0, "{new}");
        assert_eq!(found.format_version.as_deref(), Some("2.0"), "{new}");
        let thread = (found.threads[0].id, found.threads[0].has_detail);
        assert_eq!((found.threads.len(), thread), (1, (7, Some(false))));
        let times = (found.time_start_ns, found.time_end_ns);
        assert_eq!(times, (Some(TIME), Some(TIME)), "{new}");
        assert_eq!(found.clock_type, Some(Clock(3)), "{new}");
    }
}

#[test]
fn additions_from_another_manifest_are_written() {
    for (other, modules, symbols) in [
        (
            r#"{"modules": [{"module_id": 1, "path": "/bin/app"}]}"#,
            1,
            0,
        ),
        (
            r#"{"symbols": [{"function_id": "0x0000000100000001", "name": "one"}]}"#,
            0,
            1,
        ),
    ] {
        let places = session(&manifest("7", "7"));
        let other = Some(Manifest::parse(other.as_bytes()));
        let report = places.recover_by(&RecoverOptions::default().symbols(other));
        assert!(report.changed(), "{report}");
        let found = places.manifest("out");
        let counts = (found.modules.len(), found.symbols.len());
        assert_eq!(counts, (modules, symbols));
    }
}

#[test]
fn unknown_keys_stay_except_those_whose_values_a_strict_parser_would_refuse() {
    const KEPT: &str = r#""note": {"a": [1, -2, 0.5, "b", null, true, [], {}]}"#;
    for (other, is_kept) in [
        ("[{\"a\": 1e999}]", false),
        (r#"["\ud800"]"#, false),
        ("[1e9]", true),
    ] {
        let keys = format!(r#"{KEPT}, "other": {other}, "clock_type""#);
        let own = manifest(r#""clock_type""#, &keys);
        let places = session(&own);
        let outs = ["out", "cut"].map(|name| places.path(name));
        let reports = [
            places.recover(),
            cut(places.path("in"), &outs[1], &CutOptions::default()).unwrap(),
        ];
        for (out, report) in outs.iter().zip(reports) {
            let text = std::fs::read_to_string(out.join("manifest.json")).unwrap();
            let found = [KEPT, other].map(|value| text.contains(value));
            assert_eq!(found, [true, is_kept], "{text}");
            let line = "lost: an unknown key: manifest.json: other [ATF-MANI-011]\n";
            assert_eq!(report.to_string().contains(line), !is_kept, "{report}");
        }
        // A recovery keeps the dropped value in the original manifest.
        let found = files(&outs[0]);
        let aside = found.get("unreadable/manifest.json");
        assert_eq!(
            aside.map(Vec::as_slice),
            (!is_kept).then_some(own.as_bytes())
        );
    }
}

#[test]
fn names_that_do_not_fit_into_a_new_manifest_are_reported_as_lost() {
    // The times are missing, so the manifest is rewritten.
    let symbols = (0..100).map(|id| format!(r#"{{"function_id": "{id:#x}", "name": "f"}}"#));
    let symbols: Vec<_> = symbols.collect();
    let symbols = symbols.join(", ");
    let threads = r#"[{"id": 7, "name": "ui"}]"#;
    let own = format!(r#"{{"threads": {threads}, "symbols": [{symbols}]}}"#);
    let places = session(&own);
    let (path, limit) = (places.path("in"), Some(1000));
    let outs = ["recovered", "scrubbed"].map(|name| places.path(name));
    let one = RecoverOptions::default().manifest_limit(limit);
    let two = ScrubOptions::default().manifest_limit(limit);
    let reports = [
        recover(&path, &outs[0], &one).unwrap(),
        scrub(&path, &outs[1], &two).unwrap(),
    ];
    for ((out, report), keeps_rest) in outs.iter().zip(reports).zip([true, false]) {
        assert_eq!((report.events(), report.losses()), (1, 1), "{report}");
        let text = report.to_string();
        let lost = "lost: the function names, with which the manifest would be too large to read: \
                    manifest.json: symbols: ";
        assert!(text.contains(lost), "{text}");
        let is_kept = text.contains("; the original is in unreadable/\n");
        assert_eq!(is_kept, keeps_rest, "{text}");
        let aside = std::fs::read_to_string(out.join("unreadable/manifest.json")).ok();
        assert_eq!(aside, keeps_rest.then(|| own.clone()));
        let new = Manifest::open(out.join("manifest.json")).unwrap();
        assert_eq!((new.problem_count, new.symbols.len()), (0, 0));
        let names = new.threads.iter().filter_map(|it| it.name.as_deref());
        assert_eq!(names.collect::<Vec<_>>(), ["ui"]);
    }
}

#[test]
fn a_correct_manifest_is_scrubbed_of_unknown_keys() {
    let own = manifest(r#""clock_type""#, r#""note": "hunter2!", "clock_type""#);
    let places = session(&own);
    let report = places.scrub("out");
    let found = files(&places.path("out"));
    let text = String::from_utf8_lossy(&found["manifest.json"]);
    assert!(!text.contains("hunter2!"), "{text}");
    assert!(report.changed(), "{report}");
    // A scrub rewrites every manifest, even one without unknown keys, so the original formatting is
    // lost.
    let places = session(&manifest("7", "7"));
    places.scrub("out");
    let found = files(&places.path("out"));
    assert!(found["manifest.json"] != manifest("7", "7").as_bytes());
}

#[test]
fn names_losses_offsets_and_anchors_stay_in_every_copy() {
    let own = manifest(
        "false} ]",
        r#"false, "name": "ui", "lost_events": {"count": 3, "first_ns": 1, "last_ns": 2},
        "lost_details": {"count": 4, "first_ns": 5, "last_ns": 6}} ],
        "modules": [{"module_id": 1, "function_offsets": false}],
        "timing_anchors": [{"host_time_ns": 7, "media_time": -8, "media_timescale": 9}],
        "lost_events": {"count": 9, "first_ns": 8, "last_ns": 8}, "unwritten_events": 64,
        "ended_by": "SIGKILL", "clock_error_ns": 31, "detail_fields": true, "drops_events": true"#,
    );
    // The wrong time ensures that the manifest is rewritten instead of copied.
    let own = own.replace(&format!("\"time_end_ns\": {TIME}"), "\"time_end_ns\": 0");
    let places = session(&own);
    let report = places.recover();
    let line = "the tracer was killed: up to 64 events of each thread are missing, plus those dropped after the last update of the manifest\n";
    assert!(report.to_string().contains(line), "{report}");
    let json = serde_json::to_string(&report).unwrap();
    let line = r#""unwritten_events":64,"drops_events":true"#;
    assert!(json.contains(line), "{json}");
    places.convert("in", "converted", Wire::V1);
    places.scrub("scrubbed");
    for out in ["out", "converted", "scrubbed"] {
        let found = places.manifest(out);
        let has_fields = (out != "scrubbed").then_some(true);
        assert_eq!(found.detail_fields, has_fields);
        assert_eq!(found.time_end_ns, Some(TIME));
        let thread = &found.threads[0];
        assert_eq!(thread.name.as_deref(), Some("ui"));
        assert_eq!(thread.lost_events, Some(Loss::new(3, 1, 2)));
        assert_eq!(thread.lost_details, Some(Loss::new(4, 5, 6)));
        assert_eq!(found.modules[0].function_offsets, Some(false));
        let anchor = TimingAnchor::new(7, MediaTime::new(-8, 9));
        assert_eq!(found.timing_anchors, [anchor]);
        assert_eq!(found.lost_events, Some(Loss::new(9, 8, 8)));
        assert_eq!(found.unwritten_events, Some(64));
        assert_eq!(found.drops_events, Some(true));
        assert_eq!(found.ended_by.as_deref(), Some("SIGKILL"));
        assert_eq!(found.clock_error_ns, Some(31));
    }
}

#[test]
fn a_thread_with_two_folders_has_details_if_either_folder_has() {
    for with_details in ["thread_07", "thread_7"] {
        let places = Places::new();
        for folder in ["thread_07", "thread_7"] {
            let index = IndexFile::finalized(2, 3).bytes();
            places.put(&format!("in/{folder}/index.atf"), index);
        }
        let detail = DetailFile::finalized(2, 1).bytes();
        places.put(&format!("in/{with_details}/detail.atf"), detail);
        places.recover();
        let threads = places.manifest("out").threads;
        let threads: Vec<_> = threads.iter().map(|t| (t.id, t.has_detail)).collect();
        assert_eq!(threads, [(7, Some(true))]);
    }
}

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

/// Recovers a session with the names of another manifest.
fn recovered(places: &Places, other: &str) -> Report {
    let other = Manifest::parse(other.as_bytes());
    places.recover_twice(&RecoverOptions::default().symbols(Some(other)))
}

/// Returns the names of the functions.
fn names(manifest: &Manifest) -> Vec<(u64, &str)> {
    { manifest.symbols.iter() }
        .map(|symbol| (symbol.function_id, symbol.name.as_deref().unwrap()))
        .collect()
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
    let places = session(own);
    let report = recovered(&places, OTHER);
    let manifest = &session_of(&report)["manifest"];
    assert_eq!(manifest["symbols_taken"], 3);
    assert_eq!(manifest["symbols"], 4);
    let text = report.to_string();
    assert!(text.contains("repaired: 1 problem, first manifest.json: symbols[0].name: is empty"));
    // Nothing is lost, so nothing is set aside.
    let found = files(&places.path("out"));
    assert!(!found.keys().any(|path| path.contains("unreadable")));

    let places = session(own);
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
    let places = session(own);
    let report = recovered(&places, OTHER);
    let manifest = &session_of(&report)["manifest"];
    assert_eq!(manifest["symbols_taken"], 2);
    assert_eq!(manifest["modules"], 2);
    assert_eq!(count(manifest, "other_build"), 0);
    let manifest = places.manifest("out");
    let mut found = names(&manifest);
    found.sort_unstable();
    assert_eq!(found, [ALL[0], (0x1_0000_0002, "own"), ALL[2]]);
}

#[test]
fn the_manifests_version_depends_on_the_written_content() {
    let own = r#"{"format_version": "2.1", "threads": [{"id": 7, "has_detail": false}]}"#;
    for (other, version) in [("{}", "2.0"), (OTHER, "2.1")] {
        let places = session(own);
        recovered(&places, other);
        let found = places.manifest("out").format_version;
        assert_eq!(found.as_deref(), Some(version));
    }
}

#[test]
fn a_manifest_without_names_adds_none() {
    for other in ["", "no JSON", "[]", "{}"] {
        let places = thread();
        let report = recovered(&places, other);
        let manifest = &session_of(&report)["manifest"];
        assert!(manifest.get("symbols_taken").is_none());
        assert_eq!(manifest["symbols"], 0);
    }
}

#[test]
fn names_can_be_added_while_converting() {
    let places = thread();
    let options = ConvertOptions::default().symbols(Some(Manifest::parse(OTHER.as_bytes())));
    convert(places.path("in"), places.path("out"), Wire::V1, &options).unwrap();
    assert_eq!(names(&places.manifest("out")), ALL);
}
