//! Lists mutations of already faulty files in which bytes that are not an event cannot be
//! distinguished from one.

use super::Mutation;

/// The mutations of a case that have explained faults.
enum Mutations {
    Cuts,
    Flips,
    Both,
}

/// The start of the names of a case's files, without the wire version, and the reason.
type Explained = (&'static str, Mutations, &'static str);

/// The cases where a mutation makes a reader return a wrong number of events, in both wire versions.
const EXPLAINED: [Explained; 26] = [
    cut(
        "devt-002-one-byte-into-the-footer/",
        "the last event's length reaches into the footer; only the footer shows that it is wrong",
    ),
    cut(
        "devt-002-one-byte-into-the-footer-from-the-first-event/",
        "the same with the first event",
    ),
    cut(
        "dftr-001-a-last-length-that-ends-inside-a-footer-before-another-byte/",
        "the same; the footer is expected, and so contradicts the length, only without that byte",
    ),
    both(
        "iftr-010-half-of-the-sixth-in-front-of-zeros/",
        "only the zeros after half an event show that the zeros in it are not its fields",
    ),
    both(
        "iftr-010-five-bytes-after-an-event-of-kind-0-and-zeros/",
        "the same",
    ),
    both("iftr-010-an-event-of-kind-0-before-five-zeros/", "the same"),
    both(
        "iftr-010-16-bytes-of-a-footer-with-a-count-of-2-",
        "only the zeros after a wrong count show that the bytes are not an event",
    ),
    both(
        "iftr-002-an-event-like-a-footer-w",
        "an event that begins like a footer, at the end of the file, is not distinguishable from half of one",
    ),
    both(
        "iftr-002-1-without-events",
        "half of a footer with a wrong count is not distinguishable from an event",
    ),
    both("iftr-003-an-event-like-a-footer-w", "the same"),
    both("iftr-002-2-32-without-events/", "the same"),
    both(
        "iftr-003-2-32-without-events/",
        "a footer with a wrong length is only recognized by its other numbers, which are changed",
    ),
    both(
        "iftr-002-7-and-224-bytes-before-zeros/",
        "a footer with wrong numbers is only recognized by its magic and by the zeros in it and after it, which are changed",
    ),
    both(
        "iftr-013-where-only-its-numbers-say-and-a-zero/",
        "a footer without its magic is only recognized by its numbers, which are changed",
    ),
    both(
        "dftr-001-and-a-payload-like-a-footer-where-a-placeholders-length-ends/",
        "only events that continue to the end of the file show that the payload is not a footer",
    ),
    both(
        "dftr-010-16-bytes-of-the-third-before-zeros/",
        "the same in a detail file",
    ),
    flip(
        "iftr-012-8-bytes-before-32-zeros/",
        "only the zeros after a footer's magic show that its count was not written",
    ),
    both(
        "iftr-013-a-wrong-count-too/",
        "only the footer's length and reserved bytes are correct, and the mutation changes them",
    ),
    flip(
        "iftr-002-header-and-footer-claim-more-than-the-disk-took/",
        "only the footer's magic and reserved bytes are correct, and the flip changes the latter",
    ),
    both(
        "iftr-013-where-only-its-numbers-say/",
        "a footer with a damaged magic is only recognized by its numbers, which are changed",
    ),
    flip(
        "iftr-002-one-too-many-under-a-placeholder-before-other-bytes/",
        "a footer in an unexpected place is only recognized by the number that the flip changes",
    ),
    flip(
        "iftr-003-a-byte-more-under-a-placeholder-before-other-bytes/",
        "the same",
    ),
    flip(
        "ihdr-017-two-footers/",
        "the flip damages the first footer, and the damaged one at the end takes precedence",
    ),
    flip(
        "ihdr-017-two-whole-footers/",
        "the flip damages the first footer, and the second one counts it as two events",
    ),
    both(
        "iftr-013-two-events-that-are-a-whole-footer/",
        "only the numbers of the header and the footer show that these bytes are two events",
    ),
    both(
        "iftr-010-a-damaged-magic-without-events/",
        "only the zeros after a damaged magic show that the footer was not an event",
    ),
];

const fn cut(case: &'static str, reason: &'static str) -> Explained {
    (case, Mutations::Cuts, reason)
}

const fn flip(case: &'static str, reason: &'static str) -> Explained {
    (case, Mutations::Flips, reason)
}

const fn both(case: &'static str, reason: &'static str) -> Explained {
    (case, Mutations::Both, reason)
}

/// Returns whether this mutation of a file is explained here.
pub(super) fn is_explained(name: &str, mutation: Mutation) -> bool {
    let name = name.get(3..).unwrap_or_default();
    let mut cases = EXPLAINED.iter();
    let found = cases.find(|(case, ..)| name.starts_with(case));
    found.is_some_and(|(_, mutations, _)| match mutation {
        Mutation::Cut(_) => matches!(mutations, Mutations::Cuts | Mutations::Both),
        Mutation::Flip(_) | Mutation::Pair(_) => {
            matches!(mutations, Mutations::Flips | Mutations::Both)
        }
    })
}
