//! Lists mutations of already faulty files in which bytes that are not an event cannot be
//! distinguished from one.

use super::Mutation;

/// The cases where a mutation makes a reader return a wrong number of events, in both wire versions:
/// the mutations (`cuts`, `flips` or `both`) and the start of the names of the case's files, without
/// the wire version. An indented line with the reason follows.
const EXPLAINED: &str = include_str!("explained.txt");

/// Returns whether this mutation of a file is explained here.
pub(super) fn is_explained(name: &str, mutation: Mutation) -> bool {
    let name = name.get(3..).unwrap_or_default();
    let mutations = |line: &'static str| {
        let (mutations, case) = line.split_once(' ')?;
        name.starts_with(case).then_some(mutations)
    };
    match EXPLAINED.lines().find_map(mutations) {
        None => false,
        Some("both") => true,
        Some("cuts") => matches!(mutation, Mutation::Cut(_)),
        Some("flips") => !matches!(mutation, Mutation::Cut(_)),
        Some(other) => unreachable!("{other} in explained.txt"),
    }
}
