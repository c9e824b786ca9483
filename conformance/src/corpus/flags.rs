//! Known mistakes of implementations: what goes wrong, and what comes of it.

use serde::Serialize;

/// A mistake that readers and writers are known to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// Its permanent name.
    pub name: &'static str,
    /// The mistake and its effect.
    pub note: &'static str,
}

/// All flags.
pub const FLAGS: &[Flag] = &[
    flag(
        "count-beyond-file",
        "The footer's count is far more than the file can hold. A reader that trusts it reads past the end of its \
         mapping and crashes, or allocates by it and is killed.",
    ),
    flag(
        "count-one-too-many",
        "The footer's count is one too many. A reader that does not hold it against its place gives the footer as \
         an event: a phantom with the magic in its timestamp.",
    ),
    flag(
        "full-disk",
        "Header and footer agree on more events than the disk took. Whoever compares only these two believes them.",
    ),
    flag(
        "offset-wraps",
        "footer_offset is so great that adding the footer's size wraps around. An unchecked addition makes it pass \
         the bounds check, and the read behind it crashes.",
    ),
    flag(
        "events-offset-outside",
        "events_offset leads into the header, to the end of the file or past it. A reader that trusts it decodes \
         header fields as events, or subtracts below zero.",
    ),
    flag(
        "crash-before-header",
        "The writer died between footer and header rewrite. A reader that goes by the placeholder header counts the \
         64 bytes of the footer as two phantom events.",
    ),
    flag(
        "timestamp-like-footer",
        "The first timestamp's low word is the footer's magic. A reader that looks for the magic only finds a footer \
         where events begin, and gives none.",
    ),
    flag(
        "no-bytes",
        "A file of no bytes: its writer was killed before its first buffer left, or the file was emptied since. A \
         reader that maps the file and looks at the header reads past its end.",
    ),
    flag(
        "cut-in-footer",
        "The file ends within its footer. 32 to 63 bytes of a footer make a phantom event for a reader that divides \
         the file's size.",
    ),
    flag(
        "zero-tail",
        "Zeros behind the last event: preallocated space, or blocks that never reached the disk. A reader that \
         divides the file's size gives thousands of events at time 0.",
    ),
    flag(
        "stray-ring",
        "A ring.atf that does not belong to the files beside it, or that they do not need. A reader that takes its \
         events without a look gives some that were never traced here.",
    ),
    flag(
        "other-layout",
        "The layout of one wire version under the number of the other. With 32 events a version 2 header passes \
         version 1's event_size test, and all events come out scrambled.",
    ),
    flag(
        "wrong-checksum",
        "A checksum that is not 0 and not that of the events. A reader that never verifies it hides the damage.",
    ),
    flag(
        "ieee-checksum",
        "The checksum is the IEEE CRC-32: S0, S1 and S4 name no polynomial. Tools that go by CRC-32C refuse every \
         file of such a writer.",
    ),
    flag(
        "footer-field-order",
        "The index footer goes on with start, end, bytes, the detail footer with bytes, start, end. Whoever reads one \
         in the order of the other gives a length as a time.",
    ),
    flag(
        "small-last-details",
        "A detail file without footer whose last events are smaller than a footer. A reader that keeps 64 bytes back \
         for a footer loses them.",
    ),
    flag(
        "impossible-length",
        "A total_length of 0 loops for ever, one below 24 or past the end reads outside the event.",
    ),
    flag(
        "detail-count-lies",
        "The detail file's count is not that of its events. A reader that allocates or stops by it loses events, or \
         gives what is none.",
    ),
    flag(
        "links-crossed",
        "Two links lead to each other's details. A reader that follows them one way only shows the arguments of \
         another call.",
    ),
    flag(
        "links-dangling",
        "A link leads to a detail that is not there. An unchecked lookup reads outside the table.",
    ),
    flag(
        "links-duplicated",
        "Two events link to one detail. A reader that does not look back shows it at both.",
    ),
    flag(
        "thread-ids-disagree",
        "Folder, header and events name different threads. Whoever trusts one of them files the events under another \
         thread than the rest.",
    ),
    flag(
        "hole",
        "Events of zeros inside: a block that never reached the disk. A reader that drops them moves all later events \
         to other positions, and their links with them.",
    ),
    flag(
        "one-corrupt-thread",
        "One thread of two cannot be read. A reader that refuses the session for it loses the other.",
    ),
    flag(
        "thread-listed-twice",
        "The manifest lists a thread twice. A reader that goes by the list gives all its events twice.",
    ),
    flag(
        "path-in-id",
        "A thread id in the manifest is a path. A reader that joins it to the session's reads files outside it.",
    ),
    flag(
        "id-that-wraps",
        "An id in the manifest is no number of 32 bits, though it becomes a thread's if it is cut to that many. A \
         reader that converts it without a check shows a thread for it, or dies of it.",
    ),
    flag(
        "end-of-page",
        "The file fills its last page of memory. A reader that maps it and reads past the last byte finds zeros in \
         other files, and crashes in this one.",
    ),
    flag(
        "symbolic-link",
        "A part of the session is a symbolic link. A reader that follows it gives what was never traced here, or \
         leaves the session.",
    ),
    flag(
        "broken-manifest",
        "The manifest is missing, empty, cut or begins with a mark. A reader that needs it loses whole threads.",
    ),
    flag(
        "empty-thread",
        "A thread has no events and its times are 0. A session's time range that does not pass over it starts in 1970.",
    ),
    flag(
        "ties",
        "Events of different threads have the same timestamp. A merge without a rule for ties gives another order each \
         time.",
    ),
    flag(
        "wide-numbers",
        "Numbers of 64 bits beyond 2⁵³ and 2⁶³. A reader that keeps them in floating point or signed numbers changes \
         them.",
    ),
    flag(
        "opaque-payload",
        "A payload that is no function payload. A reader that decodes each payload as one reads past its end.",
    ),
    flag(
        "times-go-back",
        "An event's timestamp goes back. A binary search over the file misses events that are there.",
    ),
];

const fn flag(name: &'static str, note: &'static str) -> Flag {
    Flag { name, note }
}

/// The mistake that shows where a rule is broken, whatever breaks it.
pub(super) fn flag_of(rule: &str) -> Option<&'static str> {
    let flag = match rule {
        "ATF-IHDR-005" => "other-layout",
        "ATF-IHDR-007" | "ATF-DHDR-005" => "events-offset-outside",
        "ATF-IHDR-017" | "ATF-DHDR-012" => "crash-before-header",
        "ATF-IEVT-001" => "times-go-back",
        "ATF-IEVT-006" => "hole",
        "ATF-IFTR-004" | "ATF-DFTR-004" => "wrong-checksum",
        "ATF-IFTR-005" | "ATF-DFTR-005" => "ieee-checksum",
        "ATF-IFTR-011" | "ATF-DFTR-011" => "zero-tail",
        "ATF-IFTR-012" | "ATF-DFTR-012" => "cut-in-footer",
        "ATF-DEVT-001" | "ATF-DEVT-002" => "impossible-length",
        "ATF-DFTR-002" => "detail-count-lies",
        "ATF-DPAY-002" => "opaque-payload",
        "ATF-IEVT-003" | "ATF-DEVT-004" | "ATF-SESS-001" | "ATF-LINK-009" => "thread-ids-disagree",
        "ATF-LINK-002" => "links-dangling",
        "ATF-MANI-001" | "ATF-MANI-002" => "broken-manifest",
        "ATF-MANI-004" => "thread-listed-twice",
        "ATF-SESS-003" => "symbolic-link",
        _ => return None,
    };
    Some(flag)
}
