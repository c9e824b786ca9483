//! Tests child processes and loaded modules.

use std::process::Command;

use atf_samples::tools::skip_without;

use crate::support::{Program, Run, Trace, libraries, source, succeed};

#[test]
fn a_forked_child_records_its_own_session() {
    children("fork");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_child_forked_without_fork_handlers_records_its_own_session() {
    children("raw-fork");
}

/// Needs the C library's `_dl_find_object`.
#[test]
#[cfg(target_env = "gnu")]
fn a_child_forked_while_the_loader_s_lock_is_held_records_its_own_session() {
    children("fork-locked");
}

#[test]
fn calls_in_a_child_that_shares_its_parents_memory_lose_no_calls_of_the_parent() {
    Program::each("life.c", |program| {
        for (functions, calls, lost) in [("", 3, 2), ("leaf", 1, 2)] {
            let run = program.run_with(&["vfork"], &[("ATF_FUNCTIONS", functions)]);
            let trace = run.session().accepted();
            assert_eq!(trace.calls().returned, calls);
            assert_eq!(trace.lost() + trace.lost_in_unlisted_threads(), lost);
            assert_eq!(run.messages(), "atf: 2 events are not in the trace\n");
        }
    });
}

#[test]
fn a_child_that_shares_its_parents_memory_and_fills_the_buffer_loses_no_calls() {
    Program::each("life.c", |program| {
        let run = program.run(&["vfork-many"]);
        assert_eq!(run.messages(), "");
        assert_eq!(run.session().accepted().calls().returned, run.counted());
    });
}

fn children(way: &str) {
    Program::each("life.c", |program| {
        let run = program.run(&[way]);
        assert_eq!(run.sessions.len(), 2, "{:?}", run.output);
        let text = String::from_utf8(run.output.stdout.clone()).unwrap();
        let mut counted: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        let traces = run.sessions.iter().map(|path| Trace::open(path));
        // A child that is forked while the loader's lock is held records every call, but no footer.
        let traces = traces.map(|trace| match way {
            "fork-locked" => trace,
            _ => trace.accepted(),
        });
        let mut calls: Vec<_> = traces.map(|trace| trace.calls().returned).collect();
        counted.sort_unstable();
        calls.sort_unstable();
        assert_eq!(calls, counted);
    });
}

#[test]
fn a_forked_child_records_destructors_after_the_end_of_its_thread() {
    Program::with("life.c", |program| {
        let run = program.run(&["fork-end"]);
        assert_eq!(run.sessions.len(), 2, "{:?}", run.output);
    });
}

#[test]
fn a_program_that_replaces_itself_leaves_two_sessions() {
    Program::each("life.c", |program| {
        let session = program.traces().join("session");
        let mut command = program.command(&["exec"]);
        let Run { output, sessions } = program.finished(command.env("ATF_SESSION", &session));
        assert!(output.status.success(), "{output:?}");
        let names = sessions.iter().map(|path| path.file_name().unwrap());
        let names: Vec<_> = names.map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert_eq!(format!("{}_2", names[0]), names[1]);
        let [first, second] = [0, 1].map(|n: usize| Trace::open(&sessions[n]).calls());
        // The first session has `early` and `leaf`, the second `early` and `late`.
        assert_eq!((first.returned, second.returned), (2, 2));
    });
}

#[test]
fn modules_loaded_at_the_same_address_are_told_apart() {
    Program::with("life.c", |program| {
        let plugins = ["first.so", "second.so"].map(|name| program.library("plugin.c", name, &[]));
        let run = program.run(&["plugins", &plugins[0], &plugins[1]]);
        let trace = run.session().accepted();
        assert_eq!(trace.calls().returned, run.counted());
        let threads = trace.threads();
        let events = threads.iter().flat_map(|(_, events)| events);
        let mut called = Vec::new();
        for event in events.filter(|event| event.event_kind == atf::EventKind::CALL) {
            let module = trace.reader.symbols().function(event.function_id).module;
            let path = module.and_then(|module| module.path.clone()).unwrap();
            called.push(path.rsplit('/').next().unwrap().to_owned());
        }
        let expected = [
            "program",
            "first.so",
            "second.so",
            "first.so",
            "second.so",
            "program",
        ];
        assert_eq!(called, expected);
    });
}

#[test]
fn repeatedly_loaded_modules_use_no_more_memory() {
    Program::with("life.c", |program| {
        let plugins = ["first.so", "second.so"].map(|name| program.library("plugin.c", name, &[]));
        let run = program.succeeds(&["reload", &plugins[0], &plugins[1]], &[]);
        let trace = run.session().accepted();
        assert_eq!(trace.calls().returned, run.counted());
        assert_eq!(trace.reader.manifest().unwrap().modules.len(), 3);
    });
}

/// Needs the C library's indirect functions.
#[test]
#[cfg(target_env = "gnu")]
fn calls_before_the_c_library_is_initialized_are_not_recorded() {
    Program::each("early.c", |program| {
        let run = program.succeeds(&[], &[]);
        assert_eq!(run.counted(), 1);
        assert_eq!(run.session().accepted().calls().returned, 1);
    });
}

#[test]
#[cfg(target_env = "gnu")]
fn a_static_program_may_make_calls_before_the_c_library_is_initialized() {
    Program::with("early.c", |program| {
        let mut command = Command::new("gcc");
        let found = command.arg("-print-file-name=libc.a").output().unwrap();
        if !found.stdout.starts_with(b"/") {
            return skip_without("libc.a");
        }
        let mut command = Command::new("gcc");
        command.args(["-static", "-O1", "-finstrument-functions"]);
        command.arg(source("early.c"));
        command.arg(libraries().join("libatf_instrument.a"));
        command.args(["-lpthread", "-ldl", "-lm", "-o"]);
        succeed(command.arg(program.path()));
        let run = program.finished(program.command(&[]).env_remove("LD_PRELOAD"));
        assert!(run.output.status.success(), "{:?}", run.output);
        // In such a program, the calls from `.preinit_array` come after the initialization.
        let calls = run.counted() + 2;
        assert_eq!(run.session().accepted().calls().returned, calls);
    });
}

#[test]
fn the_first_call_can_be_made_while_the_loader_s_lock_is_held() {
    Program::with("host.c", |program| {
        let path = program.library("constructor.c", "constructor.so", &[]);
        for ring in ["", "1024"] {
            let run = program.succeeds(&[&path], &[("ATF_RING", ring)]);
            assert_eq!(run.session().accepted().calls().returned, 2);
        }
    });
}
