//! Reads files with bad sectors.

use std::ops::Range;
use std::{io, iter};

use super::ReadAt;

/// The sizes, in bytes, of the pieces used to probe a file. A piece that cannot be read is
/// divided into pieces of the next smaller size.
const PIECES: [usize; 3] = [0x1_0000, 0x1000, 0x200];

/// The unreadable ranges of a file, ascending and not adjacent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unreadable(Vec<Range<u64>>);

impl Unreadable {
    /// Reads a whole source to find the unreadable ranges.
    ///
    /// # Errors
    ///
    /// The first error if nothing can be read, or an error that affects the whole source (see
    /// [`is_bad_sector`]).
    fn find(source: &dyn ReadAt) -> io::Result<Self> {
        let mut probe = Probe {
            source,
            buffer: vec![0; PIECES[0]],
            found: Self::default(),
            first_error: None,
            has_read: false,
        };
        let mut offset = 0;
        while let Some(start) = source.next_data(offset)?
            && start < source.size()
        {
            // Pieces begin at multiples of their size, as sectors do.
            let end = next_multiple(start, PIECES[0]).min(source.size());
            probe.piece(start..end, &PIECES[1..])?;
            offset = end;
        }
        match probe.first_error {
            Some(error) if !probe.has_read => Err(error),
            _ => Ok(probe.found),
        }
    }

    /// Adds a range, which must not begin before the last one. Ignores an empty range.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => self.0.push(range),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.0.iter()
    }

    /// Returns whether any byte of a range cannot be read.
    #[inline]
    pub(crate) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.next(range.start) < range.end
    }

    /// Returns the offset of the first unreadable byte at or after `offset`, or `u64::MAX` if there
    /// is none.
    #[inline]
    pub(crate) fn next(&self, offset: u64) -> u64 {
        if self.0.is_empty() {
            return u64::MAX;
        }
        self.after(offset)
            .first()
            .map_or(u64::MAX, |range| range.start.max(offset))
    }

    /// Returns the parts of a range that these ranges do not cover.
    pub(crate) fn gaps(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        gaps(self.after(range.start).iter().cloned(), range)
    }

    /// Returns the ranges that end after `offset`.
    fn after(&self, offset: u64) -> &[Range<u64>] {
        let first = self.0.partition_point(|range| range.end <= offset);
        self.0.get(first..).unwrap_or_default()
    }
}

/// Returns the parts of a range that none of these ascending ranges covers.
pub(crate) fn gaps(
    covered: impl Iterator<Item = Range<u64>>,
    range: Range<u64>,
) -> impl Iterator<Item = Range<u64>> {
    let Range { mut start, end } = range;
    let covered = covered.take_while(move |covered| covered.start < end);
    let gaps = covered.chain(iter::once(end..end)).map(move |covered| {
        let gap = start..covered.start;
        start = start.max(covered.end);
        gap
    });
    gaps.filter(|gap| !gap.is_empty())
}

/// Returns whether a read error may affect only part of a file, as a bad sector does.
pub(crate) fn is_bad_sector(kind: io::ErrorKind) -> bool {
    !matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::OutOfMemory
            | io::ErrorKind::Unsupported
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
    )
}

/// A source read in pieces.
struct Probe<'a> {
    source: &'a dyn ReadAt,
    buffer: Vec<u8>,
    found: Unreadable,
    first_error: Option<io::Error>,
    has_read: bool,
}

