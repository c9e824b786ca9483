//! Tests every writer with every reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use atf_conformance::cause::Causes;
use atf_conformance::lacks::Lack;
use atf_conformance::results::{CrossResult, Failure, Grading, Outcome, Results, Role, State};
use atf_conformance::run::{Candidate, Failures, Options, Scope, Select, exit_code, run, writings};

use crate::support::{Bench, KIT, failure};

const FILES: &str = "'index', 'detail'";
const SESSIONS: &str = "'index', 'detail', 'session'";
const ALL: &str = "'index', 'detail', 'session', 'function'";

fn writer(bench: &Bench, name: &str, features: &str, script: &str) -> Candidate {
    bench.testee(name, &[("write", script)], features, "")
}

fn reader(bench: &Bench, name: &str, features: &str, script: &str) -> Candidate {
    bench.testee(name, &[("read", script)], features, "")
}

fn good_writer(bench: &Bench) -> Candidate {
    let script = format!("exec {KIT} testee write \"$1\" \"$2\"");
    writer(bench, "writer", SESSIONS, &script)
}

fn good_read() -> String {
    format!("exec {KIT} testee read \"$1\"")
}

/// Runs the scripts that match `cases`.
fn crossed(bench: &Bench, candidates: &[Candidate], cases: &str) -> Results {
    crossed_by(Grading::All, bench, candidates, cases)
}

fn crossed_by(grading: Grading, bench: &Bench, candidates: &[Candidate], cases: &str) -> Results {
    let options = Options {
        grading,
        ..bench.options.clone()
    };
    let select = Select::new(&[cases.to_owned()], &[], &[]).unwrap();
    run(candidates, &writings(), &select, &options, &|_, _| {}).unwrap()
}

fn cell(results: &Results, writer: usize, reader: usize) -> &CrossResult {
    let mut cells = results.cross.iter();
    cells
        .find(|cell| (cell.writer, cell.reader) == (writer, reader))
        .unwrap()
}

#[test]
fn each_reader_reads_the_parts_it_supports_of_a_writers_files() {
    let bench = Bench::new();
    let read = good_read();
    // The kit passes a reader only the files that it supports.
    let only_index = format!("case \"$1\" in *detail.atf) kill -9 $$;; esac; {read}");
    let candidates = [
        good_writer(&bench),
        reader(&bench, "sessions", ALL, &read),
        reader(&bench, "files", FILES, &read),
        reader(&bench, "indexes", "'index'", &only_index),
    ];
    let cases = "v1/write-{no-event,registers*,abort-one*,abort-at*}";
    let results = crossed(&bench, &candidates, cases);
    assert_eq!(results.cross.len(), 3);
    for cell in &results.cross {
        assert_eq!((cell.passed, cell.skipped), (4, 0), "{cell:?}");
        assert_eq!(cell.failed, [], "{cell:?}");
    }
    assert_eq!(exit_code(&results), 0);
    // The folders of cases and of kept sessions have been removed.
    assert_eq!(fs::read_dir(&bench.cases).unwrap().count(), 0);
}

#[test]
fn a_missing_manifest_is_one_cause_across_scripts() {
    let bench = Bench::new();
    let script = format!("{KIT} testee write \"$1\" \"$2\" && rm -f \"$2/manifest.json\"");
    let candidates = [writer(&bench, "writer", SESSIONS, &script)];
    let cases = "v1/write-{no-event,registers*,exception}";
    let results = crossed(&bench, &candidates, cases);
    let causes = Causes::new(&results.cases);
    let groups = causes.groups();
    let ids: Vec<_> = groups.iter().map(|group| group.cause.id.as_str()).collect();
    assert_eq!(ids, ["wrong-file:ATF-MANI-001"]);
    assert!(groups[0].failed > 2);
}

