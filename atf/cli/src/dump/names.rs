//! Looks up function names.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};

use atf::manifest::Manifest;
use atf::symbols::{self, SymbolTable, Symbols};
use atf::trace::{Process, Trace};
use atf_analyze::Pattern;

use super::trace::Sessions;

/// Function names. If a function has several names, the first one is used.
#[derive(Debug)]
pub(crate) struct Names<'t> {
    known: Known<'t>,
    /// The formatted functions of recent lines. A function's hash selects its slot.
    shown: RefCell<Vec<Shown>>,
}

#[derive(Debug)]
enum Known<'t> {
    /// The names of all processes.
    Trace(&'t [Process], Sessions<'t>),
    /// The names in a manifest, if there is one.
    Session(Option<(Symbols<'t>, &'t Manifest)>),
}

/// A function and its formatted form.
#[derive(Debug, Clone, Default)]
struct Shown {
    function: Option<Function>,
    text: String,
}

/// The binary logarithm of the number of slots in `shown`.
const SHOWN: u32 = 12;

/// A function: its session and its id.
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

    pub(crate) fn from_trace(trace: &'t Trace) -> Self {
        Self::new(Known::Trace(trace.processes(), Sessions::new(trace)))
    }

    /// Returns the names in another manifest, if there is one.
    pub(crate) fn of_other(names: Option<&'t SymbolTable>) -> Self {
        let manifest = names.map(SymbolTable::manifest);
        let symbols = names.map(SymbolTable::symbols);
        Self::new(Known::Session(symbols.zip(manifest)))
    }

    /// Returns the names in a session's manifest, if it has one.
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
    pub(crate) fn get(&self, (session, function_id): Function) -> symbols::Function<'_> {
        let found = match &self.known {
            Known::Trace(_, sessions) => {
                let process = sessions.process(session);
                process.map(|process| process.function(function_id))
            }
            Known::Session(of_session) => {
                of_session.map(|(symbols, _)| symbols.function(function_id))
            }
        };
        found.unwrap_or_else(|| symbols::Function::new(function_id, None))
    }

    /// Returns the functions that match a pattern. A function id without a session applies to all.
    pub(crate) fn find(&self, pattern: &Pattern) -> Vec<(Option<u32>, u64)> {
        if let Pattern::Id(id) = pattern {
            return vec![(None, *id)];
        }
        let find_in = |session: u32, mut ids: BTreeSet<u64>| {
            ids.retain(|id| pattern.fits(&self.get((session, *id))));
            ids
        };
        match &self.known {
            Known::Trace(processes, _) => {
                let mut found = Vec::new();
                let mut session = 0;
                for process in *processes {
                    let ids = find_in(session, process.function_ids());
                    for _ in 0..process.sessions().len().max(1) {
                        found.extend(ids.iter().map(|id| (Some(session), *id)));
                        session += 1;
                    }
                }
                found
            }
            Known::Session(session) => {
                let symbols = session.iter().flat_map(|(_, it)| &it.symbols);
                let ids = find_in(0, symbols.map(|symbol| symbol.function_id).collect());
                ids.into_iter().map(|id| (Some(0), id)).collect()
            }
        }
    }
}
