//! Tests that sessions recovered by the library break no structural rule, regardless of the damage,
//! and that the report names the rules that the checker reports.

use std::collections::BTreeSet;
use std::path::Path;

use atf::Wire;
use atf::rewrite::{ConvertOptions, RecoverOptions, Report, ScrubOptions, convert, recover, scrub};
use atf::rules::Severity;
use atf_conformance::corpus::trace::{DETAIL, INDEX, MANIFEST, OTHER, RING, Trace};
use atf_conformance::{Checked, corpus};
use atf_samples::files::{RingArea, RingFile, crc32c};
use serde_json::Value;
use tempfile::TempDir;

use crate::outcome::Outcome;

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }
}

/// Simulates a killed writer of thread 7: some of its last bytes are only in the kill journal.
fn leave_ring(trace: &mut Trace, random: &mut Random) -> String {
    if [INDEX, DETAIL]
        .iter()
        .any(|file| trace.file(file).len() < 129)
    {
        trace.put(RING, *b"no ring");
        return "no ring".to_owned();
    }
    let [index, detail] = [INDEX, DETAIL].map(|file| {
        let bytes = trace.file(file);
        // Drop the footer.
        let bytes = bytes[..bytes.len() - 64].to_vec();
        let size = 64 + random.below(bytes.len() - 63);
        let start = 64 + random.below(size - 63);
        trace.put(file, &bytes[..size]);
        RingArea {
            capacity: 32 << 10,
            start: start as u64,
            checksum: crc32c(&bytes[64..start]),
            bytes: bytes[start..].to_vec(),
        }
    });
    let ring = RingFile {
        index,
        detail,
        ..RingFile::new(trace.version, 7)
    };
    trace.put(RING, ring.bytes());
    "a ring".to_owned()
}

/// Damages one file and returns a description.
fn damage(trace: &mut Trace, has_ring: &mut bool, random: &mut Random) -> String {
    let file = [INDEX, DETAIL, INDEX, DETAIL, OTHER, MANIFEST, RING][random.below(7)];
    if file == RING && !std::mem::replace(has_ring, true) {
        return leave_ring(trace, random);
    }
    let size = trace.file(file).len();
    if size == 0 {
        return format!("{file} is empty");
    }
    let place = random.below(size);
    match random.below(6) {
        0 | 1 => {
            let byte = trace.file(file)[place] ^ (1 << random.below(8));
            trace.patch(file, place, &[byte]);
            format!("{file}: a bit at {place} flipped")
        }
        2 => {
            trace.cut(file, place);
            format!("{file}: cut at {place}")
        }
        3 => {
            let zeros = vec![0; 1 + random.below((size - place).min(96))];
            trace.patch(file, place, &zeros);
            format!("{file}: {} zeros at {place}", zeros.len())
        }
        4 => {
            let garbage: Vec<u8> = (0..random.below(200))
                .map(|_| u8::try_from(random.below(256)).unwrap())
                .collect();
            trace.append(file, &garbage);
            format!("{file}: {} bytes appended", garbage.len())
        }
        _ => {
            let zeros = vec![0; random.below(5000)];
            trace.append(file, &zeros);
            format!("{file}: {} zeros appended", zeros.len())
        }
    }
}

/// Describes the broken structural rules of a session.
fn broken(path: &Path) -> Vec<String> {
    Checked::new(path).structural_faults()
}

#[test]
fn a_damaged_session_is_valid_once_recovered_and_recovery_is_idempotent() {
    let mut from_ring = 0;
    for seed in (0..300).chain([627, 1015, 1386, 2074, 2427]) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 + seed);
        // Similar seeds produce similar first numbers, so skip a few.
        (0..8).for_each(|_| {
            random.below(1);
        });
        let version = 1 + u8::try_from(seed % 2).unwrap();
        let mut trace = Trace::clean(version);
        let count = 1 + random.below(4);
        let mut has_ring = false;
        let done: Vec<_> = (0..count)
            .map(|_| damage(&mut trace, &mut has_ring, &mut random))
            .collect();
        let folder = TempDir::new().unwrap();
        let [path, once, twice, other, shared] =
            ["in", "once", "twice", "other", "shared"].map(|name| folder.path().join(name));
        trace.write(&path).unwrap();
        let options = RecoverOptions::default().salvage(seed % 4 > 1);
        let case = format!("seed {seed}, wire {version}, {done:?}");
        let report = recover(&path, &once, &options).unwrap_or_else(|e| panic!("{case}: {e}"));
        assert_eq!(broken(&once), [""; 0], "{case}\n{report}");
        let unchecked = not_checked(&report, &path, &once);
        assert_eq!(unchecked, [""; 0], "{case}\n{report}");
        let json = serde_json::to_string(&report).unwrap();
        from_ring += u64::from(json.contains("from_ring"));

        let again = recover(&once, &twice, &options).unwrap_or_else(|e| panic!("{case}: {e}"));
        assert!(!again.changed(), "{case}\n{report}\n{again}");
        let [first, second] = [&once, &twice].map(|path| atf_samples::tree(path).unwrap());
        assert!(first == second, "{case}\n{report}\n{again}");

        let wire = match version {
            1 => Wire::V2,
            _ => Wire::V1,
        };
        // An event's kind or a number may not fit into the other version. In that case, nothing is
        // written.
        match convert(&path, &other, wire, &ConvertOptions::default()) {
            Ok(report) => assert_eq!(broken(&other), [""; 0], "{case}\n{report}"),
            Err(_) => assert!(!other.exists(), "{case}"),
        }

        let report = scrub(&path, &shared, &ScrubOptions::default());
        let report = report.unwrap_or_else(|e| panic!("{case}: {e}"));
        assert_eq!(broken(&shared), [""; 0], "{case}\n{report}");
    }
    // Damage makes many kill journals unusable. Check that events were still recovered from them in
    // enough sessions.
    assert!(from_ring > 20, "{from_ring}");
}

