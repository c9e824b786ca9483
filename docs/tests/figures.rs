//! Compares the README's figures with the page that contains all of them.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap()
}

/// Returns the numbers in a string, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    parts
        .map(|part| part.trim_matches('.'))
        .filter(|part| !part.is_empty())
}

/// Returns the cells of each row of the tables.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|-"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

#[test]
fn each_figure_of_the_readme_is_a_rounded_one_of_the_benchmark() {
    let readme = read("README.md");
    let section = readme.split("\n## Speed\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let page = read("docs/speed.md");
    let measured: Vec<f64> = rows(&page)
        .filter(|cells| cells.len() == 6)
        .flat_map(|cells| [cells[3], cells[4]])
        .filter_map(|cell| numbers(cell).next()?.parse().ok())
        .collect();
    assert!(measured.len() > 150, "{}", measured.len());
    let stale: Vec<_> = rows(section)
        .skip(1)
        .flat_map(|cells| numbers(cells[2]).map(str::to_owned).collect::<Vec<_>>())
        .filter(|figure| {
            let places = figure.split_once('.').map_or(0, |(_, after)| after.len());
            let is_it = |value: &f64| format!("{value:.places$}") == **figure;
            !measured.iter().any(is_it)
        })
        .collect();
    assert!(stale.is_empty(), "not in docs/speed.md: {stale:?}");
}
