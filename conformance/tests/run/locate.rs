//! Tests that the correct bytes are found for each place in a document. The values in the documents
//! and the dumps, which come from other tables, show which bytes are correct.

use std::collections::BTreeSet;

use atf_conformance::corpus::{Case, Class, Subject, cases, find};
use atf_conformance::protocol::{Step, locate, locate_field};
use atf_conformance::results::Hexdump;
use atf_samples::files::hex;
use atf_samples::layout::little_endian;
use serde_json::Value;

use crate::support::case;

/// Collects all scalar values of a document with their paths.
fn leaves(value: &Value, way: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Value)>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                way.push(Step::Key(key.clone()));
                leaves(member, way, found);
                way.pop();
            }
        }
        Value::Array(elements) => {
            for (seq, element) in elements.iter().enumerate() {
                way.push(Step::Element(seq));
                leaves(element, way, found);
                way.pop();
            }
        }
        leaf => found.push((way.clone(), leaf.clone())),
    }
}

/// Returns whether a path contains a key with this name.
fn goes_by(way: &[Step], name: &str) -> bool {
    way.iter()
        .any(|step| matches!(step, Step::Key(key) if key == name))
}

/// Returns the last key of a path.
fn last_key(way: &[Step]) -> &str {
    way.iter().rev().find_map(Step::key).unwrap()
}

/// Asserts that the dump shows complete lines of its file around the field, and returns the field's
/// bytes.
fn field<'a>(case: &'a Case, dump: &Hexdump) -> &'a [u8] {
    let at = |number: u64| usize::try_from(number).unwrap();
    let file = &case.files[&dump.file];
    let (first, start) = (at(dump.offset), at(dump.field_offset));
    let (last, end) = (first + dump.bytes.len(), start + at(dump.field_size));
    assert_eq!(dump.bytes, file[first..last]);
    // There is at most one line of 16 bytes before the field and one after it, and at most six
    // lines in all.
    assert_eq!(first % 16, 0);
    assert!(first == 0 || (16..32).contains(&(start - first)));
    assert!(last == file.len() || last - first == 96 || (16..32).contains(&(last - end)));
    assert!(last - first <= 96);
    &file[start..end]
}

#[test]
fn each_value_of_each_document_is_located() {
    let mut names = BTreeSet::new();
    let valid = cases().into_iter();
    for case in valid.filter(|case| case.class == Class::Valid) {
        let mut values = Vec::new();
        leaves(&case.expected, &mut Vec::new(), &mut values);
        for (way, value) in values {
            let is_a_files =
                goes_by(&way, "header") || goes_by(&way, "footer") || goes_by(&way, "events");
            // A missing footer has no fields, and the fields of `function` are part of a payload.
            if !is_a_files || ["footer", "function"].contains(&last_key(&way)) {
                continue;
            }
            let Some(dump) = locate(&case, &way) else {
                // Thread 7 is in `thread_07`, where the kit does not look for it.
                assert!(case.name.contains("leading-zero"), "{}: {way:?}", case.name);
                continue;
            };
            let bytes = field(&case, &dump);
            let is_right = match &value {
                Value::Number(number) => number.as_u64() == Some(little_endian(bytes)),
                Value::String(text) if ["payload", "stack"].contains(&last_key(&way)) => {
                    hex(text) == bytes
                }
                Value::String(text) => text.parse() == Ok(little_endian(bytes)),
                // Either the link means "none", or the block consists of zeros.
                Value::Null => {
                    bytes.iter().all(|byte| *byte == 0xff) || bytes.iter().all(|byte| *byte == 0)
                }
                other => panic!("{}: {way:?}: {other}", case.name),
            };
            assert!(
                is_right,
                "{}: {way:?}: {value} is not {bytes:02x?}",
                case.name
            );
            names.insert(last_key(&way).to_owned());
        }
    }
    // These names come from the protocol's tables of records.
    let index = ["clock_type", "bytes_written", "call_depth"];
    let detail = ["index_seq_end", "bytes_length", "x_regs", "stack"];
    for name in index.iter().chain(&detail) {
        assert!(names.contains(*name), "{name}: {names:?}");
    }
}

fn keys(names: &[&str]) -> Vec<Step> {
    let names = names.iter().map(|name| (*name).to_owned());
    names.map(Step::Key).collect()
}

