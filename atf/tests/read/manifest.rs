//! Tests which parts of `manifest.json` are read, and where problems are reported.

use std::fs;

use atf::clock::{MediaTime, TimingAnchor};
use atf::manifest::{Loss, Manifest, Module, Symbol};
use atf::session::SessionReader;
use atf::{Clock, ErrorKind, OpenOptions};

use crate::session::add_thread;
use atf_samples::files::IndexFile;

fn kinds(bytes: &[u8]) -> Vec<ErrorKind> {
    kinds_of(&Manifest::parse(bytes))
}

fn kinds_of(manifest: &Manifest) -> Vec<ErrorKind> {
    let problems = manifest.problems.iter();
    problems.map(|problem| problem.kind().clone()).collect()
}

#[test]
fn every_part_of_a_manifest_is_read_and_written() {
    let text = r#"{"threads": [
        {"id": 1, "name": "caf\u00e9", "has_detail": false, "lost_events":
         {"count": 18446744073709551615, "first_ns": 0, "last_ns": 9}, "lost_details":
         {"last_ns": 8, "first_ns": 7, "count": 1}}, {"id": 4294967295}],
        "time_start_ns": 18446744073709551615, "time_end_ns": 0, "clock_type": 3,
        "modules": [{"module_id": 7, "path": "/a \"b\"", "base_address": "0xffffffffffffffff",
                     "size": 5, "uuid": "u", "function_offsets": true}, {"module_id": 8}],
        "symbols": [{"function_id": "0x0000000700000001", "module_id": 7, "symbol_index": 1,
                     "name": "caf\u00e9"}],
        "timing_anchors": [
        {"host_time_ns": 5, "media_time": -9223372036854775808, "media_timescale": 2147483647},
        {"host_time_ns": 6, "media_time": 9223372036854775807, "media_timescale": 1}],
        "lost_events": {"count": 2, "first_ns": 3, "last_ns": 4}, "ended_by": "SIGSEGV",
        "unwritten_events": 18446744073709551615, "clock_error_ns": 0, "format_version": "2.1"}"#;
    let check = |manifest: &Manifest| {
        assert_eq!(manifest.problem_count, 0, "{:?}", manifest.problems);
        let [first, second] = &manifest.threads[..] else {
            panic!("two threads")
        };
        assert_eq!(first.name.as_deref(), Some("café"));
        assert_eq!(first.has_detail, Some(false));
        assert_eq!(first.lost_events, Some(Loss::new(u64::MAX, 0, 9)));
        assert_eq!(first.lost_details, Some(Loss::new(1, 7, 8)));
        assert_eq!((second.id, &second.name), (u32::MAX, &None));
        assert_eq!((second.has_detail, second.lost_events), (None, None));
        assert_eq!(second.lost_details, None);
        let times = (manifest.time_start_ns, manifest.time_end_ns);
        assert_eq!(times, (Some(u64::MAX), Some(0)));
        assert_eq!(manifest.clock_type, Some(Clock::BOOTTIME));
        let module = Module::new(7).path("/a \"b\"").base_address(u64::MAX);
        let module = module.size(5).uuid("u").function_offsets(true);
        assert_eq!(manifest.modules, [module, Module::new(8)]);
        assert_eq!(manifest.symbols, [Symbol::new(0x7_0000_0001, "café")]);
        let anchor = |ns, value, scale| TimingAnchor::new(ns, MediaTime::new(value, scale));
        let anchors = [anchor(5, i64::MIN, i32::MAX), anchor(6, i64::MAX, 1)];
        assert_eq!(manifest.timing_anchors, anchors);
        assert_eq!(manifest.lost_events, Some(Loss::new(2, 3, 4)));
        assert_eq!(manifest.unwritten_events, Some(u64::MAX));
        assert_eq!(manifest.ended_by.as_deref(), Some("SIGSEGV"));
        assert_eq!(manifest.clock_error_ns, Some(0));
    };
    let manifest = Manifest::parse(text.as_bytes());
    check(&manifest);
    check(&Manifest::parse(&manifest.encode().unwrap()));
}

#[test]
fn an_empty_name_of_a_thread_and_a_loss_of_0_are_not_written() {
    let text = r#"{"threads": [{"id": 1, "name": "",
        "lost_events": {"count": 0, "first_ns": 1, "last_ns": 2}}]}"#;
    let manifest = Manifest::parse(text.as_bytes());
    let thread = &manifest.threads[0];
    assert_eq!(thread.name, None);
    assert_eq!(thread.lost_events, Some(Loss::new(0, 1, 2)));
    assert_eq!(kinds(text.as_bytes()), [ErrorKind::EmptyName]);
    let expected = "{\n  \"threads\": [\n    {\n      \"id\": 1\n    }\n  ]\n}\n";
    let text = String::from_utf8(manifest.encode().unwrap()).unwrap();
    assert_eq!(text, expected);
}

