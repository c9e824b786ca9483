//! Records C and C++ programs that were compiled with `-finstrument-functions` (GCC) or
//! `-finstrument-functions-after-inlining` (Clang).
//!
//! Either the program is linked with `libatf_instrument.a`, or `libatf_instrument.so` is preloaded,
//! for example by `atf record`. The compiler makes each function call [`hook::enter`] and
//! [`hook::leave`], under the names `__cyg_profile_func_enter` and `__cyg_profile_func_exit`.
//! Environment variables contain the settings: see [`settings`].
//!
//! Nothing here may harm the program: the library reports an error once on standard error, and the
//! program continues without a trace.
//!
//! | event | effect on the trace |
//! |---|---|
//! | the program makes calls before or after `main` | the calls are recorded: the first event starts the recording, and the last destructor ends it |
//! | the program makes calls before the C library is initialized, as in the resolver of an indirect function (`ifunc`) | the calls are not recorded |
//! | a thread ends | its files are finalized after its thread-local variables are destroyed |
//! | a thread changes its name | the name is read 10 ms after the thread's first event, 20 ms after that and so on; with a flight recorder, also before a crash; and when the thread or the program ends |
//! | the program calls `exit` or returns from `main` | all threads are finalized, even those still running |
//! | the main thread calls `pthread_exit` | the process ends within 50 ms of its last thread, and the destructors are recorded on a thread of this library |
//! | the main thread ends with the system call `exit`, as in a child that `clone` started, or the system kills it alone, as with a seccomp filter (`SECCOMP_RET_KILL_THREAD`) | the process ends within 50 ms of its last thread, with the main thread's status or signal, or as the system decides if other threads of the program continued; all threads are finalized |
//! | memory runs out | the program continues; threads for which there is not enough memory are not recorded, and their events are counted as lost |
//! | the disk is full, or a file cannot be written | the program continues; the thread's later events are lost, and counted if the manifest can be written; the error is reported when the program ends |
//! | the program has more privileges than its user, as with setuid | nothing is recorded |
//! | a signal, `_exit`, `quick_exit` or `exec` ends the program | without rings, no event is lost; `atf recover` finalizes the files |
//! | a signal handler interrupts the recording of an event | the handler's events are lost, and counted |
//! | `fork` | the child records its own session, next to its parent's |
//! | `vfork` | the child's calls are recorded as its parent's, or lost and counted if its thread has no events yet |
//! | an exception leaves a function | GCC calls the hook at the function's end; Clang does not, so the effect is the same as for `longjmp` |
//! | the program defines a function of the C library itself, such as `clock_gettime` or `malloc` | its clock, sleep and process id are never used; other functions are, and their hooks, called by this library, count as lost events |
//! | `longjmp`, `siglongjmp` | functions left without returning have no RETURN event; the depth is correct again once a caller of the function that called `setjmp` returns |
//! | the program closes descriptors that it did not open | none: before a descriptor is used, the library compares device and inode, and reopens the file if necessary |
//! | a seccomp filter kills threads that open or write files | none with rings, if the filter concerns only the program's own threads; without rings, a thread is killed when it writes its buffer; if the library's thread is killed, the program continues, and its session stays unfinalized |
//! | a signal handler uses `siglongjmp` to leave a hook that it interrupted | the thread's later events are lost, and counted |
//! | `ATF_FUNCTIONS` or `ATF_MIN_SIZE` excludes calls | depths count only recorded calls, as when modules are excluded |
//! | `dlopen`, `dlclose` | modules are looked up when their functions are called; a module that is loaded again gets a new id |

//! Known limits:
//!
//! - If an instrumented signal handler makes the first call that its thread records, it allocates
//!   memory. If the handler interrupted `malloc`, it may wait forever. The same can happen to a
//!   program whose own allocator calls hooks while it holds its lock, whenever a hook needs memory:
//!   at a first call, and when more than 256 calls are open.
//! - If the library is linked statically and the program defines its own clock or sleep function,
//!   the drain uses it. Only the times of events do not depend on it.
//! - If `/proc` is missing when the recording starts, or the program closes all descriptors and then
//!   changes its root directory, the library cannot tell when the last thread ends. The recording
//!   then ends with the main thread, and the status of a process whose main thread ended without
//!   notice may be 0.
//! - A child that shares its parent's memory and thread-local variables and runs at the same time
//!   (`clone` with `CLONE_VM` but without `CLONE_VFORK`) must not call instrumented functions.
//! - The library runs its own thread, so system calls that require a single-threaded process, such
//!   as `unshare(CLONE_NEWUSER)`, fail.
//! - If a thread with asynchronous cancellation (`PTHREAD_CANCEL_ASYNCHRONOUS`) is cancelled in a
//!   hook, the program aborts.
//! - If the library is preloaded, the destructors of the program's own libraries run after the end
//!   of the recording.

// Compilers support this instrumentation on other systems too, but these do not have the loader
// functions used here.
#![cfg(target_os = "linux")]
// A tracer must not crash the traced program.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod aside;
mod capture;
mod functions;
mod guest;
pub mod hook;
mod last_thread;
mod lifecycle;
mod loader;
mod main_thread;
mod marks;
mod memory;
mod modules;
mod process;
mod record;
pub mod settings;
mod signals;
mod system;
mod thread;
pub mod trigger;
mod tsan;
