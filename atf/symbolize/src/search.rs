//! Finds a module's file, and keeps what is known about the files that a search has read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use crate::debug_link::{DebugLink, checksum_of};
use crate::demangle::{self, Budget, Spawn};
use crate::error::{Error, ErrorKind};
use crate::table::SymbolTable;

/// The folder in which distributions install the debug information of their packages.
const SYSTEM: &str = "/usr/lib/debug";

/// How many bytes of tables are kept, so that most files are read once.
const KEPT: usize = 256 << 20;

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
    budget: Budget,
}

/// A file that may have the module's functions, and the checksum that a debug file must have if the
/// module has no build id.
type Candidate = (PathBuf, Option<u32>);

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// The file's path.
    pub path: Option<PathBuf>,
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
            budget: Budget::new(),
        }
    }

    /// Sets how to start the thread that demangles C++ names, for tracers inside another program.
    /// The thread uses no thread-local variables with destructors.
    #[must_use]
    pub fn spawn_with(mut self, spawn: Spawn) -> Self {
        self.spawn = spawn;
        self
    }

    /// Finds the file of a module, given its path and build id, and its functions: see
    /// [`find_all`](Self::find_all).
    #[must_use]
    pub fn find(&self, path: Option<&str>, build_id: Option<&str>) -> (Found, Option<SymbolTable>) {
        let mut known = KnownFiles::new(self.spawn, self.budget.clone());
        let (mut found, file) = self.choose(path, build_id, &mut known);
        let table = file.and_then(|file| found.table(&file, &mut known));
        (found, table)
    }

    /// Finds the files of modules, given their paths and build ids. Calls `each` once per file with
    /// its functions and the modules' positions and results, and once without a file, with the
    /// other modules. Reads each file at most twice, regardless of its paths. Keeps tables of up to
    /// 256 MiB in total in memory, plus one more table.
    ///
    /// For each module, finds the first file that contains all functions. If there is none, finds
    /// the first that contains only exported functions. A file with a build id other than the
    /// module's is rejected; if the module has no known build id, build ids are not compared, but
    /// the checksum of a debug file is. Build ids are hexadecimal, with or without dashes.
    pub fn find_all<'m>(
        &self,
        modules: impl IntoIterator<Item = (Option<&'m str>, Option<&'m str>)>,
        mut each: impl FnMut(Option<&SymbolTable>, &[(usize, Found)]),
    ) {
        let mut known = KnownFiles::new(self.spawn, self.budget.clone());
        let mut files = BTreeMap::<Identity, Vec<(usize, Found)>>::new();
        let mut others = Vec::new();
        for ((path, build_id), position) in modules.into_iter().zip(0..) {
            match self.choose(path, build_id, &mut known) {
                (found, Some(file)) => files.entry(file).or_default().push((position, found)),
                (found, None) => others.push((position, found)),
            }
        }
        for (file, mut modules) in files {
            let first = modules.first_mut();
            match first.and_then(|(_, found)| found.table(&file, &mut known)) {
                Some(table) => each(Some(&table), &modules),
                None => {
                    modules.iter_mut().for_each(|(_, found)| found.path = None);
                    others.append(&mut modules);
                }
            }
        }
        each(None, &others);
    }

    /// Chooses a module's file.
    fn choose(
        &self,
        path: Option<&str>,
        build_id: Option<&str>,
        known: &mut KnownFiles,
    ) -> (Found, Option<Identity>) {
        let build_id = build_id.map(|id| id.replace('-', "").to_ascii_lowercase());
        let build_id = build_id.as_deref();
        let mut found = Found {
            path: None,
            refused: Vec::new(),
        };
        let mut chosen = None;
        let path = path.filter(|path| !path.is_empty());
        let own = path.map(|path| (PathBuf::from(path), None));
        let link = path.and_then(|path| known.link(Path::new(path)));
        // A file with all functions needs no debug file.
        let others = iter::once_with(|| self.candidates(path, build_id, link.as_ref())).flatten();
        for (path, checksum) in own.into_iter().chain(others) {
            match known.check(&path, build_id, checksum) {
                Ok((file, has_statics)) if has_statics || chosen.is_none() => {
                    (chosen, found.path) = (Some(file), Some(path));
                    if has_statics {
                        break;
                    }
                }
                Ok(_) => {}
                Err(error) => match error.kind() {
                    ErrorKind::Io(system) if is_absent(system) => {}
                    _ => found.refused.push(error),
                },
            }
        }
        (found, chosen)
    }

    /// Returns the candidates other than the path.
    fn candidates(
        &self,
        path: Option<&str>,
        build_id: Option<&str>,
        link: Option<&DebugLink>,
    ) -> Vec<Candidate> {
        let linked = |folder: &Path| {
            let link = link?;
            Some((folder.join(&link.name), Some(link.checksum)))
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
                all.push((below.clone(), None));
                all.extend(name.map(|name| (folder.join(name), None)));
                all.extend(below.parent().and_then(linked));
                all.extend(linked(folder));
            }
            let is_hex = |id: &&str| id.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some((first, rest)) = build_id
                .filter(is_hex)
                .and_then(|id| id.split_at_checked(2))
            {
                let path = folder.join(format!(".build-id/{first}/{rest}.debug"));
                all.push((path, None));
            }
        }
        // Some of the paths may be the same, for example if a debug file has the module's name.
        let mut seen = HashSet::from([path.map(PathBuf::from).unwrap_or_default()]);
        all.retain(|(path, _)| seen.insert(path.clone()));
        all
    }
}

