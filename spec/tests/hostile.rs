//! Compiles hostile files. The compiler must report a diagnostic for each one, quickly and without
//! a panic.

mod support;

use std::fs;
use std::time::{Duration, Instant};

use atf_samples::tree;
use atf_spec::diagnostic::Diagnostic;
use atf_spec::files::Files;
use atf_spec::model::{
    ConstantsFile, DecisionsFile, DigestsFile, EditionsFile, EnumsFile, FormatFile, GrammarFile,
    ManifestFile, RecordSpec, RulesFile, SessionFile, SourceFile, TopicsFile,
};
use atf_spec::origin::BUILT_IN;
use atf_spec::yaml::{FileId, Node, Place, decode};

use support::{base, faults};

/// The time limit for one file: far more than a busy machine needs, but far less than code with
/// superlinear run time would take.
const MOST: Duration = Duration::from_secs(300);

/// Returns the compiler's output for the base with this text as its `constants.yaml`.
fn faults_of(text: &[u8]) -> String {
    let folder = base();
    fs::write(folder.path().join("constants.yaml"), text).expect("a temporary file");
    let start = Instant::now();
    let found = faults(folder.path());
    assert!(start.elapsed() < MOST, "too slow");
    found
}

#[test]
fn deep_nesting_is_refused_before_the_stack_overflows() {
    for bracket in ["[", "{ a: ", "- ", "? "] {
        let found = faults_of(bracket.repeat(100_000).as_bytes());
        let first = found.lines().next().unwrap_or_default();
        assert_eq!(first, "error: nested deeper than 32 levels", "{bracket}");
        assert!(found.len() < 2000, "{bracket}: {found}");
    }
    let blocks: String = (0..1000).map(|depth| " ".repeat(depth) + "a:\n").collect();
    let found = faults_of(blocks.as_bytes());
    let says = "error: nested deeper than 32 levels\n  --> constants.yaml:33:";
    assert!(found.starts_with(says), "{found}");
}

#[test]
fn a_small_text_that_expands_to_billions_of_values_is_refused_at_its_first_anchor() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (last, name) in ('a'..'y').zip('b'..'z') {
        let aliases = vec![format!("*{last}"); 10].join(", ");
        bomb.push_str(&format!("{name}: &{name} [{aliases}]\n"));
    }
    let found = faults_of(bomb.as_bytes());
    let says = "anchors and aliases are not allowed in spec files\n --> constants.yaml:1:4\n";
    assert!(found.contains(says), "{found}");
}

#[test]
fn a_file_with_too_many_values_is_refused() {
    let found = faults_of("- a\n".repeat(300_000).as_bytes());
    let says = "error: more than 250000 keys and values\n";
    assert!(found.starts_with(says), "{found}");
}

#[test]
fn a_file_with_too_many_bytes_is_not_read() {
    let found = faults_of(" ".repeat(4 << 20).as_bytes());
    let says = "bytes; the limit for a spec file is";
    assert!(!found.contains(says), "{found}");
    let found = faults_of(" ".repeat((4 << 20) + 1).as_bytes());
    assert_eq!(
        found,
        "error: 4194305 bytes; the limit for a spec file is 4194304\n--> constants.yaml\n\n"
    );
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let found = faults_of(format!("constants: {}", "x".repeat(100_000)).as_bytes());
    let says = "error: expected a sequence, found text\n";
    assert!(found.starts_with(says), "{found}");
    assert!(found.len() < 2000, "{} bytes of message", found.len());
}

/// The time must be linear in the number of faults, not quadratic.
#[test]
fn many_faults_are_reported_in_linear_time() {
    let keys: String = (0..100_000).map(|key| format!("k{key}: 1\n")).collect();
    let start = Instant::now();
    let faults = form_faults("constants.yaml", keys.as_bytes());
    assert_eq!(faults.len(), 100_001);
    assert!(start.elapsed() < MOST, "too slow");
}

#[test]
fn a_place_inside_a_character_is_shown() {
    // The parser points at one byte of a multi-byte character.
    for text in [
        "a: b\n\u{fffd}: [\n",
        "a: \u{fffd}: c\n",
        "\u{1f511}: }\n",
        "k: @\u{fffd}",
    ] {
        let found = faults_of(text.as_bytes());
        assert!(found.contains("error"), "{found}");
    }
    let mut files = Files::default();
    let file = files.add("a.yaml", "a: \u{fffd}\n".to_owned());
    for (start, end) in [(4, 5), (3, 4), (4, 4), (5, 99), (99, 98)] {
        let fault = Diagnostic::error(Place { file, start, end }, "cut");
        assert!(files.render(&[fault], false).contains("a.yaml:"));
    }
}

