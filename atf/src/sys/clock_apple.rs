//! The continuous clock of macOS and iOS.

use std::ffi::c_int;

/// The length of a tick: `numer / denom` nanoseconds. Laid out like `struct mach_timebase_info` in
/// `<mach/mach_time.h>`.
#[repr(C)]
#[derive(Default)]
struct MachTimebaseInfo {
    numer: u32,
    denom: u32,
}

// SAFETY: both functions are declared as in <mach/mach_time.h> and are part of libSystem, which std
// links on every Apple system. `mach_continuous_time` (macOS 10.12, iOS 10) takes no arguments and
// accesses no memory of this program, so it is safe to call. `mach_timebase_info` writes two u32
// through its pointer and does not keep the pointer after the call. Because of the struct's layout,
// a `&mut MachTimebaseInfo` is a valid and exclusive pointer to two u32, so this function is also
// safe to call.
unsafe extern "C" {
    safe fn mach_continuous_time() -> u64;
    safe fn mach_timebase_info(info: &mut MachTimebaseInfo) -> c_int;
}

/// Returns the ticks since the machine booted, including sleep.
pub(crate) fn ticks() -> u64 {
    mach_continuous_time()
}

/// Returns the nanoseconds per tick as a fraction, for example 1/1 on Intel and 125/3 on Apple
/// silicon.
pub(crate) fn timebase() -> (u64, u64) {
    let mut info = MachTimebaseInfo::default();
    match mach_timebase_info(&mut info) {
        0 => (info.numer.into(), info.denom.into()),
        _ => (0, 0),
    }
}
