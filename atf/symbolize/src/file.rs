//! Reads parts of a file, up to a limit.

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;

use object::read::{ReadCache, ReadRef};

/// The maximum number of bytes read from one file: 2 GiB. A file with debug information may be
/// larger because only its headers and symbol tables are read.
pub const LIMIT: u64 = 2 << 30;

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

/// An error in a file's contents.
pub(crate) struct Fault(pub(crate) String);

impl Fault {
    pub(crate) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl From<object::read::Error> for Fault {
    fn from(error: object::read::Error) -> Self {
        Self(error.to_string())
    }
}
/// The contents of a file.
pub(crate) struct Raw {
    pub(crate) build_id: Option<Vec<u8>>,
    /// Whether the symbols include functions that are not exported.
    pub(crate) has_statics: bool,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) strings: Vec<u8>,
}

/// A named function. [`Raw`] contains them in the order of the file.
pub(crate) struct Symbol {
    /// The offset of the function's first byte from the base address.
    pub(crate) start: u64,
    /// The function's size; 0 if it extends to the next function.
    pub(crate) size: u64,
    /// The end of the function's segment or section.
    pub(crate) limit: u64,
    pub(crate) binding: Binding,
    pub(crate) name: u32,
}

/// The binding of a symbol, in order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Global,
    Local,
    Weak,
}
