//! Runs code that is compiled for newer processors than the rest of the crate.

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
