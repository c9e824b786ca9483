//! The payload of a call or a return.

use crate::wire;

/// Registers and stack at a call or a return.
///
/// The sources describe it for arm64 (S1, S4) and tracers in the field write the same shape on
/// `x86_64`, so what `x_regs` holds depends on the header's `arch`. A payload is known by its shape:
/// the event is as long as its headers and `stack_size` together. All else is opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPayload {
    /// The same as in the index event.
    pub function_id: u64,
    /// Arguments of a call, values of a return.
    pub x_regs: [u64; 8],
    /// Link register.
    pub lr: u64,
    /// Frame pointer.
    pub fp: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Reserved; 0 where the writer follows the format.
    pub reserved: u16,
    /// The bytes of the stack from `sp` on; the sources allow 256 at most, their number is
    /// `stack_size`.
    pub stack: Vec<u8>,
}

impl FunctionPayload {
    /// Bytes before the stack.
    pub const SIZE: usize = wire::DetailFunctionPayload::SIZE;

    /// Bytes of the longest payload of this shape.
    pub(super) const LARGEST: usize = Self::SIZE + u16::MAX as usize;

    /// Decodes a whole payload, or says `None` where it has another shape.
    #[must_use]
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let (fixed, stack) = payload.split_first_chunk::<{ Self::SIZE }>()?;
        let raw: wire::DetailFunctionPayload = zerocopy::transmute!(*fixed);
        if stack.len() != usize::from(raw.stack_size.get()) {
            return None;
        }
        Some(Self {
            function_id: raw.function_id.get(),
            x_regs: raw.x_regs.map(zerocopy::little_endian::U64::get),
            lr: raw.lr.get(),
            fp: raw.fp.get(),
            sp: raw.sp.get(),
            reserved: raw._reserved.get(),
            stack: stack.to_vec(),
        })
    }
}
