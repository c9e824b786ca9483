//! The functions of a file, before they are sorted.

use crate::debug_link::DebugLink;
use crate::file::{Fault, Symbol, reserve};
use crate::names::Names;

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
