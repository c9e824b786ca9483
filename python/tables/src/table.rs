//! The tables and their columns.

use std::fmt;

use crate::column::{Column, ColumnKind};

/// A table of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Table {
    /// Every event of every thread.
    Events,
    /// Every call, paired with its return.
    Calls,
    /// Registers and stack of some events.
    Details,
    /// The functions that the manifest lists.
    Functions,
    /// The threads, and the state of their files.
    Threads,
    /// The executables and libraries that the manifest lists.
    Modules,
    /// Where the time went, by function.
    Report,
    /// How long calls take, by function and duration.
    Histogram,
    /// The problems that may cause missing or wrong events.
    Problems,
    /// The rules that the files break.
    Check,
    /// The files of a packed session. Only archives have this table.
    Files,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 11] = [
        Self::Events,
        Self::Calls,
        Self::Details,
        Self::Functions,
        Self::Threads,
        Self::Modules,
        Self::Report,
        Self::Histogram,
        Self::Problems,
        Self::Check,
        Self::Files,
    ];

    /// Returns the table's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the table with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Describes the table's rows and their order.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.facts().1
    }

    /// Returns the table's columns.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        self.facts().2
    }

    /// Returns the name, the description and the columns.
    const fn facts(self) -> (&'static str, &'static str, &'static [Column]) {
        match self {
            Self::Events => (
                "events",
                "One row per event: thread by thread, in file order.",
                EVENTS,
            ),
            Self::Calls => (
                "calls",
                "One row per call: thread by thread, each when it ends, inner calls before outer ones. A time range \
                 keeps the calls that overlap it.",
                CALLS,
            ),
            Self::Details => (
                "details",
                "One row per detail event: thread by thread, in file order.",
                DETAILS,
            ),
            Self::Functions => (
                "functions",
                "One row per function that `manifest.json` names, in its order.",
                FUNCTIONS,
            ),
            Self::Threads => ("threads", "One row per thread, by id.", THREADS),
            Self::Modules => (
                "modules",
                "One row per executable or library listed in `manifest.json`, in the same order.",
                MODULES,
            ),
            Self::Report => (
                "report",
                "One row per function, the one with the most self time first. A call that overlaps the time range \
                 counts only with its time in that range.",
                REPORT,
            ),
            Self::Histogram => (
                "histogram",
                "One row per function and range of durations that has calls: functions as in `report`, durations \
                 ascending. The ranges are the same in every trace: each spans a 32nd of a power of two, and those \
                 below 64 ns a single duration. If there were more than 2,097,152 of them, all are wider.",
                HISTOGRAM,
            ),
            Self::Problems => (
                "problems",
                "One row per problem that may cause missing or wrong events. Reading this table reads all \
                 files.",
                PROBLEMS,
            ),
            Self::Check => (
                "check",
                "One row per file and broken rule, with at least one row per file, and one per path that could not \
                 be read.",
                CHECK,
            ),
            Self::Files => (
                "files",
                "One row per part of a packed file, and one after its last part; one per folder and symlink. Only \
                 [archives](archive.md) have it.",
                FILES,
            ),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

// Sources of several columns.
const TIMESTAMP: &str = "index_event.timestamp_ns";
const PAIRING: &str = "pairing of calls and returns";
const MANIFEST: &str = "manifest.json";
const ERRORS: &str = "the reader's errors";

const THREAD: Column = Column::number("thread", "thread id", "the name of the folder `thread_N`");
const FUNCTION_ID: Column = Column::number("function_id", "function", "index_event.function_id");
const FUNCTION: Column = Column::new(
    "function",
    ColumnKind::Name,
    "name of the function",
    MANIFEST,
)
.or_null("the manifest does not name it");

const EVENTS: &[Column] = &[
    THREAD,
    Column::number(
        "seq",
        "position of the event in its thread, from 0",
        "position in index.atf",
    ),
    Column::number("time_ns", "time in ns", TIMESTAMP),
    Column::new(
        "kind",
        ColumnKind::Word(&["call", "return", "exception"]),
        "kind of the event",
        "index_event.event_kind",
    )
    .or_null("any other kind, including in a gap"),
    FUNCTION_ID,
    FUNCTION,
    Column::number(
        "depth",
        "depth of the call stack, from 1; a return has the depth of its call",
        "index_event.call_depth",
    )
    .or_null("wire version 2, which does not record it"),
    Column::number(
        "detail_seq",
        "position of the event's detail, as in `details`",
        "index_event.detail_seq",
    )
    .or_null("no detail"),
];

const CALLS: &[Column] = &[
    THREAD,
    Column::number(
        "call",
        "position of the call's event, as `seq` in `events`",
        "position in index.atf",
    ),
    Column::number("parent", "`call` of the innermost enclosing call", PAIRING)
        .or_null("no call encloses it"),
    FUNCTION_ID,
    FUNCTION,
    Column::number(
        "start_ns",
        "time of the call in ns on the thread's clock, which never goes back",
        TIMESTAMP,
    ),
    Column::number("duration_ns", "time from start to end in ns", PAIRING)
        .or_null("no event ended the call"),
    Column::number(
        "self_ns",
        "`duration_ns` minus the durations of the direct callees, in ns",
        PAIRING,
    )
    .or_null("its duration or a direct callee's is null"),
    Column::number(
        "depth",
        "depth of the call stack, from 1",
        "index_event.call_depth, or in wire version 2 the open calls",
    ),
    Column::new(
        "end",
        ColumnKind::Word(&["return", "exception", "not_returned", "open", "given_up"]),
        "how the call ended; `not_returned`: an outer call ended first, `open`: it was still open after the last \
         event, `given_up`: more than 262,144 calls were open",
        PAIRING,
    ),
    Column::number(
        "at_least_ns",
        "minimum duration of an open call in ns: until the last event of its process, which died",
        ANALYSIS,
    )
    .or_null("the call ended, or events may be missing"),
];

/// Returns the column of a register, whose meaning depends on the thread's `arch`.
const fn register(name: &'static str, about: &'static str, source: &'static str) -> Column {
    Column::number(name, about, source).or_null(OPAQUE)
}

const OPAQUE: &str = "not a function payload";
const X_REGS: &str = "detail_function_payload.x_regs";

const DETAILS: &[Column] = &[
    THREAD,
    Column::number(
        "detail_seq",
        "position of the detail in its thread, from 0",
        "position in detail.atf",
    ),
    Column::number(
        "seq",
        "position of the detail's event, as in `events`",
        "detail_event_header.index_seq",
    ),
    Column::number(
        "time_ns",
        "time in ns",
        "detail_event_header.timestamp",
    ),
    Column::new(
        "kind",
        ColumnKind::Word(&["function_call", "function_return"]),
        "kind of the detail",
        "detail_event_header.event_type",
    )
    .or_null("any other kind"),
    Column::number(
        "payload_size",
        "size of the payload in bytes",
        "detail_event_header.total_length",
    ),
    register(
        "function_id",
        "function",
        "detail_function_payload.function_id",
    ),
    register(
        "x0",
        "first register: the first argument or return value; always 0 in sessions of `atf record`, whose hooks cannot read it",
        X_REGS,
    ),
    register(
        "x1",
        "second register; always 0 in sessions of `atf record`, like `x0`",
        X_REGS,
    ),
    register("x2", "third register", X_REGS),
    register("x3", "fourth register", X_REGS),
    register("x4", "fifth register", X_REGS),
    register("x5", "sixth register", X_REGS),
    register("x6", "seventh register", X_REGS),
    register("x7", "eighth register", X_REGS),
    register("lr", "link register", "detail_function_payload.lr"),
    register("fp", "frame pointer", "detail_function_payload.fp"),
    register("sp", "stack pointer", "detail_function_payload.sp"),
    Column::new(
        "stack",
        ColumnKind::Bytes,
        "bytes of the stack, starting at `sp`",
        "detail_function_payload.stack_size",
    )
    .or_null(OPAQUE),
    Column::new(
        "payload",
        ColumnKind::Bytes,
        "bytes of a payload that is not a function payload, such as the fields of a call in JSON",
        "the bytes after detail_event_header",
    )
    .or_null(
        "a function payload, stored in the other columns, or longer than 16 MiB, which is a problem",
    ),
];

const FUNCTIONS: &[Column] = &[
    FUNCTION_ID,
    FUNCTION,
    Column::number(
        "module_id",
        "the function's module, as in `modules`",
        "upper half of function_id",
    ),
    Column::number(
        "symbol_index",
        "the function in its module; its offset in bytes if the module's `function_offsets` is true",
        "lower half of function_id",
    ),
    Column::text("module", "path of the module", MANIFEST)
        .or_null("the manifest does not list the module, or lists no path for it"),
];

const UNREADABLE: &str = "the index could not be opened";
const UNKNOWN: &str = "the index could not be opened, or the format does not define the number";

const THREADS: &[Column] = &[
    THREAD,
    Column::text("name", "name of the thread", MANIFEST).or_null("the manifest has none"),
    Column::new(
        "listed",
        ColumnKind::Flag,
        "whether the manifest lists the thread",
        MANIFEST,
    ),
    Column::new(
        "state",
        ColumnKind::Word(&[
            "finalized",
            "header_not_updated",
            "unfinalized",
            "damaged_footer",
            "unreadable",
        ]),
        "state of the index; with `header_not_updated`, all events are present",
        "the end of index.atf",
    ),
    Column::number("wire_version", "wire version", "index_header.version").or_null(UNREADABLE),
    Column::text("arch", "processor of the program", "index_header.arch").or_null(UNKNOWN),
    Column::text("os", "system of the program", "index_header.os").or_null(UNKNOWN),
    Column::text("clock", "clock of the trace", "index_header.clock_type").or_null(UNKNOWN),
    Column::number(
        "events",
        "number of readable events",
        "the events of index.atf and ring.atf",
    )
    .or_null(UNREADABLE),
    Column::number(
        "details",
        "number of readable details",
        "the events of detail.atf and ring.atf",
    )
    .or_null("the thread could not be opened"),
    Column::number("start_ns", "time of the first event in ns", TIMESTAMP).or_null("no events"),
    Column::number("end_ns", "time of the last event in ns", TIMESTAMP).or_null("no events"),
    Column::number(
        "lost_events",
        "events that the tracer dropped or lost",
        MANIFEST,
    )
    .or_null("the manifest states no loss"),
    Column::number(
        "lost_details",
        "details that the tracer dropped or lost",
        MANIFEST,
    )
    .or_null("the manifest states no loss"),
];

const MODULES: &[Column] = &[
    Column::number("module_id", "upper half of its functions' ids", MANIFEST),
    Column::text("path", "path of its file", MANIFEST).or_null("not stated"),
    Column::number("base_address", "load address", MANIFEST).or_null("not stated"),
    Column::number("size", "bytes in memory", MANIFEST).or_null("not stated"),
    Column::text("uuid", "build id", MANIFEST).or_null("not stated"),
    Column::new(
        "function_offsets",
        ColumnKind::Flag,
        "whether the lower halves of its functions' ids are offsets from `base_address`",
        MANIFEST,
    )
    .or_null("not stated"),
];

const BEYOND: &str = "the sum of the functions after the first 524,288";
const ANALYSIS: &str = "analysis of all events";
const NO_END: &str = "no call of the function has an end";

const REPORT: &[Column] = &[
    FUNCTION_ID.or_null(BEYOND),
    FUNCTION,
    Column::number("calls", "calls that overlap the time range", ANALYSIS),
    Column::number("open", "those calls that no event ended", ANALYSIS),
    Column::number(
        "at_least",
        "open calls that last at least until the process's last event; their times are minimums",
        ANALYSIS,
    ),
    Column::number(
        "self_ns",
        "time in ns during which one of its calls was innermost",
        ANALYSIS,
    ),
    Column::number(
        "total_ns",
        "time in ns during which at least one of its calls was open, per thread",
        ANALYSIS,
    ),
    Column::number("min_ns", "shortest duration in ns", ANALYSIS).or_null(NO_END),
    Column::number(
        "median_ns",
        "median of the durations in ns, at most 1.6 % off, or more if the ranges in `histogram` are wider",
        ANALYSIS,
    )
    .or_null(NO_END),
    Column::number(
        "p99_ns",
        "99th percentile of the durations in ns, at most 1.6 % off, or more if the ranges in `histogram` are wider",
        ANALYSIS,
    )
    .or_null(NO_END),
    Column::number("max_ns", "longest duration in ns", ANALYSIS).or_null(NO_END),
    Column::number("unmatched", "returns without a call", ANALYSIS),
];

const HISTOGRAM: &[Column] = &[
    FUNCTION_ID.or_null(BEYOND),
    FUNCTION,
    Column::number("from_ns", "shortest duration of the range in ns", ANALYSIS),
    Column::number("to_ns", "longest duration of the range in ns", ANALYSIS),
    Column::number(
        "calls",
        "calls with a duration in the range, excluding open calls",
        ANALYSIS,
    ),
];

const PROBLEMS: &[Column] = &[
    THREAD.or_null("the problem concerns the session"),
    Column::text("path", "file or folder", ERRORS).or_null("no file"),
    Column::text("field", "field: `footer.event_count`", ERRORS).or_null("no field"),
    Column::number("offset", "bytes from the start of the file", ERRORS).or_null("no offset"),
    Column::text("kind", "kind of problem: `NotFinalized`", ERRORS),
    Column::text(
        "message",
        "the whole message, with path, field and offset",
        ERRORS,
    ),
];

const NO_RULE: &str = "no rule is broken, or the path could not be read";

const CHECK: &[Column] = &[
    Column::text("path", "file or folder", "the check"),
    Column::new(
        "kind",
        ColumnKind::Word(&["index", "detail", "ring", "manifest", "folder"]),
        "kind of file",
        "the check",
    )
    .or_null("the path could not be read"),
    Column::new(
        "verdict",
        ColumnKind::Word(&["accept", "recover", "reject"]),
        "what a reader must do with the file",
        "the check",
    )
    .or_null("the path could not be read"),
    Column::number("events", "readable events in the file", "the check").or_null("not an index"),
    Column::number("details", "readable details in the file", "the check")
        .or_null("not a detail file"),
    Column::text("rule", "id of the broken rule", "the check").or_null(NO_RULE),
    Column::new(
        "severity",
        ColumnKind::Word(&["must", "should", "advice"]),
        "strictness of the rule",
        "the check",
    )
    .or_null(NO_RULE),
    Column::text("field", "first field that breaks it", "the check").or_null(NO_RULE),
    Column::number("offset", "bytes from the start of the file", "the check")
        .or_null("no rule is broken, or the place has no offset"),
    Column::number("count", "places that break it", "the check").or_null(NO_RULE),
    Column::text(
        "message",
        "error at the first place, or why the path could not be read",
        "the check",
    )
    .or_null("no rule is broken"),
];

const NOT_ROWS: &str = "not rows of a table";
const FILES: &[Column] = &[
    Column::text(
        "path",
        "path below the session's folder, with `/`; empty for that folder",
        "the session's folder",
    ),
    Column::new(
        "kind",
        ColumnKind::Word(&["folder", "file", "link"]),
        "type of the entry",
        "the session's folder",
    ),
    Column::number("mode", "permissions, as `chmod` takes them", "the file")
        .or_null("a symlink, or the system has no such permissions"),
    Column::number(
        "offset",
        "bytes from the start of the file; 0 for a folder or a symlink",
        "the file",
    ),
    Column::number("size", "size of the part in bytes", "the file"),
    Column::new(
        "source",
        ColumnKind::Word(&["events", "details", "header_footer", "other", "unreproduced"]),
        "where the part is: rows of a table, or `bytes` of a header or footer, of another file, or of events that \
         rows do not reproduce",
        "comparing the rows with the file",
    )
    .or_null("a folder, a symlink, or the end of a file"),
    Column::number("thread", "partition of the table", "the name of the folder `thread_N`")
        .or_null(NOT_ROWS),
    Column::number("row", "position of the first row, from 0", "the table").or_null(NOT_ROWS),
    Column::number("rows", "number of rows", "the table").or_null(NOT_ROWS),
    Column::number(
        "wire_version",
        "wire version of the rows' records",
        "index_header.version",
    )
    .or_null(NOT_ROWS),
    Column::number(
        "thread_id",
        "thread id in the rows' records",
        "index_header.thread_id",
    )
    .or_null(NOT_ROWS),
    Column::new(
        "bytes",
        ColumnKind::Bytes,
        "bytes of the part, or a symlink's target",
        "the file",
    )
    .or_null("a folder, rows of a table, or the end of a file"),
    Column::number("checksum", "CRC-32C of the whole file", "the file")
        .or_null("not the end of a file"),
];
