//! Function names.

use std::collections::BTreeMap;
use std::path::Path;

use atf::manifest::{Manifest, Symbol};
use atf::session::SessionReader;
use atf::symbols::{self, Symbols};

use super::Pattern;
use super::trace::Trace;
use crate::output::Failure;

/// How many bytes of a function's name a line shows at most, since many lines repeat it.
const LONGEST: usize = 4096;

/// The part of a name that a line shows.
pub(crate) fn head(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST)]
}

/// A name's length in bytes, if a line does not show all of it.
pub(crate) fn length_if_cut(name: &str) -> Option<usize> {
    Some(name.len()).filter(|length| *length > LONGEST)
}

/// Function names. If a function has several, the first one counts.
#[derive(Debug)]
pub(crate) enum Names<'t> {
    /// The names of each process, if its session has a manifest.
    Sessions(Vec<Option<(Symbols<'t>, &'t Manifest)>>),
    /// The names of the manifest given by `--symbols`, for all processes.
    Other(BTreeMap<u64, String>),
}

/// A function of a process.
pub(crate) type Function = (u32, u64);

impl<'t> Names<'t> {
    /// The names in the manifest at `path`, or else in the trace's own manifests.
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

    /// The names in the manifest at `path`.
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

    /// The names of one session, if it has a manifest.
    pub(crate) fn of_manifest(manifest: Option<&'t Manifest>, symbols: Symbols<'t>) -> Self {
        Self::Sessions(vec![manifest.map(|manifest| (symbols, manifest))])
    }

    /// A function with its name and module, as far as known.
    pub(crate) fn get(&self, (process, function_id): Function) -> symbols::Function<'_> {
        let name = match self {
            Self::Sessions(sessions) => match sessions.get(process as usize) {
                Some(Some((symbols, _))) => return symbols.function(function_id),
                _ => None,
            },
            Self::Other(names) => names.get(&function_id).map(String::as_str),
        };
        symbols::Function::new(function_id, name)
    }

    /// The functions that match a pattern. Those without a process apply to all processes.
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
