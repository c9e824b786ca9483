//! Finds the examples in documents and help texts. The tests identify examples by their text, run
//! them, and fail if one is unknown.

#![forbid(unsafe_code)]

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// An example in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Example {
    /// A fenced code block: language and text.
    Block(String, String),
    /// Inline code, on one line.
    Span(String),
}

/// Returns the examples of a Markdown document, in order.
#[must_use]
pub fn examples(markdown: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut is_block = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                found.push(Example::Block(language, String::new()));
                is_block = true;
            }
            Event::End(TagEnd::CodeBlock) => is_block = false,
            Event::Text(text) => {
                if let (true, Some(Example::Block(_, block))) = (is_block, found.last_mut()) {
                    block.push_str(&text);
                }
            }
            Event::Code(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                found.push(Example::Span(words.join(" ")));
            }
            _ => {}
        }
    }
    found
}

/// Returns the commands of a console block or a help text (the lines that begin with `$ `), each with
/// the output lines below it.
#[must_use]
pub fn sessions(console: &str) -> Vec<(String, String)> {
    let mut sessions: Vec<(String, String)> = Vec::new();
    for line in console.lines() {
        match (line.trim_start().strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), _) => sessions.push((command.to_owned(), String::new())),
            (None, Some((_, printed))) => {
                printed.push_str(line);
                printed.push('\n');
            }
            (None, None) => {}
        }
    }
    sessions
}

/// Returns whether a string matches the output in an example. A line `…` matches any number of
/// lines, including none.
#[must_use]
pub fn is_shown(shown: &str, text: &str) -> bool {
    match shown.split_once("…\n") {
        None => shown == text,
        Some((start, end)) => text.strip_prefix(start).is_some_and(|rest| {
            rest.match_indices('\n')
                .map(|(at, _)| at + 1)
                .chain([0])
                .any(|at| is_shown(end, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_shown, sessions};

    /// A command without lines is run, but its output is not compared.
    #[test]
    fn a_command_owns_the_lines_up_to_the_next() {
        let pair = |command: &str, printed: &str| (command.to_owned(), printed.to_owned());
        let expected = [pair("a b", "one\ntwo\n"), pair("c", "")];
        assert_eq!(sessions("Example:\n  $ a b\none\ntwo\n$ c\n"), expected);
    }

    #[test]
    fn an_ellipsis_matches_any_lines_and_other_lines_match_exactly() {
        assert!(is_shown("a\nb\n", "a\nb\n") && !is_shown("a\n", "a\nb\n"));
        for text in ["a\nd\n", "a\nb\nd\n", "a\nb\nc\nd\n"] {
            assert!(is_shown("a\n…\nd\n", text), "{text}");
        }
        for text in ["a\nb\n", "b\nd\n", "a\nb\nd\ne\n", "a\nxd\n"] {
            assert!(!is_shown("a\n…\nd\n", text), "{text}");
        }
    }
}
