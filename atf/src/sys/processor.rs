//! Uses what only some processors have: wide registers and prefetch hints.

/// Calls `work`. If the processor has AVX2, the parts of `work` that the compiler inlines here use
/// its wider registers.
#[inline]
pub(crate) fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { wide(work) };
        }
    }
    work()
}

/// Asks the processor to load a value into its cache; does nothing on processors without such a
/// hint.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction belongs to SSE, which every x86-64 processor has. It is a hint:
        // it cannot fault at any address, and has no effect visible to the program.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
