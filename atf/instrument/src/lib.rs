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
//! | what happens | what becomes of the trace |
//! |---|---|
//! | calls before `main` and after it | recorded: the first event starts the recording, the last destructor ends it |
//! | a thread ends | its files are finalized after the destructors of its thread-local variables |
//! | a thread changes its name | the name is read 10 ms after the thread's first event, 20 ms after that and so on, with a flight recorder before a crash, and at the end of the thread and the program |
//! | the program ends by `exit` | all threads are finalized, even those still running |
//! | the main thread calls `pthread_exit` | the process ends within 50 ms of its last thread, with the destructors recorded on a thread of this library |
//! | memory runs out | the program goes on; threads that do not get the memory they need are not recorded, and their events are counted as lost |
//! | a signal, `_exit` or `exec` ends it | without rings, no event is lost; `atf recover` finalizes the files |
//! | a signal handler interrupts the recording of an event | the handler's events are lost, and counted |
//! | `fork` | the child records its own session, next to its parent's |
//! | an exception leaves a function | GCC calls the hook at the function's end; Clang does not, so the effect is that of `longjmp` |
//! | `longjmp`, `siglongjmp` | functions left without returning have no RETURN event; the depth is correct again at the next return |
//! | the program closes descriptors that it did not open | files are open only while being written |
//! | a signal handler uses `siglongjmp` to leave a hook that it interrupted | the thread's later events are lost, and counted |
//! | `ATF_FUNCTIONS` or `ATF_MIN_SIZE` excludes calls | depths count only recorded calls, as when modules are excluded |
//! | `dlopen`, `dlclose` | modules are looked up when their functions are called; a module that is loaded again gets a new id |

//! Known limits:
//!
//! - If an instrumented signal handler makes the first call that its thread records, it allocates
//!   memory. If it interrupted `malloc`, it may wait forever.
//! - The library runs a thread of its own, so system calls that are only allowed in a
//!   single-threaded process, such as `unshare(CLONE_NEWUSER)`, fail.
//! - If the library is preloaded, the destructors of the program's own libraries run after the end
//!   of the recording.

// Other systems also have the compiler's instrumentation, but not the loader functions used here.
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
mod crash;
mod details;
mod environment;
mod functions;
mod guest;
pub mod hook;
mod last_thread;
mod lifecycle;
mod marks;
mod memory;
mod modules;
mod process;
mod record;
pub mod settings;
mod signals;
mod storage;
mod thread;
pub mod trigger;
