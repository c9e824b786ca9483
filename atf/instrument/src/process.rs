//! The process and its recording.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::fs;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atf::ErrorKind;
use atf::write::SessionWriter;
use atf_record::CounterClock;
use atf_record::{LossCounter, Recording, ThreadRecorder, Trigger, uncancelled};

use crate::guest::{complain, lock};
use crate::memory::{WRITABLE, map};
use crate::modules::Modules;
use crate::settings::{Place, Settings};
use crate::system::now_ns;
use crate::thread;
use crate::tsan;

/// The recording of a process. It lives until the process ends, because threads may use it until
/// then.
pub(crate) struct Process {
    pub(crate) settings: Settings,
    pub(crate) modules: Modules,
    pub(crate) trigger: Trigger,
    /// `None` once the process is ending.
    pub(crate) recording: Mutex<Option<Recording>>,
    /// The system thread ids of the recorded threads, by their ids in the trace.
    threads: Arc<Threads>,
    /// The clock of the timestamps, if it is not the system clock.
    clock: Option<Arc<CounterClock>>,
    /// The counter of lost events of threads that are not registered.
    pub(crate) losses: LossCounter,
    /// Whether an unregistered thread has been reported; the next field does the same for small
    /// rings.
    has_complained: AtomicBool,
    has_told_of_rings: AtomicBool,
}

/// System thread ids, by ids in the trace.
type Threads = Mutex<BTreeMap<u32, libc::pid_t>>;

/// The process, once recording has started.
pub(crate) static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());

/// Whether recording is off: by request, after an error, or at the end.
pub(crate) static IS_OFF: AtomicBool = AtomicBool::new(false);

/// A page with the id of the process that is recorded, or will be. In a forked child, the page is
/// zero, so a child is detected even if no fork handler ran.
static OWNER: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// How many descendants could not be recorded, for example because they had dropped the privileges
/// to create files, on a page that a process shares with them. Null before the first recording, or
/// if there is no memory.
static UNRECORDED: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

fn unrecorded() -> Option<&'static AtomicU32> {
    // SAFETY: null, or a page that is never unmapped and only accessed atomically.
    unsafe { UNRECORDED.load(Ordering::Acquire).as_ref() }
}

/// Creates the page of unrecorded descendants, unless this process has inherited it.
pub(crate) fn share_unrecorded() {
    if unrecorded().is_none() {
        let page = map(size_of::<AtomicU32>(), WRITABLE, libc::MAP_SHARED);
        UNRECORDED.store(page.cast(), Ordering::Release);
    }
}

/// Counts this process, which cannot be recorded.
pub(crate) fn count_unrecorded() {
    if let Some(count) = unrecorded() {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the process if it is being recorded.
pub(crate) fn recorded() -> Option<&'static Process> {
    let is_recorded = !IS_OFF.load(Ordering::Acquire) && owner() == Some(std::process::id());
    current().filter(|_| is_recorded)
}

/// Returns whether this process is a child that shares its parent's memory, as after `vfork`. Any
/// change that the child makes in memory also affects its parent.
pub(crate) fn is_vforked() -> bool {
    !is_forked() && owner().is_some_and(|owner| owner != std::process::id())
}

/// Counts an event that its thread cannot record.
pub(crate) fn lose_event() {
    if let Some(process) = current() {
        process.losses.lose_event(process.now_ns());
    }
}

/// Returns the process, once its recording has started.
pub(crate) fn current() -> Option<&'static Process> {
    // SAFETY: null, or from `Box::into_raw`, and never freed.
    unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
}

/// Makes this process the recorded one.
pub(crate) fn claim() -> Result<(), String> {
    if own() {
        return Ok(());
    }
    const SIZE: usize = 4096;
    let page = map(SIZE, WRITABLE, libc::MAP_PRIVATE);
    if page.is_null() {
        return Err(format!("no memory: {}", io::Error::last_os_error()));
    }
    // SAFETY: the page is the one mapped above. Kernels before 4.14 do not have this advice: the
    // call fails, and only the fork handlers detect a child.
    unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) };
    let owner = page.cast::<AtomicU32>();
    // SAFETY: the page is large enough, zeros are a valid value, and the page is never unmapped.
    unsafe { &*owner }.store(std::process::id(), Ordering::Relaxed);
    OWNER.store(owner, Ordering::Release);
    Ok(())
}

/// Returns the id of the process that is recorded, or will be; 0 in a forked child. `None` before
/// this library is initialized, or if there is no memory.
#[inline]
fn owner() -> Option<u32> {
    owner_page().map(|owner| owner.load(Ordering::Relaxed))
}

/// Stores this process's id. Returns false if there is no page for it.
fn own() -> bool {
    let owner = owner_page();
    owner.is_some_and(|owner| {
        owner.store(std::process::id(), Ordering::Relaxed);
        true
    })
}

#[inline]
fn owner_page() -> Option<&'static AtomicU32> {
    // SAFETY: null, or the page of `claim`, which is never unmapped.
    unsafe { OWNER.load(Ordering::Relaxed).as_ref() }
}

/// Returns whether the C library has not been initialized, as in the resolver of an indirect
/// function (`ifunc`) or in `.preinit_array`. There may be no thread-local variables or environment
/// yet.
#[inline]
pub(crate) fn is_too_early() -> bool {
    owner_page().is_none() && !is_program_named()
}

