//! Names of functions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use crate::manifest::{Manifest, Module};

/// Names of functions, as a session's manifest gives them.
///
/// Where it names a function or a module twice the first counts; [`repeated`](Self::repeated) says
/// which functions those are. Lookups take a constant time.
///
/// ```
/// # let path = "../samples/sample-small/session_20260105_101500/pid_4242";
/// let session = atf::session::SessionReader::open(path)?;
/// let symbols = session.symbols();
/// for event in session.merge().events().take(3) {
///     println!("{}", symbols.function(event?.event.function_id));
/// }
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Symbols<'s> {
    manifest: Option<&'s Manifest>,
    places: &'s Places,
}

/// Where in the manifest the functions and modules stand.
#[derive(Debug, Default)]
pub(crate) struct Places {
    symbols: HashMap<u64, usize>,
    modules: HashMap<u32, usize>,
    repeated: Vec<u64>,
}

impl Places {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let mut this = Self::default();
        for (place, symbol) in manifest.symbols.iter().enumerate() {
            match this.symbols.entry(symbol.function_id) {
                Entry::Vacant(entry) => {
                    entry.insert(place);
                }
                Entry::Occupied(_) => this.repeated.push(symbol.function_id),
            }
        }
        for (place, module) in manifest.modules.iter().enumerate() {
            this.modules.entry(module.module_id).or_insert(place);
        }
        this.repeated.sort_unstable();
        this.repeated.dedup();
        this
    }
}

impl<'s> Symbols<'s> {
    pub(crate) fn new(manifest: Option<&'s Manifest>, places: &'s Places) -> Self {
        Self { manifest, places }
    }

    /// What is known of a function; of one that the manifest does not list, its id.
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

    /// The functions that the manifest lists more than once, by ascending id.
    #[must_use]
    pub fn repeated(&self) -> &'s [u64] {
        &self.places.repeated
    }
}

/// What is known of a function.
///
/// It is displayed by its name; where it has none, as `module#symbol`, the last part of the
/// module's path and the lower half of the id; where the module is unknown too, as the id in
/// hexadecimal. A name may hold any character: escape it where that could do harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'s> {
    /// Its id, as in the events.
    pub id: u64,
    /// Its name.
    pub name: Option<&'s str>,
    /// The executable or library that the upper half of its id says.
    pub module: Option<&'s Module>,
}

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name {
            return f.write_str(name);
        }
        let path = self.module.and_then(|module| module.path.as_deref());
        let file = path.and_then(|path| path.rsplit(['/', '\\']).next());
        match file.filter(|file| !file.is_empty()) {
            Some(file) => write!(f, "{file}#{}", halves(self.id).1),
            None => write!(f, "{:#x}", self.id),
        }
    }
}

/// The module and the symbol of a function's id.
#[expect(
    clippy::cast_possible_truncation,
    reason = "each half is what is wanted"
)]
fn halves(function_id: u64) -> (u32, u32) {
    ((function_id >> 32) as u32, function_id as u32)
}