#[test]
fn no_truncated_real_file_panics() {
    for (name, text) in BUILT_IN {
        for end in (0..text.len()).step_by(97) {
            place_all(name, &text.as_bytes()[..end]);
        }
    }
}

#[test]
fn no_changed_byte_of_a_real_file_panics() {
    // Bytes that have a meaning in YAML, bytes that YAML forbids, and invalid UTF-8.
    let others = b"\0\t\n\r :-?[]{},#&*!|>'\"%@`~0aZ\x7f\x80\xc3\xff";
    for (name, text) in BUILT_IN {
        for (place, other) in (0..text.len()).step_by(389).zip(others.iter().cycle()) {
            let mut changed = text.as_bytes().to_vec();
            changed[place] = *other;
            place_all(name, &changed);
        }
    }
}

#[test]
fn a_tab_instead_of_a_leading_space_is_located() {
    let (mut named, mut taken) = (0, 0);
    for (name, bytes) in tree(base().path()).expect("the base") {
        let text = std::str::from_utf8(&bytes).expect("the base is text");
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            for blank in 0..line.len() - line.trim_start_matches(' ').len() {
                let tab = start + blank;
                let mut changed = bytes.clone();
                changed[tab] = b'\t';
                let faults = form_faults(&name, &changed);
                // After a space, the parser accepts some tabs as separators.
                if blank > 0 && faults.is_empty() {
                    taken += 1;
                    continue;
                }
                named += 1;
                let [fault] = &faults[..] else {
                    panic!("{name}: {faults:?}")
                };
                assert_eq!(fault.message, "a tab in the indentation", "{name}");
                let place = (fault.place.start as usize, fault.place.end as usize);
                assert_eq!(place, (tab, tab + 1), "{name}");
            }
            start += line.len();
        }
    }
    assert!(named > 4 * taken, "{named} reported, {taken} not");
}

#[test]
fn no_small_spec_with_a_missing_line_panics() {
    let folder = base();
    for (name, bytes) in tree(folder.path()).expect("the base") {
        let path = folder.path().join(&name);
        let text = String::from_utf8(bytes).expect("the base is text");
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for lost in 0..lines.len() {
            let rest = [&lines[..lost], &lines[lost + 1..]].concat().concat();
            fs::write(&path, rest).expect("a temporary file");
            faults(folder.path());
        }
        fs::write(&path, text).expect("a temporary file");
    }
}

/// Parses and decodes a file. Every fault must have a message and a place in the file.
fn place_all(name: &str, bytes: &[u8]) {
    for fault in form_faults(name, bytes) {
        let end = usize::try_from(fault.place.end).expect("an offset");
        assert!(
            fault.place.start <= fault.place.end && end <= bytes.len(),
            "{name}: {fault:?}"
        );
        assert!(!fault.message.is_empty(), "{name}: {fault:?}");
    }
}

/// Returns a file's format faults. The path determines the type of the file.
fn form_faults(name: &str, bytes: &[u8]) -> Vec<Diagnostic> {
    let root = &match Node::parse(FileId(0), bytes) {
        Ok(root) => root,
        Err(fault) => return vec![fault],
    };
    let decoded = match name.split(['/', '\\']).next().unwrap_or_default() {
        "format.yaml" => decode::<FormatFile>(root).map(drop),
        "sources" => decode::<SourceFile>(root).map(drop),
        "records" => decode::<RecordSpec>(root).map(drop),
        "digests.yaml" => decode::<DigestsFile>(root).map(drop),
        "editions.yaml" => decode::<EditionsFile>(root).map(drop),
        "enums.yaml" => decode::<EnumsFile>(root).map(drop),
        "constants.yaml" => decode::<ConstantsFile>(root).map(drop),
        "behaviour" => decode::<TopicsFile>(root).map(drop),
        "decisions.yaml" => decode::<DecisionsFile>(root).map(drop),
        "grammar" => decode::<GrammarFile>(root).map(drop),
        "rules" => decode::<RulesFile>(root).map(drop),
        "session.yaml" => decode::<SessionFile>(root).map(drop),
        "manifest.yaml" => decode::<ManifestFile>(root).map(drop),
        other => panic!("not a file of the spec: {other}"),
    };
    decoded.err().unwrap_or_default()
}
