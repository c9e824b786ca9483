//! Selects functions by id or name.

use std::fmt;
use std::str::FromStr;

use atf::symbols::Function;

/// A pattern that selects functions by id or name.
///
/// ```
/// use atf::symbols::Function;
/// use atf_analyze::Pattern;
///
/// let selects = |text: &str| text.parse().map(|it: Pattern| it.fits(&Function::new(0x10, Some("render"))));
/// assert_eq!(selects("0x10"), Ok(true), "an id");
/// assert_eq!(selects("=render"), Ok(true), "the exact name");
/// assert_eq!(selects("r*der"), Ok(true), "the full name: * and ? are wildcards");
/// assert_eq!(selects("end"), Ok(true), "a part of the name");
/// assert!(selects("0xg").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// The function with this id.
    Id(u64),
    /// Functions with this exact name.
    Exact(String),
    /// Functions whose full name matches; `*` matches any characters, `?` exactly one.
    Glob(String),
    /// Functions whose name contains this string.
    Piece(String),
}

impl Pattern {
    /// Returns whether the pattern selects a function. A function without a name is selected only
    /// by its id.
    #[must_use]
    pub fn fits(&self, function: &Function<'_>) -> bool {
        let name = |fits: &dyn Fn(&str) -> bool| function.name.is_some_and(fits);
        match self {
            Self::Id(id) => function.id == *id,
            Self::Exact(exact) => name(&|name| name == exact),
            Self::Glob(pattern) => name(&|name| glob(pattern, name)),
            Self::Piece(piece) => name(&|name| name.contains(piece.as_str())),
        }
    }
}

/// Writes text that parses as this pattern.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id:#x}"),
            Self::Exact(name) => write!(f, "={name}"),
            Self::Glob(text) | Self::Piece(text) => f.write_str(text),
        }
    }
}

impl FromStr for Pattern {
    type Err = String;

    /// Parses `0x` with a hexadecimal id, `=` with an exact name, a glob, or a part of a name.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let id = u64::from_str_radix(digits, 16);
            return id
                .map(Self::Id)
                .map_err(|_| format!("invalid function_id `{text}`"));
        }
        Ok(match text.strip_prefix('=') {
            Some(name) => Self::Exact(name.to_owned()),
            None if text.contains(['*', '?']) => Self::Glob(text.to_owned()),
            None => Self::Piece(text.to_owned()),
        })
    }
}

/// Returns whether the pattern matches the full name. Backtracks only to the last `*`, so the time
/// is at most proportional to the product of the two lengths.
fn glob(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    // The pattern after the last star, and the part of the name that the star does not cover.
    let mut star = None;
    loop {
        let (mut after, mut rest) = (pattern.clone(), name.clone());
        match (after.next(), rest.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((after.clone(), name.clone()));
                pattern = after;
            }
            (Some(letter), Some(found)) if letter == '?' || letter == found => {
                (pattern, name) = (after, rest);
            }
            _ => match &mut star {
                Some((after, reach)) if !reach.as_str().is_empty() => {
                    reach.next();
                    (pattern, name) = (after.clone(), reach.clone());
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_an_id_a_name_a_glob_or_a_substring() {
        let pattern = |text: &str| text.parse::<Pattern>();
        assert_eq!(pattern("0x10"), Ok(Pattern::Id(16)));
        assert!(pattern("0xg").is_err());
        let fits =
            |text: &str, name| pattern(text).is_ok_and(|it| it.fits(&Function::new(16, name)));
        assert!(fits("=main", Some("main")));
        assert!(!fits("=main", Some("mainly")));
        assert!(fits("ain", Some("mainly")));
        assert!(!fits("ma*n", Some("mainly")));
        assert!(fits("ma*", Some("mainly")));
        assert!(fits("0x10", Some("mainly")) && fits("0x10", None));
        assert!(!fits("0x11", Some("mainly")) && !fits("*", None));
    }

    #[test]
    fn globs_match_whole_names() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("?", "", false),
            ("?", "λ", true),
            ("a*b*c", "abbc", true),
            ("a*b*c", "abbcd", false),
            ("*aab", "aaaab", true),
            ("*a?b", "aaaab", true),
            ("a**", "a", true),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_does_not_take_exponential_time() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!glob(&pattern, &"a".repeat(5000)));
    }
}
