//! The badge of a run.

use std::io::{self, Write};

use super::tally::{Tally, share};
use super::verdict;
use crate::results::Results;
use atf_report::badge::{self, Mood};

const LABEL: &str = "ATF v2 conformance";

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let (words, mood) = words(results);
    badge::write(LABEL, &words, mood, out)
}

fn words(results: &Results) -> (String, Mood) {
    let tally = Tally::count(&results.cases);
    let Tally { passed, known, .. } = tally;
    let part = match share(&results.cases) {
        100 => String::new(),
        percent => format!(", {percent} % graded"),
    };
    match (verdict::is_good(results), tally.graded(), known) {
        (false, _, _) if tally.failed > 0 => (verdict::scores(results, &results.cases), Mood::Bad),
        (false, _, _) => (verdict::headline(results), Mood::Bad),
        (true, 0, _) => ("nothing graded".to_owned(), Mood::Nothing),
        (true, _, 0) => (format!("{passed} passed{part}"), Mood::Good),
        (true, _, _) => (format!("{passed} passed, {known} known{part}"), Mood::Known),
    }
}
