//! Tests implementations that answer many requests in one process.

use std::fs;
use std::time::Duration;

use atf_conformance::corpus::cases;
use atf_conformance::results::{Failure, Outcome, Results, Role};
use atf_conformance::run::{Candidate, is_drawn, readings};

use crate::support::{Bench, KIT, assert_all_pass, case, document, failure};

/// The beginning of a note on a case whose answers differ.
const UNSTABLE: &str = "differs from run to run: ";

/// Makes a reader that answers correctly if run once per case. The shell script `serve` is run for each
/// request of a persistent process. `$n` is the number of the request, and `$answer` the
/// correct answer. Each start of a persistent process adds a line to the file `starts`.
fn reader(bench: &Bench, serve: &str) -> Candidate {
    reader_of(bench, serve, &format!("echo '{}'", document()))
}

fn reader_of(bench: &Bench, serve: &str, alone: &str) -> Candidate {
    let folder = bench.path().display();
    let script = format!(
        "answer='{}'; echo >> {folder}/starts; n=0\n\
         while read -r path; do n=$((n + 1)); {serve}\ndone\necho ended >> {folder}/ended",
        document()
    );
    let roles = [("read", alone), ("serve.read", &*script)];
    bench.testee("one", &roles, "'index'", "")
}

/// Returns the number of lines of a file of the bench.
fn lines(bench: &Bench, name: &str) -> usize {
    let text = fs::read_to_string(bench.path().join(name));
    text.unwrap_or_default().lines().count()
}

/// Runs ten cases one after another, without a smoke test, because none of them is simple enough.
fn run(bench: &Bench, reader: Candidate) -> Results {
    let cases = (0..10).map(|seq| case(&format!("v1/{seq}")));
    bench.run_tasks(&[reader], &readings(cases.collect::<Vec<_>>()), 1)
}

/// Runs ten cases, which all pass.
fn passed(bench: &Bench, reader: Candidate) -> Results {
    let results = run(bench, reader);
    assert_eq!(results.cases.len(), 10);
    assert_all_pass(&results);
    results
}

/// Returns the notes on cases whose answers differ, without their beginning.
fn unstable(results: &Results) -> Vec<(&str, &str)> {
    let noted = results.cases.iter().flat_map(|case| {
        let notes = case.notes.iter();
        notes.filter_map(|note| Some((&*case.case, note.text.strip_prefix(UNSTABLE)?)))
    });
    noted.collect()
}

#[test]
fn one_process_answers_all_requests_and_ends_at_the_end_of_input() {
    let bench = Bench::new();
    let results = passed(&bench, reader(&bench, "echo \"$answer\""));
    assert_eq!(unstable(&results), []);
    assert_eq!((lines(&bench, "starts"), lines(&bench, "ended")), (1, 1));
}

#[test]
fn a_path_is_a_json_string_and_a_number_is_an_exit_code() {
    let bench = Bench::new();
    let serve = "case $path in '\"/'*'/thread_7/index.atf\"') echo 77;; *) echo \"$answer\";; esac";
    let results = run(&bench, reader(&bench, serve));
    let is_skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
    let cases = results.cases.iter();
    let skipped = cases.filter(|case| is_skipped(&case.outcome)).count();
    // A skipped case may be drawn, and then passes in a separate process.
    assert!(skipped >= 8, "{skipped}");
}

#[test]
fn a_crash_is_attributed_to_its_case_and_the_process_is_restarted() {
    let bench = Bench::new();
    let serve = "[ $n != 4 ] || kill -SEGV $$; echo \"$answer\"";
    let results = passed(&bench, reader(&bench, serve));
    let text = "the persistent process fails (crash: killed by signal 11 (SIGSEGV)), a separate \
                process passes";
    assert_eq!(unstable(&results), [("v1/3", text), ("v1/7", text)]);
    assert_eq!(lines(&bench, "starts"), 3);
}

#[test]
fn a_hang_ends_at_the_limit_of_one_case() {
    let mut bench = Bench::new();
    bench.options.limits.time = Duration::from_secs(3);
    let serve = "[ $n != 9 ] || sleep 100; echo \"$answer\"";
    let results = passed(&bench, reader(&bench, serve));
    let [("v1/8", text)] = unstable(&results)[..] else {
        panic!("{results:?}");
    };
    assert!(
        text.contains("fails (timeout: still running after 3."),
        "{text}"
    );
    assert_eq!(lines(&bench, "starts"), 2);
}

#[test]
fn lines_without_a_request_restart_the_process() {
    let bench = Bench::new();
    // One write, so that no request comes between the lines.
    let serve = "[ $n = 5 ] && printf '%s\\n%s\\n' \"$answer\" \"$answer\" || echo \"$answer\"";
    let results = passed(&bench, reader(&bench, serve));
    let text = "the persistent process fails (garbage: output that was not requested), a separate \
                process passes";
    // The second line may arrive after the first one was taken.
    let noted = unstable(&results);
    assert!(!noted.is_empty(), "{results:?}");
    assert!(noted.iter().all(|(_, found)| *found == text), "{noted:?}");
    assert!(lines(&bench, "starts") > 1);
}

