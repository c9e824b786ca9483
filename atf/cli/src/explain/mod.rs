//! Shows the meaning of every byte of a file. Walks over the records that the readers find, from
//! the first byte to the last, and decodes each record's fields according to the layout.
//!
//! A walk only moves forward, so it shows no byte twice. It also shows the bytes between records
//! and after the last one.

mod files;
mod json;
mod text;
mod walk;

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use atf::FileKind;
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE, Ring};

use crate::format::Meaning;
use crate::output::{Colours, Failure, Outcome, State, stdout};

use json::Json;
use text::Text;
use walk::Walk;

const AFTER_HELP: &str = "\
Each line shows the offset in the file, the bytes, the field and its value; then = and the meaning,
or ! and the problem. Names, meanings and descriptions come from the format's spec. Each field is
described where it first occurs. Without --events or --all, only the first 8 and the last 2 events
are shown, and the first 64 bytes of their stacks and payloads. Without --all, only the first 64
bytes of other data without fields are shown. A line reports what is omitted.

--json writes a line per field: record, seq, field, offset, size, bytes, value, meaning, problem.
64-bit numbers are decimal strings.

It reads the whole file, 128 KiB at a time, and keeps 8 bytes per event of a detail.atf or of the
details in a ring.atf. Problems of the file are written to standard error.

Exit status: 0, even if no event matches; 1 a checksum mismatch, no footer, a damaged header or
footer, a gap, no event where one should be, or an invalid field value; 2 usage, or a file that
could not be read.

Example:
  $ atf explain --events 3..5 thread_0/index.atf";

/// The options of `explain`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// An index.atf, a detail.atf or a ring.atf
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Only events at these positions, counted from 0: `7`, `3..5` (without 5), `100..`, `..9`
    #[arg(long, value_name = "RANGE", value_parser = range, conflicts_with = "all")]
    events: Option<Range<u64>>,
    /// All events and all bytes
    #[arg(long)]
    all: bool,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

/// The start of a record or of a run of other bytes.
#[derive(Debug)]
pub(crate) struct Heading<'a> {
    /// The name in the spec, or a description if the bytes are not a record.
    pub(crate) name: &'a str,
    /// The position among records of the same kind, counted from 0.
    pub(crate) seq: Option<u64>,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: u64,
    /// The size in bytes.
    pub(crate) size: u64,
    /// Remarks, or an empty string.
    pub(crate) about: &'a str,
    /// Whether the bytes are invalid.
    pub(crate) is_wrong: bool,
}

/// A field, or an element of one.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The field's name, or `x_regs[3]` for an element.
    pub(crate) name: &'a str,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    /// The value in human-readable form.
    pub(crate) text: &'a str,
    /// The value in machine-readable form.
    pub(crate) value: &'a serde_json::Value,
    pub(crate) meaning: &'a Meaning,
    /// The spec's description of the field; `None` after its first occurrence.
    pub(crate) doc: Option<&'a str>,
}

/// A sink for the output of a walk, in the order of the file's bytes.
pub(crate) trait Sink {
    /// Receives the file's name and size.
    fn file(&mut self, name: &str, size: u64) -> Result<(), Failure>;

