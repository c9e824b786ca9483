//! Describes what happens if a file breaks a rule that a reader does not check.

/// Describes the effect of a broken rule, in a sentence or two.
pub(super) fn effect(rule: &str) -> &'static str {
    let found = EFFECTS.iter().find(|(id, _)| *id == rule);
    found.map_or("", |(_, effect)| effect)
}

const EFFECTS: &[(&str, &str)] = &[
    (
        "ATF-IHDR-001",
        "A reader that maps the file and decodes the header reads past its end.",
    ),
    (
        "ATF-IHDR-002",
        "Without this check, any file decodes as events.",
    ),
    (
        "ATF-IHDR-003",
        "A reader that ignores it returns byte-swapped numbers.",
    ),
    (
        "ATF-IHDR-004",
        "A reader that takes an unknown version for the one it knows returns fields that are not there.",
    ),
    (
        "ATF-IHDR-005",
        "Counts, kinds and links are decoded from the wrong bytes.",
    ),
    (
        "ATF-IHDR-006",
        "A reader that uses it as the stride returns shifted events; one that ignores it may be right by luck.",
    ),
    (
        "ATF-IHDR-007",
        "Header, padding or footer bytes decode as events, or the reader reads outside the file.",
    ),
    (
        "ATF-IHDR-008",
        "A reader that rejects it loses a readable trace; it must pass the number on.",
    ),
    (
        "ATF-IHDR-009",
        "A reader that rejects it loses a readable trace; it must pass the number on.",
    ),
    (
        "ATF-IHDR-010",
        "A reader that indexes a table of clocks with it reads outside the table.",
    ),
    (
        "ATF-IHDR-011",
        "Timestamps are compared with those of another clock: the tracer in the field writes 1 on every platform.",
    ),
    (
        "ATF-IHDR-012",
        "A reader that rejects it breaks on the next revision of the format.",
    ),
    (
        "ATF-IHDR-013",
        "A reader that compares flags with 1 instead of testing the bit misses the detail file.",
    ),
    (
        "ATF-IHDR-014",
        "A reader that trusts the header drops events, or decodes the footer as events.",
    ),
    (
        "ATF-IHDR-015",
        "A reader that looks only there misses the footer and counts it as events, or reads outside the file.",
    ),
    (
        "ATF-IHDR-016",
        "A query that skips files by these times misses events.",
    ),
    (
        "ATF-IHDR-017",
        "A reader that trusts the header returns no events, or decodes the footer as two.",
    ),
    (
        "ATF-IHDR-018",
        "A reader that trusts the flag misses the details, or fails to open a file that is not there.",
    ),
    (
        "ATF-IEVT-001",
        "A binary search misses events, and a merge returns them out of order.",
    ),
    (
        "ATF-IEVT-002",
        "A reader with an enum of three kinds fails, or takes the event for a call.",
    ),
    (
        "ATF-IEVT-003",
        "The event is filed under a thread that does not exist.",
    ),
    (
        "ATF-IEVT-004",
        "A call tree built from depths has its branches in the wrong place.",
    ),
    (
        "ATF-IEVT-005",
        "A reader that decodes kind as 64 bits returns an invalid kind.",
    ),
    (
        "ATF-IEVT-006",
        "Kept, an event at time 0 moves the session's start to 1970; dropped, it shifts all later positions.",
    ),
    (
        "ATF-IFTR-001",
        "A reader that needs a footer loses every surviving event.",
    ),
    (
        "ATF-IFTR-002",
        "A reader that trusts it drops events, decodes the footer as one, or reads outside the file.",
    ),
    (
        "ATF-IFTR-003",
        "A footer in the wrong place may belong to other events.",
    ),
    ("ATF-IFTR-004", "Damaged events pass for intact ones."),
    (
        "ATF-IFTR-005",
        "Readers that verify checksums reject every file of this writer.",
    ),
    ("ATF-IFTR-006", "Damage to the events goes unnoticed."),
    (
        "ATF-IFTR-007",
        "A query that skips files by these times misses events.",
    ),
    (
        "ATF-IFTR-008",
        "A reader that rejects it breaks on the next revision of the format.",
    ),
    (
        "ATF-IFTR-009",
        "A reader that looks only at the last 64 bytes takes the footer for events.",
    ),
    (
        "ATF-IFTR-010",
        "A reader that rounds up returns an event built from missing bytes.",
    ),
    (
        "ATF-IFTR-011",
        "A reader that divides the file's size by 32 returns events at time 0.",
    ),
    (
        "ATF-IFTR-012",
        "Half a footer decodes as an event, with the magic as its time.",
    ),
    (
        "ATF-IFTR-013",
        "A reader that relies on the magic alone takes the footer for two events.",
    ),
    (
        "ATF-DHDR-001",
        "A reader that maps the file and decodes the header reads past its end.",
    ),
    (
        "ATF-DHDR-002",
        "Without this check, any file decodes as details.",
    ),
    (
        "ATF-DHDR-003",
        "A reader that ignores it returns byte-swapped numbers.",
    ),
    (
        "ATF-DHDR-004",
        "A reader that takes an unknown version for the one it knows returns fields that are not there.",
    ),
    (
        "ATF-DHDR-005",
        "The first length is read from the wrong place, and so are all later ones.",
    ),
    (
        "ATF-DHDR-006",
        "A reader that rejects it loses a readable trace; it must pass the number on.",
    ),
    (
        "ATF-DHDR-007",
        "A reader that rejects it loses a readable trace; it must pass the number on.",
    ),
    (
        "ATF-DHDR-008",
        "A reader that rejects it breaks on the next revision of the format.",
    ),
    (
        "ATF-DHDR-009",
        "A reader that allocates by it or stops at it loses events.",
    ),
    (
        "ATF-DHDR-010",
        "A reader that looks for the footer only there misses it, or reads outside the file.",
    ),
    (
        "ATF-DHDR-011",
        "A reader that trusts the range finds no detail for events that have one.",
    ),
    (
        "ATF-DHDR-012",
        "A reader that trusts the header returns no events.",
    ),
    (
        "ATF-DEVT-001",
        "A walk by this length never ends, or reads the next event from inside this one.",
    ),
    (
        "ATF-DEVT-002",
        "A reader that takes the whole payload reads outside the section, or outside the file.",
    ),
    (
        "ATF-DEVT-003",
        "A reader that rejects unknown types loses a readable trace.",
    ),
    (
        "ATF-DEVT-004",
        "The detail is filed under a thread that does not exist.",
    ),
    (
        "ATF-DEVT-005",
        "A reader that rejects it breaks on the next revision of the format.",
    ),
    (
        "ATF-DPAY-001",
        "A reader with a 256-byte stack buffer writes past its end.",
    ),
    (
        "ATF-DPAY-002",
        "A reader that decodes it anyway returns registers that were never captured.",
    ),
    (
        "ATF-DPAY-003",
        "A reader that decodes stack_size as 32 bits returns megabytes of stack.",
    ),
    (
        "ATF-DFTR-001",
        "A reader that needs a footer loses every surviving event.",
    ),
    (
        "ATF-DFTR-002",
        "A reader that trusts it drops events, or returns events that do not exist.",
    ),
    (
        "ATF-DFTR-003",
        "A footer in the wrong place may belong to other events.",
    ),
    ("ATF-DFTR-004", "Damaged details pass for intact ones."),
    (
        "ATF-DFTR-005",
        "Readers that verify checksums reject every file of this writer.",
    ),
    ("ATF-DFTR-006", "Damage to the details goes unnoticed."),
    (
        "ATF-DFTR-007",
        "A query that skips files by these times misses details.",
    ),
    (
        "ATF-DFTR-008",
        "A reader that rejects it breaks on the next revision of the format.",
    ),
    (
        "ATF-DFTR-009",
        "A reader that looks only at the last 64 bytes takes the footer for an event.",
    ),
    (
        "ATF-DFTR-010",
        "A reader that takes the remaining bytes as the event returns an incomplete payload.",
    ),
    (
        "ATF-DFTR-011",
        "The zeros read as a length of 0, and a walk never ends.",
    ),
    (
        "ATF-DFTR-012",
        "Half a footer decodes as an event, with the magic as its length.",
    ),
    (
        "ATF-DFTR-013",
        "A reader that relies on the magic alone takes the footer for an event.",
    ),
    (
        "ATF-LINK-001",
        "A reader that follows the link shows another call's registers, or reads outside the table.",
    ),
    (
        "ATF-LINK-002",
        "A reader that rejects the trace because of it loses every surviving event.",
    ),
    (
        "ATF-LINK-003",
        "A reader that goes from details to events assigns them to the wrong call.",
    ),
    (
        "ATF-LINK-004",
        "A reader that rejects the trace because of it loses every surviving event.",
    ),
    (
        "ATF-LINK-005",
        "A reader that walks both files in step pairs events with the wrong details.",
    ),
    (
        "ATF-LINK-006",
        "A lookup by time finds the event but not its detail; crossed links go unnoticed.",
    ),
    (
        "ATF-LINK-007",
        "A reader that trusts the detail's type shows arguments as a return value.",
    ),
    (
        "ATF-LINK-008",
        "Links of one width are decoded with the other.",
    ),
    (
        "ATF-LINK-009",
        "The details of another thread are shown: in version 2 nothing else reveals it.",
    ),
    (
        "ATF-LINK-010",
        "Registers are shown under another architecture's names.",
    ),
    (
        "ATF-LINK-011",
        "The detail is shown under another function's name.",
    ),
    (
        "ATF-MANI-001",
        "A reader that needs it loses the whole session.",
    ),
    (
        "ATF-MANI-002",
        "A reader that needs it loses the whole session.",
    ),
    (
        "ATF-MANI-003",
        "A reader that expects the documented type fails, and loses the other keys.",
    ),
    (
        "ATF-MANI-004",
        "A reader that follows the list returns the thread's events twice.",
    ),
    (
        "ATF-MANI-005",
        "A reader that opens every listed thread fails, and loses those that exist.",
    ),
    (
        "ATF-MANI-006",
        "A reader that follows the list never shows the thread.",
    ),
    (
        "ATF-MANI-007",
        "A reader that trusts it misses details, or fails to open a file that is not there.",
    ),
    (
        "ATF-MANI-008",
        "A timeline drawn from it begins in 1970, or cuts events off.",
    ),
    (
        "ATF-MANI-009",
        "Timestamps are compared with those of another clock.",
    ),
    (
        "ATF-MANI-010",
        "The two ways to find a name give different names.",
    ),
    (
        "ATF-MANI-011",
        "A reader that rejects unknown keys breaks on the next tracer.",
    ),
    (
        "ATF-MANI-012",
        "A reader that trusts it looks for names that are not there, or ignores those that are.",
    ),
    (
        "ATF-MANI-013",
        "A reader that prints the name prints nothing, and hides which function was called.",
    ),
    (
        "ATF-MANI-014",
        "A reader that does not tell shows a gap that looks like idle time.",
    ),
    (
        "ATF-MANI-015",
        "A reader that marks the interval of the loss marks nothing, or computes a negative duration.",
    ),
    (
        "ATF-MANI-016",
        "A reader that does not tell shows the last written event as the program's last action.",
    ),
    (
        "ATF-MANI-017",
        "A reader that does not tell shows what a recovery left as everything that was recorded.",
    ),
    (
        "ATF-SESS-001",
        "The thread has one id in its folder's name and another in its events.",
    ),
    (
        "ATF-SESS-002",
        "A reader that rejects the session because of it loses the other threads.",
    ),
    (
        "ATF-SESS-003",
        "A reader that follows it returns events that were never traced here.",
    ),
    (
        "ATF-SESS-004",
        "A reader that expects the exact spelling never shows the thread; one that parses loosely may list a thread twice.",
    ),
    (
        "ATF-SESS-005",
        "The threads' events are merged by unrelated times.",
    ),
    (
        "ATF-RING-001",
        "A reader that takes its events returns some twice, or some that were never traced here.",
    ),
    (
        "ATF-RING-002",
        "A reader that takes its events anyway returns what another thread or run left behind.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::table;

    #[test]
    fn each_rule_has_an_effect_and_each_effect_a_rule() {
        let by_files =
            |rule: &&&crate::rules::Rule| rule.untestable.is_none() && rule.binds_writers();
        let testable = table::ALL.iter().filter(by_files);
        let rules: Vec<_> = testable.map(|rule| rule.id).collect();
        let missing: Vec<_> = rules.iter().filter(|id| effect(id).is_empty()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let excess = EFFECTS.iter().filter(|(id, _)| !rules.contains(id));
        assert_eq!(excess.count(), 0);
    }
}
