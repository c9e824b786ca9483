//! CRC-32C of large blocks.
//!
//! The crate `crc32c` uses the processor's CRC instruction, which takes 8 bytes at a time. Processors
//! with VPCLMULQDQ multiply polynomials in 32-byte registers, which is faster.

/// The size in bytes from which multiplying is faster.
#[cfg(target_arch = "x86_64")]
const LARGE: usize = 1 << 10;

/// Returns the CRC-32C of some bytes followed by `bytes`; `crc` is that of the bytes before.
#[inline]
pub(crate) fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= LARGE && folding::is_supported() {
        // SAFETY: the processor has the instructions.
        return unsafe { folding::crc32c(crc, bytes) };
    }
    crc32c::crc32c_append(crc, bytes)
}

/// Folds a message onto its last 256 bytes, which have the same remainder, by carry-less
/// multiplication (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
/// Instruction", Intel 2009).
#[cfg(target_arch = "x86_64")]
mod folding {
    use std::arch::x86_64::{
        __m256i, _mm256_clmulepi64_epi128, _mm256_loadu_si256, _mm256_set_epi32, _mm256_set_epi64x,
        _mm256_storeu_si256, _mm256_xor_si256,
    };

    /// The bytes of a register.
    type Lane = [u8; 32];
    /// Enough lanes to hide the latency of a multiplication.
    const LANES: usize = 8;
    /// How far a fold moves a lane, in bits.
    const DISTANCE: usize = 8 * LANES * size_of::<Lane>();
    /// The multipliers of the lower and the upper 64 bits of each 128. The bits are reflected: the
    /// lower half comes first in the message and moves 64 bits further. Both move 32 bits less, as a
    /// 32-bit multiplier weighs 2^32 in a 64-bit factor.
    const LOWER: i64 = power_of_x(DISTANCE + 64 - 32);
    const UPPER: i64 = power_of_x(DISTANCE - 32);

    /// Computes x^`n` modulo the polynomial of CRC-32C, as a factor of a reflected product, which is
    /// one bit too low otherwise.
    const fn power_of_x(n: usize) -> i64 {
        const POLYNOMIAL: u32 = 0x82F6_3B78;
        let mut power = 1_u32 << 31;
        let mut i = 0;
        while i < n {
            let carry = power & 1 != 0;
            power >>= 1;
            if carry {
                power ^= POLYNOMIAL;
            }
            i = i.saturating_add(1);
        }
        (power as i64) << 1
    }

    pub(super) fn is_supported() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("vpclmulqdq")
    }

    #[target_feature(enable = "avx2,vpclmulqdq")]
    pub(super) fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
        let (lanes, tail) = bytes.as_chunks::<{ size_of::<Lane>() }>();
        let (blocks, rest) = lanes.as_chunks::<LANES>();
        let Some((first, blocks)) = blocks.split_first() else {
            return crc32c::crc32c_append(crc, bytes);
        };
        let mut folded = first.each_ref().map(|lane| load(lane));
        // The checksum of the bytes before is added to the first 4 bytes; it is stored inverted.
        let [lane, ..] = &mut folded;
        let before = _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (!crc).cast_signed());
        *lane = _mm256_xor_si256(*lane, before);
        let multipliers = _mm256_set_epi64x(UPPER, LOWER, UPPER, LOWER);
        for block in blocks {
            for (folded, lane) in folded.iter_mut().zip(block) {
                let lower = _mm256_clmulepi64_epi128::<0x00>(*folded, multipliers);
                let upper = _mm256_clmulepi64_epi128::<0x11>(*folded, multipliers);
                *folded = _mm256_xor_si256(_mm256_xor_si256(lower, upper), load(lane));
            }
        }
        // The folded bytes already contain the checksum so far, so theirs begins at 0, inverted.
        let crc = crc32c::crc32c_append(!0, folded.map(|lane| store(lane)).as_flattened());
        let crc = crc32c::crc32c_append(crc, rest.as_flattened());
        crc32c::crc32c_append(crc, tail)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(lane: &Lane) -> __m256i {
        // SAFETY: the pointer is that of 32 readable bytes, and the load needs no alignment.
        unsafe { _mm256_loadu_si256(lane.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(register: __m256i) -> Lane {
        let mut lane = [0; size_of::<Lane>()];
        // SAFETY: the pointer is that of 32 writable bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(lane.as_mut_ptr().cast(), register) };
        lane
    }
}
