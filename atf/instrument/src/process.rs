//! Starts and ends the recording of the process, and handles forks.

use std::collections::BTreeMap;
use std::fs;
use std::hint;
use std::io;
use std::iter;
use std::path::{self, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use atf::ErrorKind;
use atf::clock::{CounterClock, now_ns};
use atf::manifest::Module;
use atf::record::{LossCounter, Recording, ThreadRecorder, Trigger};
use atf::write::{SessionWriter, session_name};

use crate::aside;
use crate::modules::Modules;
use crate::settings::{Place, Settings};
use crate::storage::{GuestDisk, uncancelled};
use crate::thread;
use crate::trigger::{self, atf_instrument_trigger};

/// The recording of a process. It lives until the process ends, because threads may use it until
/// then.
pub(crate) struct Process {
    pub(crate) settings: Settings,
    pub(crate) modules: Modules,
    pub(crate) trigger: Trigger,
    /// `None` once the process is ending.
    recording: Mutex<Option<Recording>>,
    id: u32,
    /// The system thread ids of the recorded threads, by their ids in the trace.
    threads: Arc<Threads>,
    /// The clock of the timestamps, if it is not the system clock.
    clock: Option<Arc<CounterClock>>,
    /// Counts events of threads that are not registered.
    pub(crate) losses: LossCounter,
    /// Whether the user has been told about an unregistered thread, and about a small ring.
    has_complained: AtomicBool,
    has_told_of_rings: AtomicBool,
}

/// System thread ids, by ids in the trace.
type Threads = Mutex<BTreeMap<u32, libc::pid_t>>;

/// The process, once recording has started.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// Whether recording is off: by request, after an error, or at the end.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// A page that is zero only in a forked child, to detect a child in which no fork handler ran.
static MINE: AtomicPtr<AtomicBool> = AtomicPtr::new(ptr::null_mut());

/// Protects the start of the recording. No thread holds it in a forked child.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Runs `work` on one thread at a time.
fn exclusively<T>(work: impl FnOnce() -> T) -> T {
    acquire();
    let result = work();
    release();
    result
}

extern "C" fn acquire() {
    while LOCK.swap(true, Ordering::Acquire) {
        std::thread::yield_now();
    }
}

extern "C" fn release() {
    LOCK.store(false, Ordering::Release);
}

/// Returns the process, starting its recording at the first event; `None` if nothing is recorded.
pub(crate) fn get() -> Option<&'static Process> {
    if IS_OFF.load(Ordering::Acquire) {
        return None;
    }
    if let Some(process) = current() {
        return Some(process);
    }
    exclusively(|| {
        if current().is_none() && !IS_OFF.load(Ordering::Acquire) {
            // These uses keep the functions in programs linked with the static library.
            hint::black_box((&BEGIN, &END, atf_instrument_trigger as extern "C" fn()));
            match start() {
                Ok(Some(process)) => PROCESS.store(Box::into_raw(process), Ordering::Release),
                Ok(None) => IS_OFF.store(true, Ordering::Release),
                Err(message) => {
                    complain(&message);
                    IS_OFF.store(true, Ordering::Release);
                }
            }
        }
    });
    current()
}

/// Returns the process if it is being recorded.
pub(crate) fn recorded() -> Option<&'static Process> {
    let is_recorded = !IS_OFF.load(Ordering::Acquire) && !is_forked() && !is_vforked();
    current().filter(|_| is_recorded)
}

/// Returns whether this process is a child that shares its parent's memory, as after `vfork`. Any
/// change it makes in memory also affects its parent.
pub(crate) fn is_vforked() -> bool {
    !is_forked() && current().is_some_and(|process| process.id != std::process::id())
}

/// Counts an event of a thread that has ended.
pub(crate) fn lose_event() {
    if let Some(process) = current() {
        process.losses.lose_event(process.now_ns());
    }
}

fn current() -> Option<&'static Process> {
    // SAFETY: null, or from `Box::into_raw`, and never freed.
    unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
}

