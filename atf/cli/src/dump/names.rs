//! Names of functions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use atf::manifest::Manifest;

use super::Pattern;
use crate::output::Failure;

/// The names of functions, from a manifest.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<u64, String>);

impl Names {
    /// Those of the manifest at `path`, or else of the session's. The first name of a function
    /// counts.
    pub(crate) fn of(path: Option<&Path>, manifest: Option<&Manifest>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(manifest.map(Self::from_manifest).unwrap_or_default());
        };
        let failed = |error| Failure::Usage(format!("{}: {error}", path.display()));
        let manifest = Manifest::parse(&fs::read(path).map_err(failed)?);
        Ok(Self::from_manifest(&manifest))
    }

    fn from_manifest(manifest: &Manifest) -> Self {
        let mut names = BTreeMap::new();
        for symbol in &manifest.symbols {
            if let Some(name) = &symbol.name {
                names
                    .entry(symbol.function_id)
                    .or_insert_with(|| name.clone());
            }
        }
        Self(names)
    }

    /// A function's name.
    pub(crate) fn get(&self, function_id: u64) -> Option<&str> {
        self.0.get(&function_id).map(String::as_str)
    }

    /// The functions that a pattern means.
    pub(crate) fn find<'a>(&'a self, pattern: &'a Pattern) -> impl Iterator<Item = u64> + 'a {
        let id = match pattern {
            Pattern::Id(id) => Some(*id),
            _ => None,
        };
        let named = self.0.iter().filter(|(_, name)| pattern.fits(name));
        id.into_iter().chain(named.map(|(id, _)| *id))
    }
}
