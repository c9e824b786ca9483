//! Reads parts of a file, up to a limit, and collects its functions and their names. Each name is
//! stored once.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::CStr;
use std::fs::File;
use std::ops::Range;

use object::read::{ReadCache, ReadRef};

use crate::debug_link::DebugLink;
use crate::error::LIMIT;

/// The maximum length of a name in bytes; longer names are ignored.
const LONGEST: usize = 1 << 16;

/// The maximum size of the names, as a multiple of their string table's size. Linkers store a name
/// that is a suffix of another one only once; without a limit, each byte could begin a name of 64
/// KiB.
const MOST_TIMES: usize = 2;

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

/// A function, which has a name once it is in [`Raw`].
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

/// The contents of a file.
pub(crate) struct Raw {
    pub(crate) build_id: Option<Vec<u8>>,
    /// Whether the symbols include functions that are not exported.
    pub(crate) has_statics: bool,
    /// The debug file that the file names.
    pub(crate) link: Option<DebugLink>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) names: Names,
}

impl Raw {
    pub(crate) fn new(build_id: Option<Vec<u8>>) -> Self {
        Self {
            build_id,
            has_statics: false,
            link: None,
            symbols: Vec::new(),
            names: Names::default(),
        }
    }

    /// Adds the symbols of a table, which are in the order of the file.
    pub(crate) fn add(&mut self, mut new: Vec<Symbol>, strings: &[u8]) -> Result<(), Fault> {
        let before = u32::try_from(self.symbols.len()).map_err(|_| Fault::Memory)?;
        for (symbol, place) in new.iter_mut().zip(before..) {
            symbol.position = place;
        }
        self.names.add(&mut new, strings)?;
        reserve(&mut self.symbols, new.len())?;
        self.symbols.append(&mut new);
        Ok(())
    }
}

/// Names that each end with a zero byte.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<u8>);

impl Names {
    /// Copies the names of symbols from their string table, each distinct one once, and changes
    /// [`Symbol::name`] to the copy's offset. Drops symbols without a name.
    fn add(&mut self, symbols: &mut Vec<Symbol>, strings: &[u8]) -> Result<(), Fault> {
        symbols.sort_unstable_by_key(|symbol| symbol.name);
        let mut left = strings.len().saturating_mul(MOST_TIMES);
        let mut end = 0;
        for same in symbols.chunk_by_mut(|one, other| one.name == other.name) {
            let start = same.first().and_then(|one| usize::try_from(one.name).ok());
            let copy = match start.and_then(|start| name(strings, start, &mut end)) {
                None => None,
                Some(name) => {
                    let rest = left.checked_sub(name.len());
                    left = rest.ok_or_else(|| Fault::new("the names in a string table overlap"))?;
                    Some(self.push(name)?)
                }
            };
            for symbol in same {
                symbol.has_name = copy.is_some();
                symbol.name = copy.unwrap_or_default();
            }
        }
        symbols.retain(|symbol| symbol.has_name);
        Ok(())
    }

    fn push(&mut self, name: &[u8]) -> Result<u32, Fault> {
        let place = u32::try_from(self.0.len()).map_err(|_| Fault::Memory)?;
        reserve(&mut self.0, name.len().saturating_add(1))?;
        self.0.extend_from_slice(name);
        self.0.push(0);
        Ok(place)
    }

    /// Returns the bytes from the start of a name on.
    pub(crate) fn from(&self, name: u32) -> &[u8] {
        let start = usize::try_from(name).ok();
        start
            .and_then(|start| self.0.get(start..))
            .unwrap_or_default()
    }

    pub(crate) fn get(&self, name: u32) -> Cow<'_, str> {
        let name = CStr::from_bytes_until_nul(self.from(name));
        name.unwrap_or_default().to_string_lossy()
    }

    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }
}

/// Returns the name that starts at `start`, if it is not empty and ends with a zero byte. In a
/// library with symbol versions, where the entry is `name@@VERSION`, returns only the name. `end`
/// is the end of an earlier name: if names overlap, each byte is still searched only once.
fn name<'a>(strings: &'a [u8], start: usize, end: &mut usize) -> Option<&'a [u8]> {
    if *end <= start {
        let rest = strings.get(start..)?;
        let size = rest.iter().position(|byte| *byte == 0);
        *end = size.map_or(usize::MAX, |size| start.saturating_add(size));
    }
    let name = strings.get(start..*end)?;
    if name.is_empty() || name.len() >= LONGEST {
        return None;
    }
    let version = name.iter().skip(1).position(|byte| *byte == b'@');
    version.map_or(Some(name), |at| name.get(..at.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::{Binding, Names, Symbol};

    fn symbol(name: usize) -> Symbol {
        Symbol {
            start: 0,
            size: 0,
            limit: 0,
            binding: Binding::Global,
            name: u32::try_from(name).unwrap(),
            has_name: true,
            position: 0,
        }
    }

    #[test]
    fn names_that_are_suffixes_of_others_are_read_up_to_a_limit() {
        let mut names = Names::default();
        let mut symbols = vec![symbol(1), symbol(4), symbol(8), symbol(9), symbol(90)];
        names.add(&mut symbols, b"\0unfold\0\0g@@V\0open").unwrap();
        let found: Vec<_> = symbols.iter().map(|it| names.get(it.name)).collect();
        assert_eq!(found, ["unfold", "old", "g"]);
        let strings = [&[b'f'; 65_000][..], b"\0"].concat();
        let mut symbols: Vec<_> = (0..65_000).map(symbol).collect();
        assert!(Names::default().add(&mut symbols, &strings).is_err());
    }
}
