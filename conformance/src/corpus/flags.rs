//! Known mistakes in implementations, and their effects.

use serde::Serialize;

/// A known mistake of readers or writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// The permanent name.
    pub name: &'static str,
    /// The mistake and its effect.
    pub note: &'static str,
}

/// All flags.
pub const FLAGS: &[Flag] = &[
    flag(
        "count-beyond-file",
        "The footer's count is far more than the file can hold. A reader that trusts it reads past the end of its \
         mapping and crashes, or allocates that much and is killed.",
    ),
    flag(
        "count-one-too-many",
        "The footer's count is one too high. A reader that does not compare it with the footer's offset returns the \
         footer as an event: a phantom with the magic in its timestamp.",
    ),
    flag(
        "full-disk",
        "Header and footer agree on more events than fit on the disk. A reader that compares only these two believes \
         them.",
    ),
    flag(
        "offset-wraps",
        "footer_offset is so large that adding the footer's size wraps around. An unchecked addition passes the \
         bounds check, and the read that follows crashes.",
    ),
    flag(
        "events-offset-outside",
        "events_offset points into the header, to the end of the file or past it. A reader that trusts it decodes \
         header fields as events, or underflows a subtraction.",
    ),
    flag(
        "crash-before-header",
        "The writer died between writing the footer and rewriting the header. A reader that trusts the placeholder \
         header counts the 64 bytes of the footer as two phantom events.",
    ),
    flag(
        "timestamp-like-footer",
        "The first timestamp's low word is the footer's magic. A reader that looks only for the magic finds a footer \
         where the events begin, and returns no events.",
    ),
    flag(
        "no-bytes",
        "An empty file: its writer was killed before it flushed its first buffer, or the file was emptied later. A \
         reader that maps the file and decodes the header reads past its end.",
    ),
    flag(
        "cut-in-footer",
        "The file ends inside its footer. A reader that divides the file's size by 32 takes 32 to 63 bytes of footer \
         for a phantom event.",
    ),
    flag(
        "zero-tail",
        "Zeros after the last event: preallocated space, or blocks that never reached the disk. A reader that \
         divides the file's size by 32 returns thousands of events at time 0.",
    ),
    flag(
        "stray-ring",
        "A ring.atf that does not belong to the files next to it, or that they do not need. A reader that takes its \
         events without checking returns some that were never traced here.",
    ),
    flag(
        "other-layout",
        "The layout of one wire version with the version number of the other. With 32 events, a version 2 header \
         passes version 1's event_size check, and all events come out scrambled.",
    ),
    flag(
        "wrong-checksum",
        "A checksum that is neither 0 nor the events' checksum. A reader that never verifies it hides the damage.",
    ),
    flag(
        "ieee-checksum",
        "The checksum is the IEEE CRC-32: S0, S1 and S4 name no polynomial. Tools that expect CRC-32C reject every \
         file of such a writer.",
    ),
    flag(
        "footer-field-order",
        "The index footer continues with start, end, bytes; the detail footer with bytes, start, end. A reader that \
         uses one order for both returns a length as a time.",
    ),
    flag(
        "small-last-details",
        "A detail file without a footer whose last events are smaller than a footer. A reader that reserves 64 bytes \
         for a footer loses them.",
    ),
    flag(
        "impossible-length",
        "A reader loops forever on a total_length of 0, and reads outside the event on one below 24 or past the end.",
    ),
    flag(
        "detail-count-lies",
        "The detail file's count differs from the number of its events. A reader that allocates by it or stops at it \
         loses events, or returns events that do not exist.",
    ),
    flag(
        "links-crossed",
        "Two links point to each other's details. A reader that follows them in only one direction shows the \
         arguments of another call.",
    ),
    flag(
        "links-dangling",
        "A link points to a detail that does not exist. An unchecked lookup reads outside the table.",
    ),
    flag(
        "links-duplicated",
        "Two events link to one detail. A reader that does not check the link back shows the detail for both.",
    ),
    flag(
        "thread-ids-disagree",
        "Folder, header and events name different threads. Readers that trust different ones file the events under \
         different threads.",
    ),
    flag(
        "hole",
        "Events of zeros among others: a block that never reached the disk. A reader that drops them shifts the \
         positions of all later events, and breaks their links.",
    ),
    flag(
        "one-corrupt-thread",
        "One thread of two cannot be read. A reader that rejects the session because of it loses the other.",
    ),
    flag(
        "thread-listed-twice",
        "The manifest lists a thread twice. A reader that follows the list returns all its events twice.",
    ),
    flag(
        "path-in-id",
        "A thread id in the manifest is a path. A reader that joins it to the session's path reads files outside the \
         session.",
    ),
    flag(
        "id-that-wraps",
        "An id in the manifest is not a 32-bit number, but becomes a thread's id when truncated to 32 bits. A reader \
         that converts it unchecked shows a thread for it, or crashes.",
    ),
    flag(
        "end-of-page",
        "The file fills its last memory page. Past the last byte, a reader that maps other files finds zeros; in this \
         one it crashes.",
    ),
    flag(
        "symbolic-link",
        "Part of the session is a symlink. A reader that follows it returns events that were never traced here, or \
         reads outside the session.",
    ),
    flag(
        "broken-manifest",
        "The manifest is missing, empty, truncated or malformed. A reader that needs it loses whole threads.",
    ),
    flag(
        "empty-thread",
        "A thread has no events and its times are 0. A session time range that includes it starts in 1970.",
    ),
    flag(
        "ties",
        "Events of different threads have the same timestamp. A merge without a rule for ties returns a different \
         order each time.",
    ),
    flag(
        "wide-numbers",
        "64-bit numbers beyond 2⁵³ and 2⁶³. A reader that stores them as floating point or signed numbers changes them.",
    ),
    flag(
        "opaque-payload",
        "A payload that is not a function payload. A reader that decodes every payload as one reads past its end.",
    ),
    flag(
        "times-go-back",
        "An event's timestamp goes back. A binary search over the file misses events that are there.",
    ),
];

const fn flag(name: &'static str, note: &'static str) -> Flag {
    Flag { name, note }
}

/// Returns the known mistake that every violation of this rule reveals.
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
