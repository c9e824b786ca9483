//! Tests details on demand, the flight recorder, and segments.

use super::*;

#[test]
fn segments_are_not_counted_as_processes() {
    let Some(folder) = program() else { return };
    let output = record(&folder, "--segment 64K", "./program 100000")
        .output()
        .unwrap();
    let count = sessions(&folder).len();
    assert!(count > 1, "{output:?}");
    let messages = outcome(&output, folder.path()).2;
    let expected = format!("of 1 thread in {count} segments in …");
    assert!(messages.contains(&expected), "{messages}");
}

#[test]
fn the_signal_is_in_the_last_segment() {
    let Some(folder) = program() else { return };
    let output = record(&folder, "--segment 64K", "./program 100000 abort")
        .output()
        .unwrap();
    let mut sessions = sessions(&folder);
    sessions.sort();
    let is_told = |session: &PathBuf| {
        let manifest = fs::read_to_string(session.join("manifest.json")).unwrap();
        manifest.contains("SIGABRT")
    };
    let last = sessions.pop().unwrap();
    assert!(is_told(&last) && !sessions.is_empty(), "{output:?}");
    assert!(!sessions.iter().any(is_told));
}

#[test]
fn details_that_windows_lost_are_in_the_summary() {
    let Some(folder) = program() else { return };
    let options = "--details trigger --pre-roll 60000 --trigger-function told --ring 64";
    let mut command = record(&folder, options, "./program 100000 wait");
    let output = signalled(&mut command, "TERM");
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(!messages.contains("no loss recorded"), "{messages}");
    assert!(messages.contains(" details lost\n"), "{messages}");
}

#[test]
fn a_trigger_on_the_first_call_of_a_thread_loses_no_details() {
    let Some(folder) = program() else { return };
    let options = "--details trigger --trigger-function main";
    for _ in 0..10 {
        let messages = messages(&folder, options, "./program 3");
        assert!(messages.contains("no loss recorded"), "{messages}");
    }
}

#[test]
fn details_and_the_last_calls_before_a_crash_are_recorded_on_demand() {
    let Some(folder) = program() else { return };
    let trigger = "--details trigger --pre-roll 100 --post-roll 50";
    for (options, has_details) in [
        ("--details all --stack 64", true),
        ("--details all --detail-function !*", false),
        (&*format!("{trigger} --trigger-signal USR2"), false),
        (
            &*format!("{trigger} --trigger-function inner --trigger-depth 2"),
            true,
        ),
        ("--flight 10 --details all", true),
        ("--segment 1K --keep 5", false),
    ] {
        let _ = fs::remove_dir_all(folder.path().join("traces"));
        let mut command = record(&folder, options, "./program 3");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{options:?}: {output:?}");
        let [session] = &sessions(&folder)[..] else {
            panic!("{output:?}");
        };
        assert_eq!(dumped(&folder, session).len(), 10, "{options:?}");
        let has = session.join("thread_0/detail.atf").exists();
        assert_eq!(has, has_details, "{options:?}");
    }
}

#[test]
fn a_flight_recording_is_complete_if_a_signal_ends_the_program() {
    let Some(folder) = program() else { return };
    let flight = |end| {
        let mut command = record(&folder, "--flight 10", &format!("./program 1 {end}"));
        // All threads share one lock in the allocator.
        command.env("MALLOC_ARENA_MAX", "1");
        command
    };
    // `atf record` forwards SIGTERM.
    let outputs = [
        (flight("abort").output().unwrap(), 6, "SIGABRT"),
        (flight("corrupt").output().unwrap(), 6, "SIGABRT"),
        (signalled(&mut flight("pause"), "TERM"), 15, "SIGTERM"),
    ];
    let sessions = sessions(&folder);
    assert_eq!(sessions.len(), outputs.len(), "{outputs:?}");
    for ((output, number, name), session) in outputs.iter().zip(sessions) {
        assert_eq!(output.status.code(), Some(128 + number), "{output:?}");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.contains("5 events of 1 thread"), "{messages}");
        assert!(
            messages.contains("per second), no loss recorded\n"),
            "{messages}"
        );
        assert!(
            messages.ends_with(&format!("ended by {name}\n")),
            "{messages}"
        );
        assert_eq!(
            dumped(&folder, &session),
            ["main", "outer", "inner", "inner", "outer"]
        );
    }
}

#[test]
fn the_summary_suggests_a_ring_that_would_have_been_large_enough() {
    let Some(folder) = program() else { return };
    for (options, program) in [
        ("--flight 60", "./program 50000"),
        (
            "--details trigger --pre-roll 60000 --trigger-signal HUP",
            "./program 50000 trigger",
        ),
    ] {
        let run = |ring| messages(&folder, &format!("{options} --ring {ring}"), program);
        // With the suggested ring, half of the slots would hold the 100,004 events and a quarter
        // more.
        let advice = "a window did not fit into its ring: --ring 262144 would have been enough";
        let messages = run(1024);
        assert!(messages.contains(advice), "{messages}");
        let messages = run(262_144);
        assert!(messages.contains("100004 events of 1 thread"), "{messages}");
        assert!(messages.contains("no loss recorded"), "{messages}");
        assert!(!messages.contains("--ring"), "{messages}");
    }
}

