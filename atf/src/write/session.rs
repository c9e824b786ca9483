//! Writes sessions: their threads and their manifest.

mod name;
mod segment;
mod stored;

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::registry::{Entry, Registration, Shared, lock};
use super::{
    Disk, Durability, SessionTotals, Storage, ThreadWriter, WriteOptions, at, create_held,
    sync_name,
};
use crate::clock::TimingAnchor;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{MANIFEST_FILE, THREAD_FOLDER, thread_id};
use crate::manifest::{Loss, Losses, Manifest, Module, Symbol, TIMESCALE, key};
use stored::Written;

pub use name::session_name;
pub use segment::SessionFiles;

/// A writer for a session: a `thread_N` folder for each thread, and `manifest.json`.
///
/// Thread writers are independent of each other and of the session, so threads write in parallel
/// without a lock.
///
/// ```
/// use atf::write::{SessionWriter, WriteOptions};
/// # let root = tempfile::tempdir().unwrap();
/// # let root = root.path();
///
/// // A folder such as session_20260105_101500/pid_4242.
/// let session = SessionWriter::create_in(root, &WriteOptions::default())?;
/// let mut thread = session.thread(0)?;
/// // … write events …
/// thread.finalize()?;
/// session.finalize()?;
///
/// let reader = atf::session::SessionReader::open(session.path())?;
/// assert_eq!(reader.threads().len(), 1);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionWriter {
    path: PathBuf,
    options: WriteOptions,
    storage: Arc<dyn Storage>,
    /// The manifest's maximum size in bytes.
    #[doc(hidden)]
    pub manifest_limit: u64,
    shared: Arc<Mutex<Shared>>,
    /// Locked while the manifest is being written, and always before `shared`, so that thread
    /// writers never wait for a manifest.
    written: Mutex<Written>,
}

impl SessionWriter {
    /// Creates the session's folder, which must be new or contain no threads and no manifest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], with [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) at the manifest
    /// or the thread that the folder contains.
    pub fn create(folder: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        // The program may change its working directory, and more files are created later.
        let folder = path::absolute(&folder).map_err(at(folder.as_ref()))?;
        Self::create_on(Arc::new(Disk), folder, options)
    }

    /// Creates a folder `session_<YYYYMMDD>_<HHMMSS>/pid_<pid>` below `root`, named after the
    /// current time (UTC) and this process's id (S0, S1). Processes that start in the same second
    /// share the outer folder.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`], with [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if this process
    /// began another session below `root` in the same second.
    pub fn create_in(root: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        let now = SystemTime::now();
        let folder = root
            .as_ref()
            .join(session_name(now))
            .join(format!("pid_{}", std::process::id()));
        let folder = path::absolute(&folder).map_err(at(&folder))?;
        Self::create_at(Arc::new(Disk), &folder, options, true)
    }

