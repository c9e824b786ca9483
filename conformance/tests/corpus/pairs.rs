//! Tests the pairs of faults: readers that share no code answer each correctly, and a check finds
//! both faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use atf_conformance::corpus::Case;
use atf_conformance::corpus::pairs::{Apart, Composed, Pair, is_pair, pairs};
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{Outcome, Role};
use atf_conformance::run::Reading;
use atf_conformance::{Verdict, reference, verdict_in};
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::{broken, found};

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(pairs);

/// Returns the composed cases.
pub(crate) fn composed() -> impl Iterator<Item = &'static Case> {
    PAIRS.iter().filter_map(|pair| match &pair.file {
        Composed::New(case, _) => Some(&**case),
        _ => None,
    })
}

/// Returns whether the kit passes a document as the answer to a case.
fn passes(case: &Case, document: &Value) -> bool {
    let reader = Manifest::reference(Path::new("scripted"));
    let reading = Reading::new(Role::Read, Arc::new(case.clone()));
    let verdict = verdict_in(document).unwrap();
    reading.compare(&reader, verdict, document) == Outcome::Passed
}

#[test]
fn readers_that_share_no_code_answer_each_pair_correctly() {
    let mut faults = String::new();
    for case in composed() {
        let folder = TempDir::new().unwrap();
        case.write(folder.path()).unwrap();
        let path = folder.path().join(&case.path);
        let answers = [
            ("reference", reference::read(&path)),
            ("interpreter", atf_interpreter::read_path(&path).unwrap()),
        ];
        for (name, answer) in answers.iter().filter(|(_, answer)| !passes(case, answer)) {
            let _ = writeln!(faults, "{}, {name}: {answer}", case.name);
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_check_finds_both_rules_unless_one_hides_the_other() {
    let mut faults = String::new();
    for pair in PAIRS.iter() {
        let Composed::New(case, hidden) = &pair.file else {
            continue;
        };
        let found = broken(&found(case));
        let expected: BTreeSet<_> = case.broken.iter().cloned().collect();
        let is_expected = |rule: &&&str| expected.iter().any(|(_, it)| it == *rule);
        let is_hidden = pair.rules.iter().filter(is_expected).count() == 1;
        if found != expected || is_hidden != hidden.is_some() {
            let _ = writeln!(
                faults,
                "{}: {found:?}, expected {expected:?}, {hidden:?}",
                case.name
            );
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// If the composition lost one of the faults, readers would answer as if it were not there.
#[test]
fn each_pair_has_the_faults_of_both() {
    let mut names = BTreeSet::new();
    let mut seen: BTreeMap<_, &str> = BTreeMap::new();
    for case in crate::CASES.iter().filter(|case| case.files.len() == 1) {
        seen.insert((case.wire, &case.files), &case.name);
    }
    for case in composed() {
        assert!(
            is_pair(&case.name) && names.insert(&case.name),
            "{}",
            case.name
        );
        let other = seen.insert((case.wire, &case.files), &case.name);
        assert_eq!(other, None, "{} has the same bytes", case.name);
        assert_eq!(case.rules.len(), 2, "{}", case.name);
    }
}

#[test]
fn a_reader_that_misses_one_of_two_faults_fails() {
    let name = "v1/pair-ihdr-013-the-next-bit+iftr-004-one-bit-off";
    let case = composed().find(|case| case.name == name).unwrap();
    let mut answer = case.expected.clone();
    assert_eq!(case.verdicts, [Verdict::Recover, Verdict::Reject]);
    answer["verdict"] = "accept".into();
    assert!(!passes(case, &answer));
}

/// `ATF_BLESS=1 cargo test -p atf-conformance --test corpus pairs` updates the table in the kit's
/// guide.
#[test]
fn nearly_all_feasible_pairs_have_a_file_and_the_guide_counts_them() {
    let mut table =
        "| file | pairs | same field | removed | inapplicable | in the corpus | composed | both reported | covered |\n\
         |---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for (wire, kind) in [(1, "index"), (1, "detail"), (2, "index"), (2, "detail")] {
        let is_own = |pair: &&Pair| {
            let letter = &pair.rules[0][4..5];
            pair.wire == wire && kind.starts_with(&letter.to_lowercase())
        };
        let own: Vec<_> = PAIRS.iter().filter(is_own).map(|pair| &pair.file).collect();
        let count = |is: &dyn Fn(&Composed) -> bool| own.iter().filter(|file| is(file)).count();
        let never = |why| count(&|it| matches!(it, Composed::Never(never) if *never == why));
        let apart = [Apart::SameField, Apart::Removed, Apart::Inapplicable].map(never);
        let known = count(&|it| matches!(it, Composed::Known(_)));
        let new = count(&|it| matches!(it, Composed::New(..)));
        let reported = known + count(&|it| matches!(it, Composed::New(_, None)));
        let infeasible: usize = apart.iter().sum();
        let (all, covered) = (own.len(), known + new);
        let feasible = all - infeasible;
        assert!(covered * 10 >= feasible * 9, "{covered} of {feasible}");
        assert!(infeasible * 5 < all, "{infeasible} of {all}");
        let [field, removed, not] = apart;
        let _ = writeln!(
            table,
            "| {kind}, version {wire} | {all} | {field} | {removed} | {not} | {known} | {new} | {reported} | {covered} of {feasible} |"
        );
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance/README.md");
    let text = std::fs::read_to_string(&guide).unwrap();
    let (before, rest) = text
        .split_once(&table[..table.find('\n').unwrap()])
        .unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let expected = format!("{before}{table}\n{after}");
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&guide, &expected).unwrap();
        return;
    }
    assert!(text == expected, "{} is stale:\n{table}", guide.display());
}
