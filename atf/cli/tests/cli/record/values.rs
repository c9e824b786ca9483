//! Tests which option values `record` accepts.

use super::*;

#[test]
fn options_limit_what_is_recorded() {
    let Some(folder) = program() else { return };
    for (options, events) in [
        ("--depth 2", 4),
        ("--module prog*", 10),
        ("--clock system", 10),
        ("--function outer --function m*", 4),
        ("--ring 64 --overflow block", 10),
        ("--ring 64 --ring-memory 64k", 10),
        ("--ring 64 --details all --overflow drop-detail", 10),
        // Lengths and signals are accepted in any case.
        ("--flight 10s", 10),
        ("--flight 64m --trigger-signal sigusr2", 10),
        ("--segment 64k", 10),
        ("--flight 0.5", 10),
        ("--flight 500MS --post-roll 0.5", 10),
        ("--segment 1.5s", 10),
        ("--details trigger --pre-roll 0.25s --trigger-after 1.5", 10),
    ] {
        let messages = messages(&folder, options, "./program 3");
        let expected = format!("recorded {events} events");
        assert!(messages.contains(&expected), "{options:?}: {messages}");
    }
    for options in ["--module !program", "--min-size 1000000"] {
        let mut command = record(&folder, options, "./program 3");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let expected = "atf: nothing was recorded: no call matched the filters";
        assert_eq!(outcome(&output, folder.path()).2, expected);
    }
}
