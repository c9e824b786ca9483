//! Tests that a fingerprint shows the source that an implementation follows.

use std::fs;
use std::process::Command;

use crate::programs::{self, succeeds};

/// Returns the fingerprint of the implementation in Python with planted bugs.
fn fingerprint(bugs: &[&str]) -> String {
    let testee = programs::python().unwrap();
    let text = fs::read_to_string(testee.manifest()).unwrap();
    let flags: Vec<_> = bugs
        .iter()
        .map(|bug| format!("\"--bug\", \"{bug}\", "))
        .collect();
    let planted = format!("\"./testee.py\", {}", flags.concat());
    fs::write(
        testee.manifest(),
        text.replace("\"./testee.py\", ", &planted),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    let limit = ["--time-limit", "60"];
    succeeds(
        command
            .arg("fingerprint")
            .arg(testee.manifest())
            .args(limit),
    )
}

/// Returns the reading and the sources of one disagreement.
fn line<'a>(fingerprint: &'a str, about: &str) -> &'a str {
    let mut lines = fingerprint.lines();
    let line = lines.find_map(|line| line.strip_prefix(about)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{about}: {fingerprint}"))
        .trim()
}

#[test]
fn an_implementation_of_both_wire_versions_follows_our_decisions() {
    let found = fingerprint(&[]);
    assert!(
        found.starts_with("python: S1 on 25 of 30, S2 on 24 of 30"),
        "{found}"
    );
    assert!(found.contains(", none on 0\n"), "{found}");
    assert_eq!(
        line(&found, "index_header.version.value"),
        "1, 2 (S0 S1 S2 S3)"
    );
    assert_eq!(line(&found, "checksum.algorithm.term"), "crc32c (S2)");
    let hidden = line(&found, "clock.kind.term");
    assert!(hidden.starts_with("in no file: "), "{hidden}");
}

#[test]
fn bugs_that_are_readings_of_other_sources_show() {
    let readings = [
        (
            "ieee-accepted",
            "checksum.algorithm.term",
            "crc32, crc32c (S0 S1 S2 S4)",
        ),
        (
            "writes-ieee",
            "checksum.algorithm.term",
            "crc32, crc32c (S0 S1 S2 S4)",
        ),
        ("zero-tail-counted", "recovery.count.term", "file_size (S2)"),
        (
            "writes-other-time",
            "links.timestamp.term",
            "same_clock (S2)",
        ),
        (
            "writes-placeholder",
            "write.mode.term",
            "append_only (S0 S1 S3 S4)",
        ),
    ];
    for (bug, about, expected) in readings {
        assert_eq!(line(&fingerprint(&[bug]), about), expected, "{bug}");
    }
}
