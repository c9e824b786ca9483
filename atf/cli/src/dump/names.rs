//! Looks up function names.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::ptr;

use atf::manifest::{Manifest, Symbol};
use atf::session::Segments;
use atf::symbols::{self, Pattern, Symbols};

use super::trace::Trace;
use crate::output::Failure;
use crate::parts::open_names;

/// Function names. If a function has several names, the first one is used.
#[derive(Debug)]
pub(crate) struct Names<'t> {
    known: Known<'t>,
    /// The formatted functions of recent lines. A function's hash selects its slot.
    shown: RefCell<Vec<Shown>>,
}

#[derive(Debug)]
enum Known<'t> {
    /// The names of processes, by session position.
    Processes(Vec<&'t Segments>),
    /// The names of a session, if it has a manifest.
    Session(Option<(Symbols<'t>, &'t Manifest)>),
    /// The names in the manifest given with `--symbols`, for all processes.
    Other(BTreeMap<u64, String>),
}

/// A function and its formatted form.
#[derive(Debug, Clone, Default)]
struct Shown {
    function: Option<Function>,
    text: String,
}

/// The binary logarithm of the number of slots in `shown`.
const SHOWN: u32 = 12;

/// A function: its process and its id.
pub(crate) type Function = (u32, u64);

/// An event's function, looked up only when it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    names: &'a Names<'a>,
    function: Function,
}

impl Named<'_> {
    /// Writes the function as formatted by `show`. All calls must pass the same `show`, because the
    /// result is kept for later events of the function.
    #[inline]
    pub(crate) fn write(
        &self,
        out: &mut impl Write,
        show: impl FnOnce(symbols::Function<'_>) -> String,
    ) -> io::Result<()> {
        let mut all = self.names.shown.borrow_mut();
        if all.is_empty() {
            all.resize(1 << SHOWN, Shown::default());
        }
        let (process, id) = self.function;
        let hash = (id ^ u64::from(process).rotate_left(48)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let shown = &mut all[(hash >> (u64::BITS - SHOWN)) as usize];
        if shown.function != Some(self.function) {
            self.fill(shown, show);
        }
        out.write_all(shown.text.as_bytes())
    }

    #[cold]
    #[inline(never)]
    fn fill(&self, shown: &mut Shown, show: impl FnOnce(symbols::Function<'_>) -> String) {
        *shown = Shown {
            function: Some(self.function),
            text: show(self.names.get(self.function)),
        };
    }
}

impl<'t> Names<'t> {
    fn new(known: Known<'t>) -> Self {
        let shown = RefCell::default();
        Self { known, shown }
    }

    /// Creates an empty set of names.
    pub(crate) fn none() -> Self {
        Self::new(Known::Session(None))
    }

    /// Returns the names in the manifest at `path` or, without a path, in the trace's own
    /// manifests.
    pub(crate) fn of(path: Option<&Path>, trace: &'t Trace) -> Result<Self, Failure> {
        if let Some(path) = path {
            return Self::in_file(path);
        }
        if let [session] = trace.sessions()[..] {
            return Ok(Self::of_manifest(session.manifest(), session.symbols()));
        }
        let by_session = |process: &'t Segments| process.sessions().iter().map(move |_| process);
        let processes = trace.processes().iter().flat_map(by_session).collect();
        Ok(Self::new(Known::Processes(processes)))
    }

    /// Returns the names for a file on its own: those in the manifest at `path`, if there is one.
    pub(crate) fn of_file(path: Option<&Path>) -> Result<Self, Failure> {
        path.map_or_else(|| Ok(Self::none()), Self::in_file)
    }

    /// Returns the names in the manifest at `path`.
    pub(crate) fn in_file(path: &Path) -> Result<Self, Failure> {
        let manifest = open_names(path)?;
        let mut names = BTreeMap::new();
        for Symbol {
            function_id, name, ..
        } in manifest.symbols
        {
            if let Some(name) = name {
                names.entry(function_id).or_insert(name);
            }
        }
        Ok(Self::new(Known::Other(names)))
    }

    /// Returns the names of one session, if it has a manifest.
    pub(crate) fn of_manifest(manifest: Option<&'t Manifest>, symbols: Symbols<'t>) -> Self {
        Self::new(Known::Session(manifest.map(|manifest| (symbols, manifest))))
    }

    /// Returns a handle that looks up a function's name when it is shown.
    pub(crate) fn named(&self, function: Function) -> Named<'_> {
        Named {
            names: self,
            function,
        }
    }

    /// Returns a function with its name and module, if known.
    pub(crate) fn get(&self, (process, function_id): Function) -> symbols::Function<'_> {
        let name = match &self.known {
            Known::Processes(processes) => match processes.get(process as usize) {
                Some(process) => return process.function(function_id),
                None => None,
            },
            Known::Session(Some((symbols, _))) => return symbols.function(function_id),
            Known::Session(None) => None,
            Known::Other(names) => names.get(&function_id).map(String::as_str),
        };
        symbols::Function::new(function_id, name)
    }

    /// Returns the functions that match a pattern. A function id without a process applies to all
    /// processes.
    pub(crate) fn find(&self, pattern: &Pattern) -> Vec<(Option<u32>, u64)> {
        if let Pattern::Id(id) = pattern {
            return vec![(None, *id)];
        }
        let fits = |function| pattern.fits(&self.get(function));
        let in_manifest = |process, manifest: &Manifest| -> BTreeSet<u64> {
            let ids = manifest.symbols.iter().map(|symbol| symbol.function_id);
            ids.filter(|id| fits((process, *id))).collect()
        };
        match &self.known {
            Known::Processes(processes) => {
                let mut found = Vec::new();
                let mut position = 0_u32;
                for same in processes.chunk_by(|one, next| ptr::eq(*one, *next)) {
                    let sessions = same.first().into_iter().flat_map(|it| it.sessions());
                    let manifests = sessions.filter_map(|session| session.manifest());
                    let ids: BTreeSet<u64> = manifests
                        .flat_map(|manifest| in_manifest(position, manifest))
                        .collect();
                    for _ in same {
                        found.extend(ids.iter().map(|id| (Some(position), *id)));
                        position += 1;
                    }
                }
                found
            }
            Known::Session(session) => {
                let ids = session.iter().flat_map(|(_, it)| in_manifest(0, it));
                ids.map(|id| (Some(0), id)).collect()
            }
            Known::Other(names) => {
                let ids = names.keys().filter(|id| fits((0, **id)));
                ids.map(|id| (None, *id)).collect()
            }
        }
    }
}
