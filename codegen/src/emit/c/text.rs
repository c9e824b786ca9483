//! Prose and literals in C.

use atf_spec::layout::Scalar;

use crate::emit;

/// The width at which prose wraps. A comment may be 96 columns wide, and its last line ends in ` */`.
const COLUMNS: usize = 93;

/// Wraps `prose` for a comment into lines of at most 93 columns. Each line except the first starts
/// with `prefix`. The template contains the first line's prefix. Newlines in the prose are kept.
pub(super) fn wrap(prose: &str, prefix: &str) -> String {
    let prose = prose.replace("*/", "* /").replace("/*", "/ *");
    // A trigraph for a backslash, which continues a line.
    let prose = prose.replace("??/", "?? /");
    let letters = COLUMNS - prefix.chars().count();
    let paragraphs = prose.trim().lines();
    let lines = paragraphs.flat_map(|paragraph| emit::wrap(paragraph, letters));
    // Empty lines have no trailing space.
    let lines = lines.enumerate().map(|(number, line)| match number {
        0 => line,
        _ => format!("{prefix}{line}").trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a number as a C literal. The type is given by a suffix instead of a cast, so that `#if`
/// and Swift understand the literal too. A type's maximum value is written in hexadecimal.
pub(super) fn number(value: u64, scalar: Scalar) -> String {
    let suffix = if scalar == Scalar::U64 { "ull" } else { "u" };
    if value == scalar.max() {
        format!("0x{value:X}{suffix}")
    } else {
        format!("{value}{suffix}")
    }
}

/// Returns a C string literal without trigraphs.
pub(super) fn string(bytes: &str) -> String {
    let bytes = bytes.escape_default().to_string();
    format!("\"{}\"", bytes.replace("??", "?\\?"))
}

/// Returns an initialiser for an array of these bytes without a terminating NUL.
pub(super) fn initialiser(bytes: &str) -> String {
    let bytes: Vec<String> = bytes.bytes().map(|byte| format!("0x{byte:02X}")).collect();
    format!("{{ {} }}", bytes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn newlines_are_kept_without_trailing_blanks() {
        assert_eq!(wrap("one\n\ntwo", " * "), "one\n *\n * two");
    }
}
