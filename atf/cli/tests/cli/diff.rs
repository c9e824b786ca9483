//! `diff`: its numbers match `report` on both sides.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::report::session;
use super::{atf, clean, golden, lines, number, texts, written};

/// Returns the calls, self time and total time of each function by name.
fn reported(path: &str) -> BTreeMap<String, [u64; 3]> {
    let text = written(
        &atf_samples::folder(),
        &["report", "--json", "--limit", "0", path],
    );
    let functions = lines(&text)[0]["functions"].as_array().unwrap().clone();
    let row = |row: &Value| {
        let name = row["function"].as_str().unwrap().to_owned();
        let numbers = ["calls", "self_ns", "total_ns"].map(|key| number(&row[key]));
        (name, numbers)
    };
    functions.iter().map(row).collect()
}

#[test]
fn each_function_has_the_numbers_of_both_reports() {
    let arguments = ["diff", "--json", "--all", "--limit", "0"];
    let paths = ["sample-small", "sample-crashed"];
    let text = written(&atf_samples::folder(), &[&arguments[..], &paths].concat());
    let diff = lines(&text).remove(0);
    let rows = diff["functions"].as_array().unwrap();
    for (side, path) in ["before", "after"].into_iter().zip(paths) {
        let found = rows.iter().filter_map(|row| {
            let figures = ["calls", "self_ns", "total_ns"].map(|key| &row[side][key]);
            for spread in figures {
                assert_eq!(spread["min"], spread["median"]);
                assert_eq!(spread["max"], spread["median"]);
            }
            let numbers = figures.map(|spread| number(&spread["median"]));
            (numbers != [0; 3]).then(|| (row["function"].as_str().unwrap().to_owned(), numbers))
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), reported(path), "{side}");
    }
    let change = |row: &Value| row["change_ns"].as_str().unwrap().parse::<i64>().unwrap();
    assert!(rows.is_sorted_by(|a, b| change(a).abs() >= change(b).abs()));
    for row in rows {
        let [before, after] =
            ["before", "after"].map(|side| number(&row[side]["self_ns"]["median"]));
        assert_eq!(
            i128::from(change(row)),
            i128::from(after) - i128::from(before)
        );
    }
}

#[test]
fn comparisons_match_the_golden_files() {
    let samples_of = ["sample-small", "sample-crashed"];
    for (name, arguments) in [
        ("diff.txt", &["--limit", "3", "--noise", "20"][..]),
        ("diff.csv", &["--limit", "3", "--csv"]),
    ] {
        let text = written(
            &atf_samples::folder(),
            &[&["diff"], arguments, &samples_of].concat(),
        );
        golden(name, &text);
    }
    let several = [
        "diff",
        "--limit",
        "3",
        "--before",
        "sample-small",
        "sample-crashed",
    ];
    let after = ["--after", "sample-crashed-nomanifest"];
    golden(
        "diff-several.txt",
        &written(&atf_samples::folder(), &[&several[..], &after].concat()),
    );
}

#[test]
fn the_sums_come_first_and_small_changes_can_be_left_out() {
    let sums = |path: &str| reported(path).values().map(|it| it[1]).sum::<u64>();
    let [small, crashed] = ["sample-small", "sample-crashed"].map(sums);
    let run = |arguments: &[&str]| {
        let paths = ["sample-small", "sample-crashed"];
        let arguments = [&["diff", "--all", "--limit", "0"], arguments, &paths].concat();
        written(&atf_samples::folder(), &arguments)
    };
    let diff = lines(&run(&["--json"])).remove(0);
    for (side, ns) in [("before", small), ("after", crashed)] {
        assert_eq!(number(&diff["all_self_ns"][side]["median"]), ns);
    }
    let us = |ns: u64| format!("{}.{:03} µs", ns / 1000, ns % 1000);
    let text = run(&[]);
    let first = format!(
        "all functions: {} before, {} after, ",
        us(small),
        us(crashed)
    );
    assert!(text.starts_with(&first), "{text}");
    let changes = |diff: &Value| {
        let rows = diff["functions"].as_array().unwrap().iter();
        let changes = rows.map(|row| row["change_ns"].as_str().unwrap().parse().unwrap());
        changes.collect::<Vec<i64>>()
    };
    let few = lines(&run(&["--json", "--min-change", "2us"])).remove(0);
    let mut expected = changes(&diff);
    expected.retain(|change| change.abs() >= 2000);
    assert!(!expected.is_empty());
    assert_eq!(changes(&few), expected);
    let left_out = changes(&diff).len() - expected.len();
    assert_eq!(number(&few["not_shown_small"]), left_out as u64);
    let told = format!("… {left_out} functions with a smaller change than --min-change not shown");
    assert!(run(&["--min-change", "2us"]).contains(&told));
}