#[test]
fn a_validator_checks_writers_files() {
    let bench = Bench::new();
    let validator = |name, script: &str| bench.testee(name, &[("validate", script)], SESSIONS, "");
    let candidates = [
        good_writer(&bench),
        validator("good", &format!("exec {KIT} testee validate \"$1\"")),
        // An unfinalized file must be recovered, not accepted, but its events are the same.
        validator("blind", "echo '{\"verdict\": \"accept\"}'"),
        validator("refuses", "echo '{\"verdict\": \"reject\"}'; exit 1"),
    ];
    let results = crossed(&bench, &candidates, "v1/write-{no-event,abort-one*}");
    let good = cell(&results, 0, 1);
    assert_eq!((good.passed, good.failed.len()), (2, 0));
    let blind = cell(&results, 0, 2);
    assert_eq!((blind.passed, blind.failed.len()), (1, 1));
    let (script, message) = &blind.failed[0];
    assert!(script.starts_with("v1/write-abort-one"), "{script}");
    assert_eq!(message, "thread_2/index.atf: accept, expected recover");
    let classes = |testee| {
        let cases = results.cases_of(testee);
        let classes = cases.filter_map(|case| Some((case.role, case.outcome.class()?)));
        classes.collect::<Vec<_>>()
    };
    assert_eq!(classes(2), [(Role::Validate, Failure::WrongLabel)]);
    // Only one of the scripts has events.
    let refusals = [Failure::WrongReject, Failure::WrongLabel];
    assert_eq!(classes(3), refusals.map(|class| (Role::Validate, class)));
}

/// Makes a reader and a validator that edit the reference's answers about files and about sessions
/// with `sed`.
fn editing(bench: &Bench, name: &str, [file, session]: [&str; 2], lacks: &str) -> Candidate {
    let [read, validate] = ["read", "validate"].map(|role| {
        format!(
            "{KIT} testee {role} \"$1\" >answer; code=$?\n\
             if [ -d \"$1\" ]; then sed '{session}' answer; else sed '{file}' answer; fi\n\
             exit $code"
        )
    });
    let roles = [("read", &*read), ("validate", &*validate)];
    bench.testee(name, &roles, ALL, &format!("lacks = [{lacks}]\n"))
}

#[test]
fn missing_capabilities_of_a_reader_are_not_graded_on_writers_files() {
    let bench = Bench::new();
    let accepts = ["s/\"verdict\":\"recover\"/\"verdict\":\"accept\"/g"; 2];
    let candidates = [
        good_writer(&bench),
        editing(&bench, "declares", accepts, "'verdict'"),
        editing(&bench, "conceals", accepts, ""),
    ];
    let results = crossed(&bench, &candidates, "v1/write-abort-one*");
    let [declares, conceals] = [1, 2].map(|reader| cell(&results, 0, reader));
    assert_eq!((declares.passed, &declares.failed), (1, &Vec::new()));
    assert_eq!((conceals.passed, conceals.failed.len()), (0, 1));
    let mut readers = results.cases.iter().filter(|case| case.testee != 0);
    assert!(readers.all(|case| match &case.outcome {
        Outcome::Passed => case.testee == 1 && case.not_graded == [Lack::Verdict],
        Outcome::Failed { class, .. } => case.testee == 2 && *class == Failure::WrongLabel,
        Outcome::Skipped { .. } => false,
    }));
    assert_eq!(results.cases.len(), 5);
}

#[test]
fn a_reader_may_choose_its_verdict_on_optional_content() {
    // In a session's document, the verdict on the session comes first.
    let one = "s/\"verdict\":\"accept\"/\"verdict\":\"recover\"/";
    let all = &*format!("{one}g");
    let in_file = [all, all];
    let in_session = ["", one];
    #[rustfmt::skip]
    let changes = [
        // An unknown `arch` in the header.
        ("printf '\\310' | dd of=thread_0/index.atf bs=1 seek=6 conv=notrunc 2>/dev/null", in_file),
        // A byte after the footer.
        ("printf x >>thread_0/index.atf", in_file),
        ("rm manifest.json", in_session),
        // Readers do not get a symlink.
        ("mv manifest.json other && ln -s other manifest.json", in_session),
    ];
    for (change, right) in changes {
        let bench = Bench::new();
        let write = format!("{KIT} testee write \"$1\" \"$2\" && cd \"$2\" && {change}");
        let candidates = [
            writer(&bench, "writer", FILES, &write),
            editing(&bench, "accepts", ["", ""], ""),
            editing(&bench, "recovers", right, ""),
            editing(&bench, "recovers-all", [all, all], ""),
        ];
        let results = crossed(&bench, &candidates, "v1/write-one-event");
        for reader in [1, 2] {
            let failed = &cell(&results, 0, reader).failed;
            assert_eq!(failed, &Vec::new(), "{change}");
        }
        // A clean file must still be accepted.
        let is_clean = right == in_session;
        assert_eq!(cell(&results, 0, 3).failed.len(), usize::from(is_clean));
    }
}

