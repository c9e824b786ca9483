//! The names of functions, each stored once.

use std::borrow::Cow;

use crate::file::{Fault, Symbol, reserve};

/// The maximum length of a name in bytes; longer names are ignored.
const LONGEST: usize = 1 << 16;

/// The maximum size of the names, as a multiple of their string table's size. Linkers store a name
/// that is a suffix of another one only once; without a limit, each byte could begin a name of 64
/// KiB.
const MOST_TIMES: usize = 2;

/// Names that each end with a zero byte.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<u8>);

impl Names {
    /// Copies the names of symbols from their string table, each distinct one once, and changes
    /// [`Symbol::name`] to the copy's offset. Drops symbols without a name.
    pub(crate) fn add(&mut self, symbols: &mut Vec<Symbol>, strings: &[u8]) -> Result<(), Fault> {
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
        let rest = self.from(name);
        let size = rest.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(rest.get(..size.unwrap_or_default()).unwrap_or_default())
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
    use super::Names;
    use crate::file::{Binding, Symbol};

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
    fn a_name_that_many_symbols_share_is_copied_once() {
        let strings = [&[b'f'; 65_535][..], b"\0"].concat();
        let mut symbols: Vec<_> = (0..100_000).map(|_| symbol(0)).collect();
        let mut names = Names::default();
        names.add(&mut symbols, &strings).unwrap();
        assert_eq!((symbols.len(), names.size()), (100_000, 65_536));
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
