//! Tests failure lists: listed failures are known, and stale entries are reported.

use std::collections::BTreeSet;
use std::path::Path;

use atf_conformance::results::{CaseResult, Failure, Grading, Outcome, Role};
use atf_conformance::run::{Failures, Scope};

fn result(role: Role, case: &str, failure: Option<Failure>) -> CaseResult {
    let outcome = match failure {
        None => Outcome::Passed,
        Some(class) => Outcome::failed(class, "so it\nwent"),
    };
    CaseResult::new(0, role, case, outcome)
}

/// Makes results: a crash in one role, a wrong verdict, a pass, and a skipped case.
fn results() -> Vec<CaseResult> {
    let mut left_out = result(Role::Read, "v2/d", None);
    left_out.outcome = Outcome::Skipped { why: String::new() };
    vec![
        result(Role::Read, "v1/a", Some(Failure::Crash)),
        result(Role::Validate, "v1/a", None),
        result(Role::Read, "v1/b", Some(Failure::WrongAccept)),
        result(Role::Read, "v1/c", None),
        left_out,
    ]
}

const NAMES: [&str; 5] = ["v1/a", "v1/b", "v1/c", "v2/d", "v2/not-run"];

const fn scope(all_roles: bool) -> Scope<'static> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    Scope {
        all_roles,
        denies_shoulds: true,
        unselected: &NONE,
        only_own_files: false,
        grading: Grading::All,
    }
}

/// Applies a list to results. Returns the stale lines and the updated list.
fn settled(
    text: &str,
    results: &mut [CaseResult],
    scope: Scope<'_>,
    reason: &str,
) -> (Vec<String>, String) {
    let list = Failures::parse(Path::new("known.txt"), text);
    let names = BTreeSet::from(NAMES);
    let stale = list.apply(&mut results.iter_mut().collect::<Vec<_>>(), &names, scope);
    let all: Vec<_> = results.iter().collect();
    (stale, list.updated(&all, &names, scope, reason))
}

/// Applies a list to these results. Returns the stale lines and the reasons of the known failures.
fn apply(text: &str, all_roles: bool) -> (Vec<String>, Vec<Option<String>>) {
    let mut results = results();
    let (stale, _) = settled(text, &mut results, scope(all_roles), "");
    let listed = results.into_iter().map(|result| result.listed).collect();
    (stale, listed)
}

/// Returns the list after an update with these results.
fn updated(text: &str, scope: Scope<'_>, reason: &str) -> String {
    settled(text, &mut results(), scope, reason).1
}

const GOOD: &str = "\
# What we know.

crash         */a   count is trusted, #14
  wrong-accept v1/b*\tno checksums yet
";

#[test]
fn a_valid_list_gives_the_reasons() {
    let (stale, listed) = apply(GOOD, true);
    assert_eq!(stale, Vec::<String>::new());
    let listed: Vec<_> = listed.iter().map(Option::as_deref).collect();
    let (a, b) = (Some("count is trusted, #14"), Some("no checksums yet"));
    assert_eq!(listed, [a, None, b, None, None]);
}

#[test]
fn each_wrong_or_stale_line_is_reported() {
    #[rustfmt::skip]
    let lists = [
        ("crash v1/c why", "known.txt:1: v1/c passes"),
        ("# list\ntimeout v1/a why", "known.txt:2: v1/a fails as crash, not timeout"),
        ("crash v3/* why", "known.txt:1: v3/* matches no case"),
        ("crash v2/d why", "known.txt:1: v2/d matches only skipped cases"),
        ("crash v1/a", "known.txt:1: no reason"),
        ("crash", "known.txt:1: no case pattern"),
    ];
    for (text, expected) in lists {
        assert_eq!(apply(text, true).0, [expected], "{text}");
    }
    let (stale, _) = apply("crashes v1/a why", true);
    let start = "known.txt:1: unknown class crashes";
    assert!(stale[0].starts_with(start), "{stale:?}");
    let (stale, _) = apply("crash v1/[a why", true);
    assert_eq!(stale.len(), 1);
    let (stale, _) = apply("crash v1/* why", true);
    let b = "known.txt:1: v1/b fails as wrong-accept, not crash";
    assert_eq!(stale, [b, "known.txt:1: v1/c passes"]);
}