/// Returns the files and the rules that they break according to a report of recovery, like
/// [`Outcome::broken`].
fn named(report: &Report) -> BTreeSet<String> {
    fn collect(value: &Value, folder: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Array(values) => values.iter().for_each(|it| collect(it, folder, found)),
            Value::Object(members) => {
                let text = |key| members.get(key).and_then(Value::as_str);
                let list = |key| {
                    members
                        .get(key)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten()
                };
                let folder = match text("folder") {
                    Some(name) if !name.is_empty() => format!("{folder}{name}/"),
                    _ => folder.to_owned(),
                };
                let file = ["from", "file", "path"].into_iter().find_map(text);
                let places = list("first").filter_map(|place| place["file"].as_str());
                let files: Vec<&str> = file.into_iter().chain(places).collect();
                let rules = list("rules").filter_map(Value::as_str).chain(text("rule"));
                for rule in rules {
                    assert!(!files.is_empty(), "{rule} without a file");
                    found.extend(files.iter().map(|file| format!("{folder}{file} {rule}")));
                }
                members.values().for_each(|it| collect(it, &folder, found));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    collect(&serde_json::to_value(report).unwrap(), "", &mut found);
    found
}

/// Rules whose faults recovery neither fixes nor notes, or fixes without a note.
const NOT_NOTED: [&str; 5] = [
    "ATF-MANI-010",
    "ATF-MANI-012",
    "ATF-MANI-015",
    "ATF-MANI-017",
    "ATF-SESS-004",
];

/// Returns the rules that a report names although the checker reports them neither for the original
/// nor, if the fault stays, for the new session.
fn not_checked(report: &Report, path: &Path, out: &Path) -> Vec<String> {
    let mut checked = Outcome::check(path).broken();
    let report_json = serde_json::to_value(report).unwrap();
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let sessions = list(&report_json, "sessions").into_iter();
    let threads = sessions.flat_map(|session| list(&session, "threads"));
    let notes = threads.flat_map(|thread| list(&thread, "notes"));
    let stays: Vec<_> = notes.filter(|note| note["what"] == "content").collect();
    let rules = stays.iter().filter_map(|note| note["rule"].as_str());
    let is_left = |line: &String| rules.clone().any(|rule| line.ends_with(rule));
    checked.extend(Outcome::check(out).broken().into_iter().filter(is_left));
    let is_unchecked = |named: &String| {
        let (_, rule) = named.rsplit_once(' ').unwrap();
        // The checker may report a session rule at a different file or folder of the session.
        let is_same = |line: &String| {
            line == named || (rule.starts_with("ATF-SESS-") && line.ends_with(rule))
        };
        !checked.iter().any(is_same)
    };
    named(report).into_iter().filter(is_unchecked).collect()
}

#[test]
fn the_report_names_the_rules_that_the_checker_reports() {
    let (mut compared, mut without, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for case in corpus::cases() {
        let folder = TempDir::new().unwrap();
        let (path, out) = (folder.path().join("in"), folder.path().join("out"));
        case.write(&path).unwrap();
        let Ok(report) = recover(&path, &out, &RecoverOptions::default()) else {
            // A lone file that cannot be recovered has no report.
            continue;
        };
        let unchecked = not_checked(&report, &path, &out).into_iter();
        wrong.extend(unchecked.map(|it| format!("{}: {it}", case.name)));
        let checked = Checked::new(&path);
        let findings = checked.findings().map(|(_, finding)| finding);
        let serious = findings.filter(|it| it.rule.severity >= Severity::Should);
        let serious: BTreeSet<_> = serious.map(|it| it.rule.id).collect();
        compared += u32::from(!serious.is_empty());
        if named(&report).is_empty() {
            without.extend(serious);
        }
    }
    assert_eq!(wrong, [""; 0]);
    // Recovery names at least one rule if the checker reports any rule other than these.
    assert_eq!(without, BTreeSet::from(NOT_NOTED));
    assert!(compared > 400, "{compared}");
}
