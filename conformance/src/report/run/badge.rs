//! A badge: what was graded, and how it went. All its words are ours.

use std::io::{self, Write};

use super::tally::Tally;
use super::verdict;
use crate::report::xml::Attribute;
use crate::results::Results;

const LABEL: &str = "ATF v2 conformance";
/// White letters stand out from each of these by 4.5 or more.
const LABEL_PAPER: &str = "#3a414b";
const GOOD: &str = "#0f5e27";
const KNOWN: &str = "#734900";
const BAD: &str = "#a81e17";
const NOTHING: &str = "#545b64";

/// Space on each side of a text, in pixels.
const MARGIN: u32 = 6;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let (words, paper) = words(results);
    let (label_width, words_width) = (width(LABEL), width(&words));
    let left = label_width + 2 * MARGIN;
    let right = words_width + 2 * MARGIN;
    let (all, words_start) = (left + right, left + MARGIN);
    let title = Attribute(format!("{LABEL}: {words}"));
    let words = Attribute(words);
    write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="{title}">
  <title>{title}</title>
  <clipPath id="round"><rect width="{all}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="{left}" height="20" fill="{LABEL_PAPER}"/>
    <rect x="{left}" width="{right}" height="20" fill="{paper}"/>
  </g>
  <g fill="#ffffff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
    <text x="{MARGIN}" y="14" textLength="{label_width}">{LABEL}</text>
    <text x="{words_start}" y="14" textLength="{words_width}">{words}</text>
  </g>
</svg>
"##
    )
}

fn words(results: &Results) -> (String, &'static str) {
    let tally = Tally::of(&results.cases);
    let Tally { passed, known, .. } = tally;
    match (verdict::is_good(results), tally.graded(), known) {
        (false, _, _) if tally.failed > 0 => (
            format!("{} of {} failed", tally.failed, tally.graded()),
            BAD,
        ),
        (false, _, _) => (verdict::headline(results), BAD),
        (true, 0, _) => ("nothing graded".to_owned(), NOTHING),
        (true, _, 0) => (format!("{passed} passed"), GOOD),
        (true, _, _) => (format!("{passed} passed, {known} known"), KNOWN),
    }
}

/// About how wide a text is, in pixels, at 11 pixels of Verdana; `textLength` makes it so in any other.
fn width(text: &str) -> u32 {
    let tenths: u32 = text.chars().map(tenths).sum();
    tenths.div_ceil(10)
}

const fn tenths(letter: char) -> u32 {
    match letter {
        'i' | 'l' | 'j' => 32,
        ' ' | 'f' | ',' | '.' => 40,
        't' | 'r' | ':' | '/' | '-' => 48,
        'c' | 's' | 'z' => 58,
        'm' | 'w' | 'M' | 'W' => 100,
        'A'..='Z' => 78,
        _ => 69,
    }
}
