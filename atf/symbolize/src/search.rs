//! Finds a module's file.

use std::io;
use std::path::{Path, PathBuf};

use crate::demangle::{self, Spawn};
use crate::error::{Error, ErrorKind};
use crate::table::SymbolTable;

/// The folder in which distributions install the debug information of their packages.
const SYSTEM: &str = "/usr/lib/debug";

/// The places to search for a module's file: its path and then, for each folder `DIR` and for
/// `/usr/lib/debug`, `DIR/path`, `DIR/name` and `DIR/.build-id/ab/cdef….debug`.
#[derive(Debug, Clone)]
pub struct Search {
    folders: Vec<PathBuf>,
    spawn: Spawn,
}

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// The file, and its functions.
    pub file: Option<(PathBuf, SymbolTable)>,
    /// The files that exist but were rejected, with the reasons, in search order.
    pub refused: Vec<Error>,
}

impl Search {
    /// Creates a search in these folders, in the given order, and then in `/usr/lib/debug`.
    #[must_use]
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let folders = folders.into_iter().chain([SYSTEM.into()]).collect();
        Self {
            folders,
            spawn: demangle::spawn,
        }
    }

    /// Sets how to start the thread that demangles C++ names, for tracers inside another program.
    /// The thread uses no thread-local variables with destructors.
    #[must_use]
    pub fn spawn_with(mut self, spawn: Spawn) -> Self {
        self.spawn = spawn;
        self
    }

    /// Finds the first file that contains all functions. If there is none, finds the first that
    /// contains only exported functions. A file with a build id other than the module's is
    /// rejected; if the module has no known build id, build ids are not compared. Build ids are
    /// hexadecimal, with or without dashes.
    #[must_use]
    pub fn find(&self, path: Option<&str>, build_id: Option<&str>) -> Found {
        let build_id = build_id.map(|id| id.replace('-', "").to_ascii_lowercase());
        let mut found = Found {
            file: None,
            refused: Vec::new(),
        };
        for candidate in self.candidates(path, build_id.as_deref()) {
            match self.read(&candidate, build_id.as_deref()) {
                Ok(table) if table.has_statics() => {
                    found.file = Some((candidate, table));
                    break;
                }
                Ok(table) => found.file = found.file.or(Some((candidate, table))),
                Err(error) => match error.kind() {
                    ErrorKind::Io(system) if is_absent(system) => {}
                    _ => found.refused.push(error),
                },
            }
        }
        found
    }

    fn candidates(&self, path: Option<&str>, build_id: Option<&str>) -> Vec<PathBuf> {
        let path = path.filter(|path| !path.is_empty());
        let mut all: Vec<PathBuf> = path.into_iter().map(PathBuf::from).collect();
        for folder in &self.folders {
            if let Some(path) = path {
                let relative = path.trim_start_matches('/');
                let name = path.rsplit(['/', '\\']).next();
                all.push(folder.join(relative));
                all.extend(
                    name.filter(|name| *name != relative)
                        .map(|name| folder.join(name)),
                );
            }
            let is_hex = |id: &&str| id.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some((first, rest)) = build_id
                .filter(is_hex)
                .and_then(|id| id.split_at_checked(2))
            {
                all.push(folder.join(format!(".build-id/{first}/{rest}.debug")));
            }
        }
        all
    }

    /// Reads the functions of a file with this build id.
    fn read(&self, path: &Path, build_id: Option<&str>) -> Result<SymbolTable, Error> {
        let table = SymbolTable::read_with(path, self.spawn)?;
        let found = table.build_id().map(str::to_owned);
        let kind = match build_id {
            Some(expected) if found.as_deref() != Some(expected) => {
                let expected = expected.to_owned();
                ErrorKind::OtherBuild { found, expected }
            }
            _ if table.function_count() == 0 => ErrorKind::NoFunctions,
            _ => return Ok(table),
        };
        Err(Error::new(path, kind))
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
