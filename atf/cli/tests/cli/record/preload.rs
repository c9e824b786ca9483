//! Tests the libraries preloaded into programs, and programs that do not allow preloading.

use super::*;

/// A program with threads that commits the fault named by its argument, and exits with 3.
const FAULTY: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int shared;
static __attribute__((noinline)) void inner(int n) { if (n) shared++; }
static void *outer(void *race) {
    for (int n = 0; n < 1000; n++) inner(race != NULL);
    return NULL;
}
int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    pthread_t threads[4];
    void *race = strcmp(fault, "race") ? NULL : argv;
    for (int n = 0; n < 4; n++) pthread_create(threads + n, NULL, outer, race);
    for (int n = 0; n < 4; n++) pthread_join(threads[n], NULL);
    volatile char *volatile block = malloc(10);
    free((char *)block);
    if (!strcmp(fault, "freed")) block[0] = 1;
    return 3;
}
"#;

/// Compiles the faulty program. Returns `None` if the compiler is missing.
fn faulty(compiler: &str, flags: &str) -> Option<TempDir> {
    let flags = format!("-finstrument-functions -lpthread {flags}");
    compiled_by(compiler, FAULTY, &flags)
}

/// Asserts that recording does not change how a program with a sanitizer ends, with and without its
/// fault, and that all its events are recorded.
#[track_caller]
fn assert_same_as_alone(folder: &TempDir, fault: &str, status: i32, report: &str) {
    let alone = |arguments: &[&str]| {
        let mut command = Command::new("./program");
        command.args(arguments).current_dir(folder.path());
        command.output().unwrap()
    };
    let found = alone(&[]);
    if found.status.code() != Some(3) {
        // Sanitizers need a memory layout that some kernels do not provide.
        return atf_samples::tools::skip(format_args!("the sanitizer does not run: {found:?}"));
    }
    assert_eq!(alone(&[fault]).status.code(), Some(status));
    for (options, program, status, is_reported) in [
        ("", "./program", 3, false),
        ("--details all", "./program", 3, false),
        ("", &*format!("./program {fault}"), status, true),
    ] {
        let output = record(folder, options, program).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{messages}");
        assert_eq!(messages.contains(report), is_reported, "{messages}");
        assert!(!messages.contains("libatf_instrument"), "{messages}");
        // `main`, and 1 + 1000 calls in each of 4 threads. A program that is aborted does not
        // return.
        let events = [8010, 8009].map(|events| format!("recorded {events} events of 5 threads"));
        let is_recorded = events.iter().any(|events| messages.contains(events));
        assert!(is_recorded, "{messages}");
    }
}

#[test]
fn libraries_that_the_user_preloads_come_first() {
    let folder = TempDir::new().unwrap();
    let mut command = record(&folder, "", "sh -c");
    command.arg("echo $LD_PRELOAD $ASAN_OPTIONS");
    command.envs([("LD_PRELOAD", "libc.so.6"), ("ASAN_OPTIONS", "color=never")]);
    let output = command.output().unwrap();
    let library = fs::canonicalize(library()).unwrap();
    let expected = format!(
        "libc.so.6:{} color=never:verify_asan_link_order=0\n",
        library.display()
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn recording_does_not_change_how_a_program_with_the_shared_address_sanitizer_ends() {
    let report = "AddressSanitizer: heap-use-after-free";
    if let Some(folder) = faulty("gcc", "-fsanitize=address") {
        assert_same_as_alone(&folder, "freed", 1, report);
    }
    let runtime = format!("libclang_rt.asan-{}.so", std::env::consts::ARCH);
    let mut command = Command::new("clang");
    let Ok(path) = command.arg(format!("-print-file-name={runtime}")).output() else {
        return atf_samples::tools::skip_without("clang");
    };
    let path = String::from_utf8(path.stdout).unwrap();
    let place = path.trim_end().strip_suffix(&runtime).unwrap_or_default();
    if place.is_empty() {
        return atf_samples::tools::skip_without(&runtime);
    }
    let flags = format!("-fsanitize=address -shared-libsan -Wl,-rpath,{place}");
    if let Some(folder) = faulty("clang", &flags) {
        assert_same_as_alone(&folder, "freed", 1, report);
    }
}

#[test]
fn recording_does_not_change_how_a_program_with_thread_sanitizer_ends() {
    for compiler in ["gcc", "clang"] {
        if let Some(folder) = faulty(compiler, "-fsanitize=thread") {
            let report = "ThreadSanitizer: data race";
            assert_same_as_alone(&folder, "race", 66, report);
        }
    }
}

#[test]
fn a_musl_program_runs_unchanged_and_the_summary_identifies_it() {
    let source = r#"
        __attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *c) {}
        __attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *c) {}
        int main(int argc, char **argv) { return argc > 1 ? 3 : 0; }
    "#;
    let Some(folder) = compiled_by("musl-gcc", source, "-finstrument-functions") else {
        return;
    };
    for (program, status) in [("./program", 2), ("./program fail", 3)] {
        let output = record(&folder, "", program).output().unwrap();
        let expected = format!(
            "atf: nothing was recorded: ./program is a musl program, which /lib/ld-musl-{}.so.1 loads, and the library is for glibc: build the program for glibc",
            std::env::consts::ARCH
        );
        let expected = (Some(status), String::new(), expected);
        assert_eq!(outcome(&output, folder.path()), expected);
    }
}

#[test]
fn the_summary_reports_that_a_program_is_linked_statically() {
    let Some(folder) = compiled(PROGRAM, "-finstrument-functions -static") else {
        return;
    };
    let output = record(&folder, "", "./program 1").output().unwrap();
    let expected = "atf: nothing was recorded: ./program is linked statically: link it with libatf_instrument.a, or dynamically".to_owned();
    let own = "the program's own output\n".to_owned();
    assert_eq!(outcome(&output, folder.path()), (Some(2), own, expected));
}