#[test]
fn answers_out_of_order_and_state_kept_between_cases_are_reported() {
    let bench = Bench::new();
    // The second answer belongs to another case.
    let mut other = document();
    other["events"][0]["function_id"] = "6".into();
    let serve = format!("[ $n != 2 ] || answer='{other}'; echo \"$answer\"");
    let results = passed(&bench, reader(&bench, &serve));
    let noted = unstable(&results);
    // The process is restarted after each difference.
    let names: Vec<_> = noted.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["v1/1", "v1/3", "v1/5", "v1/7", "v1/9"]);
    assert!(noted[0].1.contains("wrong-decode"), "{noted:?}");
    assert_eq!(lines(&bench, "starts"), 5);
}

#[test]
fn the_end_of_the_process_and_endless_output_are_not_answers() {
    for (serve, message) in [
        ("exit 0", "fails (crash: exit code 0 instead of an answer)"),
        (
            "yes | tr -d '\\n'",
            "fails (garbage: too much on standard output",
        ),
    ] {
        let bench = Bench::new();
        let serve = format!("[ $n = 1 ] || {serve}; echo \"$answer\"");
        let results = passed(&bench, reader(&bench, &serve));
        let noted = unstable(&results);
        assert_eq!(noted.len(), 5, "{noted:?}");
        assert!(
            noted.iter().all(|(_, text)| text.contains(message)),
            "{noted:?}"
        );
    }
}

#[test]
fn memory_that_grows_from_answer_to_answer_is_noticed() {
    let mut bench = Bench::new();
    bench.options.limits.memory = 100 << 20;
    // A variable of the shell grows by 30 MB with each answer.
    let serve = "kept=$kept$(head -c 30000000 /dev/zero | tr '\\0' a); echo \"$answer\"";
    let results = passed(&bench, reader(&bench, serve));
    let noted = unstable(&results);
    assert!(!noted.is_empty(), "{results:?}");
    let is_memory = |text: &str| text.contains("fails (memory: ");
    assert!(noted.iter().all(|(_, text)| is_memory(text)), "{noted:?}");
}

#[test]
fn a_failure_in_both_modes_has_no_note() {
    let bench = Bench::new();
    let reader = reader_of(&bench, "kill -SEGV $$", "echo why >&2; kill -SEGV $$");
    let results = run(&bench, reader);
    assert_eq!(unstable(&results), []);
    for case in &results.cases {
        assert_eq!(failure(case).0, Failure::Crash);
        assert!(case.stderr.contains("why"), "{case:?}");
    }
}

#[test]
fn a_reader_whose_persistent_process_does_not_answer_or_answers_twice_is_not_graded() {
    let bench = Bench::new();
    let good = format!("exec {KIT} testee read \"$1\"");
    let tasks = readings(cases());
    // The second answer comes too late to be noticed after the first.
    let twice = format!(
        "while read -r path; do path=${{path#?}}; {KIT} testee read \"${{path%?}}\" | tr -d '\\n'; \
         echo; sleep 0.1; echo 0; done"
    );
    for (serve, message) in [
        (
            "read -r path; echo hello; sleep 1",
            "is not a JSON document",
        ),
        (&twice, "nothing on standard output"),
    ] {
        let roles = [("read", &*good), ("serve.read", serve)];
        let reader = bench.testee("one", &roles, "'index'", "");
        let results = bench.run_tasks(&[reader], &tasks, 2);
        let why = results.testees[0].refused.as_deref().unwrap();
        assert!(why.starts_with("serve.read: v1/"), "{why}");
        assert!(why.contains(message), "{why}");
    }
}

#[test]
fn a_repeated_case_with_equal_answers_has_no_note() {
    let mut bench = Bench::new();
    bench.options.repeat = 3.try_into().unwrap();
    let results = passed(&bench, bench.says("one", &document(), 0));
    assert_eq!(unstable(&results), []);
}

#[test]
fn answers_that_differ_between_runs_are_reported() {
    let mut bench = Bench::new();
    bench.options.repeat = 4.try_into().unwrap();
    let count = bench.path().join("count").display().to_string();
    let document = document();
    let script =
        format!("echo >> {count}; [ $(wc -l < {count}) != 3 ] || exit 9; echo '{document}'");
    let results = bench.run(&[bench.reader("one", &script)], vec![case("v1/one")]);
    let text = "passes 3 of 4 times, fails (crash: exit code 9, which the protocol does not define) 1 \
                of 4 times";
    assert_eq!(unstable(&results), [("v1/one", text)]);
    assert_eq!(failure(&results.cases[0]).0, Failure::Crash);
}

#[test]
fn a_seed_draws_about_5_percent() {
    let drawn = |seed| {
        let names = (0..2000).map(|seq| format!("v1/case-{seq}"));
        let drawn = names.filter(|name| is_drawn(seed, Role::Read, name));
        drawn.collect::<Vec<_>>()
    };
    assert!((60..140).contains(&drawn(1).len()), "{}", drawn(1).len());
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}