    /// Like [`create`](Self::create), but on a storage other than the disk. Threads that the folder
    /// contains are found only on a storage that [is a disk](Storage::is_disk).
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Self::create).
    pub fn create_on(
        storage: Arc<dyn Storage>,
        folder: impl AsRef<Path>,
        options: &WriteOptions,
    ) -> Result<Self> {
        Self::create_at(storage, folder.as_ref(), options, false)
    }

    /// Creates a session in a folder that must be new or, unless `must_be_new`, have no session.
    fn create_at(
        storage: Arc<dyn Storage>,
        folder: &Path,
        options: &WriteOptions,
        must_be_new: bool,
    ) -> Result<Self> {
        let path = folder.to_path_buf();
        let made = match options.durability {
            Durability::None => Vec::new(),
            _ => missing(&*storage, &path)?,
        };
        let (held, is_new) = create_held(&*storage, &path)?;
        if !is_new {
            // Another thread may begin a session in this folder at the same time.
            let old = if must_be_new {
                Some(path.clone())
            } else {
                part_of_session(&*storage, &path)?
            };
            if let Some(old) = old {
                return Err(at(&old)(io::ErrorKind::AlreadyExists.into()));
            }
        }
        for folder in &made {
            sync_name(&*storage, folder)?;
        }
        Ok(Self {
            path,
            options: options.clone(),
            storage: held.unwrap_or(storage),
            manifest_limit: Manifest::LIMIT,
            shared: Arc::default(),
            written: Mutex::default(),
        })
    }

    /// Returns the session's folder, as an absolute path if it is on the disk.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the options that the session was created with.
    #[must_use]
    pub fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Creates a thread's writer, which may be sent to another thread of this program.
    ///
    /// If a manifest was written, it lists the thread before the thread's folder is created.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ThreadHasWriter`], [`ErrorKind::AlreadyFinalized`], and the errors of
    /// [`ThreadWriter::create`] and [`write_manifest`](Self::write_manifest), but not
    /// [`ErrorKind::ManifestTooLarge`] if the symbols are too large. [`ErrorKind::Io`], with
    /// [`NotFound`](std::io::ErrorKind::NotFound) if the session's folder was deleted. After an
    /// error, the call can be retried.
    pub fn thread(&self, thread_id: u32) -> Result<ThreadWriter> {
        let path = self.path.join(format!("{THREAD_FOLDER}{thread_id}"));
        {
            let refused = |kind| Err(Error::new(kind).with_path(Some(&path)));
            let mut shared = lock(&self.shared);
            if shared.is_finalized {
                return refused(ErrorKind::AlreadyFinalized);
            }
            if shared.threads.contains_key(&thread_id) {
                return refused(ErrorKind::ThreadHasWriter { id: thread_id });
            }
            shared.threads.insert(thread_id, Entry::default());
            shared.count_change();
        }
        match self.list_and_create(&path, thread_id) {
            Ok(mut writer) => {
                writer.register(Registration {
                    thread_id,
                    shared: Arc::clone(&self.shared),
                });
                Ok(writer)
            }
            Err(error) => {
                self.change(|shared| shared.threads.remove(&thread_id));
                // Ignore this error, because the first one is returned.
                let _ = self.update_manifest();
                Err(error)
            }
        }
    }

    fn list_and_create(&self, path: &Path, thread_id: u32) -> Result<ThreadWriter> {
        // Do not recreate a deleted folder: the other threads would be missing.
        if !self.storage.exists(&self.path).map_err(at(&self.path))? {
            return Err(at(&self.path)(io::ErrorKind::NotFound.into()));
        }
        self.update_manifest()?;
        let storage = Arc::clone(&self.storage);
        ThreadWriter::create_in(storage, path.to_path_buf(), thread_id, &self.options)
    }

    /// Sets the executables and libraries in the manifest.
    pub fn set_modules(&self, modules: Vec<Module>) {
        self.edit(|manifest| manifest.modules = modules);
    }

    /// Sets the functions in the manifest.
    pub fn set_symbols(&self, symbols: Vec<Symbol>) {
        self.edit(|manifest| manifest.symbols = symbols);
    }

    /// Adds a function to the manifest, for tracers that learn of functions one by one. If a
    /// function has several entries, readers use the first one.
    pub fn add_symbol(&self, symbol: Symbol) {
        self.edit(|manifest| manifest.symbols.push(symbol));
    }

    /// Sets a thread's name in the manifest. An empty name is not written.
    ///
    /// The thread may get its writer later; the name is kept until then. If it never gets a writer,
    /// the name is not written, because the manifest lists only threads with a folder.
    pub fn set_thread_name(&self, thread_id: u32, name: impl Into<String>) {
        let name = Some(name.into());
        let mut shared = lock(&self.shared);
        let notes = shared.notes_of(thread_id);
        if notes.name != name {
            notes.name = name;
            shared.named.insert(thread_id);
            shared.count_change();
        }
    }

    /// Sets what the tracer lost in a thread. Replaces earlier values.
    ///
    /// The thread may get its writer later, as with [`set_thread_name`](Self::set_thread_name).
    /// Values set after the last manifest write are not saved, so call this before
    /// [`finalize`](Self::finalize).
    pub fn set_losses(&self, thread_id: u32, losses: Losses) {
        let mut shared = lock(&self.shared);
        let notes = shared.notes_of(thread_id);
        if notes.losses() != losses {
            notes.set_losses(losses);
            shared.count_change();
        }
    }

    /// Sets the number of events that the tracer lost on threads without a writer. `None` means no
    /// loss. Replaces the earlier value. As with [`set_losses`](Self::set_losses), call this before
    /// [`finalize`](Self::finalize).
    pub fn set_lost_events(&self, events: Option<Loss>) {
        self.set(|shared| &mut shared.manifest.lost_events, events);
    }

    /// Sets the maximum number of events per thread that the tracer may hold in memory before the
    /// thread's writer passes them to the operating system. Unset it before
    /// [`finalize`](Self::finalize): a value in the final manifest means that events are missing.
    pub fn set_unwritten_events(&self, events: Option<u64>) {
        self.set(|shared| &mut shared.manifest.unwritten_events, events);
    }

    /// Records in the manifest that the tracer drops events that do not fit into its memory. As
    /// long as the manifest has [`set_unwritten_events`](Self::set_unwritten_events), readers then
    /// report that the latest losses may not be counted.
    pub fn set_drops_events(&self) {
        self.set(|shared| &mut shared.manifest.drops_events, Some(true));
    }

    /// Sets why the tracer could not record everything, such as "no space left on device". Only the
    /// first reason is kept. The crate `atf-record` sets it in its recordings.
    pub fn set_recording_error(&self, reason: impl Into<String>) {
        let mut shared = lock(&self.shared);
        if shared.manifest.recording_error.is_none() {
            shared.manifest.recording_error = Some(reason.into());
            shared.count_change();
        }
    }

    /// Reserves room in the manifest for a last update when a recording cannot continue.
    #[doc(hidden)]
    pub fn keep_spare(&self) {
        lock(&self.shared).keeps_spare = true;
    }

    /// Sets the largest measured difference, in nanoseconds, between the timestamps and the clock
    /// in the headers, for timestamps that are not read from that clock.
    #[doc(hidden)]
    pub fn set_clock_error(&self, error_ns: Option<u64>) {
        self.set(|shared| &mut shared.manifest.clock_error_ns, error_ns);
    }

    /// Records in the manifest that details contain the [fields](crate::detail::fields) of their
    /// calls.
    pub fn set_detail_fields(&self) {
        self.edit(|manifest| manifest.detail_fields = Some(true));
    }

    /// Changes the manifest's contents.
    fn change<T>(&self, change: impl FnOnce(&mut Shared) -> T) -> T {
        let mut shared = lock(&self.shared);
        shared.count_change();
        change(&mut shared)
    }

    /// Changes values that later segments copy.
    fn edit(&self, change: impl FnOnce(&mut Manifest)) {
        change(lock(&self.shared).edit());
    }

    /// Sets a field; counts a change only if the value differs.
    fn set<T: PartialEq>(&self, field: impl FnOnce(&mut Shared) -> &mut T, value: T) {
        let mut shared = lock(&self.shared);
        let field = field(&mut shared);
        if *field != value {
            *field = value;
            shared.count_change();
        }
    }

    /// Adds an anchor to the manifest: the same moment on the trace's clock and on a recording's
    /// clock.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WrongType`] at `media_timescale` if it is not greater than 0, because such an
    /// anchor cannot convert times. [`ErrorKind::AlreadyFinalized`] if the session is finalized, or
    /// its recording has stopped, because the manifest is no longer written. In both cases, the
    /// anchor is not added.
    pub fn add_timing_anchor(&self, anchor: TimingAnchor) -> Result<()> {
        let found = anchor.media_time.timescale;
        if found <= 0 {
            let found = found.to_string();
            let kind = ErrorKind::WrongType {
                found,
                expected: TIMESCALE,
            };
            let path = self.path.join(MANIFEST_FILE);
            let error = Error::new(kind).with_path(Some(&path));
            return Err(error.with_field(key::MEDIA_TIMESCALE));
        }
        let mut shared = lock(&self.shared);
        if shared.is_over() {
            return Err(Error::new(ErrorKind::AlreadyFinalized).with_path(Some(&self.path)));
        }
        shared.edit().timing_anchors.push(anchor);
        Ok(())
    }

    /// Returns the totals over the threads written so far.
    #[must_use]
    pub fn totals(&self) -> SessionTotals {
        let shared = lock(&self.shared);
        let mut totals = SessionTotals {
            threads: shared.threads.len() as u64,
            ..SessionTotals::default()
        };
        for summary in shared.summaries() {
            totals.add(&SessionTotals {
                threads: 0,
                finalized: 1,
                event_count: summary.event_count,
                detail_count: summary.detail_count,
                dropped_details: summary.dropped_details,
                time_range: summary.time_range,
            });
        }
        totals
    }

    /// Writes `manifest.json` with the data known so far, so that a crash does not lose threads and
    /// names. It replaces the previous manifest atomically.
    ///
    /// From then on, each new [`thread`](Self::thread) rewrites the manifest, so that a killed
    /// process leaves a manifest that lists its threads. That manifest does not yet contain the
    /// times, and does not show whether an open thread without details will get any. Names and
    /// losses set later are written with the next thread, the next call, or
    /// [`finalize`](Self::finalize).
    ///
    /// ```
    /// use atf::write::{SessionWriter, WriteOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let symbols = Vec::new();
    ///
    /// let session = SessionWriter::create(folder.path(), &WriteOptions::default())?;
    /// session.set_symbols(symbols);
    /// session.write_manifest()?; // Written first, so that the names survive a crash.
    /// let thread = session.thread(0)?;
    /// // … and here the process is killed.
    /// # drop((thread, session));
    ///
    /// let reader = atf::session::SessionReader::open(folder.path())?;
    /// assert!(reader.threads()[0].is_listed());
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ManifestTooLarge`] if the manifest would be larger than [`Manifest::LIMIT`]. It
    /// is then written without the symbols, unless it would still be too large. [`ErrorKind::Io`],
    /// which leaves the previous manifest in place.
    pub fn write_manifest(&self) -> Result<()> {
        let mut written = lock(&self.written);
        let too_large = self.replace_manifest(&mut written)?;
        written.lists_threads = true;
        too_large.map_or(Ok(()), Err)
    }

    /// Writes the final manifest. No thread can be added afterwards.
    ///
    /// The manifest also lists threads whose writers were dropped without being finalized.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ThreadsNotFinalized`] while a thread's writer exists and is not finalized,
    /// [`ErrorKind::AlreadyFinalized`], and the errors of
    /// [`write_manifest`](Self::write_manifest), after which the call can be retried.
    pub fn finalize(&self) -> Result<SessionTotals> {
        let refused = |kind| Err(Error::new(kind).with_path(Some(&self.path)));
        {
            let mut shared = lock(&self.shared);
            if shared.is_finalized {
                return refused(ErrorKind::AlreadyFinalized);
            }
            let open = shared.threads.values().filter(|entry| entry.is_open());
            match open.count() as u64 {
                0 => shared.is_finalized = true,
                count => return refused(ErrorKind::ThreadsNotFinalized { count }),
            }
        }
        match self.write_manifest() {
            Ok(()) => Ok(self.totals()),
            Err(error) => {
                lock(&self.shared).is_finalized = false;
                Err(error)
            }
        }
    }
}

/// Returns the folder and its ancestors that do not exist yet.
fn missing(storage: &dyn Storage, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for folder in folder.ancestors().filter(|it| !it.as_os_str().is_empty()) {
        if storage.exists(folder).map_err(at(folder))? {
            break;
        }
        missing.push(folder.to_path_buf());
    }
    Ok(missing)
}

/// Returns the path of a manifest or a thread in an existing folder.
fn part_of_session(storage: &dyn Storage, folder: &Path) -> Result<Option<PathBuf>> {
    let manifest = folder.join(MANIFEST_FILE);
    if storage.exists(&manifest).map_err(at(&manifest))? {
        return Ok(Some(manifest));
    }
    if storage.is_disk() {
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            let entry = entry.map_err(at(folder))?;
            if entry.file_name().to_str().and_then(thread_id).is_some() {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}
