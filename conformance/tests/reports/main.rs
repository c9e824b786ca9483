//! The reports of a run, from results that were typed by hand.

mod demo;
mod forms;
mod hostile;
mod terminal;

use atf_conformance::report::{Form, run};
use atf_conformance::results::Results;

/// A report as it goes to a file that keeps colours.
fn report(results: &Results, form: Form) -> String {
    let mut out = Vec::new();
    run::write(results, form, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The same without colours.
fn plain(results: &Results, form: Form) -> String {
    anstream::adapter::strip_str(&report(results, form)).to_string()
}
