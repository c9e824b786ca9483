//! Tests that errors in a manifest are reported with their position, and that other implementations
//! are still graded.

use std::fs;
use std::path::Path;

use atf_conformance::corpus::Subject;
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{Outcome, Role};
use atf_conformance::run::{Candidate, exit_code};
use tempfile::TempDir;

use crate::support::{Bench, case, document, executable, smoke_case};

const GOOD: &str = "protocol = 1
name = 'ada'
version = '1.4'
read = ['./r', '{path}', '--out={path}.x']
validate = ['sh', '{path}']
wire = [2, 1]
features = ['index', 'session']
failures = 'known.txt'
url = 'https://example.org'
";

/// The keys of [`GOOD`] that name a program.
const ROLES: &str = "read = ['./r', '{path}', '--out={path}.x']
validate = ['sh', '{path}']
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    executable(&folder.path().join("r"), "#!/bin/sh\n");
    fs::write(folder.path().join("no-program"), "text").unwrap();
    folder
}

fn open(folder: &Path, text: &str) -> Result<Manifest, String> {
    let path = folder.join("TESTEE.toml");
    fs::write(&path, text).unwrap();
    Manifest::open(&path).map_err(|error| {
        let text = error.to_string();
        text.strip_prefix(&format!("{}:", path.display()))
            .unwrap()
            .to_owned()
    })
}

#[test]
fn programs_are_found_from_the_manifests_folder_or_on_path() {
    let folder = folder();
    let manifest = open(folder.path(), GOOD).unwrap();
    assert_eq!(manifest.roles(), [Role::Read, Role::Validate]);
    assert_eq!(manifest.wire, [1, 2]);
    assert_eq!(manifest.failures, Some(folder.path().join("known.txt")));
    let read = manifest.command(Role::Read).unwrap();
    assert_eq!(read[0], folder.path().join("r").to_str().unwrap());
    assert_eq!(read[1..], ["{path}", "--out={path}.x"]);
    let shell = &manifest.command(Role::Validate).unwrap()[0];
    assert!(
        Path::new(shell).is_absolute() && shell.ends_with("/sh"),
        "{shell}"
    );
}

