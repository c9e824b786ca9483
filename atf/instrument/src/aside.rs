//! Starts plain system threads, for long work in the middle of a hook and for the drain.
//!
//! They are not `std` threads. A hook may be called while its thread holds the loader's lock, as in
//! the constructors of a library loaded by `dlopen`, and `std` threads take that lock for the
//! destructors of their thread-local variables. For the same reason, the work must not use
//! channels, `std::thread` or anything else with such destructors.

use std::ffi::{CStr, c_void};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::process::without_signals;
use crate::thread;

/// How long the program waits. Reading the names of 500,000 functions takes 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// The thread's stack size in bytes.
const STACK: usize = 8 << 20;

/// The thread's name, for users who inspect the process.
const NAME: &CStr = c"atf-names";

struct Shared<T> {
    result: Mutex<Option<T>>,
    is_done: Condvar,
}

/// The thread's work, and the place for its result.
struct Task<T, F> {
    work: F,
    shared: Arc<Shared<T>>,
}

/// Runs work that needs more stack than a hook has: some of the program's threads may have only 16
/// KiB. The calling thread waits for it.
pub(crate) fn run<T, F>(work: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let shared = Arc::new(Shared {
        result: Mutex::new(None),
        is_done: Condvar::new(),
    });
    let task = Box::into_raw(Box::new(Task {
        work,
        shared: Arc::clone(&shared),
    }));
    match without_signals(|| start(begin::<T, F>, task.cast())) {
        // SAFETY: the thread was started, and nothing else joins or detaches it.
        Ok(thread) => drop(unsafe { libc::pthread_detach(thread) }),
        Err(error) => {
            // SAFETY: the pointer comes from `Box::into_raw` above, and no thread received it.
            drop(unsafe { Box::from_raw(task) });
            return Err(error);
        }
    }
    let result = shared.result.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = shared
        .is_done
        .wait_timeout_while(result, PATIENCE, |result| result.is_none());
    let (mut result, _) = waited.unwrap_or_else(PoisonError::into_inner);
    result.take().ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// Starts the thread that drains rings. Returns a function that waits for the thread to end and
/// returns whether it ended without a panic.
pub(crate) fn drain(
    work: Box<dyn FnOnce() + Send>,
) -> io::Result<Box<dyn FnOnce() -> bool + Send>> {
    let work = Box::into_raw(Box::new(work));
    let started = start(begin_drain, work.cast());
    let thread = started.inspect_err(|_| {
        // SAFETY: the pointer comes from `Box::into_raw` above, and no thread received it.
        drop(unsafe { Box::from_raw(work) });
    })?;
    Ok(Box::new(move || {
        let mut result = ptr::null_mut();
        // SAFETY: the thread is joined once, here, and the call writes its result to the pointer.
        let status = unsafe { libc::pthread_join(thread, &raw mut result) };
        status == 0 && result == ENDED_WELL
    }))
}

/// The result of a drain that ended without a panic.
const ENDED_WELL: *mut c_void = ptr::without_provenance_mut(1);

extern "C" fn begin_drain(work: *mut c_void) -> *mut c_void {
    introduce(thread::DRAIN_NAME);
    // SAFETY: the pointer comes from `Box::into_raw` in `drain`, which passes it only to this thread.
    let work = unsafe { Box::from_raw(work.cast::<Box<dyn FnOnce() + Send>>()) };
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => ENDED_WELL,
        Err(_) => ptr::null_mut(),
    }
}

/// Starts a thread. On failure, returns the system's error.
fn start(
    begin: extern "C" fn(*mut c_void) -> *mut c_void,
    task: *mut c_void,
) -> io::Result<libc::pthread_t> {
    // SAFETY: zeros are valid for its integers, and the call below initializes it.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to the attributes, which the call initializes.
    unsafe { libc::pthread_attr_init(&raw mut attributes) };
    // SAFETY: the attributes are initialized.
    unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, STACK) };
    let mut thread = 0;
    // SAFETY: the attributes are initialized, the call writes the thread's id, and `task` is of the
    // type that `begin` expects.
    match unsafe { libc::pthread_create(&raw mut thread, &raw const attributes, begin, task) } {
        0 => Ok(thread),
        status => Err(io::Error::from_raw_os_error(status)),
    }
}

/// Names the calling thread and excludes it from the recording.
fn introduce(name: &CStr) {
    thread::stop();
    // SAFETY: the name is a string of at most 16 bytes, which the call only reads.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

extern "C" fn begin<T, F: FnOnce() -> T>(task: *mut c_void) -> *mut c_void {
    introduce(NAME);
    // SAFETY: the pointer comes from `Box::into_raw` in `run`, which passes it only to this thread.
    let task = unsafe { Box::from_raw(task.cast::<Task<T, F>>()) };
    let Task { work, shared } = *task;
    let result = work();
    *shared.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    shared.is_done.notify_one();
    ptr::null_mut()
}
