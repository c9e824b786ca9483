//! Tests that a fingerprint shows the source that an implementation follows.

use std::collections::BTreeSet;
use std::process::Command;

use atf_conformance::corpus;
use atf_conformance::fingerprint::{Disagreement, HIDDEN, SIGNS, disagreements};
use atf_conformance::run::{readings, writings};

use crate::programs::{self, Testee, succeeds};

fn fingerprint(testee: &Testee) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    command.arg("fingerprint").arg(testee.manifest());
    succeeds(
        command
            .args(["--time-limit", "60"])
            .env("PATH", programs::path()),
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
    let found = fingerprint(&programs::python().unwrap());
    assert!(
        found.starts_with("python: S1 on 25 of 30, S2 on 24 of 30"),
        "{found}"
    );
    assert!(found.contains(", none on 0\n"), "{found}");
    let versions = line(&found, "index_header.version.value");
    assert_eq!(versions, "1, 2 (S0 S1 S2 S3)");
    assert_eq!(line(&found, "checksum.algorithm.term"), "crc32c (S2)");
    let hidden = line(&found, "clock.kind.term");
    assert!(hidden.starts_with("in no file: "), "{hidden}");
}

#[test]
#[ignore = "slow: the nightly job runs it"]
fn a_fingerprint_shows_bugs_that_follow_other_sources() {
    #[rustfmt::skip]
    let readings = [
        ("ieee-accepted", "checksum.algorithm.term", "crc32, crc32c (S0 S1 S2 S4)"),
        ("writes-ieee", "checksum.algorithm.term", "crc32, crc32c (S0 S1 S2 S4)"),
        ("zero-tail-counted", "recovery.count.term", "file_size (S2)"),
        ("writes-other-time", "links.timestamp.term", "same_clock (S2)"),
        ("writes-placeholder", "write.mode.term", "append_only (S0 S1 S3 S4)"),
    ];
    let testee = programs::python().unwrap();
    for (bug, about, expected) in readings {
        let found = fingerprint(&testee.planted(bug));
        assert_eq!(line(&found, about), expected, "{bug}");
    }
}

#[test]
fn each_disagreement_has_signs_of_two_readings_or_a_reason_why_no_file_shows_them() {
    let mut tasks = readings(corpus::cases());
    tasks.extend(writings());
    for Disagreement { about, readings } in disagreements() {
        let signs = SIGNS.iter().filter(|sign| sign.about == *about);
        let shown: BTreeSet<_> = signs.map(|sign| sign.is).collect();
        let is_hidden = HIDDEN.iter().any(|(hidden, _)| hidden == about);
        assert_eq!(shown.len() >= 2, !is_hidden, "{about}: {shown:?}");
        let is_known = |is: &&str| readings.iter().any(|it| it.is == *is);
        assert!(shown.iter().all(is_known), "{about}: {shown:?}");
    }
    for sign in SIGNS {
        assert!(
            disagreements().iter().any(|it| it.about == sign.about),
            "{sign:?}"
        );
        assert!(
            tasks.iter().any(|task| sign.is_shown_by(&task.about())),
            "{sign:?}"
        );
    }
}
