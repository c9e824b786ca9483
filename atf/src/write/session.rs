//! Writes sessions: their threads and their manifest.

mod segment;
mod totals;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{Disk, Durability, Storage, ThreadSummary, ThreadWriter, WriteOptions, at, sync_name};
use crate::clock::TimingAnchor;
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::{Loss, Manifest, ManifestThread, Module, Symbol, TIMESCALE};
use crate::session::{MANIFEST_FILE, THREAD_FOLDER};

pub(crate) use segment::SessionFiles;
pub use totals::SessionTotals;

/// The manifest's file name until it is complete.
pub(super) const MANIFEST_PART: &str = "manifest.json.part";

/// Writes a session: a `thread_N` folder for each thread, and `manifest.json`.
///
/// Each thread's writer is independent of the others and of this one, so threads write in parallel
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
    shared: Arc<Mutex<Shared>>,
    /// Whether a manifest was written; locked during a write. Locked before `shared`, so that the
    /// threads' writers never wait for a manifest.
    has_manifest: Mutex<bool>,
}

#[derive(Debug, Default)]
struct Shared {
    threads: BTreeMap<u32, Entry>,
    /// By thread id, also of threads that have no writer yet.
    notes: BTreeMap<u32, Notes>,
    modules: Vec<Module>,
    symbols: Vec<Symbol>,
    anchors: Vec<TimingAnchor>,
    lost_events: Option<Loss>,
    unwritten_events: Option<u64>,
    clock_error_ns: Option<u64>,
    is_finalized: bool,
}

/// What the tracer told about a thread.
#[derive(Debug, Clone, Default)]
struct Notes {
    name: Option<String>,
    lost_events: Option<Loss>,
    lost_details: Option<Loss>,
}

/// A thread as the session knows it.
#[derive(Debug, Default)]
struct Entry {
    has_detail: bool,
    is_dropped: bool,
    summary: Option<ThreadSummary>,
}

impl SessionWriter {
    /// Creates the session's folder, which must be new or contain no threads and no manifest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]: with [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if the folder
    /// has a manifest.
    pub fn create(folder: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        Self::create_on(Arc::new(Disk), folder, options)
    }

    /// Creates a folder `session_<YYYYMMDD>_<HHMMSS>/pid_<pid>` below `root`, for the current time
    /// in UTC and this process (S0, S1). Processes that start in the same second share the outer
    /// folder.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]: with [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if this process
    /// began another session below `root` in the same second.
    pub fn create_in(root: impl AsRef<Path>, options: &WriteOptions) -> Result<Self> {
        let now = SystemTime::now();
        let folder = root
            .as_ref()
            .join(session_name(now))
            .join(format!("pid_{}", std::process::id()));
        if Disk.exists(&folder).map_err(at(&folder))? {
            return Err(at(&folder)(io::ErrorKind::AlreadyExists.into()));
        }
        Self::create(folder, options)
    }

