//! Selects modules and functions by name.

use std::path::Path;

use globset::{Glob, GlobMatcher};

use crate::table::Names;

/// Globs that select modules or functions by name: `GLOB` includes, `!GLOB` excludes, and the last
/// matching glob decides. A name that no glob matches is selected only if all globs exclude names.
///
/// `*` matches any text, including `/` and `::`; `?`, `[…]` and `{…,…}` work as in a shell, and `\`
/// escapes the next character.
///
/// ```
/// # fn main() -> Result<(), String> {
/// let filter = atf_symbolize::Filter::parse("deflate*,!deflate_slow")?;
/// assert!(filter.selects(&["deflate_fast"]));
/// assert!(!filter.selects(&["deflate_slow"]) && !filter.selects(&["inflate"]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Filter {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    glob: GlobMatcher,
    is_included: bool,
}

impl Filter {
    /// Parses globs separated by commas. A comma in `{…}`, in `[…]` or after `\` is part of the
    /// glob.
    ///
    /// # Errors
    ///
    /// Reports the first malformed or empty glob, with the reason.
    pub fn parse(globs: &str) -> Result<Self, String> {
        let rules = split(globs).into_iter().filter(|glob| !glob.is_empty());
        let rules = rules.map(Rule::parse).collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Escapes one glob, or `!` and a glob, so that [`parse`](Self::parse) reads it as a single
    /// glob.
    ///
    /// # Errors
    ///
    /// Reports the reason if the glob is malformed or empty.
    pub fn escape(glob: &str) -> Result<String, String> {
        Rule::parse(glob)?;
        Ok(split(glob).join("\\,"))
    }

    /// Returns whether there are no globs, in which case everything is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns whether something with these names is selected. A glob needs to match only one of
    /// them.
    #[must_use]
    pub fn selects(&self, names: &[impl AsRef<Path>]) -> bool {
        let default = || self.rules.iter().all(|rule| !rule.is_included);
        self.last_match(names).unwrap_or_else(default)
    }

    /// Returns whether a function is selected. If its name in the source is unknown, the globs cannot
    /// decide: `in_doubt` does, unless they exclude the mangled name.
    #[must_use]
    pub fn selects_function(&self, names: &Names, in_doubt: bool) -> bool {
        match names {
            Names::Known(names) => self.selects(names),
            Names::Mangled(name) => in_doubt && self.last_match(&[name]) != Some(false),
        }
    }

    /// Returns whether the last matching glob includes something with these names.
    fn last_match(&self, names: &[impl AsRef<Path>]) -> Option<bool> {
        let matches = |rule: &&Rule| names.iter().any(|name| rule.glob.is_match(name));
        let rule = self.rules.iter().rev().find(matches);
        rule.map(|rule| rule.is_included)
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        let excluded = text.strip_prefix('!');
        let glob = excluded.unwrap_or(text);
        if glob.is_empty() {
            return Err("empty glob".to_owned());
        }
        let glob = Glob::new(glob).map_err(|error| error.to_string())?;
        Ok(Self {
            glob: glob.compile_matcher(),
            is_included: excluded.is_none(),
        })
    }
}

/// Splits `text` at the commas between globs.
fn split(text: &str) -> Vec<&str> {
    let (mut braces, mut is_class, mut is_escaped) = (0_u32, false, false);
    text.split(|character| {
        let is_plain = !is_escaped;
        is_escaped = is_plain && character == '\\';
        match character {
            _ if !is_plain => {}
            '[' => is_class = true,
            ']' => is_class = false,
            '{' => braces = braces.saturating_add(1),
            '}' => braces = braces.saturating_sub(1),
            ',' => return braces == 0 && !is_class,
            _ => {}
        }
        false
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Filter, Names};

    #[test]
    fn the_last_match_decides_and_exclusions_alone_select_all_others() {
        for (globs, selected, others) in [
            ("", &["a", "b"][..], &[][..]),
            ("a", &["a"], &["b", "aa"]),
            ("!a", &["b", "aa"], &["a"]),
            ("*,!a*,ab", &["b", "ab"], &["a", "ac"]),
            ("a*,", &["ab"], &["b"]),
            ("shape::*", &["shape::area(int, double)"], &["area"]),
            ("{a,b}c,[,]", &["ac", "bc", ","], &["{a", "b}c", "a"]),
            (r"f(int\, int),\[x\]", &["f(int, int)", "[x]"], &["f(int"]),
            (
                r"operator<,operator\{,b",
                &["operator<", "operator{", "b"],
                &[],
            ),
        ] {
            let filter = Filter::parse(globs).unwrap();
            for name in selected {
                assert!(filter.selects(&[name]), "{globs} {name}");
            }
            for name in others {
                assert!(!filter.selects(&[name]), "{globs} {name}");
            }
        }
    }

    #[test]
    fn a_glob_matches_by_any_of_the_names() {
        let filter = Filter::parse("*,!shape::*").unwrap();
        assert!(!filter.selects(&["_ZN5shape4areaEv", "shape::area()"]));
        assert!(filter.selects(&["main"]));
    }

    #[test]
    fn a_name_that_stays_mangled_is_selected_only_in_doubt_and_if_not_excluded() {
        let name = Names::Mangled("_Z3oddv".to_owned());
        for (globs, in_doubt) in [
            ("", true),
            ("odd", true),
            ("_Z3odd*", true),
            ("!even", true),
            ("!*,even", false),
            ("even,!_Z3odd*", false),
        ] {
            let filter = Filter::parse(globs).unwrap();
            assert_eq!(filter.selects_function(&name, true), in_doubt, "{globs}");
            assert!(!filter.selects_function(&name, false), "{globs}");
        }
        let known = Names::Known(vec!["_Z1fv".to_owned(), "f()".to_owned()]);
        let filter = Filter::parse("f*").unwrap();
        assert!(filter.selects_function(&known, false));
    }

    #[test]
    fn escaped_globs_are_found_among_others() {
        let globs = ["f(int, int)", "{a,b}", "[,]x", r"g\,h", "!k(a, b)"];
        let joined = globs.map(|glob| Filter::escape(glob).unwrap()).join(",");
        assert_eq!(joined, r"f(int\, int),{a,b},[,]x,g\,h,!k(a\, b)");
        let filter = Filter::parse(&joined).unwrap();
        for name in ["f(int, int)", "a", "b", ",x", "g,h"] {
            assert!(filter.selects(&[name]), "{name}");
        }
        for name in ["f(int", " int)", "k(a, b)", "h"] {
            assert!(!filter.selects(&[name]), "{name}");
        }
    }

    #[test]
    fn malformed_and_empty_globs_are_refused() {
        let unclosed = "error parsing glob '[': unclosed character class; missing ']'";
        assert_eq!(Filter::parse("a,[").unwrap_err(), unclosed);
        assert_eq!(Filter::escape("[").unwrap_err(), unclosed);
        assert_eq!(Filter::escape("").unwrap_err(), "empty glob");
        assert_eq!(Filter::parse("!").unwrap_err(), "empty glob");
    }
}