impl Probe<'_> {
    /// Reads a range. If that fails, reads the range in pieces of the first size in `sizes`.
    fn piece(&mut self, range: Range<u64>, sizes: &[usize]) -> io::Result<()> {
        match self.read(&range) {
            Ok(()) => self.has_read = true,
            Err(error) if !is_bad_sector(error.kind()) => return Err(error),
            Err(error) => {
                self.first_error.get_or_insert(error);
                let Some((size, smaller)) = sizes.split_first() else {
                    self.found.add(range);
                    return Ok(());
                };
                let mut start = range.start;
                while start < range.end {
                    let end = next_multiple(start, *size).min(range.end);
                    self.piece(start..end, smaller)?;
                    start = end;
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, range: &Range<u64>) -> io::Result<()> {
        let mut start = range.start;
        while start < range.end {
            let left = usize::try_from(range.end.saturating_sub(start)).unwrap_or(usize::MAX);
            let left = left.min(self.buffer.len());
            let buffer = self.buffer.get_mut(..left).unwrap_or_default();
            match self.source.read_at(start, buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => start = start.saturating_add(read as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn next_multiple(offset: u64, size: usize) -> u64 {
    let size = size as u64;
    let over = offset.checked_rem(size).unwrap_or_default();
    offset.saturating_sub(over).saturating_add(size)
}

/// A source with known unreadable ranges, which read as zeros.
pub(super) struct AroundErrors<S> {
    source: S,
    pub(super) unreadable: Unreadable,
}

impl<S: ReadAt> AroundErrors<S> {
    /// Probes the source.
    pub(super) fn new(source: S) -> io::Result<Self> {
        Ok(Self {
            unreadable: Unreadable::find(&source)?,
            source,
        })
    }
}

impl<S: ReadAt> ReadAt for AroundErrors<S> {
    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let end = offset.saturating_add(buffer.len() as u64);
        let bad = self.unreadable.next(offset);
        let size = |end: u64| {
            let size = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
            size.min(buffer.len())
        };
        if bad > offset {
            let (readable, _) = buffer.split_at_mut(size(bad));
            return self.source.read_at(offset, readable);
        }
        let readable = self.unreadable.gaps(offset..end).next();
        let size = size(readable.map_or(end, |readable| readable.start));
        let (unreadable, _) = buffer.split_at_mut(size);
        unreadable.fill(0);
        Ok(size)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        self.source.next_data(offset)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "test code with its own numbers"
)]
mod tests {
    use super::*;

    type Pair = (u64, u64);

    struct Disk {
        bytes: Vec<u8>,
        bad: Vec<Pair>,
        kind: io::ErrorKind,
    }

    impl ReadAt for Disk {
        fn size(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.bytes.read_at(offset, buffer)?;
            let end = offset + read as u64;
            if self.bad.iter().any(|bad| bad.0 < end && offset < bad.1) {
                Err(self.kind.into())
            } else {
                Ok(read)
            }
        }
    }

    fn disk(size: usize, bad: &[Pair]) -> Disk {
        Disk {
            bytes: (0..size).map(|at| at as u8 | 1).collect(),
            bad: bad.to_vec(),
            kind: io::ErrorKind::Other,
        }
    }

    #[track_caller]
    fn assert_zeros(bad: &[Pair], expected: &[Pair]) {
        let size = 200_000;
        let source = AroundErrors::new(disk(size, bad)).unwrap();
        let found = source
            .unreadable
            .iter()
            .map(|range| (range.start, range.end));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let mut bytes = disk(size, &[]).bytes;
        for (start, end) in expected {
            bytes[*start as usize..*end as usize].fill(0);
        }
        let (mut read, mut buffer) = (Vec::new(), [7; 777]);
        while let size @ 1.. = source.read_at(read.len() as u64, &mut buffer).unwrap() {
            read.extend_from_slice(&buffer[..size]);
        }
        assert!(read == bytes);
    }

    #[test]
    fn exactly_the_unreadable_sectors_become_zeros() {
        assert_zeros(&[], &[]);
        assert_zeros(&[(0, 1)], &[(0, 512)]);
        assert_zeros(&[(1000, 1001)], &[(512, 1024)]);
        assert_zeros(&[(65_535, 65_537)], &[(65_024, 66_048)]);
        let two = [(4096, 8192), (150_000, 150_600)];
        assert_zeros(&two, &[(4096, 8192), (149_504, 151_040)]);
        assert_zeros(&[(199_999, 200_000)], &[(199_680, 200_000)]);
    }

    #[test]
    fn other_errors_and_entirely_unreadable_sources_are_errors() {
        assert!(AroundErrors::new(disk(3000, &[(0, 3000)])).is_err());
        let kind = io::ErrorKind::PermissionDenied;
        let denied = disk(3000, &[(0, 9)]);
        let denied = AroundErrors::new(Disk { kind, ..denied });
        assert_eq!(denied.err().unwrap().kind(), kind);
    }

    #[test]
    fn gaps_and_overlaps_match_a_check_of_each_byte() {
        let mut ranges = Unreadable::default();
        for (start, end) in [(3, 5), (5, 6), (9, 12)] {
            ranges.add(start..end);
        }
        let is_bad = |at: u64| (3..6).contains(&at) || (9..12).contains(&at);
        for start in 0..15 {
            for end in start..15 {
                let mut range = start..end;
                let gaps = ranges.gaps(range.clone()).flatten();
                assert!(gaps.eq(range.clone().filter(|at| !is_bad(*at))));
                assert_eq!(ranges.overlaps(&range), range.any(is_bad), "{start}..{end}");
            }
        }
    }
}
