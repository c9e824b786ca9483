//! The files that a search has read, and what is known about them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::debug_link::{DebugLink, checksum_of};
use crate::demangle::{Budget, Demangler, Spawn};
use crate::error::{Error, ErrorKind};
use crate::table::SymbolTable;

/// How many bytes of tables are kept, so that most files are read once.
const KEPT: usize = 256 << 20;

/// A file, which has the same identity at all of its paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// The device and the inode.
    #[cfg(unix)]
    numbers: (u64, u64),
    /// The path without symlinks.
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

impl Identity {
    fn read(path: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let file = fs::metadata(path)?;
            let numbers = (file.dev(), file.ino());
            Ok(Self { numbers })
        }
        #[cfg(not(unix))]
        {
            let path = fs::canonicalize(path)?;
            Ok(Self { path })
        }
    }
}

/// The files of a search. Each is read once, and once more if its table was not kept.
pub(crate) struct KnownFiles {
    reader: Reader,
    files: HashMap<Identity, Result<KnownFile, Error>>,
    kept_bytes: usize,
}

struct Reader {
    spawn: Spawn,
    budget: Budget,
    #[cfg(test)]
    reads: std::cell::Cell<u32>,
}

struct KnownFile {
    build_id: Option<String>,
    function_count: usize,
    has_statics: bool,
    link: Option<DebugLink>,
    checksum: Option<Result<u32, Error>>,
    table: Option<SymbolTable>,
}

impl KnownFiles {
    pub(crate) fn new(spawn: Spawn, budget: Budget) -> Self {
        let reader = Reader {
            spawn,
            budget,
            #[cfg(test)]
            reads: std::cell::Cell::default(),
        };
        Self {
            reader,
            files: HashMap::new(),
            kept_bytes: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn reads(&self) -> u32 {
        self.reader.reads.get()
    }

    /// Checks that a file has functions, and this build id. The checksum is compared only if no
    /// build id is given. Returns whether the functions include those that are not exported.
    pub(crate) fn check(
        &mut self,
        path: &Path,
        build_id: Option<&str>,
        checksum: Option<u32>,
    ) -> Result<(Identity, bool), Error> {
        let (identity, file) = self.open(path)?;
        let file = file.as_mut().map_err(|error| error.at(path))?;
        let failed = |kind| Err(Error::new(path, kind));
        if let Some(expected) = build_id {
            if file.build_id.as_deref() != Some(expected) {
                let (found, expected) = (file.build_id.clone(), expected.to_owned());
                return failed(ErrorKind::OtherBuild { found, expected });
            }
        } else if let Some(expected) = checksum {
            let found = file.checksum.get_or_insert_with(|| checksum_of(path));
            if *found.as_ref().map_err(|error| error.at(path))? != expected {
                return failed(ErrorKind::OtherChecksum);
            }
        }
        match file.function_count {
            0 => failed(ErrorKind::NoFunctions),
            _ => Ok((identity, file.has_statics)),
        }
    }

    /// Returns the debug file that a file names.
    pub(crate) fn link(&mut self, path: &Path) -> Option<DebugLink> {
        let (_, file) = self.open(path).ok()?;
        file.as_ref().ok()?.link.clone()
    }

    /// Returns the functions of a file that was checked, for the last time.
    pub(crate) fn take(&mut self, identity: &Identity, path: &Path) -> Result<SymbolTable, Error> {
        let file = self.files.get_mut(identity);
        let kept = file.and_then(|file| file.as_mut().ok()?.table.take());
        kept.map_or_else(|| self.reader.read(path), Ok)
    }

    fn open(&mut self, path: &Path) -> Result<(Identity, &mut Result<KnownFile, Error>), Error> {
        let io = |error| Error::new(path, ErrorKind::Io(error));
        let identity = Identity::read(path).map_err(io)?;
        let left = KEPT.saturating_sub(self.kept_bytes);
        let reader = &self.reader;
        let file = self.files.entry(identity.clone()).or_insert_with(|| {
            let file = KnownFile::new(reader.read(path)?, left);
            let kept = file.table.as_ref().map_or(0, SymbolTable::memory);
            self.kept_bytes = self.kept_bytes.saturating_add(kept);
            Ok(file)
        });
        Ok((identity, file))
    }
}

impl KnownFile {
    /// Keeps the table if it takes at most `left` bytes.
    fn new(table: SymbolTable, left: usize) -> Self {
        Self {
            build_id: table.build_id().map(str::to_owned),
            function_count: table.function_count(),
            has_statics: table.has_statics(),
            link: table.link().cloned(),
            checksum: None,
            table: Some(table).filter(|table| table.memory() <= left),
        }
    }
}

impl Reader {
    fn read(&self, path: &Path) -> Result<SymbolTable, Error> {
        #[cfg(test)]
        self.reads.set(self.reads.get() + 1);
        SymbolTable::read_with(path, Demangler::new(self.spawn, self.budget.clone()))
    }
}
