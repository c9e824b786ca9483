//! `explain`: every byte of a file, named.

use std::ops::Range;
use std::path::PathBuf;

use crate::explain::{Json, Selection, Text, explain};
use crate::output::{Colours, Outcome, stdout};

const AFTER_HELP: &str = "\
Each line has the offset in the file, the bytes, the field, its value, and behind = what that
means or behind ! what is wrong with it. Names, meanings and descriptions are those of the
format's spec. A field is described where it stands for the first time. Without --events or --all,
the first 8 events and the last 2 are written, and the first 64 bytes of what has no fields; a
line says what is left out.

With --json there is a line for each field: record, seq, field, offset, size, bytes, value,
meaning, problem. Numbers of 64 bits are decimal strings.

It reads the whole file, 128 KiB at a time, and keeps 8 bytes per event of a detail.atf, or of the
details in a ring.atf. What is wrong with the file is written to standard error.

Exit status: 0; 1 a checksum mismatch, no footer, a damaged header or footer, a gap, no event where
one should be, or a field with a value that it cannot have; 2 usage, or a file that could not be
read.

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
        None => Selection::Ends { first: 8, last: 2 },
    };
    match options.json {
        true => explain(&options.path, &selection, &mut Json::new(stdout())),
        false => {
            let mut text = Text::new(stdout(), Colours::of_stdout());
            explain(&options.path, &selection, &mut text)
        }
    }
}

/// `7`, `3..5`, `100..`, `..9`.
fn range(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str, default| match text {
        "" => Ok(default),
        _ => text.parse().map_err(|_| format!("`{text}` is no position")),
    };
    let (start, end) = match text.split_once("..") {
        Some((start, end)) => (number(start, 0)?, number(end, u64::MAX)?),
        None if text.is_empty() => return Err("a range has a position".to_owned()),
        None => {
            let seq = number(text, 0)?;
            (seq, seq.saturating_add(1))
        }
    };
    match start <= end {
        true => Ok(start..end),
        false => Err(format!("{start} is behind {end}")),
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
