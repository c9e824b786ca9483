//! Finds a module's file.

use std::collections::HashSet;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use crate::debug_link::{checksum_of, debug_link};
use crate::demangle::{self, Spawn};
use crate::error::{Error, ErrorKind};
use crate::table::SymbolTable;

/// The folder in which distributions install the debug information of their packages.
const SYSTEM: &str = "/usr/lib/debug";

/// The places to search for a module's file: its path and then, for each folder `DIR` and for
/// `/usr/lib/debug`, `DIR/path`, `DIR/name` and `DIR/.build-id/ab/cdef….debug`.
///
/// If the file at the path names its debug file in `.gnu_debuglink`, the debug file is searched for
/// in the folder of the path, in `.debug` below it and, for each `DIR`, at `DIR/folder/debug file`
/// and `DIR/debug file`.
#[derive(Debug, Clone)]
pub struct Search {
    folders: Vec<PathBuf>,
    spawn: Spawn,
}

/// A file that may have the module's functions.
struct Candidate {
    path: PathBuf,
    /// The checksum that a debug file must have if the module has no build id.
    checksum: Option<u32>,
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
    /// rejected; if the module has no known build id, build ids are not compared, but the checksum
    /// of a debug file is. Build ids are hexadecimal, with or without dashes.
    #[must_use]
    pub fn find(&self, path: Option<&str>, build_id: Option<&str>) -> Found {
        let build_id = build_id.map(|id| id.replace('-', "").to_ascii_lowercase());
        let mut found = Found {
            file: None,
            refused: Vec::new(),
        };
        let path = path.filter(|path| !path.is_empty());
        // A file with all functions needs no debug file.
        let others = iter::once_with(|| self.candidates(path, build_id.as_deref())).flatten();
        let own = path.map(Candidate::plain);
        for Candidate { path, checksum } in own.into_iter().chain(others) {
            match self.read(&path, build_id.as_deref(), checksum) {
                Ok(table) if table.has_statics() => {
                    found.file = Some((path, table));
                    break;
                }
                Ok(table) => found.file = found.file.or(Some((path, table))),
                Err(error) => match error.kind() {
                    ErrorKind::Io(system) if is_absent(system) => {}
                    _ => found.refused.push(error),
                },
            }
        }
        found
    }

    /// Returns the candidates other than the path.
    fn candidates(&self, path: Option<&str>, build_id: Option<&str>) -> Vec<Candidate> {
        let link = path.and_then(|path| debug_link(Path::new(path)));
        let linked = |folder: &Path| {
            let link = link.as_ref()?;
            let path = folder.join(&link.name);
            let checksum = Some(link.checksum);
            Some(Candidate { path, checksum })
        };
        let mut all = Vec::new();
        if let Some(beside) = path.and_then(|path| Path::new(path).parent()) {
            all.extend(linked(beside));
            all.extend(linked(&beside.join(".debug")));
        }
        for folder in &self.folders {
            if let Some(path) = path {
                let below = folder.join(path.trim_start_matches('/'));
                let name = path.rsplit(['/', '\\']).next();
                all.push(Candidate::plain(&below));
                all.extend(name.map(|name| Candidate::plain(folder.join(name))));
                all.extend(below.parent().and_then(linked));
                all.extend(linked(folder));
            }
            let is_hex = |id: &&str| id.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some((first, rest)) = build_id
                .filter(is_hex)
                .and_then(|id| id.split_at_checked(2))
            {
                let path = folder.join(format!(".build-id/{first}/{rest}.debug"));
                all.push(Candidate::plain(path));
            }
        }
        // Several places may be the same, for example if a debug file has the module's name.
        let mut seen = HashSet::from([path.map(PathBuf::from).unwrap_or_default()]);
        all.retain(|candidate| seen.insert(candidate.path.clone()));
        all
    }

    /// Reads the functions of a file, which must have this build id. The checksum is compared only if
    /// no build id is given.
    fn read(
        &self,
        path: &Path,
        build_id: Option<&str>,
        checksum: Option<u32>,
    ) -> Result<SymbolTable, Error> {
        let failed = |kind| Err(Error::new(path, kind));
        let table = SymbolTable::read_with(path, self.spawn)?;
        let found = table.build_id().map(str::to_owned);
        match (build_id, checksum) {
            (Some(expected), _) if found.as_deref() != Some(expected) => {
                let expected = expected.to_owned();
                failed(ErrorKind::OtherBuild { found, expected })
            }
            (None, Some(expected)) if checksum_of(path)? != expected => {
                failed(ErrorKind::OtherChecksum)
            }
            _ if table.function_count() == 0 => failed(ErrorKind::NoFunctions),
            _ => Ok(table),
        }
    }
}

impl Candidate {
    fn plain(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let checksum = None;
        Self { path, checksum }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
