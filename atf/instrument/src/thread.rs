//! The calling thread.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

thread_local! {
    /// The data of [`record`](crate::record): null before the first event, [`OFF`] while nothing is
    /// recorded, [`OVER`] once its events are lost.
    pub(crate) static DATA: Cell<*const c_void> = const { Cell::new(ptr::null()) };
    /// The thread's id in the trace, once it is registered.
    pub(crate) static ID: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The thread belongs to this library, or runs library code that may call instrumented functions.
pub(crate) const OFF: *const c_void = ptr::without_provenance(1);

/// The thread's events are lost: it has ended, but the program's last destructors may still call
/// instrumented functions, or there was no memory for its data.
pub(crate) const OVER: *const c_void = ptr::without_provenance(2);

/// A function to call when a thread ends.
pub(crate) struct AtEnd {
    function: unsafe extern "C" fn(*mut c_void),
    key: OnceLock<Option<libc::pthread_key_t>>,
}

impl AtEnd {
    pub(crate) const fn new(function: unsafe extern "C" fn(*mut c_void)) -> Self {
        let key = OnceLock::new();
        Self { function, key }
    }

    /// Calls the function with `data` when the calling thread ends. `data` must not be null.
    pub(crate) fn register(&self, data: *const c_void) {
        let key = self.key.get_or_init(|| {
            let mut key = 0;
            // SAFETY: the pointer refers to a key, which the call writes.
            let status = unsafe { libc::pthread_key_create(&raw mut key, Some(self.function)) };
            (status == 0).then_some(key)
        });
        if let Some(key) = key {
            // SAFETY: the key was created above. If the call fails, the function is not called.
            unsafe { libc::pthread_setspecific(*key, data) };
        }
    }
}

/// Stops recording the calling thread.
pub(crate) fn stop() {
    DATA.set(OFF);
}

/// Returns whether the calling thread is the process's main thread.
pub(crate) fn is_main() -> bool {
    // SAFETY: the call has no preconditions.
    let thread = unsafe { libc::gettid() };
    u32::try_from(thread) == Ok(std::process::id())
}

/// Returns the calling thread's name, padded with zeros.
pub(crate) fn name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: the call writes at most 16 bytes to the buffer.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}
