//! Formats text from the spec as Markdown, with names as code and special characters escaped.

use atf_spec::layout::{Type, Wire};

/// Formats a sentence from the spec for use in tables and links: names, paths, types and
/// hexadecimal numbers become code, and the rest is escaped.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in on_one_line(text).split('`').enumerate() {
        // Odd-numbered parts were in backticks, so they are already code.
        if number % 2 == 1 {
            out.push_str(&code(part));
        } else {
            plain_or_code(part, &mut out);
        }
    }
    out
}

fn plain_or_code(text: &str, out: &mut String) {
    for word in text.split_inclusive(char::is_whitespace) {
        let core = word
            .trim_end()
            .trim_start_matches(['(', '"', '\''])
            .trim_end_matches([',', ';', ':', '.', '?', '!', '"', '\'']);
        let core = core.strip_suffix("'s").unwrap_or(core);
        let core = match core.strip_suffix(')') {
            Some(inner) if !inner.contains('(') => inner,
            _ => core,
        };
        let core = core.trim_end_matches(['.', ',', '"']);
        if is_name(core)
            && let Some((before, after)) = word.split_once(core)
        {
            out.push_str(&escape(before));
            out.push_str(&code(core));
            out.push_str(&escape(after));
        } else {
            out.push_str(&escape(word));
        }
    }
}

/// Returns whether a word is a name in the format or its tools rather than an English word.
fn is_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./<>()[]-…".contains(c);
    if !word.chars().all(is_plain) {
        return false;
    }
    let is_path = word.contains('.')
        && word.split('.').all(|part| {
            part.len() > 2
                && part.starts_with(|c: char| c.is_ascii_alphabetic())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        });
    let is_hex = word
        .strip_prefix("0x")
        .is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
    word.contains('_') || is_path || is_hex || word.parse::<Type>().is_ok()
}

/// Formats a rule's sentence. If the first word is one of `names`, it becomes code, such as `flags`
/// in `flags is 0.`
pub(super) fn sentence(text: &str, names: &[&str]) -> String {
    match text.split_once(' ') {
        Some((first, rest)) if names.contains(&first) => {
            format!("{} {}", code(first), prose(rest))
        }
        _ => prose(text),
    }
}

/// Escapes Markdown's special characters.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in on_one_line(text).chars() {
        if "\\`*_<[]|~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Joins the lines of a text, because a newline would end a table's row or a heading.
fn on_one_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Returns a code span that can be used in a table.
pub(super) fn code(text: &str) -> String {
    let text = on_one_line(text).replace('|', "\\|");
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

/// Returns `version 1` or `versions 1 and 2`.
pub(super) fn versions(wires: &[Wire]) -> String {
    let numbers: Vec<String> = wires.iter().map(Wire::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("version {one}"),
        [front @ .., last] => format!("versions {} and {last}", front.join(", ")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, prose, versions};

    #[test]
    fn names_become_code_and_punctuation_stays_outside() {
        let cases = [
            ("Not before time_start_ns.", "Not before `time_start_ns`."),
            (
                "detail_seq's type (a u64) in",
                "`detail_seq`'s type (a `u64`) in",
            ),
            ("opens index.atf, always", "opens `index.atf`, always"),
            (
                "what ada_get_timestamp_ns() gave",
                "what `ada_get_timestamp_ns()` gave",
            ),
            (
                "\"123456789\" is 0xE3069283",
                "\"123456789\" is `0xE3069283`",
            ),
            ("a u8[4], e.g. version 2.1", "a `u8[4]`, e.g. version 2.1"),
            ("thread_ and its thread_id", "`thread_` and its `thread_id`"),
            ("(see thread_0/index.atf)", "(see `thread_0/index.atf`)"),
        ];
        for (text, expected) in cases {
            assert_eq!(prose(text), expected);
        }
    }

    #[test]
    fn markdown_syntax_in_text_is_escaped() {
        assert_eq!(prose("a | b * c <d> [e]"), "a \\| b \\* c \\<d> \\[e\\]");
        assert_eq!(prose("as `x | y` has it"), "as `x \\| y` has it");
    }

    #[test]
    fn newlines_do_not_end_a_row_or_heading() {
        assert_eq!(prose("one\ntwo\n\n*3*"), "one two \\*3\\*");
        assert_eq!(prose("as `x\ny` has it"), "as `x y` has it");
        assert_eq!(escape("one\n|"), "one \\|");
    }

    #[test]
    fn versions_are_listed_in_english() {
        assert_eq!(versions(&[1]), "version 1");
        assert_eq!(versions(&[1, 2]), "versions 1 and 2");
    }
}
