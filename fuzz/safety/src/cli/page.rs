//! Compares a run's counts with `docs/safety.md`, which states them.

use std::fs;
use std::path::Path;

/// Returns whether the page contains all these phrases, and prints a fault for each missing one.
/// The phrases have no commas, and the page's commas are ignored, because they group digits.
pub(super) fn states(phrases: &[String]) -> bool {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/safety.md");
    let text = fs::read_to_string(page).unwrap_or_default();
    let text = text.replace(',', "");
    let is_stated = |phrase: &str| {
        let mut found = text.match_indices(phrase);
        // A number must not be the end of another one.
        found.any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_digit()))
    };
    let missing = phrases.iter().filter(|phrase| !is_stated(phrase));
    let print = |phrase| println!("fault: docs/safety.md does not state \"{phrase}\"");
    missing.map(print).count() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_the_page_does_not_state_is_a_fault() {
        assert!(states(&["cuts of".to_owned(), "7 cases".to_owned()]));
        assert!(!states(&["7 cases".to_owned(), "1 cuts of".to_owned()]));
    }
}
