//! Tests the outcome of each kind of answer and of each kind of failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use atf_conformance::Verdict;
use atf_conformance::corpus::{self, Case, Subject};
use atf_conformance::lacks::Lack;
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{Failure, Grade, Outcome, Role, Score, State};
use atf_conformance::run::warden::End;
use atf_conformance::run::{Ended, Reading, Select, fill_in};
use serde_json::json;

use crate::support::{Bench, assert_all_pass, candidate, case, document, executable, failure};

#[track_caller]
fn fails(script: &str, class: Failure, words: &str) {
    let result = Bench::new().one(script);
    let (found, message) = failure(&result);
    assert_eq!(found, class, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn the_correct_document_passes_in_any_formatting() {
    let bench = Bench::new();
    let pretty = serde_json::to_string_pretty(&document()).unwrap();
    let with_extras = pretty.replacen('{', "{ \"x_mine\": [1], ", 1);
    let result = bench.one(&format!("cat <<'.'\n{with_extras}\n.\n"));
    assert_eq!(result.outcome, Outcome::Passed);
    assert_eq!(result.rules, ["ATF-IFTR-001"]);
    assert_eq!(result.note, "no footer");
}

#[test]
fn cases_for_missing_features_are_skipped() {
    let bench = Bench::new();
    let mut other_wire = case("v2/one");
    other_wire.wire = 2;
    let mut session = case("v1/session");
    session.subject = Subject::Session;
    let reader = bench.reader("crashes", "kill -9 $$");
    let results = bench.run(&[reader], vec![other_wire, session]);
    let why: Vec<_> = results.cases.iter().map(|case| &case.outcome).collect();
    let skipped = |why: &str| Outcome::Skipped {
        why: why.to_owned(),
    };
    assert_eq!(
        why,
        [&skipped("wire version 2"), &skipped("feature session")]
    );
}

#[test]
fn a_wrong_verdict_names_the_rule_and_its_bytes() {
    let bench = Bench::new();
    let mut accepts = document();
    accepts["verdict"] = json!("accept");
    let result = bench.grade(bench.says("accepts", &accepts, 0), case("v1/one"));
    let broken = "ATF-IFTR-001 is broken in thread_7/index.atf at footer";
    let message = format!("accept, expected recover: {broken}");
    assert_eq!(failure(&result), (Failure::WrongLabel, message.as_str()));
    let [difference] = result.outcome.differences() else {
        panic!("{result:?}");
    };
    assert_eq!(difference.rule.as_deref(), Some("ATF-IFTR-001"));
}

/// Makes a case that may be answered with these verdicts.
fn with_verdicts(verdicts: &[Verdict]) -> Case {
    Case {
        verdicts: verdicts.to_vec(),
        ..case("v1/one")
    }
}

#[test]
fn a_wrong_verdict_is_a_label_unless_it_loses_or_invents_events() {
    use Failure::{WrongAccept, WrongDecode, WrongLabel, WrongReject};
    use Score::{Failed, Passed};
    let with = |verdict: &str, events: bool| {
        let mut document = document();
        document["verdict"] = json!(verdict);
        if !events {
            document["events"] = json!([]);
        }
        document
    };
    let refusal = json!({"kind": "index", "verdict": "reject"});
    // A file that must be rejected has no document and no events.
    let must_reject = Case {
        expected: refusal.clone(),
        ..with_verdicts(&[Verdict::Reject])
    };
    // If either verdict is allowed, the documents are still compared.
    let either = with_verdicts(&[Verdict::Recover, Verdict::Reject]);
    #[rustfmt::skip]
    let answers = [
        (case("v1/one"), with("accept", true), 0, (Some(WrongLabel), Passed, Failed)),
        (case("v1/one"), refusal.clone(), 1, (Some(WrongReject), Failed, Passed)),
        (must_reject.clone(), with("recover", true), 0, (Some(WrongAccept), Failed, Passed)),
        (must_reject, with("recover", false), 0, (Some(WrongLabel), Passed, Failed)),
        (either.clone(), refusal, 1, (None, Passed, Passed)),
        (either, with("recover", false), 0, (Some(WrongDecode), Failed, Passed)),
    ];
    let bench = Bench::new();
    for (case, document, code, expected) in answers {
        let result = bench.grade(bench.says("says", &document, code), case);
        let [data, label] = [Grade::Data, Grade::Label].map(|grade| result.score(grade));
        let found = (result.outcome.class(), data, label);
        assert_eq!(found, expected, "{document}");
    }
}

#[test]
fn all_differences_are_reported_data_first() {
    let bench = Bench::new();
    let mut wrong = document();
    wrong["verdict"] = json!("accept");
    wrong["derived"]["count_source"] = json!("footer");
    wrong["events"][0]["event_kind"] = json!(2);
    wrong["events"][0]["timestamp_ns"] = json!("1001");
    let result = bench.grade(bench.says("wrong", &wrong, 0), case("v1/one"));
    assert_eq!(failure(&result).0, Failure::WrongDecode);
    let found = result.outcome.differences().iter();
    let found: Vec<_> = found.map(|it| (it.grade, it.place.as_str())).collect();
    let expected = [
        (Grade::Data, "events[0].timestamp_ns"),
        (Grade::Data, "events[0].event_kind"),
        (Grade::Label, "derived.count_source"),
        (Grade::Label, "verdict"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_reject_is_exit_code_1_with_a_document() {
    let bench = Bench::new();
    let rejects = |kind: &str, code| {
        let document = json!({"kind": kind, "verdict": "reject"});
        let reader = bench.says("rejects", &document, code);
        bench
            .grade(reader, with_verdicts(&[Verdict::Reject]))
            .outcome
    };
    assert_eq!(rejects("index", 1), Outcome::Passed);
    // In the document of a rejected file, only the kind is compared.
    assert_eq!(rejects("detail", 1).class(), Some(Failure::WrongDecode));
    assert_eq!(rejects("index", 0).class(), Some(Failure::Garbage));
}

#[test]
fn no_broken_answer_passes_even_as_a_rejection() {
    use Failure::{Crash, Garbage};
    #[rustfmt::skip]
    let answers = [
        ("kill -11 $$", Crash, "SIGSEGV"),
        // SIGKILL also counts as a crash, although the kit itself sends it too.
        ("kill -9 $$", Crash, "SIGKILL"),
        ("exit 2", Crash, "exit code 2"),
        ("exit 1", Crash, "exit code 1"),
        ("echo oops >&2; exit 1", Crash, "exit code 1"),
        ("echo rejected; exit 1", Garbage, "JSON"),
        ("true", Garbage, "nothing"),
        ("echo hello", Garbage, "JSON"),
        ("echo '[]'", Garbage, "object"),
        ("echo '{}'", Garbage, "no verdict"),
        ("echo '{\"verdict\": \"fine\"}'", Garbage, "fine"),
        ("echo '{\"verdict\": \"accept\"} {}'", Garbage, "JSON"),
        ("printf '{\"verdict\": \"\\377\"}'", Garbage, "JSON"),
        ("printf '[%.0s' $(seq 100000)", Garbage, "JSON"),
    ];
    let bench = Bench::new();
    let readers = answers.iter().enumerate();
    let readers = readers.map(|(seq, (script, ..))| bench.reader(&format!("reader-{seq}"), script));
    let readers: Vec<_> = readers.collect();
    let rejected = Case {
        name: "v1/rejected".to_owned(),
        ..with_verdicts(&[Verdict::Reject])
    };
    let results = bench.run(&readers, vec![case("v1/one"), rejected]);
    assert_eq!(results.cases.len(), 2 * answers.len());
    for result in &results.cases {
        let (script, class, words) = answers[result.testee];
        let (found, message) = failure(result);
        assert_eq!(found, class, "{script}: {message}");
        assert!(message.contains(words), "{script}: {message}");
    }
}

#[test]
fn a_wrong_value_is_reported_with_its_bytes() {
    let bench = Bench::new();
    let mut wrong = document();
    wrong["events"][0]["call_depth"] = json!(2);
    let result = bench.grade(bench.says("wrong", &wrong, 0), case("v1/one"));
    assert_eq!(failure(&result).0, Failure::WrongDecode);
    let [difference] = result.outcome.differences() else {
        panic!("{result:?}");
    };
    assert_eq!(difference.place, "events[0].call_depth");
    // The file has no footer, but that is not the rule that the answer broke.
    assert_eq!(difference.rule.as_deref(), Some("index_event.call_depth"));
    assert_eq!(
        (difference.expected.as_str(), difference.got.as_str()),
        ("1", "2")
    );
    let hexdump = difference.hexdump.as_ref().unwrap();
    assert_eq!(hexdump.file, "thread_7/index.atf");
    assert_eq!((hexdump.field_offset, hexdump.field_size), (88, 4));
    assert_eq!((hexdump.offset, hexdump.bytes.len()), (64, 32));
}

/// The numbers of signals are Linux's, as listed by `kill -l`.
#[test]
fn each_way_to_be_ended_is_described() {
    use Failure::{Crash, Garbage, Memory, Timeout};
    #[rustfmt::skip]
    let ends = [
        (End::Killed(4), Crash, "killed by signal 4 (SIGILL)"),
        (End::Killed(6), Crash, "killed by signal 6 (SIGABRT)"),
        (End::Killed(7), Crash, "killed by signal 7 (SIGBUS)"),
        (End::Killed(8), Crash, "killed by signal 8 (SIGFPE)"),
        (End::Killed(9), Crash, "killed by signal 9 (SIGKILL)"),
        (End::Killed(10), Crash, "killed by signal 10"),
        (End::Killed(11), Crash, "killed by signal 11 (SIGSEGV)"),
        (End::Killed(13), Crash, "killed by signal 13 (SIGPIPE)"),
        (End::Killed(14), Crash, "killed by signal 14 (SIGALRM)"),
        (End::Killed(15), Crash, "killed by signal 15 (SIGTERM)"),
        (End::Timeout, Timeout, "still running after 1.5 s"),
        (End::Memory(300 << 20), Memory, "300 MiB resident"),
        (End::Output(64 << 20), Garbage, "too much on standard output: more than 64 MiB"),
        (End::NotStarted("gone".to_owned()), Crash, "cannot be started: gone"),
    ];
    for (end, class, message) in ends {
        let ended = Ended {
            end,
            output: Vec::new(),
            stderr: String::new(),
            elapsed: Duration::from_millis(1500),
            opened: Ok(Vec::new()),
        };
        let broken = ended.exit_code().unwrap_err();
        assert_eq!((broken.class, broken.message.as_str()), (class, message));
    }
}

#[test]
fn an_answer_is_as_strict_json_as_a_manifest() {
    let good = document().to_string();
    let twice = |key: &str| {
        let member = format!("\"{key}\":");
        assert!(good.contains(&member), "{key}");
        good.replacen(&member, &format!("\"{key}\":0,{member}"), 1)
    };
    // The last value of each key is the correct one.
    for key in ["verdict", "thread_id", "detail_seq", "count_source"] {
        let words = format!("duplicate key \"{key}\" at line 1");
        fails(&format!("echo '{}'", twice(key)), Failure::Garbage, &words);
    }
    let own = good.replacen('{', "{\"x_own\":{\"a\":1,\"\\u0061\":1},", 1);
    let script = format!("cat <<'END'\n{own}\nEND\n");
    fails(&script, Failure::Garbage, "duplicate key \"a\"");
    let mark = format!("printf '\\357\\273\\277'; echo '{good}'");
    fails(&mark, Failure::Garbage, "JSON");
    let number = good.replacen("\"thread_id\":7", "\"thread_id\":7.0", 1);
    fails(
        &format!("echo '{number}'"),
        Failure::WrongDecode,
        "header.thread_id",
    );
}

#[test]
fn placeholders_are_not_replaced_in_the_programs_own_path() {
    let bench = Bench::new();
    let folder = bench.path().join("a{path}{out}b");
    fs::create_dir(&folder).unwrap();
    let script = format!("#!/bin/sh\necho '{}'\n", document());
    executable(&folder.join("reader"), &script);
    let text = "protocol = 1\nname = 'one'\nversion = '1'\nwire = [1]\nfeatures = ['index']\n\
                read = ['./a{path}{out}b/reader', '{path}']\n";
    let reader = candidate(&bench.path().join("TESTEE.toml"), text);
    let result = bench.grade(reader, case("v1/one"));
    assert_eq!(result.outcome, Outcome::Passed);
}

#[test]
fn a_path_that_looks_like_a_placeholder_is_not_replaced_again() {
    let paths = [("script", "/{out}/s"), ("out", "/{script}")];
    let paths = paths.map(|(name, path)| (name, PathBuf::from(path)));
    for (argument, filled) in [
        ("{script}", "/{out}/s"),
        ("--to={out},{script}", "--to=/{script},/{out}/s"),
        ("{{out}}{", "{/{script}}{"),
        ("{path}{out", "{path}{out"),
    ] {
        assert_eq!(fill_in(argument, &paths), filled);
    }
}

#[test]
fn an_oversized_answer_is_cut_short_and_not_parsed() {
    for script in [
        "exec yes",
        "yes '{}' | head -c 60000000",
        "echo '['; exec yes '{},'",
    ] {
        let message = "too much on standard output: more than 2 MiB";
        fails(script, Failure::Garbage, message);
    }
    // The limit leaves room for keys that an implementation adds.
    let document = document().to_string();
    let (brace, rest) = document.split_at(1);
    let script =
        format!("echo '{brace}\"x_mine\": [0'; yes ', 0' | head -n 200000; echo '], {rest}'");
    assert_eq!(Bench::new().one(&script).outcome, Outcome::Passed);
}

#[test]
fn a_result_is_small_however_large_the_answer_is() {
    let keys = (0..20_000).map(|seq| (format!("{seq}{}", "k".repeat(50)), json!(1)));
    let mut many = document();
    many.as_object_mut().unwrap().extend(keys);
    let mut long = document();
    long["k".repeat(1_000_000)] = json!(1);
    let mut verdict = document();
    verdict["verdict"] = json!("v".repeat(1_000_000));
    for document in [many, long, verdict] {
        let bench = Bench::new();
        let answer = bench.path().join("answer");
        fs::write(&answer, document.to_string()).unwrap();
        let result = bench.one(&format!("cat {}", answer.display()));
        failure(&result);
        let size = serde_json::to_string(&result).unwrap().len();
        assert!(size < 20_000, "{size}");
    }
}

#[test]
fn long_messages_are_truncated_and_not_graded() {
    let document = document();
    let script = format!("echo first >&2; seq 100000 >&2; echo last >&2; echo '{document}'");
    let result = Bench::new().one(&script);
    assert_eq!(result.outcome, Outcome::Passed);
    assert!(result.stderr.starts_with("first\n1\n"));
    assert!(result.stderr.ends_with("100000\nlast\n"));
    assert!(result.stderr.len() < 20_000, "{}", result.stderr.len());
}

#[test]
fn a_process_that_does_not_end_is_a_timeout() {
    let document = document();
    for script in [
        "exec sleep 1000",
        // Closing standard output is not an exit.
        &format!("echo '{document}'; exec >&- 2>&-; sleep 1000"),
    ] {
        let mut bench = Bench::new();
        bench.options.limits.time = Duration::from_millis(500);
        let result = bench.one(script);
        assert_eq!(failure(&result).0, Failure::Timeout, "{script}");
        assert!(result.elapsed >= bench.options.limits.time, "{script}");
    }
}

#[test]
fn a_clean_exit_on_sigterm_is_still_a_timeout() {
    let document = document().to_string().replace('"', "\\\"");
    let script = format!(
        "trap \"echo asked >&2; echo '{document}'; exit 0\" TERM; while :; do sleep 0.1; done"
    );
    // On a busy machine, the time limit may pass before the shell has set its trap.
    let asked = (0..8).any(|doubled| {
        let mut bench = Bench::new();
        bench.options.limits.time = Duration::from_millis(500 << doubled);
        let result = bench.one(&script);
        assert_eq!(failure(&result).0, Failure::Timeout);
        result.stderr.ends_with("asked\n")
    });
    assert!(asked, "no shell was asked to end");
}

#[test]
fn too_much_memory_in_a_child_is_detected() {
    let mut bench = Bench::new();
    bench.options.limits.memory = 100 << 20;
    // `tail` keeps the endless line in memory.
    let result = bench.one("head -c 2000m /dev/zero | tail -n 1 | wc -c");
    assert_eq!(failure(&result).0, Failure::Memory, "{result:?}");
}

#[test]
fn too_much_memory_is_detected_after_the_main_thread_has_ended() {
    const PROGRAM: &str = "\
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *grow(void *unused) {
    const size_t size = 400u << 20;
    char *bytes = malloc(size);
    if (bytes) memset(bytes, 1, size);
    for (;;) pause();
    return unused;
}
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, grow, NULL)) return 2;
    pthread_exit(NULL);
}
";
    if !atf_samples::tools::has("cc") {
        return;
    }
    let mut bench = Bench::new();
    bench.options.limits.memory = 100 << 20;
    let (source, program) = (bench.path().join("grow.c"), bench.path().join("grow"));
    fs::write(&source, PROGRAM).unwrap();
    let mut compile = Command::new("cc");
    compile.arg("-pthread").arg("-o").arg(&program).arg(&source);
    assert!(compile.status().unwrap().success());
    let result = bench.one(&format!("exec {}", program.display()));
    assert_eq!(failure(&result).0, Failure::Memory, "{result:?}");
}

#[test]
fn results_keep_the_order_of_implementations_and_cases() {
    let bench = Bench::new();
    let document = document();
    let slow = bench.reader("slow", &format!("sleep 0.2; echo '{document}'"));
    let fast = bench.says("fast", &document, 0);
    let cases: Vec<_> = (0..6)
        .map(|number| case(&format!("v1/case-{number}")))
        .collect();
    let results = bench.run(&[slow, fast], cases);
    let order = results
        .cases
        .iter()
        .map(|case| (case.testee, case.case.clone()));
    let expected = [0, 1]
        .into_iter()
        .flat_map(|testee| (0..6).map(move |number| (testee, format!("v1/case-{number}"))));
    assert!(order.eq(expected));
    assert_all_pass(&results);
}

#[test]
fn a_reader_may_omit_missing_capabilities_and_is_not_graded_on_them() {
    let bench = Bench::new();
    let mut bare = document();
    for key in ["header", "footer", "derived"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    bare["verdict"] = json!("accept");
    let lacks = "'header', 'footer', 'derived', 'verdict'";
    let result = bench.grade(bench.lacking(lacks, &bare), case("v1/one"));
    assert_eq!(result.outcome, Outcome::Passed);
    let not_graded = [Lack::Header, Lack::Footer, Lack::Derived, Lack::Verdict];
    assert_eq!(result.not_graded, not_graded);
    // Everything else is still graded.
    bare["events"][0]["function_id"] = json!("6");
    let result = bench.grade(bench.lacking(lacks, &bare), case("v1/one"));
    assert_eq!(failure(&result).0, Failure::WrongDecode);
    // Without this declaration, the case fails.
    bare["events"][0]["function_id"] = json!("5");
    failure(&bench.grade(bench.says("silent", &bare, 0), case("v1/one")));
}

#[test]
fn a_reader_without_checksums_still_shows_the_footer_checksum() {
    let bench = Bench::new();
    let clean = corpus::find("v1/clean-index").unwrap();
    let mut document = clean.expected.clone();
    let derived = document["derived"].as_object_mut().unwrap();
    derived.remove("checksum").unwrap();
    let result = bench.grade(bench.lacking("'checksum'", &document), clean.clone());
    assert_eq!(result.outcome, Outcome::Passed);
    // The protocol makes only `derived.checksum` optional, in the smoke check as in the run.
    let footer = document["footer"].as_object_mut().unwrap();
    footer.remove("checksum").unwrap();
    let reader = bench.lacking("'checksum'", &document);
    let results = bench.run(&[reader], vec![clean]);
    let refused = results.testees[0].refused.as_deref().unwrap();
    assert!(refused.contains("v1/clean-index: /footer: "), "{refused}");
}

#[test]
fn a_role_that_the_run_does_not_grade_is_not_tried() {
    let mut bench = Bench::new();
    let clean = vec![corpus::find("v1/clean-index").unwrap()];
    let script = format!("echo '{}'", clean[0].expected);
    let testee = [bench.manifest("reader", &script, "validate = ['false', '{path}']\n")];
    let results = bench.run(&testee, clean.clone());
    let refused = results.testees[0].refused.as_deref().unwrap();
    assert!(
        refused.starts_with("validate: v1/clean-index: "),
        "{refused}"
    );
    bench.select = Select::new(&[], &[], &[Role::Read]).unwrap();
    let results = bench.run(&testee, clean);
    assert_eq!(results.testees[0].refused, None);
    assert_eq!(results.cases.len(), 1);
    assert_all_pass(&results);
}

#[test]
fn a_reader_without_checksums_may_accept_a_mismatch() {
    let bench = Bench::new();
    let damaged = Case {
        name: "v1/damaged".to_owned(),
        broken: vec![("thread_7/index.atf".to_owned(), "ATF-IFTR-004")],
        ..with_verdicts(&[Verdict::Recover, Verdict::Reject])
    };
    let mut accepts = document();
    accepts["verdict"] = json!("accept");
    let result = bench.grade(bench.says("verifies", &accepts, 0), damaged.clone());
    assert_eq!(failure(&result).0, Failure::WrongAccept);
    assert_eq!(result.score(Grade::Data), Score::Failed);
    let reader = bench.lacking("'checksum'", &accepts);
    let results = bench.run(&[reader], vec![damaged, case("v1/one")]);
    assert_eq!(results.cases[0].outcome, Outcome::Passed);
    assert_eq!(results.cases[0].not_graded, [Lack::Checksum]);
    // An unfinalized file has no checksum, so it must still be recovered.
    assert_eq!(failure(&results.cases[1]).0, Failure::WrongLabel);
}

#[test]
fn rejecting_a_session_over_one_bad_thread_breaks_the_readers_rule() {
    let cases = corpus::cases();
    let manifest = Manifest::reference(Path::new("kit"));
    let blamed = |name: &str| {
        let case = cases.iter().find(|case| case.name == name).unwrap().clone();
        let reading = Reading::new(Role::Read, Arc::new(case));
        let refusal = json!({"kind": "session", "verdict": "reject"});
        let outcome = reading.compare(&manifest, Verdict::Reject, &refusal);
        outcome.differences()[0].rule.clone().unwrap()
    };
    for (case, rule) in [
        ("v1/ihdr-002-nonsense-in-one-thread-of-two", "ATF-RDER-003"),
        ("v2/iftr-002-a-billion-in-one-thread-of-two", "ATF-RDER-003"),
        ("v1/mani-002-empty", "ATF-MANI-002"),
    ] {
        assert_eq!(blamed(case), rule, "{case}");
    }
}

#[test]
fn a_failure_counts_for_the_rules_that_the_answer_broke() {
    let bench = Bench::new();
    let mut accepts = document();
    accepts["events"][0]["thread_id"] = json!(8);
    let mut asked = case("v1/one");
    asked.rules.push("ATF-RDER-001");
    asked.broken.clear();
    let result = bench.grade(bench.says("wrong", &accepts, 0), asked);
    let by_rule = result.by_rule();
    assert_eq!(by_rule["index_event.thread_id"], State::Failed);
    assert_eq!(by_rule["ATF-IFTR-001"], State::Passed);
    assert_eq!(by_rule["ATF-RDER-001"], State::Passed);
}

#[test]
fn a_field_that_a_reader_cannot_show_is_not_graded_and_lowers_the_share() {
    let bench = Bench::new();
    let mut wrong = document();
    wrong["events"][0]["call_depth"] = json!(9);
    let derived = wrong["derived"].as_object_mut().unwrap();
    derived.remove("trailing_bytes");
    let reader = bench.lacking("'events.call_depth'", &wrong);
    let result = bench.grade(reader, case("v1/one"));
    assert_eq!(result.outcome, Outcome::Passed);
    assert_eq!(result.not_graded, [Lack::Field("events.call_depth")]);
    assert!((0.9..1.0).contains(&result.share), "{}", result.share);
}
