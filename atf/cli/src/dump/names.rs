//! Names of functions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use atf::manifest::{Manifest, Symbol};
use atf::symbols::Symbols;

use super::Pattern;
use super::trace::Trace;
use crate::output::Failure;

/// The names of functions. The first name of a function counts.
#[derive(Debug)]
pub(crate) enum Names<'t> {
    /// Nobody gives any.
    None,
    /// Those of the session.
    Session(Symbols<'t>, &'t Manifest),
    /// Those of a manifest that was named.
    Other(BTreeMap<u64, String>),
}

impl<'t> Names<'t> {
    /// Those of the manifest at `path`, or else of the trace's own.
    pub(crate) fn of(path: Option<&Path>, trace: &'t Trace) -> Result<Self, Failure> {
        match path {
            Some(path) => Self::in_file(path),
            None => Ok(trace.session().map_or(Self::None, |session| {
                Self::of_manifest(session.manifest(), session.symbols())
            })),
        }
    }

    /// Those of a manifest that was named.
    pub(crate) fn in_file(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::Usage(format!("{}: {error}", path.display()));
        let manifest = Manifest::parse(&fs::read(path).map_err(failed)?);
        let mut names = BTreeMap::new();
        for Symbol {
            function_id, name, ..
        } in manifest.symbols
        {
            if let Some(name) = name {
                names.entry(function_id).or_insert(name);
            }
        }
        Ok(Self::Other(names))
    }

    /// Those of a session, where it has a manifest.
    pub(crate) fn of_manifest(manifest: Option<&'t Manifest>, symbols: Symbols<'t>) -> Self {
        manifest.map_or(Self::None, |manifest| Self::Session(symbols, manifest))
    }

    /// A function's name.
    pub(crate) fn get(&self, function_id: u64) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Session(symbols, _) => symbols.function(function_id).name,
            Self::Other(names) => names.get(&function_id).map(String::as_str),
        }
    }

    /// The functions that a pattern means.
    pub(crate) fn find(&self, pattern: &Pattern) -> Vec<u64> {
        if let Pattern::Id(id) = pattern {
            return vec![*id];
        }
        let fits = |id: &u64| self.get(*id).is_some_and(|name| pattern.fits(name));
        match self {
            Self::None => Vec::new(),
            Self::Session(_, manifest) => {
                let ids = manifest.symbols.iter().map(|symbol| symbol.function_id);
                ids.filter(fits).collect()
            }
            Self::Other(names) => names.keys().copied().filter(fits).collect(),
        }
    }
}