#[test]
fn each_mistake_is_reported_at_its_line_and_column() {
    let folder = folder();
    #[rustfmt::skip]
    let mistakes = [
        ("wire = [2, 1]", "wier = [1]", "6:1:", "wier"),
        ("wire = [2, 1]", "wire = [1, 3]", "6:8:", "one or more of 1, 2"),
        ("wire = [2, 1]", "wire = []", "6:8:", "one or more of 1, 2"),
        ("wire = [2, 1]", "wire = 'one'", "6:8:", "sequence"),
        ("protocol = 1", "protocol = 2", "1:12:", "protocol is 2"),
        ("name = 'ada'", "name = ' '", "2:8:", "empty"),
        ("name = 'ada'", "name = 3", "2:8:", "string"),
        ("'session'", "'sessions'", "7:22:", "sessions"),
        ("['index', 'session']", "['function']", "7:12:", "nothing to grade"),
        ("['index', 'session']", "['index', 'space']", "7:12:", "feature space needs feature kill"),
        ("url =", "lacks = ['depth']\nurl =", "", "or a field such as events.call_depth"),
        ("'./r'", "'./missing'", "4:8:", "./missing"),
        ("'./r'", "'./no-program'", "4:8:", "not executable"),
        ("'./r'", "'./'", "4:8:", "not a file"),
        ("'./r'", "'no-such-program-7'", "4:8:", "not found on PATH"),
        ("'./r'", "''", "4:8:", "no program"),
        ("['sh', '{path}']", "['sh']", "5:12:", "{path}"),
        ("read = [", "write = [", "4:9:", "{script}"),
        ("version = '1.4'\n", "", "1:1:", "version"),
        (ROLES, "", "", "expected write, read, validate or query"),
        ("url = '", "url = ", "9:7:", ""),
        ("url = '", "serve.reed = ['sh']\nurl = '", "9:7:", "reed"),
        ("url = '", "serve.read = []\nurl = '", "9:14:", "no program"),
        ("url = '", "serve.write = ['sh']\nurl = '", "9:15:", "serve.write needs the key write"),
    ];
    let mut wrong = Vec::new();
    for (from, to, place, words) in mistakes {
        assert!(GOOD.contains(from), "{from}");
        let error = open(folder.path(), &GOOD.replace(from, to)).unwrap_err();
        if !error.starts_with(place) || !error.contains(words) {
            wrong.push(format!("{to}: {place} {words}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_implementation_that_cannot_be_started_does_not_affect_the_others() {
    let bench = Bench::new();
    let error = Manifest::open(&bench.path().join("missing/TESTEE.toml")).unwrap_err();
    let bad = Candidate::Unusable(error);
    // One program is deleted after its manifest has been read. The system cannot execute the other
    // program.
    let gone = bench.reader("gone", "");
    let Candidate::Manifest(manifest) = bench.reader("text", "") else {
        unreachable!()
    };
    fs::remove_file(bench.path().join("gone-read.sh")).unwrap();
    let good = bench.says("good", &document(), 0);
    let valid = smoke_case("v1/valid");
    let text = Candidate::Manifest(manifest);
    let results = bench.run(&[bad, gone, good, text], vec![valid, case("v1/one")]);
    let refused: Vec<_> = results.refused().map(|(testee, ..)| testee).collect();
    assert_eq!(refused, [0, 1, 3], "{:?}", results.testees);
    let good = results.cases_of(2);
    let passed = good.filter(|case| case.case == "v1/one" && case.outcome == Outcome::Passed);
    assert_eq!(passed.count(), 1);
    assert!(results.cases.iter().all(|case| case.testee == 2));
    assert_eq!(exit_code(&results), 3);
}

/// Only the run itself grades values.
#[test]
fn a_wrong_value_does_not_fail_the_smoke_test() {
    let bench = Bench::new();
    let valid = smoke_case("v1/valid");
    let mut wrong = document();
    wrong["verdict"] = "accept".into();
    wrong["events"][0]["timestamp_ns"] = "7".into();
    let results = bench.run(&[bench.says("wrong", &wrong, 0)], vec![valid]);
    assert_eq!(results.testees[0].refused, None);
    assert_eq!(exit_code(&results), 1);
}

#[test]
fn a_crash_in_one_of_several_smoke_tests_does_not_refuse_the_implementation() {
    let bench = Bench::new();
    let index = smoke_case("v1/valid");
    let mut session = index.clone();
    session.name = "v1/session".to_owned();
    session.subject = Subject::Session;
    session.path = String::new();
    let mut document = document();
    document["verdict"] = "accept".into();
    // The first reader answers correctly for files and crashes on folders. For folders, the second
    // one prints garbage.
    for (answer, refused) in [
        ("kill -11 $$", None),
        ("echo none", Some("read: v1/session: ")),
    ] {
        let script = format!("case \"$1\" in *.atf) echo '{document}';; *) {answer};; esac");
        let half = bench.testee("half", &[("read", &*script)], "'index', 'session'", "");
        let results = bench.run(&[half], vec![index.clone(), session.clone()]);
        let found = results.testees[0].refused.as_deref();
        assert_eq!(found.is_some(), refused.is_some(), "{found:?}");
        let (found, start) = (found.unwrap_or_default(), refused.unwrap_or_default());
        assert!(found.starts_with(start), "{found}");
    }
}

#[test]
fn only_cases_that_every_reader_should_accept_are_smoke_tests() {
    use atf_conformance::Verdict::{Accept, Recover};
    use atf_conformance::corpus::Class::{Truncated, Valid};
    let bench = Bench::new();
    for (class, verdicts, serves) in [
        (Valid, &[Accept][..], true),
        (Valid, &[Recover], false),
        (Valid, &[Accept, Recover], false),
        (Truncated, &[Accept], false),
    ] {
        let mut case = case("v1/one");
        (case.class, case.verdicts) = (class, verdicts.to_vec());
        let results = bench.run(&[bench.reader("silent", "exit 77")], vec![case]);
        assert_eq!(
            results.testees[0].refused.is_some(),
            serves,
            "{class:?} {verdicts:?}"
        );
    }
}