#[test]
fn without_all_roles_only_a_line_that_matches_no_case_is_stale() {
    // The failures may come from a validator, which did not run.
    let text = "\
# Validators.
wrong-accept v1/a reason
timeout v1/c reason
crash v2/d reason

crash v3/* gone
";
    let (stale, listed) = apply(text, false);
    assert_eq!(stale, ["known.txt:6: v3/* matches no case"]);
    assert_eq!(listed, [const { None }; 5]);
    let updated = updated(text, scope(false), "new");
    let expected = "\
# Validators.
wrong-accept v1/a reason
timeout v1/c reason
crash v2/d reason

# so it went
crash         v1/a new
# so it went
wrong-accept  v1/b new
";
    assert_eq!(updated, expected);
}

#[test]
fn an_update_keeps_comments_and_valid_lines_and_asks_for_reasons() {
    let text = "\
# What we know.
crash v1/[ac] count is trusted

# Verdicts.
timeout v1/b slow
crash v2/d left out
crash v3/* gone
wrong-accept v2/not-run later
";
    let updated = updated(text, scope(true), "");
    let expected = "\
# What we know.
crash         v1/a count is trusted

# Verdicts.
wrong-accept v2/not-run later
# so it went
wrong-accept  v1/b
";
    assert_eq!(updated, expected);
    let (stale, _) = apply(&updated, true);
    assert_eq!(stale, ["known.txt:7: no reason"]);
}

#[test]
fn only_cases_that_ran_are_removed_from_a_line() {
    let text = "\
# Rewrite.
crash {v1/c,v2/not-run} pending, #12
crash {v2/d,v2/not-run} later
";
    let scope = Scope {
        unselected: &BTreeSet::from(["v2/not-run"]),
        ..scope(true)
    };
    let updated = updated(text, scope, "new");
    let expected = "\
# Rewrite.
crash         v2/not-run pending, #12
crash {v2/d,v2/not-run} later
# so it went
crash         v1/a new
# so it went
wrong-accept  v1/b new
";
    assert_eq!(updated, expected);
    assert_eq!(settled(&updated, &mut results(), scope, "").0, [""; 0]);
}

#[test]
fn an_update_of_a_valid_list_changes_nothing() {
    assert_eq!(updated(GOOD, scope(true), ""), GOOD);
}

#[test]
fn lines_about_what_was_not_graded_are_kept_and_not_stale() {
    let all = scope(true);
    let without_labels = Scope {
        grading: Grading::Data,
        ..all
    };
    let without_shoulds = Scope {
        denies_shoulds: false,
        ..all
    };
    for (text, role, without) in [
        (
            "wrong-label v1/c says recover\n",
            Role::Read,
            without_labels,
        ),
        ("should v1/c no checksum\n", Role::Write, without_shoulds),
    ] {
        let apply = |scope| {
            let (stale, updated) = settled(text, &mut [result(role, "v1/c", None)], scope, "");
            (stale.len(), updated)
        };
        assert_eq!(apply(without), (0, text.to_owned()));
        assert_eq!(apply(all), (1, String::new()));
    }
}

#[test]
fn a_comment_goes_with_its_last_line_and_new_failures_get_the_given_reason() {
    let text = "\
# About lists.

# Slow ones.
timeout v1/a slow
timeout v1/b slow

# Checksums,
# of two cases.
timeout v1/a slow
crash v1/a why
# Alone.
timeout v1/c gone
# Nothing below.
";
    let updated = updated(text, scope(true), "known since 1.2");
    let expected = "\
# About lists.


# Checksums,
# of two cases.
crash v1/a why
# Nothing below.
# so it went
wrong-accept  v1/b known since 1.2
";
    assert_eq!(updated, expected);
}

#[test]
fn without_other_writers_a_script_decides_only_lines_about_its_own_files() {
    let mut skipped = result(Role::Write, "v2/d", None);
    skipped.outcome = Outcome::Skipped { why: String::new() };
    let mut results = [
        result(Role::Write, "v1/a", None),
        result(Role::Read, "v1/a", None),
        // A script whose files readers do not get.
        result(Role::Write, "v1/b", None),
        // A case of the corpus.
        result(Role::Read, "v1/c", None),
        skipped,
    ];
    let mut apply = |text: &str, only_own_files| {
        let scope = Scope {
            only_own_files,
            ..scope(true)
        };
        settled(text, &mut results, scope, "")
    };
    let undecided = "crash {v1/a,v2/d} other files\n";
    let kept = (Vec::new(), undecided.to_owned());
    assert_eq!(apply(undecided, true), kept);
    assert_eq!(apply(undecided, false).1, "");
    for decided in ["rule v1/a why", "crash v1/b why", "crash v1/c why"] {
        let (stale, updated) = apply(decided, true);
        assert_eq!((stale.len(), updated.as_str()), (1, ""), "{decided}");
    }
    let (stale, updated) = apply("crash v?/[acd] why", true);
    assert_eq!(stale, ["known.txt:1: v1/c passes"]);
    assert_eq!(updated, "crash         v1/a why\ncrash         v2/d why\n");
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let list = Failures::open(file.path()).map_err(|error| error.to_string())?;
        Ok(list.apply(&mut [], &BTreeSet::new(), scope(true)))
    };
    assert_eq!(read(b"# a\n"), Ok(vec![]));
    assert_eq!(read(b"\xef\xbb\xbf# a\n"), Ok(vec![]));
    let utf_16 = Err("not UTF-8, but UTF-16 (at 0x0)".to_owned());
    assert_eq!(read(b"\xff\xfea\0"), utf_16);
    assert_eq!(read(b"\xfe\xff\0a"), utf_16);
    let latin_1 = "not UTF-8, but another encoding (at 0x1)".to_owned();
    assert_eq!(read(b"a\xe4\n"), Err(latin_1));
}