/// A program that starts 131 threads and, once all their files exist, lets them make their last
/// calls one after another. It exits when the manifest contains a loss.
const THREADS: &str = r#"
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define PLAIN __attribute__((no_instrument_function))
#define COUNT 131
void atf_instrument_trigger(void) __attribute__((weak));
static pthread_barrier_t begun, triggered;
static pthread_t threads[COUNT];
static __attribute__((noinline)) void call(void) { __asm__ volatile(""); }
static PLAIN void *run(void *before) {
    call();
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&triggered);
    if (before) pthread_join(*(pthread_t *)before, 0);
    for (int n = 0; n < 10; n++) call();
    return 0;
}
// Returns how many files of the session have this name.
static PLAIN size_t find(const char *name, glob_t *found) {
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/*/%s", getenv("ATF_SESSION"), name);
    return glob(pattern, 0, 0, found) ? 0 : found->gl_pathc;
}
static PLAIN int has_loss(void) {
    static char text[1 << 20];
    glob_t found;
    FILE *file = find("manifest.json", &found) ? fopen(found.gl_pathv[0], "r") : 0;
    if (!file) return 0;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return strstr(text, "lost_events") != 0;
}
PLAIN int main(void) {
    glob_t found;
    alarm(60);
    pthread_barrier_init(&begun, 0, COUNT + 1);
    pthread_barrier_init(&triggered, 0, COUNT + 1);
    for (int n = 0; n < COUNT; n++) pthread_create(&threads[n], 0, run, n ? &threads[n - 1] : 0);
    pthread_barrier_wait(&begun);
    atf_instrument_trigger();
    while (find("thread_*/index.atf", &found) < COUNT) usleep(1000);
    pthread_barrier_wait(&triggered);
    pthread_join(threads[COUNT - 1], 0);
    while (!has_loss()) usleep(1000);
}
"#;

#[test]
fn the_summary_explains_why_threads_lost_their_last_events() {
    let Some(folder) = compiled(THREADS, "-finstrument-functions -pthread") else {
        return;
    };
    for (flight, advice) in [
        ("64M", "or a smaller size\n"),
        ("60", "or a shorter time\n"),
    ] {
        let messages = messages(&folder, &format!("--flight {flight}"), "./program");
        assert!(messages.contains(" events lost\n"), "{messages}");
        assert!(messages.contains(advice), "{messages}");
    }
}

#[test]
fn losses_are_reported_once() {
    let Some(folder) = program() else { return };
    let options = "--ring 16 --overflow drop";
    let messages = messages(&folder, options, "./program 100000");
    assert_eq!(messages.matches(" events lost").count(), 1, "{messages}");
    assert!(!messages.contains("not in the trace"), "{messages}");
}

#[test]
fn the_summary_of_a_killed_flight_recording_reports_possible_losses() {
    let Some(folder) = program() else { return };
    let messages = messages(&folder, "--flight 10", "./program 1 kill");
    let lost = "events in its rings that were not yet written are lost";
    assert!(
        messages.contains(&format!("the process died, so {lost}")),
        "{messages}"
    );
}

#[test]
fn patterns_that_match_no_function_are_in_the_summary() {
    let Some(folder) = program() else { return };
    let messages = |options: &str| messages(&folder, options, "./program 1");
    let none = "no recorded function matches";
    let details = "--details trigger --trigger-function";
    let found = messages(&format!("{details} outter --trigger-function no*"));
    let expected = format!("atf: --trigger-function: {none} \"outter,no*\"\n");
    assert!(found.contains(&expected), "{found}");
    let no_details = "atf: no details recorded: no trigger fired";
    assert!(found.contains(no_details), "{found}");
    // The program has this function but does not call it.
    let found = messages(&format!("{details} told"));
    assert!(found.contains(&format!("{none} \"told\"")), "{found}");
    let found = messages(&format!("{details} inner --trigger-function outter"));
    assert!(!found.contains(none), "{found}");
    assert!(!found.contains(no_details), "{found}");
    let found = messages("--flight 10 --details all --detail-function inne");
    let expected = format!("atf: --detail-function: {none} \"inne\"\n");
    assert!(found.contains(&expected), "{found}");
}

#[test]
fn a_pattern_without_a_match_may_match_lost_events() {
    let Some(folder) = program() else { return };
    // Records more events than the ring and the writer's buffer hold, so that some are in the
    // trace.
    let options = "--ring 64 --details trigger --trigger-function no*";
    let messages = messages(&folder, options, "./program 20000 kill");
    let expected = "no recorded function matches \"no*\", unless its events were lost\n";
    assert!(messages.contains(expected), "{messages}");
}

#[test]
fn no_pattern_is_called_unmatched_if_segments_were_deleted() {
    let text = r#"
        static __attribute__((noinline)) void early(void) { __asm__ volatile(""); }
        static __attribute__((noinline)) void later(void) { __asm__ volatile(""); }
        int main(void) {
            early();
            for (int n = 0; n < 20000; n++) later();
        }
    "#;
    let Some(folder) = built(text) else { return };
    let options = "--details trigger --trigger-function early --segment 64K --keep 2 --ring 1024";
    let messages = messages(&folder, options, "./program");
    let sessions = sessions(&folder);
    let is_later = |path: &PathBuf| path.to_str().unwrap().contains("_segment_");
    assert!(sessions.iter().all(is_later), "{sessions:?}");
    assert!(!messages.contains("no recorded function"), "{messages}");
}

#[test]
fn no_pattern_is_called_unmatched_if_a_cpp_name_takes_too_long_to_demangle() {
    let outer = format!("-DOUTER=\"_Z1fDv{}\"", "nw".repeat(40));
    let Some(folder) = compiled(PROGRAM, &format!("-finstrument-functions {outer}")) else {
        return;
    };
    let options = "--details trigger --trigger-function nosuch";
    let messages = messages(&folder, options, "./program 1");
    assert!(messages.contains("6 events of 1 thread"), "{messages}");
    assert!(!messages.contains("no recorded function"), "{messages}");
}
