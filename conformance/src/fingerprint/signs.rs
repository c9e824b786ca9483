//! The sign of each reading, and the disagreements that no file shows.

use crate::results::Role;
use crate::run::About;

/// The evidence for a reading.
#[derive(Debug, Clone, Copy)]
pub enum Shows {
    /// A reader's answer to a case has this value at this JSON pointer.
    Answer {
        /// The case's name, with or without the wire version.
        case: &'static str,
        /// The pointer.
        at: &'static str,
        /// JSON; empty if there must be no value.
        value: &'static str,
    },
    /// A writer's files for a script break this rule, or follow it.
    Files {
        /// The script's name, with or without the wire version.
        script: &'static str,
        /// The rule.
        rule: &'static str,
        /// Whether the files break it.
        breaks: bool,
    },
}

/// A sign of a reading.
#[derive(Debug, Clone, Copy)]
pub struct Sign {
    /// The disagreement.
    pub about: &'static str,
    /// The reading.
    pub is: &'static str,
    /// The evidence.
    pub shows: Shows,
}

impl Sign {
    /// Returns the role under test, and the name of the case or script.
    pub(super) const fn asked(&self) -> (Role, &'static str) {
        match self.shows {
            Shows::Answer { case, .. } => (Role::Read, case),
            Shows::Files { script, .. } => (Role::Write, script),
        }
    }

    /// Returns whether the answer to a case, or the files for a script, can show the sign.
    #[must_use]
    pub fn is_shown_by(&self, about: &About<'_>) -> bool {
        let (role, name) = self.asked();
        let slug = about.name.split_once('/').map_or("", |(_, slug)| slug);
        about.role == role && (about.name == name || slug == name)
    }
}

const fn answer(
    about: &'static str,
    is: &'static str,
    case: &'static str,
    at: &'static str,
    value: &'static str,
) -> Sign {
    let shows = Shows::Answer { case, at, value };
    Sign { about, is, shows }
}

const fn files(
    about: &'static str,
    is: &'static str,
    script: &'static str,
    rule: &'static str,
    breaks: bool,
) -> Sign {
    let shows = Shows::Files {
        script,
        rule,
        breaks,
    };
    Sign { about, is, shows }
}

const ACCEPT: &str = r#""accept""#;
const REJECT: &str = r#""reject""#;

