//! Describes what happens if a file breaks a rule that a reader does not check.

/// A rule and its effect in each line.
pub const EFFECTS: &str = include_str!("effects.txt");

/// Describes the effect of a broken rule, in a sentence or two.
#[must_use]
pub fn effect(rule: &str) -> &'static str {
    let mut effects = EFFECTS.lines().filter_map(|line| line.split_once(' '));
    let found = effects.find(|(id, _)| *id == rule);
    found.map_or("", |(_, effect)| effect)
}
