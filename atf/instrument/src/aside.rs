//! Starts plain system threads, for long work in the middle of a hook and for the drain.
//!
//! They are not `std` threads. A hook may be called while its thread holds the loader's lock, for
//! example in the constructors of a library loaded by `dlopen`, and `std` threads take that lock
//! for the destructors of their thread-local variables. For the same reason, the work must not use
//! channels, `std::thread` or anything else with such destructors.

use std::ffi::{CStr, c_void};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::guest::{lock, without_signals};
use crate::thread;
use crate::tsan;

/// How long the program waits for the work. Reading the names of 500,000 functions takes 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a thread that must not end sleeps between checks of whether it may end.
const PAUSE: Duration = Duration::from_millis(10);

/// A thread's stack size in bytes.
const STACK: usize = 8 << 20;

/// The thread's name, for users who inspect the process.
const NAME: &CStr = c"atf-names";

/// The name of the thread that drains rings and writes the manifest.
const DRAIN_NAME: &CStr = c"atf-drain";

/// The name of the thread that ends the process once the main thread has ended.
const EXIT_NAME: &CStr = c"atf-exit";

/// How many threads of this library are running.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether the main thread has ended while the process continues, as after `pthread_exit`.
///
/// The C library then ends the process together with the last thread. Since it counts this
/// library's threads too, they must not end, or one of them might end the process.
pub(crate) static IS_MAIN_OVER: AtomicBool = AtomicBool::new(false);

/// The result of a thread's work.
struct Shared<T> {
    result: Mutex<Option<T>>,
    is_done: Condvar,
}

impl<T> Shared<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            result: Mutex::new(None),
            is_done: Condvar::new(),
        })
    }

    fn store(&self, result: T) {
        *lock(&self.result) = Some(result);
        self.is_done.notify_one();
    }

    /// Waits for the result. Returns `None` after `patience`.
    fn wait(&self, patience: Duration) -> Option<T> {
        let result = lock(&self.result);
        let is_missing = |result: &mut Option<T>| result.is_none();
        let waited = self
            .is_done
            .wait_timeout_while(result, patience, is_missing);
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Runs work that needs more stack than a hook has: some of the program's threads may have only 16
/// KiB. The calling thread waits for it.
pub(crate) fn run<T, F>(work: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let shared = Shared::new();
    let theirs = Arc::clone(&shared);
    let work = Box::new(move || theirs.store(work()));
    without_signals(|| start(NAME, STACK, work))?;
    let result = shared.wait(PATIENCE);
    result.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// Starts a thread with the stack that demangling needs, without waiting for it to end.
pub(crate) fn demangle(work: Work) -> io::Result<()> {
    without_signals(|| start(NAME, atf_symbolize::STACK, work))
}

/// Starts the thread that ends the process after the program's last thread.
pub(crate) fn end_process(work: Work) -> io::Result<()> {
    without_signals(|| start(EXIT_NAME, STACK, work))
}

/// Starts the thread that drains rings. Returns a function that waits until the work is done and
/// returns whether it finished without a panic.
pub(crate) fn drain(work: Work) -> io::Result<Box<dyn FnOnce() -> bool + Send>> {
    let shared = Shared::new();
    let theirs = Arc::clone(&shared);
    let work = move || theirs.store(panic::catch_unwind(AssertUnwindSafe(work)).is_ok());
    start(DRAIN_NAME, STACK, Box::new(work))?;
    Ok(Box::new(move || shared.wait(Duration::MAX) == Some(true)))
}

/// Returns how many threads of this library are running. Threads that are just starting or ending
/// may not be counted.
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::Acquire)
}

/// Forgets the parent's threads in a forked child.
pub(crate) fn forked() {
    COUNT.store(0, Ordering::Release);
    IS_MAIN_OVER.store(false, Ordering::Release);
}

/// Returns whether the calling thread is the one that drains rings.
pub(crate) fn is_drain() -> bool {
    thread::name().starts_with(DRAIN_NAME.to_bytes_with_nul())
}

/// Starts a thread. On failure, returns the system's error.
fn start(name: &'static CStr, stack: usize, work: Work) -> io::Result<()> {
    let work = Box::into_raw(Box::new((name, work)));
    // SAFETY: zeros are valid for its integers, and the call below initializes it.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to the attributes, which the call initializes.
    unsafe { libc::pthread_attr_init(&raw mut attributes) };
    // SAFETY: the attributes are initialized.
    unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, stack) };
    // SAFETY: the attributes are initialized.
    unsafe {
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED)
    };
    let mut thread = 0;
    let attributes = &raw const attributes;
    // SAFETY: the attributes are initialized, the call writes the thread's id, and `begin` expects
    // an argument of this type.
    match unsafe { libc::pthread_create(&raw mut thread, attributes, begin, work.cast()) } {
        0 => Ok(()),
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
    // SAFETY: the pointer comes from `Box::into_raw` in `start`, which passes it only to this
    // thread.
    let (name, work) = *unsafe { Box::from_raw(work.cast::<(&CStr, Work)>()) };
    // SAFETY: the name is a string of at most 16 bytes, which the call only reads.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    COUNT.fetch_add(1, Ordering::AcqRel);
    // The panic hook has already reported any panic on standard error.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| tsan::unseen(work)));
    while IS_MAIN_OVER.load(Ordering::Acquire) {
        std::thread::sleep(PAUSE);
    }
    COUNT.fetch_sub(1, Ordering::AcqRel);
    ptr::null_mut()
}
