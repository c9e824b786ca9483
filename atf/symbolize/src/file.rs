//! Reads parts of a file, up to a limit.

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;

use object::read::{ReadCache, ReadRef};

use crate::error::LIMIT;

/// Returns how many bytes may be read from a file of this size. Some tables are needed up to four
/// times; tables that overlap could otherwise take 2 GiB of memory for a file of 1 MiB.
pub(crate) fn limit(size: u64) -> u64 {
    const HEADERS: u64 = 1 << 16;
    LIMIT.min(size.saturating_mul(4).saturating_add(HEADERS))
}

/// A file that is read at given offsets, within its size.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) cache: &'a ReadCache<File>,
    /// The number of bytes that may still be read; `None` once a read has exceeded the limit.
    pub(crate) left: &'a Cell<Option<u64>>,
}

impl<'a> ReadRef<'a> for Parts<'a> {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let end = offset.checked_add(size).ok_or(())?;
        if end > self.cache.len()? {
            return Err(());
        }
        let left = self.left.get().and_then(|left| left.checked_sub(size));
        self.left.set(left);
        left.ok_or(())?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        // The cache reads at most 4 KiB here, so this read does not count towards the limit.
        self.cache.read_bytes_at_until(range, delimiter)
    }
}

/// The reason why a file's contents cannot be used.
#[derive(Debug)]
pub(crate) enum Fault {
    Malformed(String),
    /// The system does not have enough memory for them.
    Memory,
}

impl Fault {
    pub(crate) fn new(what: &str) -> Self {
        Self::Malformed(what.to_owned())
    }
}

impl From<object::read::Error> for Fault {
    fn from(error: object::read::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// Makes room for more elements. A table may fit into memory once but not twice, and in a recorded
/// program, a failed allocation must not end that program.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<(), Fault> {
    list.try_reserve(more).map_err(|_| Fault::Memory)
}

/// A function, which has a name once it is in [`Raw`](crate::raw::Raw).
#[derive(Debug)]
pub(crate) struct Symbol {
    /// The offset of the function's first byte from the base address.
    pub(crate) start: u64,
    /// The function's size; 0 if it extends to the next function.
    pub(crate) size: u64,
    /// The end of the function's segment or section.
    pub(crate) limit: u64,
    pub(crate) binding: Binding,
    /// The offset of the name in the string table or, in [`Raw`], in its names.
    pub(crate) name: u32,
    pub(crate) has_name: bool,
    /// The position in the file's tables, which [`Raw::add`] sets.
    pub(crate) position: u32,
}

/// The binding of a symbol, in order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Global,
    Local,
    Weak,
}