#[test]
fn differences_alone_leave_the_exit_status_0() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    session(&at("a"), &[(5, 1, 1), (9, 2, 1)], "parse");
    session(&at("b"), &[(5, 1, 2), (900, 2, 2)], "parse");
    fs::write(
        at("b/manifest.json"),
        fs::read_to_string(at("b/manifest.json"))
            .unwrap()
            .replace("0x1", "0x2"),
    )
    .unwrap();
    let text = clean(folder.path(), &["diff", "a", "b"]);
    let row = text.lines().find(|line| line.ends_with(" parse")).unwrap();
    assert!(row.contains("+891 ns"), "{text}");
    let text = clean(folder.path(), &["diff", "a", "a"]);
    assert!(
        text.contains("1 function within the noise not shown"),
        "{text}"
    );
    let text = clean(folder.path(), &["diff", "--all", "a", "a"]);
    assert!(text.contains("parse  (noise)"), "{text}");
}

#[test]
fn what_is_missing_on_either_side_is_told() {
    let crashed = "sample-crashed";
    for paths in [["sample-small", crashed], [crashed, "sample-small"]] {
        for form in [&[][..], &["--json"], &["--csv"]] {
            let output = atf(&atf_samples::folder(), &[&["diff"], form, &paths].concat());
            let (status, text, messages) = texts(&output);
            assert_eq!(status, 1, "{messages}");
            assert!(text.contains("not finalized"), "{text}");
        }
        let text = written(&atf_samples::folder(), &[&["diff"], &paths[..]].concat());
        let of_run = "0 events lost by the tracer\n3 problems: ";
        assert!(text.contains(of_run), "{text}");
    }
    let unnamed = ["diff", "sample-small", "sample-crashed-nomanifest"];
    let output = atf(&atf_samples::folder(), &unnamed);
    let (_, _, messages) = texts(&output);
    assert!(
        messages.contains("no function after has a name"),
        "{messages}"
    );
    let manifest = "sample-small/session_20260105_101500/pid_4242/manifest.json";
    let named = [&unnamed[..], &["--after-symbols", manifest]].concat();
    let output = atf(&atf_samples::folder(), &named);
    let (_, text, messages) = texts(&output);
    assert!(!messages.contains("has a name"), "{messages}");
    assert!(!text.contains("appeared"), "{text}");
    for (arguments, message) in [
        (&["sample-small"][..], "expected 2 paths, found 1; "),
        (&["--before", "sample-small"], "--after"),
        (&["sample-small", "nosuchpath"], "nosuchpath"),
        (&["--noise", "100", "sample-small", crashed], "from 0 to 99"),
    ] {
        let output = atf(&atf_samples::folder(), &[&["diff"], arguments].concat());
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2, "{messages}");
        assert!(messages.contains(message), "{messages}");
    }
}

#[test]
fn processes_are_one_run_and_sessions_are_several() {
    let folder = TempDir::new().unwrap();
    let events = [(100, 1, 1), (300, 2, 1)];
    // Process 8 started another program with exec.
    let process = ["a/pid_7", "a/pid_8", "a/pid_8_2"];
    for path in process.into_iter().chain(["runs/x/pid_1", "runs/y/pid_2"]) {
        session(&folder.path().join(path), &events, "main");
    }
    let text = clean(folder.path(), &["diff", "--json", "--all", "a", "runs"]);
    let diff = lines(&text).remove(0);
    let runs = ["before", "after"].map(|side| diff[side].as_array().unwrap().len());
    assert_eq!(runs, [1, 2]);
    let main = &diff["functions"][0];
    let calls = ["before", "after"].map(|side| number(&main[side]["calls"]["max"]));
    assert_eq!(calls, [3, 1]);
    let out = ["--out", "calls.csv"];
    clean(
        folder.path(),
        &[&["export", "--format", "csv", "a"][..], &out].concat(),
    );
    let calls = std::fs::read_to_string(folder.path().join("calls.csv")).unwrap();
    assert_eq!(calls.lines().count(), 4, "{calls}");
}

#[test]
fn hostile_names_stay_in_their_field() {
    let folder = TempDir::new().unwrap();
    let name = "a,\"b\"\n\u{1b}[31mc";
    session(&folder.path().join("s"), &[(5, 1, 1), (9, 2, 1)], name);
    session(&folder.path().join("t"), &[(5, 1, 3), (9, 2, 3)], name);
    let text = written(folder.path(), &["diff", "--csv", "s", "t"]);
    let rows: Vec<_> = text.lines().collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(
        rows[1].starts_with(r#""a,""b""\u{a}\u{1b}[31mc",,,vanished,-4,1,1,1,0,0,0"#),
        "{text}"
    );
    assert!(
        rows[2].starts_with("0x0000000000000003,0x0000000000000003,,appeared,4,"),
        "{text}"
    );
    assert!(!written(folder.path(), &["diff", "s", "t"]).contains('\u{1b}'));
}
