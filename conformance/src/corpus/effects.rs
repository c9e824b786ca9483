//! What a broken rule does to whoever does not look.

/// The effect of breaking a rule, a sentence or two.
pub(super) fn effect(rule: &str) -> &'static str {
    let found = EFFECTS.iter().find(|(id, _)| *id == rule);
    found.map_or("", |(_, effect)| effect)
}

const EFFECTS: &[(&str, &str)] = &[
    (
        "ATF-IHDR-001",
        "A reader that maps the file and looks at the header reads past its end.",
    ),
    (
        "ATF-IHDR-002",
        "Without this check any file comes out as events.",
    ),
    (
        "ATF-IHDR-003",
        "A reader that passes over it gives numbers with their bytes reversed.",
    ),
    (
        "ATF-IHDR-004",
        "A reader that takes an unknown version for the one it knows gives fields that are not there.",
    ),
    (
        "ATF-IHDR-005",
        "Counts, kinds and links come out of the wrong bytes.",
    ),
    (
        "ATF-IHDR-006",
        "A reader that steps by it gives shifted events; one that ignores it may be right by luck.",
    ),
    (
        "ATF-IHDR-007",
        "Header, gap or footer come out as events, or the reader leaves the file.",
    ),
    (
        "ATF-IHDR-008",
        "A reader that refuses it loses a trace that it could read; the number is to be passed on.",
    ),
    (
        "ATF-IHDR-009",
        "A reader that refuses it loses a trace that it could read; the number is to be passed on.",
    ),
    (
        "ATF-IHDR-010",
        "A reader that indexes a table of clocks by it leaves the table.",
    ),
    (
        "ATF-IHDR-011",
        "Times are set against those of another clock: the field's tracer writes 1 everywhere.",
    ),
    (
        "ATF-IHDR-012",
        "A reader that refuses it breaks on the next revision of the format.",
    ),
    (
        "ATF-IHDR-013",
        "A reader that compares flags with 1 instead of testing the bit sees no detail file.",
    ),
    (
        "ATF-IHDR-014",
        "A reader that goes by the header drops events, or reads the footer as some.",
    ),
    (
        "ATF-IHDR-015",
        "A reader that looks there only finds no footer and counts it as events, or leaves the file.",
    ),
    (
        "ATF-IHDR-016",
        "A query that passes over files by these times misses events.",
    ),
    (
        "ATF-IHDR-017",
        "A reader that goes by the header gives no event, or the footer as two.",
    ),
    (
        "ATF-IHDR-018",
        "A reader that goes by the flag misses the details, or fails to open what is not there.",
    ),
    (
        "ATF-IEVT-001",
        "A binary search misses events, and a merge gives them out of order.",
    ),
    (
        "ATF-IEVT-002",
        "A reader with an enumeration of three kinds fails, or takes it for a call.",
    ),
    (
        "ATF-IEVT-003",
        "The event is filed under a thread that does not exist.",
    ),
    (
        "ATF-IEVT-004",
        "A call tree made by depth has its branches in the wrong place.",
    ),
    (
        "ATF-IEVT-005",
        "A reader that takes kind as 64 bits gives a kind that is none.",
    ),
    (
        "ATF-IEVT-006",
        "An event at time 0 moves the session's start to 1970; dropped, it moves all that follow.",
    ),
    (
        "ATF-IFTR-001",
        "A reader that needs a footer loses all that survived.",
    ),
    (
        "ATF-IFTR-002",
        "A reader that trusts it drops events, gives the footer as one, or leaves the file.",
    ),
    (
        "ATF-IFTR-003",
        "A footer that is not at its own place may belong to other events.",
    ),
    ("ATF-IFTR-004", "Damaged events pass for good ones."),
    (
        "ATF-IFTR-005",
        "Readers that verify refuse every file of this writer.",
    ),
    ("ATF-IFTR-006", "Damage to the events goes unseen."),
    (
        "ATF-IFTR-007",
        "A query that passes over files by these times misses events.",
    ),
    (
        "ATF-IFTR-008",
        "A reader that refuses it breaks on the next revision of the format.",
    ),
    (
        "ATF-IFTR-009",
        "A reader that looks in the last 64 bytes only takes the footer for events.",
    ),
    (
        "ATF-IFTR-010",
        "A reader that rounds up gives an event with bytes of nothing.",
    ),
    (
        "ATF-IFTR-011",
        "A reader that divides the file's size gives events at time 0.",
    ),
    (
        "ATF-IFTR-012",
        "Half a footer comes out as an event, with its magic as the time.",
    ),
    (
        "ATF-IFTR-013",
        "A reader that goes by the magic alone takes the footer for two events.",
    ),
    (
        "ATF-DHDR-001",
        "A reader that maps the file and looks at the header reads past its end.",
    ),
    (
        "ATF-DHDR-002",
        "Without this check any file comes out as details.",
    ),
    (
        "ATF-DHDR-003",
        "A reader that passes over it gives numbers with their bytes reversed.",
    ),
    (
        "ATF-DHDR-004",
        "A reader that takes an unknown version for the one it knows gives fields that are not there.",
    ),
    (
        "ATF-DHDR-005",
        "The first length is read from the wrong place, and all that follow with it.",
    ),
    (
        "ATF-DHDR-006",
        "A reader that refuses it loses a trace that it could read; the number is to be passed on.",
    ),
    (
        "ATF-DHDR-007",
        "A reader that refuses it loses a trace that it could read; the number is to be passed on.",
    ),
    (
        "ATF-DHDR-008",
        "A reader that refuses it breaks on the next revision of the format.",
    ),
    (
        "ATF-DHDR-009",
        "A reader that allocates or stops by it loses events.",
    ),
    (
        "ATF-DHDR-010",
        "A reader that looks for the footer there only does not find it, or leaves the file.",
    ),
    (
        "ATF-DHDR-011",
        "A reader that goes by the range finds no detail for events that have one.",
    ),
    (
        "ATF-DHDR-012",
        "A reader that goes by the header gives no event.",
    ),
    (
        "ATF-DEVT-001",
        "A walk by this length never ends, or reads the next event within this one.",
    ),
    (
        "ATF-DEVT-002",
        "A reader that takes the payload leaves the section, or the file.",
    ),
    (
        "ATF-DEVT-003",
        "A reader that refuses unknown types loses a trace that it could read.",
    ),
    (
        "ATF-DEVT-004",
        "The detail is filed under a thread that does not exist.",
    ),
    (
        "ATF-DEVT-005",
        "A reader that refuses it breaks on the next revision of the format.",
    ),
    (
        "ATF-DPAY-001",
        "A reader with room for 256 bytes of stack writes past it.",
    ),
    (
        "ATF-DPAY-002",
        "A reader that decodes it all the same gives registers that were never captured.",
    ),
    (
        "ATF-DPAY-003",
        "A reader that takes stack_size as 32 bits gives a stack of megabytes.",
    ),
    (
        "ATF-DFTR-001",
        "A reader that needs a footer loses all that survived.",
    ),
    (
        "ATF-DFTR-002",
        "A reader that trusts it drops events, or gives what is none.",
    ),
    (
        "ATF-DFTR-003",
        "A footer that is not at its own place may belong to other events.",
    ),
    ("ATF-DFTR-004", "Damaged details pass for good ones."),
    (
        "ATF-DFTR-005",
        "Readers that verify refuse every file of this writer.",
    ),
    ("ATF-DFTR-006", "Damage to the details goes unseen."),
    (
        "ATF-DFTR-007",
        "A query that passes over files by these times misses details.",
    ),
    (
        "ATF-DFTR-008",
        "A reader that refuses it breaks on the next revision of the format.",
    ),
    (
        "ATF-DFTR-009",
        "A reader that looks in the last 64 bytes only takes the footer for an event.",
    ),
    (
        "ATF-DFTR-010",
        "A reader that takes what is left gives a payload with bytes of nothing.",
    ),
    (
        "ATF-DFTR-011",
        "A length of 0 among the zeros is a walk that never ends.",
    ),
    (
        "ATF-DFTR-012",
        "Half a footer comes out as an event, with its magic as the length.",
    ),
    (
        "ATF-DFTR-013",
        "A reader that goes by the magic alone takes the footer for an event.",
    ),
    (
        "ATF-LINK-001",
        "A reader that follows the link shows another call's registers, or reads outside the table.",
    ),
    (
        "ATF-LINK-002",
        "A reader that refuses the trace for it loses all that survived.",
    ),
    (
        "ATF-LINK-003",
        "A reader that goes from details to events gives them to another call.",
    ),
    (
        "ATF-LINK-004",
        "A reader that refuses the trace for it loses all that survived.",
    ),
    (
        "ATF-LINK-005",
        "A reader that walks both files in step gives each event another's detail.",
    ),
    (
        "ATF-LINK-006",
        "Lookups by time find the event and not its detail; crossed links go unseen.",
    ),
    (
        "ATF-LINK-007",
        "A reader that goes by the detail's type shows arguments for a return value.",
    ),
    (
        "ATF-LINK-008",
        "Links of one width are read with the other.",
    ),
    (
        "ATF-LINK-009",
        "The details of another thread are shown: in version 2 nothing else tells.",
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
        "A reader that expects the type fails, and loses what the other keys say.",
    ),
    (
        "ATF-MANI-004",
        "A reader that goes by the list gives the thread's events twice.",
    ),
    (
        "ATF-MANI-005",
        "A reader that opens each listed thread fails, and loses those that are there.",
    ),
    (
        "ATF-MANI-006",
        "A reader that goes by the list never shows the thread.",
    ),
    (
        "ATF-MANI-007",
        "A reader that goes by it misses details, or fails to open what is not there.",
    ),
    (
        "ATF-MANI-008",
        "A timeline drawn by it begins in 1970, or cuts events off.",
    ),
    (
        "ATF-MANI-009",
        "Times are set against those of another clock.",
    ),
    ("ATF-MANI-010", "Two ways to find a name give two names."),
    (
        "ATF-MANI-011",
        "A reader that refuses unknown keys breaks on the next tracer.",
    ),
    (
        "ATF-MANI-012",
        "A reader that goes by it looks for names that are not there, or for none.",
    ),
    (
        "ATF-MANI-013",
        "A reader that prints the name prints a blank, and hides which call it was.",
    ),
    (
        "ATF-SESS-001",
        "The thread has one id in its folder's name and another in its events.",
    ),
    (
        "ATF-SESS-002",
        "A reader that refuses the session for it loses the other threads.",
    ),
    (
        "ATF-SESS-003",
        "A reader that follows it gives events that were never traced here.",
    ),
    (
        "ATF-SESS-004",
        "A reader that wants its own spelling never shows the thread; one that parses loosely makes two of one.",
    ),
    (
        "ATF-SESS-005",
        "The threads' events are merged by times that have nothing to do with one another.",
    ),
    (
        "ATF-RING-001",
        "A reader that takes its events gives some twice, or some that were never traced here.",
    ),
    (
        "ATF-RING-002",
        "A reader that takes its events all the same gives what another thread or run left.",
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