#[test]
fn a_misreading_reader_fails_with_the_writer_and_the_place() {
    let bench = Bench::new();
    let wrong = format!("{KIT} testee read \"$1\" | sed 's/\"call_depth\":1/\"call_depth\":2/'");
    let candidates = [
        good_writer(&bench),
        reader(&bench, "wrong", "'index'", &wrong),
    ];
    let results = crossed(&bench, &candidates, "v1/write-{no-event,one-event}");
    let cell = cell(&results, 0, 1);
    let reason = "thread_0/index.atf: events[0].call_depth: 2, expected 1";
    let failed = ("v1/write-one-event".to_owned(), reason.to_owned());
    assert_eq!((cell.passed, &cell.failed), (1, &vec![failed]));
    assert_eq!(exit_code(&results), 1);
    let mut cases = results.cases_of(1);
    let case = cases
        .find(|case| case.case == "v1/write-one-event")
        .unwrap();
    assert_eq!(case.role, Role::Read);
    // The result has the rules and the note of its script.
    let scripts = writings();
    let mut scripts = scripts.iter().map(|script| script.about());
    let script = scripts.find(|about| about.name == case.case).unwrap();
    assert_eq!(case.rules, script.rules);
    assert_eq!(case.note, script.note);
    assert!(!case.rules.is_empty() && !case.note.is_empty());
    let message = format!("written by writer: {reason}");
    assert_eq!(failure(case), (Failure::WrongDecode, message.as_str()));
    let [difference] = case.outcome.differences() else {
        panic!("{case:?}");
    };
    let place = "thread_0/index.atf: events[0].call_depth";
    assert_eq!(difference.place, place);
    assert_eq!(difference.rule.as_deref(), Some("index_event.call_depth"));
}

#[test]
fn a_writers_mistake_does_not_fail_readers() {
    let bench = Bench::new();
    // Overwrite the first byte of the first event.
    let wrong = format!(
        "{KIT} testee write \"$1\" \"$2\" && \
         printf '\\377' | dd of=\"$2/thread_0/index.atf\" bs=1 seek=64 conv=notrunc 2>/dev/null"
    );
    let candidates = [
        writer(&bench, "wrong", SESSIONS, &wrong),
        good_writer(&bench),
        reader(&bench, "reader", SESSIONS, &good_read()),
    ];
    let results = crossed(&bench, &candidates, "v1/write-one-event");
    let write = &results.cases[0];
    assert_eq!(write.testee, 0);
    failure(write);
    assert!(results.cross.iter().all(|cell| cell.writer == 1));
    assert_eq!(cell(&results, 1, 2).passed, 1);
}

#[test]
fn a_reader_that_changes_files_does_not_affect_others() {
    let bench = Bench::new();
    let eats = format!("{KIT} testee read \"$1\"; rm -rf \"$1\"/*");
    let candidates = [
        good_writer(&bench),
        reader(&bench, "eats", "'session'", &eats),
        reader(&bench, "reader", "'session'", &good_read()),
    ];
    let results = crossed(&bench, &candidates, "v1/write-one-*");
    assert_eq!(results.cross.len(), 2);
    let mut cells = results.cross.iter();
    assert!(cells.all(|cell| cell.passed == 2), "{results:?}");
}

