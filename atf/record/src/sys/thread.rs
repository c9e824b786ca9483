//! Starts a plain system thread, and checks whether a thread still exists.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The function that a thread runs.
type Work = Box<dyn FnOnce() + Send>;
/// A function that waits for a thread to end and returns whether it ended without a panic.
pub(crate) type Joining = Box<dyn FnOnce() -> bool + Send>;

/// Starts the thread that drains rings.
///
/// It is not a `std` thread, because those register destructors for thread-local variables. For
/// that, the C library takes the loader's lock, which a thread that waits for the drain may hold:
/// it may run a constructor of a library that is being loaded with `dlopen`.
#[cfg(all(unix, not(miri)))]
pub(crate) fn spawn(work: Work) -> io::Result<Joining> {
    use std::mem::MaybeUninit;
    use std::ptr;

    /// The stack's size in bytes, as for `std` threads.
    const STACK: usize = 2 << 20;

    let task = Box::into_raw(Box::new(work));
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the pointer refers to the attributes, which the call initializes.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    // SAFETY: the attributes are initialized.
    unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK) };
    let mut thread = MaybeUninit::uninit();
    let (to, from) = (thread.as_mut_ptr(), attributes.as_ptr());
    // SAFETY: the attributes are initialized, the call writes the thread's id, and `unix::begin`
    // expects an argument of this type.
    let status = unsafe { libc::pthread_create(to, from, unix::begin, task.cast()) };
    // SAFETY: the attributes are initialized, and no longer used.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if status != 0 {
        // SAFETY: the pointer comes from `Box::into_raw` above, and no thread received it.
        drop(unsafe { Box::from_raw(task) });
        return Err(io::Error::from_raw_os_error(status));
    }
    // SAFETY: the call succeeded, so it wrote the id.
    let thread = unsafe { thread.assume_init() };
    Ok(Box::new(move || {
        let mut result = ptr::null_mut();
        // SAFETY: the thread is not detached, and this function joins it only once. The call writes
        // a pointer to `result`.
        let status = unsafe { libc::pthread_join(thread, &raw mut result) };
        status == 0 && result.is_null()
    }))
}

#[cfg(all(unix, not(miri)))]
mod unix {
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::ptr;

    /// Does the work that `spawn` passes. Returns null if it ended without a panic.
    pub(super) extern "C" fn begin(task: *mut c_void) -> *mut c_void {
        // SAFETY: `spawn` passes a pointer of this type from `Box::into_raw`, only to this thread.
        let work = unsafe { Box::from_raw(task.cast::<super::Work>()) };
        set_name();
        // The panic hook has already reported any panic on standard error.
        match catch_unwind(AssertUnwindSafe(*work)) {
            Ok(()) => ptr::null_mut(),
            Err(_) => ptr::dangling_mut(),
        }
    }

    /// Names the calling thread, for users who inspect the process.
    fn set_name() {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: the call reads a string of at most 16 bytes.
        unsafe {
            libc::prctl(libc::PR_SET_NAME, c"atf-drain".as_ptr())
        };
        #[cfg(target_vendor = "apple")]
        // SAFETY: the call reads a string.
        unsafe {
            libc::pthread_setname_np(c"atf-drain".as_ptr())
        };
    }
}

#[cfg(not(all(unix, not(miri))))]
pub(crate) fn spawn(work: Work) -> io::Result<Joining> {
    let thread = std::thread::Builder::new().name("atf-drain".to_owned());
    let thread = thread.spawn(work)?;
    Ok(Box::new(move || thread.join().is_ok()))
}

/// A thread that the system may end without running any of its code, as a seccomp filter does.
#[derive(Debug, Default)]
pub(crate) struct Watched(AtomicI32);

impl Watched {
    /// Watches the calling thread.
    pub(crate) fn begin(&self) {
        #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
        // SAFETY: the call accesses no memory of this program.
        self.0.store(unsafe { libc::gettid() }, Ordering::Release);
    }

    /// Returns whether the thread began and no longer exists. Always false on systems where this
    /// cannot be checked.
    pub(crate) fn is_gone(&self) -> bool {
        let thread = self.0.load(Ordering::Acquire);
        #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
        if thread != 0 {
            let process = libc::c_long::from(std::process::id().cast_signed());
            // SAFETY: signal 0 has no effect.
            let status = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) };
            let error = io::Error::last_os_error().raw_os_error();
            return status == -1 && error == Some(libc::ESRCH);
        }
        let _ = thread;
        false
    }
}
