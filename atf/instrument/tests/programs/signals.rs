//! Tests signal handlers installed by the program.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::{Program, Trace};

#[test]
fn the_last_calls_before_a_crash_are_recorded_even_if_the_program_handled_earlier_ones() {
    Program::with("signals.c", |program| {
        let variables = [("ATF_FLIGHT", "10")];
        let found = program.run_with(&["crash again", "segv"], &variables);
        assert_eq!(found.output.status.code(), Some(77), "{:?}", found.output);
        assert_eq!(found.session().event_count(), 6000);
        let found = program.run_with(&["crash again", "abrt"], &variables);
        assert_eq!(found.output.status.signal(), Some(libc::SIGABRT));
        assert_eq!(found.session().event_count(), 6000);
    });
}

#[test]
fn the_program_s_handlers_keep_their_flags_and_their_stack() {
    Program::with("signals.c", |program| {
        let variables = [("ATF_FLIGHT", "10"), ("ATF_TRIGGER_SIGNAL", "USR2")];
        let usr2 = libc::SIGUSR2.to_string();
        let argument_lists = [
            ["interrupted", "0"],
            ["interrupted", "1"],
            ["once", &usr2],
            ["guard", ""],
        ];
        for arguments in argument_lists {
            let output = program.run_with(&arguments, &variables).output;
            assert_eq!(output.status.code(), Some(77), "{arguments:?}: {output:?}");
        }
        // After the handler has been called once, the default action applies.
        let segv = libc::SIGSEGV.to_string();
        let output = program.run_with(&["once", &segv], &variables).output;
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    });
}

/// Asserts that a session has all events of 1000 calls, and that its manifest states that none are
/// missing.
#[track_caller]
fn assert_whole(session: &Trace) {
    assert_eq!((session.event_count(), session.lost()), (2000, 0));
    assert_eq!(session.reader.manifest().unwrap().unwritten_events, None);
}

#[test]
fn the_last_calls_before_a_signal_that_ends_the_program_are_recorded() {
    Program::with("signals.c", |program| {
        let flight = [("ATF_FLIGHT", "10")];
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            let found = program.run_with(&["end by", &signal.to_string()], &flight);
            assert_eq!(found.output.status.signal(), Some(signal));
            assert_whole(&found.session());
        }
        // Press Ctrl-C at the terminal of the program's child.
        let found = program.run_with(&["end by", "0"], &flight);
        assert_eq!(found.output.status.code(), Some(77), "{:?}", found.output);
        assert_whole(&found.session());
    });
}

#[test]
fn a_signal_that_the_program_handles_or_ignores_is_not_changed() {
    Program::with("signals.c", |program| {
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
            let arguments = ["untouched", &signal.to_string()];
            let output = program.run_with(&arguments, &[("ATF_FLIGHT", "10")]).output;
            assert_eq!(output.status.code(), Some(77), "{signal}: {output:?}");
        }
    });
}

#[test]
fn a_signal_ends_a_program_that_removed_a_temporary_handler() {
    Program::with("signals.c", |program| {
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGFPE, libc::SIGINT] {
            let arguments = ["in between", &signal.to_string()];
            let output = program.run_with(&arguments, &[("ATF_FLIGHT", "10")]).output;
            assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        }
    });
}

#[test]
fn a_child_that_shares_its_parent_s_memory_does_not_fire_its_parent_s_trigger() {
    Program::with("signals.c", |program| {
        let variables = [("ATF_FLIGHT", "10"), ("ATF_TRIGGER_SIGNAL", "USR2")];
        for signal in [libc::SIGTERM, libc::SIGSEGV] {
            let arguments = ["in a child", &signal.to_string()];
            let found = program.run_with(&arguments, &variables);
            assert_eq!(found.output.status.code(), Some(77), "{:?}", found.output);
            // No trigger fired, and `_exit` is not a trigger.
            assert_eq!(found.session().event_count(), 0);
        }
        for signal in [libc::SIGUSR2, libc::SIGSEGV] {
            let arguments = ["once in a child", &signal.to_string()];
            let output = program.run_with(&arguments, &variables).output;
            assert_eq!(output.status.code(), Some(77), "{signal}: {output:?}");
        }
    });
}