impl Found {
    /// Returns the functions of the chosen file. If it can no longer be read, rejects it.
    fn table(&mut self, file: &Identity, known: &mut KnownFiles) -> Option<SymbolTable> {
        match known.take(file, self.path.as_deref()?) {
            Ok(table) => Some(table),
            Err(error) => {
                self.refused.push(error);
                self.path = None;
                None
            }
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// A file, which has the same identity at all of its paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Identity {
    /// The device and the inode.
    #[cfg(unix)]
    numbers: (u64, u64),
    /// The path without symlinks.
    #[cfg(not(unix))]
    path: PathBuf,
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
struct KnownFiles {
    spawn: Spawn,
    budget: Budget,
    files: HashMap<Identity, Result<KnownFile, Error>>,
    kept_bytes: usize,
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
    fn new(spawn: Spawn, budget: Budget) -> Self {
        Self {
            spawn,
            budget,
            files: HashMap::new(),
            kept_bytes: 0,
        }
    }

    /// Checks that a file has functions, and this build id. The checksum is compared only if no
    /// build id is given. Returns whether the functions include those that are not exported.
    fn check(
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
    fn link(&mut self, path: &Path) -> Option<DebugLink> {
        let (_, file) = self.open(path).ok()?;
        file.as_ref().ok()?.link.clone()
    }

    /// Returns the functions of a file that was checked, for the last time.
    fn take(&mut self, identity: &Identity, path: &Path) -> Result<SymbolTable, Error> {
        let file = self.files.get_mut(identity);
        let kept = file.and_then(|file| file.as_mut().ok()?.table.take());
        match kept {
            Some(table) => Ok(table),
            None => SymbolTable::read_with(path, self.spawn, &self.budget),
        }
    }

    fn open(&mut self, path: &Path) -> Result<(Identity, &mut Result<KnownFile, Error>), Error> {
        let io = |error| Error::new(path, ErrorKind::Io(error));
        let identity = Identity::read(path).map_err(io)?;
        let left = KEPT.saturating_sub(self.kept_bytes);
        let file = self.files.entry(identity.clone()).or_insert_with(|| {
            let table = SymbolTable::read_with(path, self.spawn, &self.budget)?;
            let file = KnownFile::new(table, left);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use atf_samples::files::ElfFile;

    use super::{KnownFiles, Search};

    #[test]
    fn a_file_is_read_once_even_if_many_modules_lead_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let program = ElfFile {
            functions: vec![(0x10, 1)],
            strings: b"\0first\0".to_vec(),
            ..ElfFile::default()
        };
        fs::write(path("first"), program.bytes()).unwrap();
        fs::hard_link(path("first"), path("second")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        let mut paths = vec![path("first"), path("second"), path("folder/../first")];
        paths.extend((0..100).map(|count| path(&format!("folder{}/../first", "/.".repeat(count)))));
        let search = Search::new([]);
        let mut known = KnownFiles::new(search.spawn, search.budget.clone());
        for path in &paths {
            let (found, file) = search.choose(Some(path), None, &mut known);
            assert_eq!((found.path, file.is_some()), (Some(path.into()), true));
            // The program has no build id, so it is refused here.
            let (found, file) = search.choose(Some(path), Some("00ff"), &mut known);
            assert_eq!((found.refused.len(), file), (1, None));
            // Reading the file again would fail.
            fs::write(path, "damaged").unwrap();
        }
        fs::write(path("first"), program.bytes()).unwrap();
        // A group of modules per file, and one of modules without a file.
        let mut groups = Vec::new();
        let modules = paths.iter().map(|path| (Some(path.as_str()), None));
        search.find_all(modules.chain([(Some("/none"), None)]), |table, found| {
            groups.push((table.map(|it| it.name_at(0x10)), found.len()));
        });
        assert_eq!(groups, [(Some(Some("first".to_owned())), 103), (None, 1)]);
    }
}
