//! Describes what happens if a file breaks a rule that a reader does not check.

/// A rule and its effect in each line.
const EFFECTS: &str = include_str!("effects.txt");

/// Describes the effect of a broken rule, in a sentence or two.
pub(super) fn effect(rule: &str) -> &'static str {
    let mut effects = EFFECTS.lines().filter_map(|line| line.split_once(' '));
    let found = effects.find(|(id, _)| *id == rule);
    found.map_or("", |(_, effect)| effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn each_rule_has_an_effect_and_each_effect_a_rule() {
        let by_files =
            |rule: &&&crate::rules::Rule| rule.untestable.is_none() && rule.binds_writers();
        let testable = rules::ALL.iter().filter(by_files);
        let rules: Vec<_> = testable.map(|rule| rule.id).collect();
        let missing: Vec<_> = rules.iter().filter(|id| effect(id).is_empty()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(EFFECTS.lines().count(), rules.len());
    }
}