fn start() -> Result<Option<Box<Process>>, String> {
    let Some(settings) = Settings::read()? else {
        return Ok(None);
    };
    let clock = settings.counts_ticks.then(|| {
        let clock = uncancelled(CounterClock::start).map(Arc::new);
        clock.ok_or("ATF_CLOCK=tsc: this processor has no counter that runs at one rate")
    });
    let clock = clock.transpose()?;
    mark_as_mine()?;
    let started = without_signals(|| {
        let session = create(&settings)?;
        Recording::start_on(session, &settings.record, aside::drain)
    });
    let recording = started.map_err(|error| format!("nothing is recorded: {error}"))?;
    if let Some(clock) = &clock {
        recording.use_clock(Arc::clone(clock));
    }
    let threads = Arc::new(Threads::default());
    let named = Arc::clone(&threads);
    recording.on_update(move |session| name_threads(session, &named));
    let trigger = recording.trigger_handle();
    trigger::arm(&settings.triggers, &trigger);
    Ok(Some(Box::new(Process {
        settings,
        modules: Modules::new(),
        trigger,
        clock,
        losses: recording.loss_counter(),
        recording: Mutex::new(Some(recording)),
        id: std::process::id(),
        threads,
        has_complained: AtomicBool::new(false),
        has_told_of_rings: AtomicBool::new(false),
    })))
}

/// Creates the session's folder. A process keeps its id when it calls `exec`, so the folder of its
/// second program gets a number.
fn create(settings: &Settings) -> atf::Result<SessionWriter> {
    let folder = match &settings.place {
        Place::Below(root) => root.join(session_name(SystemTime::now())),
        Place::In(folder) => folder.clone(),
    };
    // The program may change its working directory, and the session's files are often reopened.
    let folder = path::absolute(&folder).unwrap_or(folder);
    let id = std::process::id();
    let names = (2_u32..).map(|program| format!("pid_{id}_{program}"));
    let mut names = iter::once(format!("pid_{id}")).chain(names);
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let path = names.find_map(|name| Some(folder.join(name)).filter(is_free));
    // The program may close every file descriptor that it did not open.
    let storage = Arc::new(GuestDisk);
    SessionWriter::create_on(storage, path.unwrap_or(folder), &settings.write)
}

/// Runs `start` with all signals blocked. The threads that it starts inherit this, so the program's
/// handlers run only in the program's own threads.
pub(crate) fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: zeros are valid for its integers.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut before = all;
    // SAFETY: the pointer refers to a set, which the call writes.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both pointers refer to sets; the call reads one and writes the other.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let result = start();
    // SAFETY: the pointer refers to a set, which the call reads.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    result
}

/// Marks this process as the recorded one.
fn mark_as_mine() -> Result<(), String> {
    const SIZE: usize = 4096;
    let failed = |what: &str| format!("{what}: {}", io::Error::last_os_error());
    let (rights, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping overlaps no other memory.
    let page = unsafe { libc::mmap(ptr::null_mut(), SIZE, rights, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return Err(failed("no memory"));
    }
    // SAFETY: the page is the one mapped above. On kernels before 4.14, which lack this advice, the
    // call fails, and only the fork handlers detect a child.
    unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) };
    let mine = page.cast::<AtomicBool>();
    // SAFETY: the page is large enough, zeros are a valid value, and it is never unmapped.
    unsafe { &*mine }.store(true, Ordering::Relaxed);
    MINE.store(mine, Ordering::Release);
    Ok(())
}

/// Returns whether this process is a forked child that has not yet been recognized as one.
#[inline]
pub(crate) fn is_forked() -> bool {
    // SAFETY: null, or the page of `mark_as_mine`, which is never unmapped.
    let mine = unsafe { MINE.load(Ordering::Relaxed).as_ref() };
    mine.is_some_and(|mine| !mine.load(Ordering::Relaxed))
}

/// Makes a forked child start its own recording at its next event. The child must not touch its
/// parent's recording, not even to drop it.
pub(crate) extern "C" fn forked() {
    MINE.store(ptr::null_mut(), Ordering::Release);
    PROCESS.store(ptr::null_mut(), Ordering::Release);
    thread::forked();
    release();
}

/// Registers the fork handlers when the library is loaded, when no other thread can fork.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    // SAFETY: the functions belong to this library, which is never unloaded, because its hooks are
    // called from everywhere.
    unsafe { libc::pthread_atfork(Some(acquire), Some(release), Some(forked)) };
}

/// Ends the recording with the process.
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static END: extern "C" fn() = end;

/// How many times, and at which interval, the end of the process tries to get hold of the
/// recording.
const ATTEMPTS: u32 = 200;
const WAITING: Duration = Duration::from_millis(5);

