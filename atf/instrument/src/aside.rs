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

use crate::guest::{lock, without_signals};
use crate::thread;

/// How long the program waits for the work. Reading the names of 500,000 functions takes 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// The thread's stack size in bytes.
const STACK: usize = 8 << 20;

/// The thread's name, for users who inspect the process.
const NAME: &CStr = c"atf-names";

/// The name of the thread that drains rings and writes the manifest.
const DRAIN_NAME: &CStr = c"atf-drain";

struct Shared<T> {
    result: Mutex<Option<T>>,
    is_done: Condvar,
}

/// A thread's work.
type Work = Box<dyn FnOnce() + Send>;

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
    let theirs = Arc::clone(&shared);
    spawn(Box::new(move || {
        let result = work();
        *lock(&theirs.result) = Some(result);
        theirs.is_done.notify_one();
    }))?;
    let waited = shared
        .is_done
        .wait_timeout_while(lock(&shared.result), PATIENCE, |result| result.is_none());
    let (mut result, _) = waited.unwrap_or_else(PoisonError::into_inner);
    result.take().ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// Starts a thread that nothing waits for.
pub(crate) fn spawn(work: Work) -> io::Result<()> {
    let thread = without_signals(|| start(NAME, work))?;
    // SAFETY: the thread was started, and nothing else joins or detaches it.
    unsafe { libc::pthread_detach(thread) };
    Ok(())
}

/// Starts the thread that drains rings. Returns a function that waits for the thread to end and
/// returns whether it ended without a panic.
pub(crate) fn drain(work: Work) -> io::Result<Box<dyn FnOnce() -> bool + Send>> {
    let thread = start(DRAIN_NAME, work)?;
    Ok(Box::new(move || {
        let mut result = ptr::null_mut();
        // SAFETY: the thread is joined once, here, and the call writes its result to the pointer.
        let status = unsafe { libc::pthread_join(thread, &raw mut result) };
        status == 0 && result == ENDED_WELL
    }))
}

/// Returns whether the calling thread is the drain's thread.
pub(crate) fn is_drain() -> bool {
    thread::name().starts_with(DRAIN_NAME.to_bytes_with_nul())
}

/// The result of a thread that ended without a panic.
const ENDED_WELL: *mut c_void = ptr::without_provenance_mut(1);

/// Starts a thread. On failure, returns the system's error.
fn start(name: &'static CStr, work: Work) -> io::Result<libc::pthread_t> {
    let work = Box::into_raw(Box::new((name, work)));
    // SAFETY: zeros are valid for its integers, and the call below initializes it.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to the attributes, which the call initializes.
    unsafe { libc::pthread_attr_init(&raw mut attributes) };
    // SAFETY: the attributes are initialized.
    unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, STACK) };
    let mut thread = 0;
    let attributes = &raw const attributes;
    // SAFETY: the attributes are initialized, the call writes the thread's id, and `begin`
    // expects this type of work.
    match unsafe { libc::pthread_create(&raw mut thread, attributes, begin, work.cast()) } {
        0 => Ok(thread),
        status => {
            // SAFETY: the pointer comes from `Box::into_raw` above, and no thread received it.
            drop(unsafe { Box::from_raw(work) });
            Err(io::Error::from_raw_os_error(status))
        }
    }
}

/// Names the calling thread, excludes it from the recording and does its work.
extern "C" fn begin(work: *mut c_void) -> *mut c_void {
    thread::stop();
    // SAFETY: the pointer comes from `Box::into_raw` in `start`, which passes it only to this thread.
    let (name, work) = *unsafe { Box::from_raw(work.cast::<(&CStr, Work)>()) };
    // SAFETY: the name is a string of at most 16 bytes, which the call only reads.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => ENDED_WELL,
        Err(_) => ptr::null_mut(),
    }
}
