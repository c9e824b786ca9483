//! Lists mutations of already faulty files in which bytes that are not an event cannot be
//! distinguished from one.

use super::Mutation;

/// Cases where a truncation makes a reader return one event too many, in both wire versions, with
/// the reason.
pub const EXPLAINED: [(&str, &str); 5] = [
    (
        "devt-002-one-byte-into-the-footer/",
        "the last event's length reaches into the footer; only the footer shows that it is wrong",
    ),
    (
        "devt-002-one-byte-into-the-footer-from-the-first-event/",
        "the same with the first event",
    ),
    (
        "iftr-007-a-time-without-events/",
        "half of a wrong footer without events is a valid event, whose time contains the magic",
    ),
    (
        "iftr-010-half-of-the-sixth-in-front-of-zeros/",
        "only the zeros after half an event show that the zeros in it are not its fields",
    ),
    (
        "iftr-013-where-only-its-numbers-say/",
        "a footer with a damaged magic is only recognized by its numbers, which are changed",
    ),
];

/// The cases where a bit flip has the same effect.
const FLIPPED: [&str; 2] = [
    "iftr-010-half-of-the-sixth-in-front-of-zeros/",
    "iftr-013-where-only-its-numbers-say/",
];

/// Returns whether this mutation of a file is explained here.
pub(super) fn is_explained(name: &str, mutation: Mutation) -> bool {
    let is_of = |case: &&str| name.get(3..).is_some_and(|name| name.starts_with(case));
    match mutation {
        Mutation::Cut(_) => EXPLAINED.iter().any(|(case, _)| is_of(case)),
        Mutation::Flip(_) | Mutation::Pair(_) => FLIPPED.iter().any(is_of),
    }
}