/// Applies a failure list without stale lines to a reader's results.
fn settle(results: &mut Results, reader: usize, list: &str) {
    let list = Failures::parse(Path::new("list"), list);
    let own = results.cases.iter_mut();
    let mut own: Vec<_> = own.filter(|case| case.testee == reader).collect();
    let names = BTreeSet::from(["v1/write-one-event"]);
    let scope = Scope {
        all_roles: true,
        denies_shoulds: false,
        grading: Grading::All,
        unselected: &BTreeSet::new(),
        only_own_files: false,
    };
    assert_eq!(list.apply(&mut own, &names, scope), [""; 0]);
    results.settle_cross();
}

#[test]
fn a_listed_failure_hides_no_failure_of_another_class() {
    let bench = Bench::new();
    let write = format!("{KIT} testee write \"$1\" \"$2\"; rm \"$2/manifest.json\"");
    let misreads = "sed 's/\"call_depth\":1/\"call_depth\":2/'";
    let read = format!("{KIT} testee read \"$1\" | {misreads}");
    // Misreads the files of both writers, and crashes on those of the second.
    let by_writer = format!("[ -e \"${{1%/*}}/../manifest.json\" ] || kill -11 $$\n{read}");
    // Misreads files, and crashes on folders.
    let by_file = format!("[ -f \"$1\" ] || kill -11 $$\n{read}");
    let candidates = [
        good_writer(&bench),
        writer(&bench, "files", FILES, &write),
        reader(&bench, "by-writer", "'index'", &by_writer),
        reader(&bench, "by-file", "'index', 'session'", &by_file),
    ];
    let mut results = crossed(&bench, &candidates, "v1/write-one-event");
    let known = "wrong-decode v1/write-one-event #1\n";
    settle(&mut results, 2, known);
    settle(&mut results, 3, known);
    let counts = |writer, reader| {
        let cell = cell(&results, writer, reader);
        (cell.passed, cell.known, cell.failed.len())
    };
    assert_eq!((counts(0, 2), counts(1, 2)), ((0, 1, 0), (0, 0, 1)));
    // The second writer claims no sessions, so its folder is passed to no reader.
    assert_eq!((counts(0, 3), counts(1, 3)), ((0, 0, 1), (0, 1, 0)));
    let crash = "crash: killed by signal 11 (SIGSEGV)";
    assert_eq!(cell(&results, 1, 2).failed[0].1, crash);
    for reader in [2, 3] {
        let cases = results.cases_of(reader);
        let states = cases.map(|case| (case.outcome.class(), case.state()));
        let mut states: Vec<_> = states.collect();
        states.sort_unstable();
        let expected = [
            (Some(Failure::Crash), State::Failed),
            (Some(Failure::WrongDecode), State::Known),
        ];
        assert_eq!(states, expected);
    }
    assert_eq!(exit_code(&results), 1);
    // With both classes on the list, nothing is unexpected.
    let both = format!("{known}crash v1/write-one-event #2\n");
    settle(&mut results, 2, &both);
    settle(&mut results, 3, &both);
    assert_eq!(exit_code(&results), 0);
    assert!(results.cross.iter().all(|cell| cell.known == 1));
}

#[test]
fn with_data_only_labels_fail_no_pair_and_hide_no_data() {
    let bench = Bench::new();
    let label = "s/\"count_source\":\"footer\"/\"count_source\":\"file_size\"/g";
    let data = "s/\"call_depth\":1/\"call_depth\":2/";
    let candidates = [
        good_writer(&bench),
        editing(&bench, "labels", [label, label], ""),
        // The index file comes before the session.
        editing(&bench, "both", [label, data], ""),
    ];
    let graded = |grading| crossed_by(grading, &bench, &candidates, "v1/write-one-event");
    let results = graded(Grading::All);
    assert_eq!(cell(&results, 0, 1).failed.len(), 1);
    let results = graded(Grading::Data);
    assert_eq!(results.grading, Grading::Data);
    let labels = cell(&results, 0, 1);
    assert_eq!((labels.passed, &labels.failed), (1, &Vec::new()));
    let both = cell(&results, 0, 2);
    assert_eq!((both.passed, both.failed.len()), (0, 1));
    assert!(both.failed[0].1.contains("call_depth: 2, expected 1"));
    let classes = |testee| {
        let cases = results.cases_of(testee);
        let classes = cases.map(|it| (it.role, it.outcome.class()));
        classes.collect::<Vec<_>>()
    };
    let passed = |role| (role, None);
    assert_eq!(classes(1), [Role::Read, Role::Validate].map(passed));
    let wrong = (Role::Read, Some(Failure::WrongDecode));
    assert_eq!(classes(2), [wrong, passed(Role::Validate)]);
}