    /// As [`create`](Self::create), on a storage other than the disk.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    pub fn create_on(
        storage: Arc<dyn Storage>,
        folder: impl AsRef<Path>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let path = folder.as_ref().to_path_buf();
        let made = match options.durability {
            Durability::None => Vec::new(),
            _ => missing(&*storage, &path)?,
        };
        storage.create_folder(&path).map_err(at(&path))?;
        let manifest = path.join(MANIFEST_FILE);
        if storage.exists(&manifest).map_err(at(&manifest))? {
            return Err(at(&manifest)(io::ErrorKind::AlreadyExists.into()));
        }
        for folder in &made {
            sync_name(&*storage, folder)?;
        }
        Ok(Self {
            path,
            options: options.clone(),
            storage,
            shared: Arc::default(),
            has_manifest: Mutex::default(),
        })
    }

    /// Returns the session's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the options that it was created with.
    #[must_use]
    pub fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Creates a thread's writer, which may be sent to another thread of this program.
    ///
    /// If a manifest was written, the thread is listed in it before its folder is created.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ThreadHasWriter`], [`ErrorKind::AlreadyFinalized`], those of
    /// [`ThreadWriter::create`] and of [`write_manifest`](Self::write_manifest). After an error,
    /// the thread can be requested again.
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
                lock(&self.shared).threads.remove(&thread_id);
                // The first error counts.
                let _ = self.update_manifest();
                Err(error)
            }
        }
    }

    fn list_and_create(&self, path: &Path, thread_id: u32) -> Result<ThreadWriter> {
        self.update_manifest()?;
        let storage = Arc::clone(&self.storage);
        ThreadWriter::create_on(storage, path, thread_id, &self.options)
    }

    /// Sets the manifest's executables and libraries.
    pub fn set_modules(&self, modules: Vec<Module>) {
        lock(&self.shared).modules = modules;
    }

    /// Sets the manifest's functions.
    pub fn set_symbols(&self, symbols: Vec<Symbol>) {
        lock(&self.shared).symbols = symbols;
    }

    /// Adds a function to the manifest's, for tracers that learn of functions one by one. Of
    /// several entries for a function, the first one counts.
    pub fn add_symbol(&self, symbol: Symbol) {
        lock(&self.shared).symbols.push(symbol);
    }

    /// Sets a thread's name in the manifest. An empty name is not written.
    ///
    /// The thread may get its writer later: the name is kept until then. The name of a thread that
    /// never gets one is not written, since the manifest lists only threads that have a folder.
    pub fn set_thread_name(&self, thread_id: u32, name: impl Into<String>) {
        self.note(thread_id, |notes| notes.name = Some(name.into()));
    }

    /// Sets how many of a thread's events, and how many details of recorded events, the tracer
    /// lost, replacing what was set before; `None` if it lost none.
    ///
    /// The thread may get its writer later, as for [`set_thread_name`](Self::set_thread_name). What
    /// is set after the last manifest was written is in no file, so call this before
    /// [`finalize`](Self::finalize).
    pub fn set_losses(&self, thread_id: u32, events: Option<Loss>, details: Option<Loss>) {
        self.note(thread_id, |notes| {
            (notes.lost_events, notes.lost_details) = (events, details);
        });
    }

    /// Sets how many events the tracer lost that belong to no thread with a writer, replacing what
    /// was set before; `None` if it lost none. As for [`set_losses`](Self::set_losses), call this
    /// before [`finalize`](Self::finalize).
    pub fn set_lost_events(&self, events: Option<Loss>) {
        lock(&self.shared).lost_events = events;
    }

    /// Sets how many events of each thread the tracer holds in memory at most, before it passes them
    /// to the thread's writer and the writer to the system. Unset it before
    /// [`finalize`](Self::finalize): what is then in the manifest is missing.
    pub fn set_unwritten_events(&self, events: Option<u64>) {
        lock(&self.shared).unwritten_events = events;
    }

    /// Sets the largest measured difference in nanoseconds between timestamps and the clock that the
    /// headers name, if they are not read from it.
    pub fn set_clock_error(&self, error_ns: Option<u64>) {
        lock(&self.shared).clock_error_ns = error_ns;
    }

    fn note(&self, thread_id: u32, change: impl FnOnce(&mut Notes)) {
        change(lock(&self.shared).notes.entry(thread_id).or_default());
    }

    /// Adds a moment on the trace's clock and on a recording's clock to the manifest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WrongType`] at `media_timescale` if it is not greater than 0, because no time
    /// can be converted with such an anchor. It is not added.
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
            return Err(error.with_field("media_timescale"));
        }
        lock(&self.shared).anchors.push(anchor);
        Ok(())
    }

    /// Returns the totals of the threads so far.
    #[must_use]
    pub fn totals(&self) -> SessionTotals {
        let shared = lock(&self.shared);
        let mut totals = SessionTotals {
            threads: shared.threads.len() as u64,
            ..SessionTotals::default()
        };
        for summary in shared.summaries() {
            totals.finalized = totals.finalized.saturating_add(1);
            totals.event_count = totals.event_count.saturating_add(summary.event_count);
            totals.detail_count = totals.detail_count.saturating_add(summary.detail_count);
            totals.dropped_details = totals
                .dropped_details
                .saturating_add(summary.dropped_details);
        }
        totals.time_range = shared.time_range();
        totals
    }

    /// Writes `manifest.json` with what is known now, so that a crash does not lose threads and
    /// names. It replaces the previous manifest atomically.
    ///
    /// After this, each [`thread`](Self::thread) that is opened writes it again, so that a killed
    /// process leaves a manifest that lists its threads. It omits what is not yet known: the times,
    /// and for open threads without details whether they have any. Names and losses set later are written
    /// with the next thread, the next call, or [`finalize`](Self::finalize).
    ///
    /// ```
    /// use atf::write::{SessionWriter, WriteOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let symbols = Vec::new();
    ///
    /// let session = SessionWriter::create(folder.path(), &WriteOptions::default())?;
    /// session.set_symbols(symbols);
    /// session.write_manifest()?; // Before the threads: names outlive a crash.
    /// let thread = session.thread(0)?;
    /// // … and here it is killed.
    /// # drop((thread, session));
    ///
    /// let reader = atf::session::SessionReader::open(folder.path())?;
    /// assert!(reader.threads()[0].is_listed());
    /// # Ok::<(), atf::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]; the previous manifest is then still in place.
    pub fn write_manifest(&self) -> Result<()> {
        let mut has_manifest = lock(&self.has_manifest);
        self.replace_manifest(&self.manifest().encode()?)?;
        *has_manifest = true;
        Ok(())
    }

    /// Writes the manifest if it differs from what was last written, and returns its bytes.
    ///
    /// Unlike after [`write_manifest`](Self::write_manifest), new threads are not listed until the
    /// next call.
    pub(crate) fn store_manifest(&self, last: &[u8]) -> Result<Vec<u8>> {
        let _one_at_a_time = lock(&self.has_manifest);
        let bytes = self.manifest().encode()?;
        if bytes != last {
            self.replace_manifest(&bytes)?;
        }
        Ok(bytes)
    }

    /// Rewrites the manifest if one was written.
    fn update_manifest(&self) -> Result<()> {
        let has_manifest = *lock(&self.has_manifest);
        if has_manifest {
            self.write_manifest()
        } else {
            Ok(())
        }
    }

    /// Writes the final manifest; no thread can be added afterwards.
    ///
    /// Threads whose writers were dropped before they were finalized are listed, too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ThreadsNotFinalized`] while a thread's writer exists and is not finalized,
    /// [`ErrorKind::AlreadyFinalized`], [`ErrorKind::Io`].
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

    fn manifest(&self) -> Manifest {
        let shared = lock(&self.shared);
        let thread = |(position, (id, entry)): (usize, (&u32, &Entry))| {
            let notes = shared.notes.get(id).cloned().unwrap_or_default();
            ManifestThread {
                position,
                id: *id,
                has_detail: (entry.has_detail || !entry.is_open()).then_some(entry.has_detail),
                name: notes.name,
                lost_events: notes.lost_events,
                lost_details: notes.lost_details,
                cut: None,
            }
        };
        let times = if shared.threads.values().any(Entry::is_open) {
            None
        } else {
            Some(shared.time_range().unwrap_or((0, 0)))
        };
        let version = if shared.symbols.is_empty() {
            "2.0"
        } else {
            "2.1"
        };
        Manifest {
            format_version: Some(version.to_owned()),
            threads: shared.threads.iter().enumerate().map(thread).collect(),
            time_start_ns: times.map(|(start, _)| start),
            time_end_ns: times.map(|(_, end)| end),
            clock_type: Some(self.options.clock_type),
            modules: shared.modules.clone(),
            symbols: shared.symbols.clone(),
            timing_anchors: shared.anchors.clone(),
            lost_events: shared.lost_events,
            unwritten_events: shared.unwritten_events,
            clock_error_ns: shared.clock_error_ns,
            ..Manifest::default()
        }
    }

    /// Writes a file next to the manifest and renames it to the manifest's name once it is
    /// complete.
    fn replace_manifest(&self, bytes: &[u8]) -> Result<()> {
        let part = self.path.join(MANIFEST_PART);
        let written = self.write_part(&part, bytes);
        if written.is_err() {
            // The first error counts.
            let _ = self.storage.remove(&part);
        }
        written
    }

    fn write_part(&self, part: &Path, bytes: &[u8]) -> Result<()> {
        // A killed process may have left one.
        if self.storage.exists(part).map_err(at(part))? {
            self.storage.remove(part).map_err(at(part))?;
        }
        let mut file = self.storage.create(part).map_err(at(part))?;
        super::section::write_whole(&mut *file, part, bytes)?;
        let is_durable = self.options.durability != Durability::None;
        if is_durable {
            super::section::sync(&mut *file).map_err(at(part))?;
        }
        let manifest = self.path.join(MANIFEST_FILE);
        self.storage
            .rename(part, &manifest)
            .map_err(at(&manifest))?;
        if is_durable {
            self.storage.sync_folder(&self.path).map_err(at(&self.path))
        } else {
            Ok(())
        }
    }
}

