//! Records C and C++ programs that were compiled with `-finstrument-functions` (GCC) or
//! `-finstrument-functions-after-inlining` (Clang).
//!
//! The program is linked with `libatf_instrument.a`, or `libatf_instrument.so` is preloaded, as
//! `atf record` does. The compiler then calls [`hook::enter`] and [`hook::leave`] in each function,
//! under the names `__cyg_profile_func_enter` and `__cyg_profile_func_exit`. Settings are
//! environment variables: see [`settings`].
//!
//! Nothing here may harm the program: an error is told once on standard error, and the program runs
//! on without a trace.
//!
//! | what happens | what becomes of the trace |
//! |---|---|
//! | calls before `main` and after it | recorded: the first event starts the recording, the last destructor ends it |
//! | a thread ends | its files are finalized after the destructors of its variables |
//! | the program ends by `exit` | all threads are finalized, also those that still run |
//! | it dies by a signal, `_exit`, or `exec` | without rings, all events are there; `atf recover` finalizes the files |
//! | a signal handler interrupts the recording of an event | the handler's events are lost, and counted |
//! | `fork` | the child records into a session of its own, next to its parent's |
//! | an exception leaves a function | GCC calls the hook of its end, Clang does not: then it is as with `longjmp` |
//! | `longjmp`, `siglongjmp` | functions that were left without returning have no RETURN event; the depth is right again at the next return |
//! | the program closes descriptors that it does not know | files are open only while they are written |
//! | a signal handler leaves a hook that it interrupted by `siglongjmp` | the thread's later events are lost, and counted |
//! | `ATF_FUNCTIONS` or `ATF_MIN_SIZE` leaves calls out | depths count the recorded calls only, as they do without the calls of other modules |
//! | `dlopen`, `dlclose` | modules are looked up as their functions are called; one that is loaded again gets a new module id |

//! Known limits:
//!
//! - An instrumented signal handler whose call is the first that its thread records allocates
//!   memory. If it interrupted `malloc`, it may wait forever.
//! - The library has a thread. Calls that a process may only make with a single thread, such as
//!   `unshare(CLONE_NEWUSER)`, fail.
//! - If the library is preloaded, the destructors of the program's own libraries run after its end.

// The compiler's instrumentation exists on other systems too; the loader's functions used here do
// not.
#![cfg(target_os = "linux")]
// A traced program must not die of its tracer.
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
mod functions;
pub mod hook;
mod modules;
mod process;
pub mod settings;
mod signals;
mod storage;
mod thread;
pub mod trigger;