#[test]
fn derived_values_are_located_at_their_source() {
    for name in ["v1/vector-index", "v2/vector-detail"] {
        let case = find(name).unwrap();
        let derived = |name| locate(&case, &keys(&["derived", name])).unwrap();
        let footer = |name| locate(&case, &keys(&["footer", name])).unwrap();
        assert_eq!(derived("checksum"), footer("checksum"));
        for name in ["event_count", "count_source", "trailing_bytes"] {
            assert_eq!(derived(name), footer("event_count"), "{name}");
        }
    }
    // Without a footer, the event count is located at the trailing bytes, of which there are zero
    // or five.
    for more in [0, 5] {
        let mut case = case("v1/one");
        let file = case.files.values_mut().next().unwrap();
        file.extend(vec![7; more]);
        let dump = locate(&case, &keys(&["derived", "event_count"])).unwrap();
        assert_eq!((dump.field_offset, dump.field_size), (96, more as u64));
        // The same applies to a file without any events.
        case.expected["events"] = Value::Array(Vec::new());
        let dump = locate(&case, &keys(&["derived", "event_count"])).unwrap();
        assert_eq!((dump.field_offset, dump.field_size), (64, 32 + more as u64));
    }
}

#[test]
fn events_payloads_and_functions_are_located_completely() {
    let case = find("v1/clean-session").unwrap();
    let at = |kind: &str, seq, rest: &[&str]| {
        let start = [
            Step::Key("threads".to_owned()),
            Step::Element(0),
            Step::Key(kind.to_owned()),
            Step::Key("events".to_owned()),
            Step::Element(seq),
        ];
        let dump = locate(&case, &[&start[..], &keys(rest)].concat()).unwrap();
        (dump.file, dump.field_offset, dump.field_size)
    };
    // In the clean session, events are 32 bytes long and begin at 64, and the details are 124, 141
    // and 132 bytes long.
    let index = ("thread_7/index.atf".to_owned(), 128, 32);
    assert_eq!(at("index", 2, &[]), index);
    let detail = |offset, size| ("thread_7/detail.atf".to_owned(), offset, size);
    assert_eq!(at("detail", 1, &[]), detail(188, 141));
    assert_eq!(at("detail", 1, &["payload"]), detail(212, 117));
    assert_eq!(at("detail", 1, &["function"]), detail(212, 117));
    assert_eq!(at("detail", 1, &["function", "stack"]), detail(312, 17));
    assert_eq!(at("detail", 1, &["function", "x_regs"]), detail(220, 64));
}

#[test]
fn nothing_is_shown_for_an_unknown_place() {
    let case = find("v1/clean-session").unwrap();
    let threads = || vec![Step::Key("threads".to_owned()), Step::Element(0)];
    for rest in [
        &["derived"][..],
        &["derived", "orphan_details"],
        &["index"],
        &["index", "header"],
        &["index", "header", "no_such_field"],
        &["index", "no_such_record", "version"],
        &["ring", "header", "version"],
    ] {
        let way = [threads(), keys(rest)].concat();
        assert_eq!(locate(&case, &way), None, "{rest:?}");
    }
    assert_eq!(locate(&case, &keys(&["derived", "event_count"])), None);
}

/// Returns a field's offset and size from the dump: `00000010  03  header.clock_type  3`.
fn dumped(case: &Case, name: &str) -> Option<(u64, u64)> {
    case.dump().lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [offset, bytes, found, ..] = words[..] else {
            return None;
        };
        let offset = u64::from_str_radix(offset, 16).ok()?;
        (found == name).then_some((offset, bytes.len() as u64 / 2))
    })
}

#[test]
fn a_finding_of_the_checker_is_located_at_its_field() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        let Some((place, (file, _))) = case.place.as_ref().zip(case.broken.first()) else {
            continue;
        };
        let of_file = case.subject != Subject::Session;
        let Some((offset, size)) = dumped(&case, &place.field).filter(|_| of_file) else {
            continue;
        };
        if place.offset != Some(offset) || place.field.contains("payload") {
            continue;
        }
        let dump = locate_field(&case, file, &place.field, offset).unwrap();
        assert_eq!(dump.file, *file);
        let found = (dump.field_offset, dump.field_size);
        let what = format!("{}: {}", case.name, place.field);
        assert_eq!(found, (offset, size), "{what}");
        field(&case, &dump);
        let (record, _) = place.field.split_once('.').unwrap();
        let record = record.split('[').next().unwrap().to_owned();
        seen.insert((record, file.ends_with("index.atf")));
    }
    let all = ["events", "footer", "header"]
        .map(str::to_owned)
        .into_iter();
    let all = all.flat_map(|record| [(record.clone(), false), (record, true)]);
    assert_eq!(seen, all.collect());
}
