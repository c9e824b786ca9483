//! Function names, as one dictionary for all batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{StringBuilder, StringDictionaryBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use atf::session::SessionReader;
use atf::symbols::Function;
use atf_analyze::Pattern;
use foldhash::fast::RandomState;

use crate::error::Error;

/// The distinct names in a session's manifest.
#[derive(Debug)]
pub(crate) struct Names {
    /// The dictionary key of each function's name.
    keys: HashMap<u64, i32, RandomState>,
    dictionary: Arc<StringArray>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            keys: HashMap::default(),
            dictionary: Arc::new(StringBuilder::new().finish()),
        }
    }
}

impl Names {
    pub(crate) fn new(session: &SessionReader) -> Result<Self, Error> {
        let symbols = session.symbols();
        let listed = session.manifest().map(|manifest| &manifest.symbols);
        let mut keys = HashMap::default();
        let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
        for symbol in listed.into_iter().flatten() {
            // If a function has several entries, the first one is used.
            let Some(name) = symbols.function(symbol.function_id).name else {
                continue;
            };
            let key = dictionary.append(name);
            let key = key.map_err(|_| Error::usage("more than 2,147,483,647 function names"))?;
            keys.insert(symbol.function_id, key);
        }
        let dictionary = Arc::new(dictionary.finish().values().as_string::<i32>().clone());
        Ok(Self { keys, dictionary })
    }

    /// Returns whether a pattern selects a function that the manifest lists.
    pub(crate) fn contains(&self, pattern: &Pattern) -> bool {
        self.keys.iter().any(|(id, key)| {
            let name = self.name(Some(*key));
            pattern.fits(&Function::new(*id, name))
        })
    }

    /// Returns the dictionary key of a function's name.
    pub(crate) fn key(&self, function_id: u64) -> Option<i32> {
        self.keys.get(&function_id).copied()
    }

    /// Returns the name with this dictionary key.
    pub(crate) fn name(&self, key: Option<i32>) -> Option<&str> {
        let position = usize::try_from(key?).ok();
        let position = position.filter(|position| *position < self.dictionary.len())?;
        Some(self.dictionary.value(position))
    }

    /// Returns an array of the names with these dictionary keys.
    pub(crate) fn array(&self, keys: Int32Array, dictionaries: bool) -> Result<ArrayRef, Error> {
        if dictionaries {
            let values = Arc::clone(&self.dictionary) as ArrayRef;
            let names = DictionaryArray::<Int32Type>::try_new(keys, values)?;
            return Ok(Arc::new(names));
        }
        let names = keys.iter().map(|key| self.name(key));
        Ok(Arc::new(names.collect::<StringArray>()))
    }
}
