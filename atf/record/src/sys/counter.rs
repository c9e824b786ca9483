//! Reads the processor's time-stamp counter.

/// Returns whether the counter runs at a constant rate, even while the processor saves power.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;

    const LARGEST: u32 = 0x8000_0000;
    /// The CPUID leaf for advanced power management (see the AMD and Intel manuals).
    const POWER: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    __cpuid(LARGEST).eax >= POWER && __cpuid(POWER).edx & INVARIANT_TSC != 0
}

/// Reads the counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every processor of this architecture has the instruction, which has no side effects.
    // A system that forbids reading the counter (PR_SET_TSC) kills the program.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Returns `false`: on other processors, reading the system clock is hardly slower than reading the
/// counter.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_invariant() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn ticks() -> u64 {
    0
}