impl Shared {
    fn summaries(&self) -> impl Iterator<Item = &ThreadSummary> {
        self.threads
            .values()
            .filter_map(|entry| entry.summary.as_ref())
    }

    fn time_range(&self) -> Option<(u64, u64)> {
        let ranges = self.summaries().filter_map(|summary| summary.time_range);
        ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }
}

impl Entry {
    fn is_open(&self) -> bool {
        self.summary.is_none() && !self.is_dropped
    }
}

/// A thread's entry in its session.
pub(super) struct Registration {
    thread_id: u32,
    shared: Arc<Mutex<Shared>>,
}

impl Registration {
    /// Records that the thread now has a `detail.atf`.
    pub(super) fn has_detail(&self) {
        self.change(|entry| entry.has_detail = true);
    }

    /// Records that the thread's files are finalized.
    pub(super) fn finalized(&self, summary: &ThreadSummary) {
        self.change(|entry| entry.summary = Some(*summary));
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        lock(&self.shared)
            .threads
            .entry(self.thread_id)
            .and_modify(change);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.change(|entry| entry.is_dropped = true);
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration")
            .field(&self.thread_id)
            .finish()
    }
}

/// Ignores lock poisoning: each change is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Returns the name of a folder, `session_<YYYYMMDD>_<HHMMSS>`, for a time in UTC (S0, S1). A time
/// before 1970 or after 9999 is clamped: a wrong clock must not cost the trace.
#[must_use]
pub fn session_name(moment: SystemTime) -> String {
    /// The last second of the year 9999.
    const LAST: u64 = 253_402_300_799;
    let since_1970 = moment.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since_1970.map_or(0, |time| time.as_secs()).min(LAST);
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("session_{year}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
}

/// Returns the year, month and day of a day counted from 1970-01-01.
fn date(mut day: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while let Some(rest) = day.checked_sub(if is_leap(year) { 366 } else { 365 }) {
        (year, day) = (year.saturating_add(1), rest);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter();
    let mut month = 1;
    while let Some(rest) = months.next().and_then(|days| day.checked_sub(days)) {
        (month, day) = (u64::saturating_add(month, 1), rest);
    }
    (year, month, day.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_session_is_named_after_its_start_in_utc() {
        // 2026-01-05T10:15:00Z, as printed by `date -u +%s`.
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_608_100_999);
        assert_eq!(session_name(moment), "session_20260105_101500");
    }

    #[test]
    fn the_name_of_a_session_respects_leap_years() {
        // As printed by `date -u -d "2024-02-29 23:59:59" +%s`, and so on.
        for (seconds, name) in [
            (951_782_400, "session_20000229_000000"),
            (1_709_251_199, "session_20240229_235959"),
            (1_709_251_200, "session_20240301_000000"),
            (1_735_689_599, "session_20241231_235959"),
            (1_735_689_600, "session_20250101_000000"),
            (4_107_542_399, "session_21000228_235959"),
            (4_107_542_400, "session_21000301_000000"),
        ] {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(session_name(moment), name);
        }
    }

    #[test]
    fn a_clock_out_of_range_for_a_name_is_clamped() {
        let second = Duration::from_secs(1);
        let before = SystemTime::UNIX_EPOCH - second;
        assert_eq!(session_name(before), "session_19700101_000000");
        let year_10000 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800);
        assert_eq!(session_name(year_10000), "session_99991231_235959");
        assert_eq!(session_name(year_10000 - second), "session_99991231_235959");
    }
}
