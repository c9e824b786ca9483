//! Changes of files with a fault of their own, after which nothing tells what an event is.

use super::Mutation;

/// Cases of both wire versions in which a cut makes a reader give one event too many, and why.
pub const EXPLAINED: [(&str, &str); 5] = [
    (
        "devt-002-one-byte-into-the-footer/",
        "the last event's length reaches into the footer, which alone says that it is wrong",
    ),
    (
        "devt-002-one-byte-into-the-footer-from-the-first-event/",
        "the same with the first event",
    ),
    (
        "iftr-007-a-time-without-events/",
        "the half of a wrong footer without events is as good an event, whose time has the magic in it",
    ),
    (
        "iftr-010-half-of-the-sixth-in-front-of-zeros/",
        "only the zeros behind half an event say that the zeros in it are none of its fields",
    ),
    (
        "iftr-013-where-only-its-numbers-say/",
        "of a footer with a damaged magic the numbers are changed that tell what it is",
    ),
];

/// Those of them in which a flipped bit does, too.
const FLIPPED: [&str; 2] = [
    "iftr-010-half-of-the-sixth-in-front-of-zeros/",
    "iftr-013-where-only-its-numbers-say/",
];

/// Whether it is one of these.
pub(super) fn is_explained(name: &str, mutation: Mutation) -> bool {
    let is_of = |case: &&str| name.get(3..).is_some_and(|name| name.starts_with(case));
    match mutation {
        Mutation::Cut(_) => EXPLAINED.iter().any(|(case, _)| is_of(case)),
        Mutation::Flip(_) | Mutation::Pair(_) => FLIPPED.iter().any(is_of),
    }
}
