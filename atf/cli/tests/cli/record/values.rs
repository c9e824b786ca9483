//! Tests which option values `record` accepts and rejects.

use super::*;

#[test]
fn options_limit_what_is_recorded() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    for (options, events) in [
        (&["--depth", "2"][..], 4),
        (&["--module", "prog*"], 10),
        (&["--clock", "system"], 10),
        (&["--function", "outer", "--function", "m*"], 4),
        (&["--ring", "64", "--overflow", "block"], 10),
        (&["--ring", "64", "--ring-memory", "64k"], 10),
        (
            &[
                "--ring",
                "64",
                "--details",
                "all",
                "--overflow",
                "drop-detail",
            ],
            10,
        ),
    ] {
        let output = record(&folder, options, &["./program", "3"])
            .output()
            .unwrap();
        let messages = told(&output, folder.path()).2;
        assert!(
            messages.contains(&format!("recorded {events} events")),
            "{messages}"
        );
    }
    for options in [["--module", "!program"], ["--min-size", "1000000"]] {
        let output = record(&folder, &options, &["./program", "3"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let expected = "atf: nothing was recorded: no call matched the filters";
        assert_eq!(told(&output, folder.path()).2, expected);
    }
}

#[test]
fn malformed_globs_are_refused_before_the_program_runs() {
    let folder = TempDir::new().unwrap();
    for option in ["--module", "--function"] {
        let output = record(&folder, &[option, "["], &["./program"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let messages = String::from_utf8(output.stderr).unwrap();
        let expected = format!(
            "error: invalid value '[' for '{option} <GLOB>': error parsing glob '[': unclosed character class; missing ']'"
        );
        assert_eq!(messages.lines().next(), Some(&*expected));
    }
}

#[test]
fn values_and_options_without_meaning_are_refused_before_the_program_runs() {
    let folder = TempDir::new().unwrap();
    let window = "needs --details trigger or --flight";
    for (options, expected) in [
        (&["--segment", "0.5K"][..], "'--segment <SECONDS|BYTES>'"),
        (
            &["--segment", "0"],
            "expected a time such as 10, 0.5 or 500ms, or a size such as 64M",
        ),
        (&["--segment", "x"], "invalid value 'x'"),
        (&["--flight", "0"], "'--flight <SECONDS|BYTES>'"),
        (
            &["--flight", "abc"],
            "expected a time such as 10, 0.5 or 500ms, or a size up to 512M",
        ),
        (&["--flight", "0.0"], "invalid value '0.0'"),
        (&["--flight", "1h"], "invalid value '1h'"),
        (
            &["--details", "trigger", "--pre-roll", "0.0000001"],
            "'--pre-roll <MS>': the resolution is one nanosecond",
        ),
        (&["--flight", "1T"], "invalid value '1T'"),
        (&["--flight", "513M"], "invalid value '513M'"),
        (
            &["--flight", "1", "--trigger-signal", "KILL"],
            "'--trigger-signal <SIGNAL>': expected HUP, USR1, USR2, URG or WINCH",
        ),
        (&["--pre-roll", "5"], &format!("--pre-roll {window}")),
        (
            &["--details", "all", "--post-roll", "5"],
            &format!("--post-roll {window}"),
        ),
        (
            &["--trigger-function", "f"],
            &format!("--trigger-function {window}"),
        ),
        (
            &["--flight", "10", "--details", "trigger"],
            "--details trigger: with --flight, use all or off",
        ),
        (
            &["--overflow", "drop"],
            "--overflow needs --ring, --flight, --segment or --details trigger",
        ),
        (
            &["--ring-memory", "1G", "--details", "all"],
            "--ring-memory needs --ring, --flight, --segment or --details trigger",
        ),
        (
            &["--ring", "64", "--ring-memory", "64"],
            "'--ring-memory <BYTES>': expected a size such as 64M",
        ),
        (
            &["--ring", "64", "--overflow", "drop-detail"],
            "--overflow drop-detail needs --details all or trigger",
        ),
        (
            &["--details", "off", "--stack", "8"],
            "--stack needs --details all or trigger",
        ),
        (
            &["--stack", "256"],
            "--stack needs --details all or trigger",
        ),
        (
            &["--detail-function", "f"],
            "--detail-function needs --details all or trigger",
        ),
    ] {
        let output = record(&folder, options, &["touch", "has_run"])
            .output()
            .unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let first = messages.lines().next().unwrap();
        assert!(first.contains(expected), "{options:?}: {messages}");
        assert!(!folder.path().join("has_run").exists(), "{options:?}");
    }
}

#[test]
fn lengths_and_signals_are_accepted_in_any_case() {
    let Some(folder) = program(&["-finstrument-functions"]) else {
        return;
    };
    for options in [
        &["--flight", "10s"][..],
        &["--flight", "64m", "--trigger-signal", "sigusr2"],
        &["--segment", "64k"],
        &["--flight", "0.5"],
        &["--flight", "500MS", "--post-roll", "0.5"],
        &["--segment", "1.5s"],
        &[
            "--details",
            "trigger",
            "--pre-roll",
            "0.25s",
            "--trigger-after",
            "1.5",
        ],
    ] {
        let output = record(&folder, options, &["./program", "3"])
            .output()
            .unwrap();
        let messages = told(&output, folder.path()).2;
        assert!(
            messages.contains("recorded 10 events"),
            "{options:?}: {messages}"
        );
    }
}
