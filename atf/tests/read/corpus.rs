//! Reads every file of the conformance kit's corpus in every possible way, and compares the events
//! with the expected documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use atf::index::IndexEvent;
use atf::manifest::Manifest;
use atf::{Completeness, CountSource, Error, RegionKind};
use atf_samples::files::{DetailRecord, hex};
use serde_json::Value;

use crate::{details, events, problems, ways};

/// A file of a case.
struct File<'a> {
    case: &'a Value,
    name: &'a str,
    parts: &'a [Value],
}

impl File<'_> {
    fn bytes(&self) -> Vec<u8> {
        let part = |part: &Value| match part {
            Value::String(text) => text.as_bytes().to_vec(),
            part => {
                let times = part[2].as_u64().unwrap_or(1);
                hex(part[1].as_str().unwrap()).repeat(usize::try_from(times).unwrap())
            }
        };
        self.parts.iter().flat_map(part).collect()
    }

    /// Returns the names of the parts that are whole events.
    fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.parts.iter().filter_map(|part| {
            let name = part[0].as_str()?.strip_prefix("events[")?;
            Some((name.split(']').next()?, part[2].as_u64().unwrap_or(1)))
        })
    }

    /// Returns the expected events, if the case consists of this file and a reader may accept it.
    fn expected(&self) -> Option<&Vec<Value>> {
        let is_alone = self.case["subject"] != "session" && self.case["path"] == self.name;
        is_alone.then(|| self.case["expected"]["events"].as_array())?
    }

    fn may(&self, verdict: &str) -> bool {
        let verdicts = self.case["verdicts"].as_array().unwrap();
        self.case["subject"] == "session" || verdicts.iter().any(|it| it == verdict)
    }

    /// Checks that a reader reports the fault of a case that no reader may accept. Readers do not
    /// decode function payloads.
    fn assert_reported(&self, errors: &[Error]) {
        let place = &self.case["place"];
        let offset = place["offset"].as_u64();
        let is_reported = offset.is_none() || errors.iter().any(|error| error.offset() == offset);
        let rule = self.case["rules"][0].as_str();
        let is_of_payload = rule.is_some_and(|it| it.starts_with("ATF-DPAY"));
        let is_right = self.may("accept") || is_of_payload || is_reported;
        assert!(is_right, "{self}: {errors:?}");
    }

    /// Compares how the events were counted, and how many bytes follow them, with the expected document.
    fn assert_end(&self, completeness: &Completeness, source: CountSource, after_footer: u64) {
        let derived = &self.case["expected"]["derived"];
        let trailing = match completeness {
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
                ..
            } => trailing_bytes + zero_tail_bytes + partial_footer.map_or(0, |it| it.size),
            Completeness::DamagedFooter { trailing_bytes, .. } => *trailing_bytes,
            _ => after_footer,
        };
        let expected = derived["count_source"].as_str();
        assert!(expected.is_none_or(|it| it == source.name()), "{self}");
        let expected = derived.get("trailing_bytes").map(number);
        assert_eq!(expected.unwrap_or(trailing), trailing, "{self}");
    }
}

impl std::fmt::Display for File<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.case["name"], self.name)
    }
}

/// Checks that the regions cover a file once, in the order of their kinds, and that header, events
/// and footers are where the reader finds them.
macro_rules! assert_covered {
    ($file:expr, $reader:expr) => {{
        let (file, reader, regions) = ($file, $reader, $reader.regions());
        let shown = format!("{file}: {regions:?}");
        let mut end = 0;
        for region in &regions {
            assert!(region.offset == end && region.size > 0, "{shown}");
            end = region.end();
        }
        assert_eq!(end, reader.file_size(), "{shown}");
        let is_sorted = regions.is_sorted_by(|one, next| one.kind < next.kind);
        assert!(is_sorted, "{shown}");
        let place = |kind| {
            let found = regions.iter().find(|region| region.kind == kind);
            found.map(|region| region.offset..region.end())
        };
        let (start, end) = (reader.header().events_offset, reader.events_end());
        assert_eq!(place(RegionKind::Header), Some(0..64), "{file}");
        let gap = (start > 64).then_some(64..start);
        assert_eq!(place(RegionKind::Gap), gap, "{file}");
        let events = (end > start).then_some(start..end);
        assert_eq!(place(RegionKind::Events), events, "{file}");
        let footer = reader.footer_offset().map(|at| at..at + 64);
        assert_eq!(place(RegionKind::Footer), footer, "{file}");
        let (damaged, torn) = match reader.completeness() {
            Completeness::DamagedFooter { offset, .. } => {
                (Some(*offset..reader.file_size().min(offset + 64)), None)
            }
            Completeness::Unfinalized { partial_footer, .. } => (
                None,
                partial_footer.map(|it| it.offset..it.offset + it.size),
            ),
            _ => (None, None),
        };
        assert_eq!(place(RegionKind::DamagedFooter), damaged, "{file}");
        assert_eq!(place(RegionKind::TornFooter), torn, "{file}");
    }};
}

