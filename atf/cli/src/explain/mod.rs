//! Names every byte of a file: a walk from its first byte to its last, over the records that the
//! readers find, with the fields that the layout has.
//!
//! A walk knows its place and only goes forward, so no byte is told twice, and what stands between
//! two records, or behind the last, is told as what it is.

mod bytes;
mod detail;
mod index;
mod json;
mod ring;
mod row;
mod text;
mod walk;

use std::ops::Range;
use std::path::Path;

use atf::FileKind;
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use atf::wire::RingHeader;

use crate::output::{Failure, Outcome, State};

pub(crate) use json::Json;
pub(crate) use row::Sink;
pub(crate) use text::Text;

use walk::Walk;

/// Which events are told; what stands before and behind them always is.
#[derive(Debug, Clone)]
pub(crate) enum Selection {
    /// All of them.
    All,
    /// Those at these positions.
    Range(Range<u64>),
    /// Some at the start and some at the end.
    Ends {
        /// How many at the start.
        first: u64,
        /// How many at the end.
        last: u64,
    },
}

impl Selection {
    /// The positions that are told, of `count` events; ascending and apart.
    fn of(&self, count: u64) -> [Range<u64>; 2] {
        match self {
            Self::All => [0..count, count..count],
            Self::Range(range) => {
                let range = range.start.min(count)..range.end.min(count);
                [range, count..count]
            }
            Self::Ends { first, last } => {
                let head = (*first).min(count);
                [0..head, count.saturating_sub(*last).max(head)..count]
            }
        }
    }
}

/// Tells all of a file.
pub(crate) fn explain(path: &Path, selection: &Selection, sink: &mut dyn Sink) -> Outcome {
    let mut walk = Walk::open(path, selection.clone(), sink)?;
    match kind(&mut walk, path)? {
        Some(Kind::Index) => index::explain(&mut walk, path)?,
        Some(Kind::Detail) => detail::explain(&mut walk, path)?,
        Some(Kind::Ring) => ring::explain(&mut walk)?,
        None => {
            walk.is_damaged = true;
            walk.opaque(walk.size(), "unknown", "begins as no thread file does")?;
        }
    }
    walk.finish()?;
    Ok(State::of(walk.is_damaged))
}

/// A file of a thread.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Index,
    Detail,
    Ring,
}

/// Which file it is: by its magic bytes, or where they are damaged by its name.
fn kind(walk: &mut Walk<'_>, path: &Path) -> Result<Option<Kind>, Failure> {
    let magic = walk.peek(4)?.first_chunk().copied();
    let by_magic = match magic {
        Some(RingHeader::MAGIC) => Some(Kind::Ring),
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
    fn selections_stay_inside_and_tell_nothing_twice() {
        let ends = Selection::Ends { first: 8, last: 2 };
        assert_eq!(ends.of(100), [0..8, 98..100]);
        assert_eq!(ends.of(10), [0..8, 8..10]);
        assert_eq!(ends.of(9), [0..8, 8..9]);
        assert_eq!(ends.of(3), [0..3, 3..3]);
        assert_eq!(ends.of(0), [0..0, 0..0]);
        assert_eq!(Selection::Range(4..9).of(6), [4..6, 6..6]);
        assert_eq!(Selection::Range(9..12).of(6), [6..6, 6..6]);
        assert_eq!(Selection::All.of(6), [0..6, 6..6]);
    }
}
