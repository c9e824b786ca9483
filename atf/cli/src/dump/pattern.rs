//! Function patterns on the command line.

use std::fmt;
use std::str::FromStr;

/// A function pattern, which selects one or more functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// The function with this id.
    Id(u64),
    /// Functions with this exact name.
    Exact(String),
    /// Functions whose whole name matches; `*` matches any characters, `?` exactly one.
    Glob(String),
    /// Functions whose name contains this string.
    Piece(String),
}

impl Pattern {
    /// Returns whether a name matches.
    pub(crate) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Id(_) => false,
            Self::Exact(exact) => name == exact,
            Self::Glob(pattern) => glob(pattern, name),
            Self::Piece(piece) => name.contains(piece.as_str()),
        }
    }
}

/// Prints the pattern in the form used on the command line.
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

/// Returns whether the pattern matches the whole name. Backtracks only to the last `*`, so the time
/// is at most proportional to the product of the two lengths.
fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    // The pattern position after the last star, and how far into the name the star reaches.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, place));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[place] => {
                at += 1;
                place += 1;
            }
            _ => match &mut star {
                Some((after, reach)) => {
                    *reach += 1;
                    (at, place) = (*after, *reach);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_an_id_a_name_a_glob_or_a_piece() {
        let pattern = |text: &str| text.parse::<Pattern>().unwrap();
        assert_eq!(pattern("0x10"), Pattern::Id(16));
        assert!("0xg".parse::<Pattern>().is_err());
        assert!(pattern("=main").fits("main"));
        assert!(!pattern("=main").fits("mainly"));
        assert!(pattern("ain").fits("mainly"));
        assert!(!pattern("ma*n").fits("mainly"));
        assert!(pattern("ma*").fits("mainly"));
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