/// Returns a number, or the text of a 64-bit number.
fn number<T: TryFrom<u64>>(value: &Value) -> T {
    let number = match value {
        Value::String(text) => text.parse().unwrap(),
        value => value.as_u64().unwrap(),
    };
    T::try_from(number).ok().unwrap()
}

#[test]
fn every_file_of_the_corpus_has_the_expected_events_however_it_is_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/corpus");
    let mut count = 0;
    let tables = ["v1", "v2"].map(|wire| fs::read_dir(corpus.join(wire)).unwrap());
    for table in tables.into_iter().flatten() {
        let text = fs::read(table.unwrap().path()).unwrap();
        let table: Value = serde_json::from_slice(&text).unwrap();
        for case in table["cases"].as_array().unwrap() {
            for (name, parts) in case["files"].as_object().unwrap() {
                let parts = parts.as_array().unwrap();
                let file = File { case, name, parts };
                match name.rsplit('/').next() {
                    Some("index.atf") => index(&file),
                    Some("detail.atf") => detail(&file),
                    Some("manifest.json") => manifest(&file),
                    _ => continue,
                }
                count += 1;
            }
        }
    }
    assert!(count > 1000, "only {count} files");
}

fn index(file: &File<'_>) {
    let index = match ways::index(file.bytes()) {
        Ok(index) => index,
        Err(error) => {
            assert!(file.may("reject"), "{file}: {error}");
            return file.assert_reported(&[error]);
        }
    };
    let read = events(&index);
    problems::agree(&file.bytes());
    assert_covered!(file, &index);
    file.assert_reported(&[index.problems(), index.disagreements().to_vec()].concat());
    let Some(expected) = file.expected() else {
        let count: u64 = file.names().map(|(_, times)| times).sum();
        return assert_eq!(index.event_count(), count, "{file}");
    };
    file.assert_end(
        index.completeness(),
        index.count_source(),
        index.bytes_after_footer(),
    );
    let header = &file.case["expected"]["header"]["thread_id"];
    let event = |event: &Value| {
        let [time, function] = ["timestamp_ns", "function_id"].map(|name| number(&event[name]));
        let link = &event["detail_seq"];
        IndexEvent::new(time, function, number::<u32>(&event["event_kind"]).into())
            .thread_id(number(event.get("thread_id").unwrap_or(header)))
            .call_depth(event.get("call_depth").map(number))
            .detail_seq(link.is_string().then(|| number(link)))
    };
    let expected: Vec<_> = expected.iter().map(event).collect();
    assert_eq!(read, expected, "{file}");
}

fn detail(file: &File<'_>) {
    let detail = match ways::detail(file.bytes()) {
        Ok(detail) => detail,
        Err(error) => {
            assert!(file.may("reject"), "{file}: {error}");
            return file.assert_reported(&[error]);
        }
    };
    let read = details(&detail);
    let reported: Vec<_> = detail.events().filter_map(Result::err).collect();
    assert_covered!(file, &detail);
    let texts = |errors: &[Error]| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let problems = detail.problems().unwrap();
    assert_eq!(texts(&reported), texts(&problems), "{file}");
    file.assert_reported(&[problems, detail.disagreements().to_vec()].concat());
    let Some(expected) = file.expected() else {
        let names: BTreeSet<_> = file.names().map(|(name, _)| name).collect();
        return assert_eq!(detail.event_count(), names.len() as u64, "{file}");
    };
    file.assert_end(
        detail.completeness(),
        detail.count_source(),
        detail.bytes_after_footer(),
    );
    let event = |event: &Value| {
        let [seq, time] = ["index_seq", "timestamp"].map(|name| number(&event[name]));
        let payload = hex(event["payload"].as_str().unwrap());
        DetailRecord::new(number(&event["event_type"]), seq, time, payload)
    };
    let expected: Vec<_> = expected.iter().map(event).collect();
    assert_eq!(read, expected, "{file}");
}

/// The rules about manifests that the parser checks.
const PARSED: [&str; 5] = [
    "ATF-MANI-002",
    "ATF-MANI-003",
    "ATF-MANI-004",
    "ATF-MANI-011",
    "ATF-MANI-013",
];

/// Checks that the parser reports problems if and where the manifest breaks a rule about its text.
fn manifest(file: &File<'_>) {
    let problems = Manifest::parse(&file.bytes()).problems;
    let is_parsed =
        |it: &Value| it["file"] == file.name && PARSED.iter().any(|id| it["rule"] == *id);
    let mut broken = file.case["broken"].as_array().into_iter().flatten();
    let is_first = broken.clone().next().is_some_and(is_parsed);
    let is_broken = broken.any(is_parsed);
    assert_eq!(is_broken, !problems.is_empty(), "{file}: {problems:?}");
    let place = file.case["place"]["offset"].as_u64().filter(|_| is_first);
    let is_there = |place| problems.iter().any(|it| it.offset() == Some(place));
    assert!(place.is_none_or(is_there), "{file}: {problems:?}");
}