/// All signs. A case or script without a wire version is used in each version that the
/// implementation supports, and one of them suffices.
#[rustfmt::skip]
pub const SIGNS: &[Sign] = &[
    answer("index_header.version.value", "1", "v1/clean-index", "/verdict", ACCEPT),
    answer("index_header.version.value", "2", "v2/clean-index", "/verdict", ACCEPT),
    answer("index_header._reserved2.layout", "4 bytes at 20", "v1/ihdr-005-31-in-the-reserved-bytes", "/verdict", ACCEPT),
    answer("index_header._reserved2.layout", "absent", "v2/ihdr-006-31", "/verdict", REJECT),
    answer("index_header.event_size.layout", "4 bytes at 24", "v1/ihdr-006-31", "/verdict", REJECT),
    answer("index_header.event_size.layout", "4 bytes at 20", "v2/ihdr-006-31", "/verdict", REJECT),
    answer("index_header.event_count.layout", "4 bytes at 28", "v1/clean-index", "/header/event_count", "6"),
    answer("index_header.event_count.layout", "8 bytes at 24", "v2/clean-index", "/header/event_count", r#""6""#),
    answer("index_event.thread_id.layout", "4 bytes at 16", "v1/clean-index", "/events/0/thread_id", "7"),
    answer("index_event.thread_id.layout", "absent", "v2/clean-index", "/events/0/thread_id", ""),
    answer("index_event.event_kind.layout", "4 bytes at 20", "v1/clean-index", "/events/4/event_kind", "3"),
    answer("index_event.event_kind.layout", "1 byte at 24", "v2/clean-index", "/events/4/event_kind", "3"),
    answer("index_event.call_depth.layout", "4 bytes at 24", "v1/clean-index", "/events/1/call_depth", "2"),
    answer("index_event.call_depth.layout", "absent", "v2/clean-index", "/events/1/call_depth", ""),
    answer("index_event.detail_seq.layout", "4 bytes at 28", "v1/clean-index", "/events/2/detail_seq", r#""1""#),
    answer("index_event.detail_seq.layout", "8 bytes at 16", "v2/clean-index", "/events/2/detail_seq", r#""1""#),
    answer("index_event.detail_seq.none", "4294967295", "v1/clean-index", "/events/1/detail_seq", "null"),
    answer("index_event.detail_seq.none", "4294967295", "v2/link-001-to-2-32-1", "/threads/0/index/events/3/detail_seq", "null"),
    answer("index_event.detail_seq.none", "18446744073709551615", "v2/clean-index", "/events/1/detail_seq", "null"),
    answer("index_event._reserved.layout", "absent", "v1/clean-index", "/events/1/call_depth", "2"),
    answer("index_event._reserved.layout", "7 bytes at 25", "v2/ievt-005-the-last-byte", "/events/0/event_kind", "1"),
    answer("index_footer.size", "64", "iftr-009-four-zeros", "/derived/trailing_bytes", r#""4""#),
    answer("index_footer.size", "68", "iftr-009-four-zeros", "/derived/trailing_bytes", r#""0""#),
    answer("index_footer.reserved.layout", "24 bytes at 40", "iftr-009-four-zeros", "/derived/trailing_bytes", r#""4""#),
    answer("index_footer.reserved.layout", "28 bytes at 40", "iftr-009-four-zeros", "/derived/trailing_bytes", r#""0""#),
    answer("detail_header.size", "64", "dhdr-005-60-and-the-events-are-there", "/verdict", REJECT),
    answer("detail_header.size", "60", "dhdr-005-60-and-the-events-are-there", "/verdict", ACCEPT),
    answer("detail_header.version.value", "1", "v1/clean-detail", "/verdict", ACCEPT),
    answer("detail_header.version.value", "2", "v2/clean-detail", "/verdict", ACCEPT),
    answer("detail_header._reserved2.layout", "4 bytes at 60", "dhdr-005-60-and-the-events-are-there", "/verdict", REJECT),
    answer("detail_header._reserved2.layout", "absent", "dhdr-005-60-and-the-events-are-there", "/verdict", ACCEPT),
    answer("detail_event_header.index_seq.layout", "4 bytes at 8", "v1/clean-detail", "/events/1/index_seq", r#""2""#),
    answer("detail_event_header.index_seq.layout", "8 bytes at 8", "v2/clean-detail", "/events/1/index_seq", r#""2""#),
    answer("detail_event_header.thread_id.layout", "4 bytes at 12", "v1/clean-detail", "/events/0/thread_id", "7"),
    answer("detail_event_header.thread_id.layout", "absent", "v2/clean-detail", "/events/0/thread_id", ""),
    answer("os.windows", "5", "dhdr-007-5-which-s1-and-s4-leave-out", "/verdict", ACCEPT),
    answer("os.windows", "absent", "dhdr-007-5-which-s1-and-s4-leave-out", "/verdict", REJECT),
    answer("checksum.algorithm.term", "crc32", "iftr-005-the-ieee-crc-32", "/derived/checksum", r#""good""#),
    answer("checksum.algorithm.term", "crc32c", "iftr-005-the-ieee-crc-32", "/verdict", REJECT),
    files("checksum.algorithm.term", "crc32", "write-exception", "ATF-IFTR-005", true),
    files("checksum.algorithm.term", "crc32c", "write-exception", "ATF-IFTR-005", false),
    files("clock.per_os.term", "always_mach", "write-exception", "ATF-IHDR-011", true),
    files("clock.per_os.term", "mach_qpc_boottime", "write-exception", "ATF-IHDR-011", false),
    answer("event.place.term", "events_offset", "ihdr-007-65-and-the-footer-proves-it", "/events/0/timestamp_ns", r#""1234567000000000""#),
    answer("event.place.term", "64", "ihdr-007-65-and-the-footer-proves-it", "/events/0/timestamp_ns", r#""316049152000000000""#),
    answer("event.place.term", "0", "v1/clean-index", "/events/0/timestamp_ns", r#""288512955778683969""#),
    answer("payload.shape.term", "arm64_function", "clean-detail", "/events/0/function/stack_size", "0"),
    answer("payload.shape.term", "undescribed", "clean-detail", "/events/0/function", "null"),
    answer("payload.selector.term", "length", "session-of-opaque-payloads", "/threads/0/detail/events/3/function/stack_size", "0"),
    answer("payload.selector.term", "event_type", "session-of-opaque-payloads", "/threads/0/detail/events/3/function", "null"),
    answer("byte_order.term", "little", "clean-index", "/verdict", ACCEPT),
    answer("byte_order.term", "little_only", "ihdr-003-2-big-endian", "/verdict", REJECT),
    files("links.timestamp.term", "same_clock", "write-one-detail", "ATF-LINK-006", true),
    files("links.timestamp.term", "same_as_index", "write-one-detail", "ATF-LINK-006", false),
    files("links.timestamp.term", "same_value", "write-one-detail", "ATF-LINK-006", false),
    answer("finalize.order.term", "header_at_finalize", "ihdr-017-a-placeholder-with-footer-offset-64", "/derived/count_source", r#""footer""#),
    files("finalize.order.term", "header_at_finalize", "write-full-disk-at-the-footer", "ATF-WRTR-001", false),
    files("finalize.order.term", "footer_last", "write-full-disk-at-the-footer", "ATF-WRTR-001", true),
    files("finalize.order.term", "header_then_footer", "write-full-disk-at-the-footer", "ATF-WRTR-001", true),
    answer("footer.place.term", "header_field", "iftr-009-one-byte", "/derived/count_source", r#""footer""#),
    answer("footer.place.term", "after_events", "ihdr-017-a-footer-before-100-other-bytes", "/derived/count_source", r#""footer""#),
    answer("footer.place.term", "end_of_file", "ihdr-017-a-placeholder-with-footer-offset-64", "/derived/count_source", r#""footer""#),
    answer("recovery.count.term", "complete_events", "iftr-011-64-kib-of-zeros", "/derived/event_count", r#""6""#),
    answer("recovery.count.term", "file_size", "iftr-011-64-kib-of-zeros", "/derived/event_count", r#""2054""#),
    answer("recovery.count.term", "footer_count", "iftr-002-one-too-few", "/derived/event_count", r#""5""#),
    files("write.mode.term", "append_only", "write-exception", "ATF-IHDR-017", true),
    files("write.mode.term", "header_rewritten", "write-exception", "ATF-IHDR-017", false),
    answer("file.names.term", "index_detail_atf", "clean-session", "/derived/event_count", r#""8""#),
    answer("file.names.term", "also_ati2_atd2", "sess-002-index-ati2-only", "/derived/event_count", r#""8""#),
];

/// The disagreements that no file can reveal, each with the reason.
pub const HIDDEN: &[(&str, &str)] = &[
    (
        "clock.kind.term",
        "the clocks differ only on a device that slept during tracing",
    ),
    (
        "detail.lookup.term",
        "how a reader finds a detail affects its speed, but no answer",
    ),
    (
        "order.causality.term",
        "all readers merge by time, and no source specifies an order for equal times",
    ),
    (
        "index_seq.assigned.term",
        "the numbers are the same, no matter what assigns them",
    ),
    (
        "session.path.term",
        "a reader receives the session's path, whatever its name",
    ),
    ("manifest.content.term", "readers ignore unknown keys"),
    (
        "thread_id.identity.term",
        "a file contains the number, not its meaning",
    ),
    (
        "function_id.module.term",
        "readers return the number unchanged",
    ),
];