/// Returns whether the C library has stored the program's name, as it does when it is initialized.
/// Before this library is relocated, it cannot find other libraries' variables, and pointers to its
/// own are invalid.
#[cold]
#[inline(never)]
fn is_program_named() -> bool {
    static SELF: AtomicPtr<AtomicPtr<AtomicU32>> = AtomicPtr::new((&raw const OWNER).cast_mut());
    unsafe extern "C" {
        static program_invocation_name: *const c_char;
    }
    // SAFETY: the variable is always initialized. Its value must be read, not inferred.
    let found = unsafe { ptr::read_volatile(SELF.as_ptr()) };
    if !ptr::eq(found, &raw const OWNER) {
        return false;
    }
    // SAFETY: as above; the C library changes the variable only while no other thread runs.
    let name = unsafe { ptr::read_volatile(&raw const program_invocation_name) };
    // SAFETY: null, or a string.
    unsafe { name.as_ref() }.is_some_and(|first| *first != 0)
}

/// Returns whether this process is a forked child that has not yet been recognized as one.
#[inline]
pub(crate) fn is_forked() -> bool {
    owner() == Some(0)
}

/// Abandons the parent's recording in a forked child, without dropping it.
pub(crate) fn abandon() {
    own();
    PROCESS.store(ptr::null_mut(), Ordering::Release);
}

/// Ends the recording of the process.
pub(crate) fn end() {
    IS_OFF.store(true, Ordering::Release);
    thread::stop();
    if let Some(process) = current().filter(|_| !is_forked()) {
        uncancelled(|| tsan::unseen(|| process.finish()));
    }
}

/// How many times to try to lock the recording at the end of the process, and the time between two
/// attempts.
const ATTEMPTS: u32 = 200;
const WAITING: Duration = Duration::from_millis(5);

impl Process {
    /// Creates the process from a recording that was started with these settings, and sets the
    /// recording's clock.
    pub(crate) fn new(
        settings: Settings,
        clock: Option<Arc<CounterClock>>,
        recording: Recording,
    ) -> Self {
        if let Some(clock) = &clock {
            recording.use_clock(Arc::clone(clock));
        }
        let threads = Arc::new(Threads::default());
        let named = Arc::clone(&threads);
        recording.on_update(move |session| {
            name_threads(session, &named);
            if unrecorded().is_some_and(|count| count.load(Ordering::Relaxed) > 0) {
                session.set_recording_error("child processes could not be recorded");
            }
        });
        Self {
            settings,
            modules: Modules::new(),
            trigger: recording.trigger_handle(),
            clock,
            losses: recording.loss_counter(),
            recording: Mutex::new(Some(recording)),
            threads,
            has_complained: AtomicBool::new(false),
            has_told_of_rings: AtomicBool::new(false),
        }
    }

    /// Returns the time for an event, in nanoseconds.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match &self.clock {
            None => now_ns(),
            Some(clock) => clock.now_ns(),
        }
    }

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

    /// Reports the first ring that is smaller than the settings request.
    fn look_at_ring(&self, recorder: &ThreadRecorder) {
        let options = &self.settings.record;
        let events = recorder.capacity().map(|capacity| capacity.events);
        if let Some(events) = events.filter(|events| *events < options.capacity.events)
            && !self.has_told_of_rings.swap(true, Ordering::Relaxed)
        {
            let memory = options.ring_memory >> 10;
            complain(&format!(
                "memory is short, or limited to {memory} KiB for all rings (ATF_RING_MEMORY): the ring of thread {} holds {events} events, and those of later threads may hold fewer",
                recorder.thread_id(),
            ));
        }
    }

    pub(crate) fn end_thread(&self, recorder: ThreadRecorder) {
        let thread_id = recorder.thread_id();
        lock(&self.threads).remove(&thread_id);
        if let Some(recording) = &*lock(&self.recording) {
            let name = text(&thread::name());
            recording.session().set_thread_name(thread_id, name);
        }
        drop(recorder);
    }

    /// Ends the recording, unless another thread is ending it.
    pub(crate) fn finish(&self) {
        // A thread that is registering itself holds the lock briefly. Another thread that is ending
        // the process holds it until the recording has ended. A signal handler that calls `exit`
        // may have interrupted the thread that holds it.
        for _ in 0..ATTEMPTS {
            if let Ok(mut recording) = self.recording.try_lock() {
                if let Some(recording) = recording.take() {
                    self.stop(&recording);
                }
                return;
            }
            std::thread::sleep(WAITING);
        }
        complain("the session is not finalized: its recording is in use");
    }

    fn stop(&self, recording: &Recording) {
        let stopped = recording.stop();
        let lost = stopped.as_ref().map_or(0, |summary| summary.lost_events);
        if let Err(error) = stopped {
            complain(&error.to_string());
        }
        // If a tool such as `atf record` set the session's folder for a whole run, that tool
        // reports the losses.
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
            if let Ok(name) = fs::read(path) {
                session.set_thread_name(*thread_id, text(&name));
            }
        }
    }
}

/// Returns a thread's name without trailing zeros and line feeds.
fn text(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.trim_end_matches(['\0', '\n']).to_owned()
}
