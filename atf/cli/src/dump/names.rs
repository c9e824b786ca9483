//! Names of functions.

use std::collections::BTreeMap;
use std::path::Path;

use atf::manifest::{Manifest, Symbol};
use atf::session::SessionReader;
use atf::symbols::{self, Symbols};

use super::Pattern;
use super::trace::Trace;
use crate::output::Failure;

/// How many bytes of a function's name a line has: each of very many lines repeats it.
const LONGEST: usize = 4096;

/// As much of a name as a line has.
pub(crate) fn head(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST)]
}

/// A name's length in bytes, where a line does not have all of it.
pub(crate) fn length_if_cut(name: &str) -> Option<usize> {
    Some(name.len()).filter(|length| *length > LONGEST)
}

/// The names of functions. The first name of a function counts.
#[derive(Debug)]
pub(crate) enum Names<'t> {
    /// Those of each process, if its session has a manifest.
    Sessions(Vec<Option<(Symbols<'t>, &'t Manifest)>>),
    /// Those of a manifest that was named, for all processes.
    Other(BTreeMap<u64, String>),
}

/// A function of a process.
pub(crate) type Function = (u32, u64);

impl<'t> Names<'t> {
    /// Those of the manifest at `path`, or else of the trace's own.
    pub(crate) fn of(path: Option<&Path>, trace: &'t Trace) -> Result<Self, Failure> {
        let of_session = |session: &'t SessionReader| {
            let manifest = session.manifest()?;
            Some((session.symbols(), manifest))
        };
        match path {
            Some(path) => Self::in_file(path),
            None => Ok(Self::Sessions(
                trace.sessions().iter().map(of_session).collect(),
            )),
        }
    }

    /// Those of a manifest that was named.
    pub(crate) fn in_file(path: &Path) -> Result<Self, Failure> {
        let manifest = Manifest::open(path).map_err(|error| Failure::Usage(error.to_string()))?;
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

    /// Those of a session, if it has a manifest.
    pub(crate) fn of_manifest(manifest: Option<&'t Manifest>, symbols: Symbols<'t>) -> Self {
        Self::Sessions(vec![manifest.map(|manifest| (symbols, manifest))])
    }

    /// What is known of a function.
    pub(crate) fn get(&self, (process, function_id): Function) -> symbols::Function<'_> {
        let name = match self {
            Self::Sessions(sessions) => match sessions.get(process as usize) {
                Some(Some((symbols, _))) => return symbols.function(function_id),
                _ => None,
            },
            Self::Other(names) => names.get(&function_id).map(String::as_str),
        };
        symbols::Function {
            id: function_id,
            name,
            module: None,
        }
    }

    /// The functions that a pattern means; without a process, those of all.
    pub(crate) fn find(&self, pattern: &Pattern) -> Vec<(Option<u32>, u64)> {
        if let Pattern::Id(id) = pattern {
            return vec![(None, *id)];
        }
        let fits = |function| {
            self.get(function)
                .name
                .is_some_and(|name| pattern.fits(name))
        };
        match self {
            Self::Sessions(sessions) => {
                let named = (0..).zip(sessions).filter_map(|(process, session)| {
                    let (_, manifest) = session.as_ref()?;
                    let symbols = manifest.symbols.iter();
                    Some(symbols.map(move |symbol| (process, symbol.function_id)))
                });
                let found = named.flatten().filter(|function| fits(*function));
                found.map(|(process, id)| (Some(process), id)).collect()
            }
            Self::Other(names) => {
                let ids = names.keys().filter(|id| fits((0, **id)));
                ids.map(|id| (None, *id)).collect()
            }
        }
    }
}
