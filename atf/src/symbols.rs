//! Looks up function names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::Path;

use crate::error::{Error, Result, push};
use crate::manifest::{Manifest, Module};

/// Function names from a session's manifest.
///
/// If the manifest lists a function or a module twice, the first entry is used;
/// [`repeated`](Self::repeated) lists such functions. Lookups take constant time.
///
/// ```
/// use atf::session::SessionReader;
#[doc = include_str!("doc_setup/session.md")]
/// let session = SessionReader::open(path)?;
/// let symbols = session.symbols();
/// for event in session.merge().events().take(3) {
///     println!("{}", symbols.function(event?.event.function_id));
/// }
/// assert_eq!(symbols.function(7).name, Some("main"));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Symbols<'s> {
    manifest: Option<&'s Manifest>,
    places: &'s Places,
}

/// Indices of functions and modules in the manifest.
#[derive(Debug, Default)]
pub(crate) struct Places {
    symbols: HashMap<u64, usize>,
    modules: HashMap<u32, usize>,
    repeated: Vec<u64>,
}

impl Places {
    /// Indexes a manifest's names. If memory runs out, no names are available, and the manifest's
    /// problems include this one.
    pub(crate) fn new(manifest: Option<&mut Manifest>, path: Option<&Path>) -> Self {
        let Some(manifest) = manifest else {
            return Self::default();
        };
        Self::in_manifest(manifest).unwrap_or_else(|error| {
            let problem = error.with_field("symbols").with_path(path);
            manifest.problems.push(problem);
            manifest.problem_count = manifest.problem_count.saturating_add(1);
            Self::default()
        })
    }

    fn in_manifest(manifest: &Manifest) -> Result<Self> {
        let mut this = Self::default();
        let no_memory = |_| Error::out_of_memory();
        let symbols = &mut this.symbols;
        let count = manifest.symbols.len();
        symbols.try_reserve(count).map_err(no_memory)?;
        for (place, symbol) in manifest.symbols.iter().enumerate() {
            match symbols.entry(symbol.function_id) {
                Entry::Vacant(entry) => {
                    entry.insert(place);
                }
                Entry::Occupied(_) => push(&mut this.repeated, symbol.function_id)?,
            }
        }
        let count = manifest.modules.len();
        this.modules.try_reserve(count).map_err(no_memory)?;
        for (place, module) in manifest.modules.iter().enumerate() {
            this.modules.entry(module.module_id).or_insert(place);
        }
        this.repeated.sort_unstable();
        this.repeated.dedup();
        Ok(this)
    }
}

/// The names in a separate manifest, such as one from another run of the program.
///
/// ```
/// use atf::manifest::{Manifest, Symbol};
/// use atf::symbols::SymbolTable;
///
/// let manifest = Manifest::parse(br#"{"symbols": [{"function_id": "0x7", "name": "main"}]}"#);
/// let table = SymbolTable::from(manifest);
/// assert_eq!(table.symbols().function(7).name, Some("main"));
/// ```
#[derive(Debug)]
pub struct SymbolTable {
    manifest: Manifest,
    places: Places,
}

impl From<Manifest> for SymbolTable {
    fn from(mut manifest: Manifest) -> Self {
        let places = Places::new(Some(&mut manifest), None);
        Self { manifest, places }
    }
}

impl SymbolTable {
    /// Returns the names.
    #[must_use]
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(Some(&self.manifest), &self.places)
    }

    /// Returns the manifest, with its problems.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

impl<'s> Symbols<'s> {
    pub(crate) fn new(manifest: Option<&'s Manifest>, places: &'s Places) -> Self {
        Self { manifest, places }
    }

    /// Returns a function's name and module. If the manifest does not list the function, the result
    /// has only its id.
    #[must_use]
    pub fn function(&self, function_id: u64) -> Function<'s> {
        let symbol = self.places.symbols.get(&function_id);
        let symbol = symbol.and_then(|place| self.manifest?.symbols.get(*place));
        let module = self.places.modules.get(&halves(function_id).0);
        Function {
            id: function_id,
            name: symbol.and_then(|symbol| symbol.name.as_deref()),
            module: module.and_then(|place| self.manifest?.modules.get(*place)),
        }
    }

    /// Returns the ids of functions that the manifest lists more than once, in ascending order.
    #[must_use]
    pub fn repeated(&self) -> &'s [u64] {
        &self.places.repeated
    }
}

/// A function as described by the manifest.
///
/// Displays as the function's name. Without a name, it displays as `module#symbol`: the last part
/// of the module's path and the lower half of the id. If the module is also unknown, it displays as
/// the id in hexadecimal. A name may contain any character, so escape it wherever special
/// characters could do harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function<'s> {
    /// The function's id, as in the events.
    pub id: u64,
    /// Its name.
    pub name: Option<&'s str>,
    /// The executable or library, identified by the upper half of the id.
    pub module: Option<&'s Module>,
}

impl<'s> Function<'s> {
    /// Creates a function whose module is unknown.
    #[must_use]
    pub const fn new(id: u64, name: Option<&'s str>) -> Self {
        Self {
            id,
            name,
            module: None,
        }
    }

    /// Returns the last part of the module's path, if the path is known.
    #[must_use]
    pub fn module_file(&self) -> Option<&'s str> {
        let path = self.module?.path.as_deref()?;
        let file = path.rsplit(['/', '\\']).next();
        file.filter(|file| !file.is_empty())
    }
}

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.module_file()) {
            (Some(name), _) => f.write_str(name),
            (None, Some(file)) => write!(f, "{file}#{}", halves(self.id).1),
            (None, None) => write!(f, "{:#x}", self.id),
        }
    }
}

/// Splits a function's id into module and symbol.
#[expect(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
fn halves(function_id: u64) -> (u32, u32) {
    ((function_id >> 32) as u32, function_id as u32)
}
