//! Starts and ends the recording of the process, and handles forks.

use std::hint;
use std::io;
use std::iter;
use std::path::{self, Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::SystemTime;

use atf::write::{Disk, SessionWriter, Storage, brief_disk, session_name};
use atf_record::CounterClock;
use atf_record::{Recording, uncancelled};

use crate::aside;
use crate::guest::{complain, look_at_stderr, without_signals};
use crate::last_thread;
use crate::loader;
use crate::main_thread;
use crate::memory;
use crate::process::{self, IS_OFF, PROCESS, Process, current};
use crate::settings::{Place, Settings};
use crate::thread;
use crate::trigger::{self, atf_instrument_trigger};
use crate::tsan;

/// A lock that protects the start of the recording. In a forked child, no thread holds it.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Whether this process is a forked child.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

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
    if current().is_none() {
        acquire();
        start_once();
        release();
    }
    current()
}

/// Starts the recording, unless another thread has just started it or failed to.
fn start_once() {
    if current().is_some() || IS_OFF.load(Ordering::Acquire) {
        return;
    }
    // Refer to these items so that the linker keeps them in programs linked with the static
    // library.
    hint::black_box((&BEGIN, &END, atf_instrument_trigger as extern "C" fn()));
    let started = uncancelled(start).unwrap_or_else(|message| {
        complain(&message);
        if IS_CHILD.load(Ordering::Relaxed) {
            process::count_unrecorded();
        }
        None
    });
    match started {
        Some(process) => {
            PROCESS.store(ptr::from_ref(process).cast_mut(), Ordering::SeqCst);
            last_thread::wait_if_needed();
        }
        None => IS_OFF.store(true, Ordering::Release),
    }
}

fn start() -> Result<Option<&'static Process>, String> {
    let Some(settings) = Settings::read()? else {
        return Ok(None);
    };
    let clock = settings.counts_ticks.then(|| {
        let clock = CounterClock::start().map(Arc::new);
        clock.ok_or("ATF_CLOCK=tsc: this processor has no constant-rate counter")
    });
    let clock = clock.transpose()?;
    process::claim()?;
    // Without it, the file is opened when it is needed.
    let _ = main_thread::hold();
    process::share_unrecorded();
    let started = without_signals(|| {
        let session = create(&settings)?;
        let folder = session.path().to_owned();
        let recording = Recording::start_on(session, &settings.record, aside::drain);
        recording.map_err(|error| {
            remove(&folder);
            error.to_string()
        })
    });
    let recording = started.map_err(|error| format!("nothing is recorded: {error}"))?;
    recording.on_pass(last_thread::look);
    let process: &Process = Box::leak(Box::new(Process::new(settings, clock, recording)));
    // In a forked child, one of the loader's locks may be held forever.
    if !IS_CHILD.load(Ordering::Relaxed) {
        process.modules.read_ahead(&process.settings);
    }
    trigger::arm(&process.settings.triggers, &process.trigger);
    Ok(Some(process))
}

/// Creates the session's folder. A process keeps its id when it calls `exec`, so the name of its
/// second program's folder gets a number.
fn create(settings: &Settings) -> Result<SessionWriter, String> {
    let folder = match &settings.place {
        Place::Below(root) => root.join(session_name(SystemTime::now())),
        Place::In(folder) => folder.clone(),
    };
    // The program may change its working directory, and the session's files are often reopened.
    let folder = path::absolute(&folder).unwrap_or(folder);
    let storage = open_folder(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let id = std::process::id();
    let names = (2_u32..).map(|program| format!("pid_{id}_{program}"));
    let mut names = iter::once(format!("pid_{id}")).chain(names);
    let is_free = |path: &PathBuf| !storage.exists(path).unwrap_or(false);
    let path = names.find_map(|name| Some(folder.join(name)).filter(is_free));
    let session = SessionWriter::create_on(
        Arc::clone(&storage),
        path.unwrap_or(folder),
        &settings.write,
    );
    session.map_err(|error| error.to_string())
}

/// The last folder for a run's sessions that was opened. A forked child shares it: the program may
/// have changed its root directory since.
static FOLDER: AtomicPtr<(PathBuf, Arc<dyn Storage>)> = AtomicPtr::new(ptr::null_mut());

fn last_folder() -> Option<&'static (PathBuf, Arc<dyn Storage>)> {
    // SAFETY: null, or from `Box::into_raw`, and never freed.
    unsafe { FOLDER.load(Ordering::Acquire).as_ref() }
}

/// Opens the folder for a run's sessions, and creates it if it does not exist.
fn open_folder(folder: &Path) -> io::Result<Arc<dyn Storage>> {
    if let Some((_, storage)) = last_folder().filter(|(known, _)| known == folder) {
        return Ok(Arc::clone(storage));
    }
    // The program may close every descriptor that it did not open.
    Disk.create_folder(folder)?;
    let storage = brief_disk(folder)?;
    let opened = Box::new((folder.to_path_buf(), Arc::clone(&storage)));
    FOLDER.store(Box::into_raw(opened), Ordering::Release);
    Ok(storage)
}

/// Removes the empty folder of a session that could not be recorded.
fn remove(session: &Path) {
    if let Some((_, storage)) = last_folder() {
        // The program continues, whether or not the folder can be removed.
        let _ = storage.remove_folder(session);
    }
}

/// Makes a forked child start its own recording at its next event. The child must not touch its
/// parent's recording, not even to drop it.
pub(crate) extern "C" fn forked() {
    // Functions called here may be instrumented.
    thread::stop();
    IS_CHILD.store(true, Ordering::Relaxed);
    process::abandon();
    memory::forked();
    last_thread::forked();
    thread::ID.set(None);
    release();
    thread::DATA.set(ptr::null());
}

/// A function that registers the fork handlers, and the handler for the main thread's end, when the
/// library is loaded and no other thread can fork yet.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    // Functions called here may be instrumented.
    let data = thread::DATA.replace(thread::OFF);
    // SAFETY: the functions belong to this library, which is never unloaded, because its hooks are
    // called from everywhere.
    unsafe { libc::pthread_atfork(Some(acquire), Some(release), Some(forked)) };
    look_at_stderr();
    // If there is no memory, this is tried again at the first event.
    let _ = process::claim();
    loader::prepare();
    tsan::prepare();
    if thread::is_main() {
        last_thread::watch_main_thread();
    }
    thread::DATA.set(data);
}

/// A function that ends the recording when the process exits.
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static END: extern "C" fn() = end;

extern "C" fn end() {
    process::end();
}
