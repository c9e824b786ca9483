//! `diff`: the numbers on both sides match those of `report`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{lines, number, of_samples};

/// Returns the calls, self time and total time of each function by name.
fn reported(path: &str) -> BTreeMap<String, [u64; 3]> {
    let text = of_samples(&format!("report --json --limit 0 {path}"));
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
    let paths = ["sample-small", "sample-crashed"];
    let text = of_samples(&format!("diff --json --all --limit 0 {}", paths.join(" ")));
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