#[test]
fn a_script_is_skipped_only_if_a_reader_skips_all_its_parts() {
    let bench = Bench::new();
    let read = good_read();
    let but = |name: &str| format!("case \"$1\" in *{name}) exit 77;; esac; {read}");
    // The smoke test has no task for readers here, so it does not refuse the reader that skips
    // everything.
    let candidates = [
        good_writer(&bench),
        reader(&bench, "no-details", FILES, &but("detail.atf")),
        reader(&bench, "no-indexes", FILES, &but("index.atf")),
        reader(&bench, "nothing", FILES, "exit 77"),
    ];
    let results = crossed(&bench, &candidates, "v1/write-registers*");
    let names = results.cases.iter().map(|case| case.case.as_str());
    let count = names.collect::<BTreeSet<_>>().len();
    assert!(count > 0);
    for (reader, passed, skipped) in [(1, count, 0), (2, count, 0), (3, 0, count)] {
        let cell = cell(&results, 0, reader);
        let found = (cell.passed, cell.skipped, cell.failed.len());
        assert_eq!(found, (passed, skipped, 0), "{reader}");
    }
    let mut both = results.cases_of(1).chain(results.cases_of(2));
    assert!(both.all(|case| case.outcome == Outcome::Passed));
    let mut nothing = results.cases_of(3);
    assert!(nothing.all(|case| matches!(case.outcome, Outcome::Skipped { .. })));
}

/// Grades a writer on the matching cases. The writer is a shell script that claims wire version 1
/// and `features`.
fn asked(features: &str, script: &str, cases: &str) -> Results {
    let bench = Bench::new();
    let writer = writer(&bench, "asked", features, script);
    crossed(&bench, &[writer], cases)
}

#[test]
fn a_writer_gets_only_scripts_it_supports() {
    let crashes = format!(
        "grep -q -e '^detail' -e 'wire=2' \"$1\" && kill -9 $$; exec {KIT} testee write \"$1\" \"$2\""
    );
    let results = asked("'index'", &crashes, "v?/write-{one-event,registers*}");
    assert_eq!(results.testees[0].refused, None);
    let mut passed = 0;
    for case in &results.cases {
        match &case.outcome {
            Outcome::Passed => passed += 1,
            Outcome::Skipped { why } if case.case.starts_with("v2/") => {
                assert_eq!(why, "wire version 2");
            }
            Outcome::Skipped { why } => assert_eq!(why, "feature detail", "{}", case.case),
            failed => panic!("{}: {failed:?}", case.case),
        }
    }
    assert_eq!(passed, 1, "{:?}", results.cases);
}

#[test]
fn a_writer_that_writes_nothing_at_all_fails_the_smoke_test() {
    for (script, why) in [
        ("exit 2", "exit code 2, the script was not fully written"),
        ("exit 77", "exit code 77, but its manifest claims support"),
        ("kill -11 $$", "killed by signal 11 (SIGSEGV)"),
    ] {
        let results = asked("'index'", script, "v1/write-one-event");
        let refused = results.testees[0].refused.clone().unwrap();
        assert!(refused.starts_with("write: v1/write-"), "{refused}");
        assert!(refused.ends_with(&format!(": {why}")), "{refused}");
        assert!(results.cases.is_empty());
    }
    // Scripts that end in `abort` are graded but are not part of the smoke test.
    let script = format!("grep -q abort \"$1\" && exit 2; exec {KIT} testee write \"$1\" \"$2\"");
    let results = asked("'index'", &script, "v1/write-one-event");
    assert_eq!(results.testees[0].refused, None);
}
