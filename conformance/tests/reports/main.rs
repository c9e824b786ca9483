//! Tests the reports of a run, made from hand-written results.

mod annotate;
mod badge;
mod browser;
mod charges;
mod check;
mod demo;
mod forms;
mod hostile;
mod html;
mod summary;
mod terminal;

use atf_conformance::report::write;
use atf_conformance::results::Results;
use atf_report::Form;

/// Returns a report with its colours.
fn report(results: &Results, form: Form) -> String {
    let mut out = Vec::new();
    write(results, form, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns a report without colours.
fn plain(results: &Results, form: Form) -> String {
    anstream::adapter::strip_str(&report(results, form)).to_string()
}

/// Compares a text with a file in this folder, which `ATF_BLESS=1` updates.
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/reports/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap());
}

/// Writes sample reports for people: `ATF_REPORTS=FOLDER cargo test -p atf-conformance --test
/// reports -- --ignored`.
#[test]
#[ignore = "writes sample reports for manual inspection"]
fn reports_to_look_at() {
    let folder = std::env::var_os("ATF_REPORTS").expect("ATF_REPORTS must name a folder");
    let folder = std::path::Path::new(&folder);
    std::fs::create_dir_all(folder).unwrap();
    for (name, results) in [
        ("demo", demo::demo()),
        ("hostile", demo::hostile()),
        ("many", html::many(0)),
        ("failing", html::many(10_000)),
    ] {
        for (form, extension) in [
            (Form::Html, "html"),
            (Form::Text, "txt"),
            (Form::Summary, "summary.txt"),
        ] {
            let path = folder.join(format!("{name}.{extension}"));
            std::fs::write(path, report(&results, form)).unwrap();
        }
    }
}
