//! `explain`: shows the meaning of every byte of a file.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use crate::explain::{Json, Selection, Text, explain};
use crate::output::{Colours, Outcome, stdout};

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

/// Options of `explain`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
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

pub(super) fn run(options: &Options) -> Outcome {
    let selection = match &options.events {
        Some(range) => Selection::Range(range.clone()),
        None if options.all => Selection::All,
        None => Selection::Ends,
    };
    let mut out = stdout();
    let state = if options.json {
        explain(&options.path, &selection, &mut Json::new(&mut out))
    } else {
        let mut text = Text::new(&mut out, Colours::of_stdout());
        explain(&options.path, &selection, &mut text)
    };
    out.flush()?;
    state
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
}
