//! Writes badges: small images with a subject and an outcome. All of their text comes from the kit.

use std::io::{self, Write};

use crate::xml::Attribute;

/// Background colours with a contrast ratio of at least 4.5 against white.
const LABEL_PAPER: &str = "#3a414b";
const GOOD: &str = "#0f5e27";
const KNOWN: &str = "#734900";
const BAD: &str = "#a81e17";
const NOTHING: &str = "#545b64";

/// The space on each side of the label and of the words, in pixels.
const MARGIN: u32 = 6;

/// The kind of outcome, which determines the badge's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// There are no problems.
    Good,
    /// All problems are known or allowed.
    Known,
    /// There are unexpected problems.
    Bad,
    /// Nothing was graded.
    Nothing,
}

/// Writes a badge with a label and, next to it, the outcome in words.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(label: &str, words: &str, mood: Mood, out: &mut dyn Write) -> io::Result<()> {
    let paper = match mood {
        Mood::Good => GOOD,
        Mood::Known => KNOWN,
        Mood::Bad => BAD,
        Mood::Nothing => NOTHING,
    };
    let (label_width, words_width) = (width(label), width(words));
    let left = label_width + 2 * MARGIN;
    let right = words_width + 2 * MARGIN;
    let (all, words_start) = (left + right, left + MARGIN);
    let title = Attribute(format!("{label}: {words}"));
    let (label, words) = (Attribute(label), Attribute(words));
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
    <text x="{MARGIN}" y="14" textLength="{label_width}">{label}</text>
    <text x="{words_start}" y="14" textLength="{words_width}">{words}</text>
  </g>
</svg>
"##
    )
}

/// Estimates the width of text in 11-pixel Verdana. With other fonts, `textLength` stretches the
/// text to this width.
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

#[cfg(test)]
mod tests {
    use super::width;

    /// Characters and their width in Verdana, in thousandths of the font size.
    const VERDANA: [(&str, u32); 17] = [
        ("il", 274),
        (" f", 352),
        (",.", 364),
        ("t", 394),
        ("r", 427),
        (":/-", 454),
        ("cs", 521),
        ("z", 525),
        ("a", 601),
        ("e", 596),
        ("nu", 633),
        ("09", 636),
        ("OQ", 787),
        ("N", 748),
        ("M", 843),
        ("m", 973),
        ("W", 989),
    ];

    #[test]
    fn estimated_text_widths_are_close_to_verdana() {
        for (letters, thousandths) in VERDANA {
            let own = thousandths * 11 / 10;
            let range = own * 82 / 100..own * 118 / 100;
            for letter in letters.chars() {
                let drawn = width(&letter.to_string().repeat(100));
                let about = format!("{letter}: estimated {drawn}, Verdana {own}");
                assert!(range.contains(&drawn), "{about}");
            }
        }
    }
}
