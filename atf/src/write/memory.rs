//! An in-memory file system that can fail on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::registry::lock;
use super::{Storage, StorageFile};

/// One operation that a writer requests from a [`Storage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// A call to [`Storage::create_folder`].
    CreateFolder,
    /// A call to [`Storage::exists`].
    Exists,
    /// A call to [`Storage::create`].
    Create,
    /// A call to [`Storage::rename`].
    Rename,
    /// A call to [`Storage::remove`].
    Remove,
    /// A call to [`Storage::remove_folder`].
    RemoveFolder,
    /// A call to [`Storage::sync_folder`].
    SyncFolder,
    /// A call to [`StorageFile::write_at`].
    Write,
    /// A call to [`StorageFile::set_size`].
    SetSize,
    /// A call to [`StorageFile::sync`].
    Sync,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The operation succeeds.
    Done,
    /// The operation fails.
    Refused(io::ErrorKind),
    /// At most this many bytes are written; an operation other than a write succeeds.
    Short(usize),
}

/// Files in memory, for testing writers and their behaviour after errors.
///
/// Clones share the same storage. The function passed to [`decide`](Self::decide) is called before
/// each operation, so any operation can be made to fail, once or forever.
///
/// ```
/// use std::io;
/// use std::sync::Arc;
/// use atf::EventKind;
/// use atf::write::{Event, Fate, Memory, Step, ThreadWriter, WriteOptions};
///
/// let memory = Memory::new();
/// let options = WriteOptions::default();
/// let mut writer = ThreadWriter::create_on(Arc::new(memory.clone()), "thread_0", 0, &options)?;
/// memory.decide(|step, _| match step {
///     Step::Write => Fate::Refused(io::ErrorKind::StorageFull),
///     _ => Fate::Done,
/// });
/// let event_kind = EventKind::CALL;
/// let event = Event::new(1000, 7, event_kind, 1);
/// writer.write(&event)?;
/// let error = writer.flush().unwrap_err();
/// assert_eq!(error.kind(), &atf::ErrorKind::Io(io::ErrorKind::StorageFull));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

type Decide = Box<dyn FnMut(Step, &Path) -> Fate + Send>;
type Wrap = Box<dyn Fn(&Path, Box<dyn StorageFile>) -> Box<dyn StorageFile> + Send>;

#[derive(Default)]
struct State {
    folders: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, Arc<Mutex<Vec<u8>>>>,
    decide: Option<Decide>,
    wrap: Option<Wrap>,
    steps: u64,
}

impl Memory {
    /// Creates an empty storage in which nothing fails.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that decides the outcome of each operation from now on.
    pub fn decide(&self, decide: impl FnMut(Step, &Path) -> Fate + Send + 'static) {
        self.state().decide = Some(Box::new(decide));
    }

    /// Sets a function that replaces each file created from now on with another one, such as one
    /// that records the writes and passes them on.
    pub fn wrap(
        &self,
        wrap: impl Fn(&Path, Box<dyn StorageFile>) -> Box<dyn StorageFile> + Send + 'static,
    ) {
        self.state().wrap = Some(Box::new(wrap));
    }

    /// Returns the number of operations so far, including failed ones.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let state = self.state();
        let file = state.files.get(path.as_ref())?;
        Some(lock(file).clone())
    }

    /// Returns the paths of all files.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state().files.keys().cloned().collect()
    }

    /// Returns the paths of all folders.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        self.state().folders.iter().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    /// Decides the outcome of an operation and returns how many bytes it may write.
    fn step(&self, step: Step, path: &Path) -> io::Result<usize> {
        let mut state = self.state();
        state.steps = state.steps.saturating_add(1);
        match state.decide.as_mut().map(|decide| decide(step, path)) {
            None | Some(Fate::Done) => Ok(usize::MAX),
            Some(Fate::Short(most)) => Ok(most),
            Some(Fate::Refused(kind)) => Err(kind.into()),
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl Storage for Memory {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        self.step(Step::CreateFolder, path)?;
        let mut state = self.state();
        let is_new = !state.folders.contains(path);
        let all = path
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty());
        state.folders.extend(all.map(Path::to_path_buf));
        Ok(is_new)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.step(Step::Exists, path)?;
        let state = self.state();
        Ok(state.files.contains_key(path) || state.folders.contains(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        self.step(Step::Create, path)?;
        let mut state = self.state();
        if state.files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let bytes = Arc::default();
        state.files.insert(path.to_path_buf(), Arc::clone(&bytes));
        let file = Box::new(MemoryFile {
            memory: self.clone(),
            path: path.to_path_buf(),
            bytes,
        });
        Ok(match &state.wrap {
            Some(wrap) => wrap(path, file),
            None => file,
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Step::Rename, from)?;
        let mut state = self.state();
        let file = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_path_buf(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(Step::Remove, path)?;
        let removed = self.state().files.remove(path);
        removed
            .map(drop)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step(Step::RemoveFolder, path)?;
        let mut state = self.state();
        let holds = |other: &PathBuf| other.as_path() != path && other.starts_with(path);
        if state.folders.iter().any(holds) || state.files.keys().any(holds) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if state.folders.remove(path) {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step(Step::SyncFolder, path).map(drop)
    }
}

struct MemoryFile {
    memory: Memory,
    path: PathBuf,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryFile").field(&self.path).finish()
    }
}

impl StorageFile for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let most = self.memory.step(Step::Write, &self.path)?;
        let bytes = bytes.get(..most).unwrap_or(bytes);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start
            .checked_add(bytes.len())
            .ok_or(io::ErrorKind::FileTooLarge)?;
        let mut file = lock(&self.bytes);
        // Writing no bytes never extends a file, regardless of the offset.
        if file.len() < end && !bytes.is_empty() {
            file.resize(end, 0);
        }
        if let Some(place) = file.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.memory.step(Step::SetSize, &self.path)?;
        let size = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        lock(&self.bytes).resize(size, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.memory.step(Step::Sync, &self.path).map(drop)
    }
}