extern "C" fn end() {
    IS_OFF.store(true, Ordering::Release);
    thread::stop();
    let Some(process) = current().filter(|_| !is_forked()) else {
        return;
    };
    // A registering thread holds the recording briefly; another thread that is ending the process
    // holds it until it is done. A signal handler that calls `exit` may have interrupted the
    // holder.
    for _ in 0..ATTEMPTS {
        if let Ok(mut recording) = process.recording.try_lock() {
            if let Some(recording) = recording.take() {
                process.finish(&recording);
            }
            return;
        }
        std::thread::sleep(WAITING);
    }
    complain("the session is not finalized: its recording is in use");
}

impl Process {
    /// Returns the time for an event, in nanoseconds.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match &self.clock {
            None => now_ns(),
            Some(clock) => clock.now_ns(),
        }
    }

    /// Registers the calling thread.
    pub(crate) fn add_thread(&self) -> Option<ThreadRecorder> {
        let recording = lock(&self.recording);
        let added = recording.as_ref()?.thread(None);
        match added {
            Ok(recorder) => {
                // SAFETY: the call has no preconditions.
                let system_id = unsafe { libc::gettid() };
                lock(&self.threads).insert(recorder.thread_id(), system_id);
                self.look_at_ring(&recorder);
                Some(recorder)
            }
            Err(error) => {
                // Report only the first of many similar errors, and none for a thread that started
                // too late.
                let is_late = *error.kind() == ErrorKind::AlreadyFinalized;
                if !is_late && !self.has_complained.swap(true, Ordering::Relaxed) {
                    complain(&format!("threads are not recorded: {error}"));
                }
                None
            }
        }
    }

    /// Reports the first ring that is smaller than the settings say.
    fn look_at_ring(&self, recorder: &ThreadRecorder) {
        let options = &self.settings.record;
        let events = recorder.capacity().map(|capacity| capacity.events);
        if let Some(events) = events.filter(|events| *events < options.capacity.events)
            && !self.has_told_of_rings.swap(true, Ordering::Relaxed)
        {
            let memory = options.ring_memory >> 10;
            complain(&format!(
                "all rings together may take {memory} KiB: the ring of thread {} holds {events} events, and those of later threads may hold fewer (ATF_RING_MEMORY)",
                recorder.thread_id(),
            ));
        }
    }

    /// Finalizes the calling thread.
    pub(crate) fn end_thread(&self, recorder: ThreadRecorder) {
        let thread_id = recorder.thread_id();
        lock(&self.threads).remove(&thread_id);
        if let Some(recording) = &*lock(&self.recording) {
            let name = text(&thread::name());
            recording.session().set_thread_name(thread_id, name);
        }
        drop(recorder);
    }

    /// Writes the modules to the manifest right away: without them, functions cannot be identified.
    pub(crate) fn set_modules(&self, modules: Vec<Module>) {
        if let Some(recording) = &*lock(&self.recording) {
            recording.session().set_modules(modules);
            // Errors are reported at the end.
            let _ = recording.write_manifest();
        }
    }

    fn finish(&self, recording: &Recording) {
        let stopped = recording.stop();
        let lost = stopped.as_ref().map_or(0, |summary| summary.lost_events);
        if let Err(error) = stopped {
            complain(&error.to_string());
        }
        // Whoever sets the session's folder for a whole run reports the losses of its processes.
        if lost > 0 && matches!(self.settings.place, Place::Below(_)) {
            complain(&format!("{lost} events are not in the trace"));
        }
    }
}

/// Reads the threads' current names. Does not wait: a signal handler that ends the process may have
/// interrupted a thread that holds the lock.
fn name_threads(session: &SessionWriter, threads: &Threads) {
    if let Ok(threads) = threads.try_lock() {
        for (thread_id, system_id) in &*threads {
            let path = format!("/proc/self/task/{system_id}/comm");
            if let Ok(name) = uncancelled(|| fs::read(path)) {
                session.set_thread_name(*thread_id, text(&name));
            }
        }
    }
}

/// Returns a thread's name without the end that the system adds.
fn text(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.trim_end_matches(['\0', '\n']).to_owned()
}

/// Reports an error on standard error. Even if that fails, the program continues.
pub(crate) fn complain(message: &str) {
    use io::Write as _;
    let _ = writeln!(io::stderr(), "atf: {message}");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
