//! Shows the meaning of every byte of a file. Walks over the records that the readers find, from
//! the first byte to the last, and decodes each record's fields according to the layout.
//!
//! A walk only moves forward, so it shows no byte twice. It also shows the bytes between records
//! and after the last one.

mod bytes;
mod detail;
mod ending;
mod index;
mod json;
mod ring;
mod row;
mod text;
mod walk;

use std::ops::Range;
use std::path::Path;

use atf::FileKind;
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE, Ring};

use crate::output::{Failure, Outcome, State};

pub(crate) use json::Json;
pub(crate) use row::Sink;
pub(crate) use text::Text;

use walk::Walk;

/// The events to show. Bytes before and after the events are always shown.
#[derive(Debug, Clone)]
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

/// Writes an explanation of a file to `sink`.
pub(crate) fn explain(path: &Path, selection: &Selection, sink: &mut dyn Sink) -> Outcome {
    let mut walk = Walk::open(path, selection.clone(), sink)?;
    match kind(&mut walk, path)? {
        Some(Kind::Index) => index::explain(&mut walk, path)?,
        Some(Kind::Detail) => detail::explain(&mut walk, path)?,
        Some(Kind::Ring) => ring::explain(&mut walk)?,
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
