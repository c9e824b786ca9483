//! Hides this library's memory from `ThreadSanitizer`.
//!
//! `ThreadSanitizer` sees the library's calls to functions such as `malloc`, `free` and `memcpy`,
//! but not the atomic instructions that order them, because these are inlined into the library. It
//! would report a race whenever one thread frees or copies memory of another. Its runtime exports
//! functions that make it ignore the calling thread for a while.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the runtime, which is null if the program has no such runtime.
struct Annotation {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

static BEGIN: [Annotation; 2] = [
    Annotation::new(c"AnnotateIgnoreReadsBegin"),
    Annotation::new(c"AnnotateIgnoreWritesBegin"),
];

static END: [Annotation; 2] = [
    Annotation::new(c"AnnotateIgnoreReadsEnd"),
    Annotation::new(c"AnnotateIgnoreWritesEnd"),
];

/// Looks up the runtime's functions when the library is loaded, because `dlsym` takes a lock.
pub(crate) fn prepare() {
    let has_function = |name: &CStr| !symbol(name).is_null();
    if has_function(c"__tsan_init") {
        for annotation in BEGIN.iter().chain(&END) {
            let found = symbol(annotation.name);
            annotation.found.store(found, Ordering::Release);
        }
    }
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a NUL-terminated string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Returns whether the program was compiled with `-fsanitize=thread`.
pub(crate) fn is_present() -> bool {
    BEGIN.iter().all(Annotation::is_found)
}

/// Does work whose memory accesses the runtime ignores.
#[inline]
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    BEGIN.iter().for_each(Annotation::call);
    let result = work();
    END.iter().for_each(Annotation::call);
    result
}

impl Annotation {
    const fn new(name: &'static CStr) -> Self {
        let found = AtomicPtr::new(ptr::null_mut());
        Self { name, found }
    }

    fn is_found(&self) -> bool {
        !self.found.load(Ordering::Acquire).is_null()
    }

    fn call(&self) {
        type Function = unsafe extern "C" fn(*const c_char, c_int);
        let found = self.found.load(Ordering::Acquire);
        // SAFETY: null is `None`, and any other value is the runtime's function of this type.
        let function = unsafe { mem::transmute::<*mut c_void, Option<Function>>(found) };
        if let Some(function) = function {
            // SAFETY: the name is a NUL-terminated string; the runtime only uses it in reports.
            unsafe { function(self.name.as_ptr(), 0) };
        }
    }
}
