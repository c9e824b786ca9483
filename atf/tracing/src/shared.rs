//! The state that a layer, its guard and its threads share.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atf::manifest::{Module, Symbol};
use atf::record::{RecordOptions, RecordSummary, Recording, ThreadRecorder};
use atf::write::SessionWriter;
use tracing_core::Metadata;
use tracing_core::callsite::Identifier;

/// The id of the only module, the program, which contains all functions.
const MODULE: u32 = 1;

/// The number of the next layer. Each layer has a different number.
static LAYERS: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(crate) struct Shared {
    /// This layer's number, which no other layer has.
    pub(crate) number: u64,
    path: PathBuf,
    survives_kill: bool,
    /// The ids of the functions, by callsite. Locked before `state`.
    functions: Mutex<HashMap<Identifier, u64>>,
    state: Mutex<State>,
    /// The number of events that were not recorded.
    lost: AtomicU64,
    /// The number of lost events that no thread's recorder has counted.
    uncounted: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// `None` once the recording has stopped.
    recording: Option<Recording>,
    /// The first error that occurred outside the recording.
    error: Option<atf::Error>,
    /// The outcome, once the recording has stopped.
    outcome: Option<atf::Result<RecordSummary>>,
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
        Ok(Self {
            number: LAYERS.fetch_add(1, Ordering::Relaxed),
            path: session.path().to_path_buf(),
            survives_kill: session.options().survive_kill,
            functions: Mutex::default(),
            state: Mutex::new(State {
                recording: Some(Recording::start(session, options)?),
                error: None,
                outcome: None,
            }),
            lost: AtomicU64::new(0),
            uncounted: AtomicU64::new(0),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the id of a callsite's function, and registers the function's name on the first
    /// call.
    #[cold]
    pub(crate) fn function_id(&self, metadata: &Metadata<'_>) -> u64 {
        let mut functions = lock(&self.functions);
        let next = (u64::from(MODULE) << 32).saturating_add(functions.len() as u64);
        *functions.entry(metadata.callsite()).or_insert_with(|| {
            self.name(next, metadata);
            next
        })
    }

    fn name(&self, function_id: u64, metadata: &Metadata<'_>) {
        let mut state = lock(&self.state);
        let Some(recording) = &state.recording else {
            // The function's events are lost, so its name is not needed.
            return;
        };
        let name = format!("{}::{}", metadata.target(), metadata.name());
        recording
            .session()
            .add_symbol(Symbol::new(function_id, name));
        // Without `survives_kill`, a kill would lose the events in the rings anyway, and the
        // recording writes the manifest within about a second.
        if self.survives_kill
            && let Err(error) = recording.write_manifest()
        {
            state.error.get_or_insert(error);
        }
    }

    /// States in the manifest that details contain fields.
    pub(crate) fn set_detail_fields(&self) {
        let mut state = lock(&self.state);
        let Some(recording) = &state.recording else {
            return;
        };
        recording.session().set_detail_fields();
        if self.survives_kill
            && let Err(error) = recording.write_manifest()
        {
            state.error.get_or_insert(error);
        }
    }

    /// Registers the calling thread. Returns `None` if that fails or if the recording has stopped.
    pub(crate) fn add_thread(&self) -> Option<ThreadRecorder> {
        let mut state = lock(&self.state);
        let added = state
            .recording
            .as_ref()?
            .thread(std::thread::current().name());
        added
            .map_err(|error| state.error.get_or_insert(error).clone())
            .ok()
    }

    /// Counts a lost event.
    #[cold]
    pub(crate) fn lose(&self, is_counted: bool) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        if !is_counted {
            self.uncounted.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn lost_events(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.state).recording.is_none()
    }

    pub(crate) fn stop(&self) -> atf::Result<RecordSummary> {
        // Threads that register in the meantime wait until the recording has stopped.
        let mut state = lock(&self.state);
        let State {
            recording,
            error,
            outcome,
        } = &mut *state;
        if let Some(recording) = recording.take() {
            let stopped = recording.stop();
            // Return the first error.
            let mut stopped = error.take().map_or(stopped, Err);
            if let Ok(summary) = &mut stopped {
                let uncounted = self.uncounted.load(Ordering::Relaxed);
                summary.lost_events = summary.lost_events.saturating_add(uncounted);
            }
            *outcome = Some(stopped);
        }
        match outcome {
            Some(outcome) => outcome.clone(),
            None => unreachable!("a recording that has stopped has an outcome"),
        }
    }
}

/// Ignores lock poisoning: each change is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