    /// Begins a record or a run of other bytes.
    fn heading(&mut self, heading: &Heading<'_>) -> Result<(), Failure>;

    /// Receives a field of the last heading's record.
    fn row(&mut self, row: &Row<'_>) -> Result<(), Failure>;

    /// Receives bytes without fields. `start` is their offset within their run.
    fn opaque(&mut self, name: &str, start: u64, offset: u64, bytes: &[u8]) -> Result<(), Failure>;

    /// Receives the offset and size of a part that the options exclude.
    fn left_out(&mut self, what: &str, offset: u64, size: u64) -> Result<(), Failure>;
}

/// The events to show. Bytes before and after the events are always shown.
#[derive(Debug)]
pub(crate) enum Selection {
    /// All events.
    All,
    /// The events at these positions.
    Range(Range<u64>),
    /// The [`FIRST`] and the [`LAST`] few.
    Ends,
}

/// How many events at the start and at the end are shown by default.
const FIRST: u64 = 8;
const LAST: u64 = 2;

impl Selection {
    /// Returns the positions to show out of `count` events, as ascending, disjoint ranges.
    fn ranges(&self, count: u64) -> [Range<u64>; 2] {
        match self {
            Self::All => [0..count, count..count],
            Self::Range(range) => {
                let range = range.start.min(count)..range.end.min(count);
                [range, count..count]
            }
            Self::Ends => {
                let head = FIRST.min(count);
                [0..head, count.saturating_sub(LAST).max(head)..count]
            }
        }
    }
}

impl Options {
    pub(crate) fn run(&self) -> Outcome {
        let selection = match &self.events {
            Some(range) => Selection::Range(range.clone()),
            None if self.all => Selection::All,
            None => Selection::Ends,
        };
        let mut out = stdout();
        let state = if self.json {
            explain(&self.path, selection, &mut Json::new(&mut out))
        } else {
            let (out, colours) = (&mut out, Colours::of_stdout());
            explain(&self.path, selection, &mut Text { out, colours })
        };
        out.flush()?;
        state
    }
}

/// Parses a range of positions: `7`, `3..5`, `100..`, `..9`.
fn range(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str, default| match text {
        "" => Ok(default),
        _ => text
            .parse()
            .map_err(|_| format!("invalid position `{text}`")),
    };
    let (start, end) = match text.split_once("..") {
        Some((start, end)) => (number(start, 0)?, number(end, u64::MAX)?),
        None if text.is_empty() => return Err("expected a range such as 7 or 3..5".to_owned()),
        None => {
            let seq = number(text, 0)?;
            (seq, seq.saturating_add(1))
        }
    };
    if start <= end {
        Ok(start..end)
    } else {
        Err(format!("start {start} is after end {end}"))
    }
}

/// Writes an explanation of a file to `sink`.
fn explain(path: &Path, selection: Selection, sink: &mut dyn Sink) -> Outcome {
    let mut walk = Walk::open(path, selection, sink)?;
    match kind(&mut walk, path)? {
        Some(Kind::Index) => files::index(&mut walk, path)?,
        Some(Kind::Detail) => files::detail(&mut walk, path)?,
        Some(Kind::Ring) => files::ring(&mut walk)?,
        None => {
            walk.is_damaged = true;
            walk.opaque(
                walk.size(),
                "unknown",
                "it does not begin with the magic bytes of an ATF file",
            )?;
        }
    }
    walk.opaque(walk.size(), "rest", "")?;
    Ok(State::damaged_if(walk.is_damaged))
}

/// A file of a thread.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Index,
    Detail,
    Ring,
}

/// Determines the kind of file from its magic bytes or, if they are damaged, from its name.
fn kind(walk: &mut Walk<'_>, path: &Path) -> Result<Option<Kind>, Failure> {
    let magic = walk.peek(4)?.first_chunk().copied();
    let by_magic = match magic {
        Some(Ring::MAGIC) => Some(Kind::Ring),
        magic => magic.and_then(FileKind::from_magic).map(|kind| match kind {
            FileKind::Index => Kind::Index,
            FileKind::Detail => Kind::Detail,
        }),
    };
    let by_name = match path.file_name().and_then(|name| name.to_str()) {
        Some(INDEX_FILE) => Some(Kind::Index),
        Some(DETAIL_FILE) => Some(Kind::Detail),
        Some(RING_FILE) => Some(Kind::Ring),
        _ => None,
    };
    Ok(by_magic.or(by_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_exclude_their_end() {
        assert_eq!(range("7"), Ok(7..8));
        assert_eq!(range("3..5"), Ok(3..5));
        assert_eq!(range("100.."), Ok(100..u64::MAX));
        assert_eq!(range("..9"), Ok(0..9));
        assert_eq!(range(".."), Ok(0..u64::MAX));
        for wrong in ["", "x", "5..3", "-1", "1..2..3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn selections_stay_in_range_and_do_not_overlap() {
        let ends = Selection::Ends;
        assert_eq!(ends.ranges(100), [0..8, 98..100]);
        assert_eq!(ends.ranges(10), [0..8, 8..10]);
        assert_eq!(ends.ranges(9), [0..8, 8..9]);
        assert_eq!(ends.ranges(3), [0..3, 3..3]);
        assert_eq!(ends.ranges(0), [0..0, 0..0]);
        assert_eq!(Selection::Range(4..9).ranges(6), [4..6, 6..6]);
        assert_eq!(Selection::Range(9..12).ranges(6), [6..6, 6..6]);
        assert_eq!(Selection::All.ranges(6), [0..6, 6..6]);
    }
}
