//! The owner of a recording, and the state that it shares with its layer and its threads.

use std::collections::HashMap;
use std::env;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atf::ErrorKind;
use atf::clock::now_ns;
use atf::manifest::{Module, Symbol};
use atf::write::SessionWriter;
use atf_record::{LossCounter, RecordOptions, RecordSummary, Recording, ThreadRecorder};
use tracing_core::Metadata;
use tracing_core::callsite::Identifier;

/// A guard that ends the recording when dropped, and reports errors and losses in one line on
/// standard error. [`stop`](Self::stop) returns them instead.
///
/// [`std::process::exit`] does not drop the guard, but it also ends the recording on Unix, without
/// reporting anything. A panic that aborts leaves the files as a kill would: `atf recover` finalizes
/// them, but without [`survive_kill`](atf::write::WriteOptions::survive_kill) the most recent events
/// of each thread, or all events of a short run, are lost.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Guard {
    pub(crate) shared: Arc<Shared>,
}

impl Guard {
    /// Stops recording: writes the threads' events, and finalizes their files and the manifest.
    /// Later events are lost and counted. A second call returns the same result.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Recording::stop`](atf_record::Recording::stop), and those of threads
    /// that could not be registered. The rest of the session is still finalized. In a forked child,
    /// returns [`ErrorKind::Forked`](atf::ErrorKind::Forked).
    pub fn stop(&self) -> atf::Result<RecordSummary> {
        let shared = &*self.shared;
        if shared.is_forked() {
            return shared.recording.stop();
        }
        let mut outcome = lock(&shared.outcome);
        let stop = || {
            let stopped = shared.recording.stop();
            // Return the first error.
            lock(&shared.error).take().map_or(stopped, Err)
        };
        outcome.get_or_insert_with(stop).clone()
    }

    /// Returns the session's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.recording.session().path()
    }

    /// Returns the number of events that could not be recorded so far, including events after the
    /// recording ended, but not counting details. The summary and the manifest include only losses
    /// before the recording ended.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // In a forked child, there is nothing to stop.
        if self.shared.is_forked() || lock(&self.shared.outcome).is_some() {
            return;
        }
        let path = self.path().display();
        let message = match self.stop() {
            Ok(summary) => {
                let recorded = summary.totals.event_count;
                match (summary.lost_events, summary.lost_details) {
                    (0, 0) => return,
                    (lost, 0) => format!("{recorded} events are recorded, {lost} are lost"),
                    (lost, details) => format!(
                        "{recorded} events are recorded, {details} of them without their fields; \
                         {lost} are lost"
                    ),
                }
            }
            Err(error) => error.to_string(),
        };
        // If standard error is closed, the message is lost.
        let _ = writeln!(io::stderr(), "atf-tracing: {path}: {message}");
    }
}

/// The id of the only module, the program, which contains all functions.
const MODULE: u32 = 1;

/// The number of the next layer. Each layer has a different number.
static LAYERS: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(crate) struct Shared {
    /// This layer's number, which no other layer has.
    pub(crate) number: u64,
    recording: Recording,
    /// Counts the lost events that no thread's recorder counts.
    uncounted: LossCounter,
    /// The number of events that were not recorded.
    lost: AtomicU64,
    /// The ids of the functions, by callsite.
    functions: Mutex<HashMap<Identifier, u64>>,
    /// The first error that occurred outside the recording.
    error: Mutex<Option<atf::Error>>,
    /// The outcome, once the recording has stopped.
    outcome: Mutex<Option<atf::Result<RecordSummary>>>,
}

impl Shared {
    pub(crate) fn start(session: SessionWriter, options: &RecordOptions) -> atf::Result<Self> {
        let module = Module::new(MODULE);
        session.set_modules(vec![match env::current_exe() {
            Ok(path) => module.path(path.to_string_lossy()),
            // If the path of the executable is unknown, omit it: names do not need it.
            Err(_) => module,
        }]);
        session.set_symbols(Vec::new());
        let recording = Recording::start(session, options)?;
        Ok(Self {
            number: LAYERS.fetch_add(1, Ordering::Relaxed),
            uncounted: recording.loss_counter(),
            recording,
            lost: AtomicU64::new(0),
            functions: Mutex::default(),
            error: Mutex::default(),
            outcome: Mutex::default(),
        })
    }

    /// Returns whether this process is a forked child. It must not take a lock: another thread of
    /// the parent may have held it, and would never release it in the child.
    fn is_forked(&self) -> bool {
        self.recording.is_forked()
    }

    /// Returns the id of a callsite's function, and registers the function's name on the first
    /// call. Returns `None` in a forked child.
    #[cold]
    pub(crate) fn function_id(&self, metadata: &Metadata<'_>) -> Option<u64> {
        if self.is_forked() {
            return None;
        }
        let mut functions = lock(&self.functions);
        let next = (u64::from(MODULE) << 32).saturating_add(functions.len() as u64);
        Some(*functions.entry(metadata.callsite()).or_insert_with(|| {
            let name = format!("{}::{}", metadata.target(), metadata.name());
            let session = self.recording.session();
            session.add_symbol(Symbol::new(next, name));
            self.write_manifest();
            next
        }))
    }

    /// Writes the manifest, unless a kill would lose the events that need it anyway: those in the
    /// rings. The recording writes the manifest within about a second.
    fn write_manifest(&self) {
        if self.recording.session().options().survive_kill
            && let Err(error) = self.recording.write_manifest()
        {
            self.fail(error);
        }
    }

    /// Keeps the first error, unless the recording has already stopped.
    fn fail(&self, error: atf::Error) {
        if *error.kind() != ErrorKind::AlreadyFinalized {
            lock(&self.error).get_or_insert(error);
        }
    }

    /// States in the manifest that details contain fields.
    pub(crate) fn set_detail_fields(&self) {
        self.recording.session().set_detail_fields();
        self.write_manifest();
    }

    /// Registers the calling thread. Returns `None` if that fails, if the recording has stopped, or
    /// in a forked child.
    pub(crate) fn add_thread(&self) -> Option<ThreadRecorder> {
        if self.is_forked() {
            return None;
        }
        let added = self.recording.thread(std::thread::current().name());
        added.map_err(|error| self.fail(error)).ok()
    }

    /// Counts a lost event.
    #[cold]
    pub(crate) fn lose(&self, is_counted: bool) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        if !is_counted {
            self.uncounted.lose_event(now_ns());
        }
    }
}

/// Ignores lock poisoning: each change is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