#[test]
fn a_byte_order_mark_is_a_problem_and_does_not_shift_offsets() {
    let text = "\u{feff}{\"threads\": [{\"id\": true}]}";
    let manifest = Manifest::parse(text.as_bytes());
    assert_eq!(manifest.problems[0].kind(), &ErrorKind::ByteOrderMark);
    assert_eq!(manifest.problems[1].field(), Some("threads[0].id"));
    let place = text.find("true").unwrap() as u64;
    assert_eq!(manifest.problems[1].offset(), Some(place));
    let good = Manifest::parse("\u{feff}{\"threads\": [{\"id\": 5}]}".as_bytes());
    assert_eq!(good.threads[0].id, 5);
}

#[test]
fn invalid_json_is_a_problem_at_its_byte() {
    assert_eq!(kinds(b""), [ErrorKind::Empty]);
    assert_eq!(kinds(b" \n "), [ErrorKind::Empty]);
    assert_eq!(kinds(&[0xff, 0xfe, b'{', 0]), [ErrorKind::NotUtf8]);
    for (text, offset) in [
        ("{\"threads\": [\n  {\"id\": nope}]}", 24),
        ("{\"threads\": [{\"id\": 1}", 22),
    ] {
        let problems = Manifest::parse(text.as_bytes()).problems;
        let place = |it: &atf::Error| (it.field().is_some(), it.offset());
        let places: Vec<_> = problems.iter().map(place).collect();
        assert_eq!(places, [(false, Some(offset))]);
    }
    assert!(matches!(kinds(b"\0\0\0\0")[..], [ErrorKind::NotJson(_)]));
    // A form feed is not whitespace in JSON.
    let is_json = |kind: &ErrorKind| !matches!(kind, ErrorKind::NotJson(_));
    assert!(!kinds(b"{} \x0c").iter().all(is_json));
    let is_unreadable = |text: &str| Manifest::parse(text.as_bytes()).is_unreadable();
    assert!(is_unreadable("garbage") && is_unreadable("[]") && is_unreadable(""));
    assert!(!is_unreadable("{}") && !is_unreadable("{\"format_version\": 7}"));
    // The message comes from the JSON parser, without its line and column.
    let text = Manifest::parse(b"{\"threads\": [").problems[0].to_string();
    assert!(text.contains("EOF while parsing a list"), "{text}");
    assert!(text.ends_with("(at 0xd)"), "{text}");
    assert!(!text.contains("line"), "{text}");
}

#[test]
fn many_unknown_keys_do_not_hide_other_problems() {
    let keys: String = (0..150).map(|key| format!("\"x{key}\": 1, ")).collect();
    let text = format!("{{{keys}\"threads\": [], \"clock_type\": \"3\"}}");
    let manifest = Manifest::parse(text.as_bytes());
    assert_eq!((manifest.problem_count, manifest.ignored_count), (151, 150));
    let mut fields = manifest.problems.iter().map(atf::Error::field);
    assert!(fields.any(|field| field == Some("clock_type")));
    assert_eq!(manifest.problems.len(), 101);
}

#[test]
fn problems_beyond_the_first_hundred_are_counted() {
    let text = format!("{{\"threads\": [{}0]}}", "0,".repeat(499));
    let manifest = Manifest::parse(text.as_bytes());
    assert_eq!(manifest.problems.len(), 100);
    assert_eq!(manifest.problem_count, 500);
}

/// Creates a session whose manifest has this size and no content.
fn session_with_manifest_of(size: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    add_thread(folder.path(), 7, &IndexFile::finalized(1, 3));
    let manifest = fs::File::create(folder.path().join("manifest.json")).unwrap();
    manifest.set_len(size).unwrap();
    folder
}

#[test]
fn a_manifest_that_is_too_large_is_not_read() {
    let folder = session_with_manifest_of(8 << 30);
    let session = SessionReader::open(folder.path()).unwrap();
    let manifest = session.manifest().unwrap();
    assert!(manifest.is_unreadable());
    let problem = &manifest.problems[0];
    let (found, limit) = (8 << 30, Manifest::LIMIT);
    let kind = ErrorKind::ManifestTooLarge { found, limit };
    assert_eq!(*problem.kind(), kind);
    let path = folder.path().join("manifest.json");
    assert_eq!(problem.path(), Some(&*path));
    assert_eq!(session.summary().index_events, 3);
    let error = Manifest::open(&path).unwrap_err();
    assert_eq!(*error.kind(), kind);
}

#[test]
fn the_size_limit_of_a_manifest_can_be_set() {
    let folder = session_with_manifest_of(100);
    let kinds = |limit| {
        let options = OpenOptions::new().manifest_limit(limit);
        let session = SessionReader::open_with(folder.path(), options).unwrap();
        kinds_of(session.manifest().unwrap())
    };
    let (found, limit) = (100, 99);
    assert_eq!(kinds(99), [ErrorKind::ManifestTooLarge { found, limit }]);
    assert!(matches!(*kinds(100), [ErrorKind::NotJson(_)]));
}
