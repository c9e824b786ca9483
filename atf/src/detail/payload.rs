//! Payloads: of a call or a return, and of a call that records fields.

use serde_json::value::RawValue;
use zerocopy::FromBytes as _;

use super::DetailEvent;
use crate::error::Result;
use crate::wire::{Arch, DetailFunctionPayload, OutOfRange};
use crate::with_setters;

with_setters! {
    /// The registers and the stack at a call or a return.
    ///
    /// The sources describe this payload for arm64 (S1, S4). Existing tracers write the same layout
    /// on `x86_64`, so the meaning of the registers depends on the header's `arch`:
    ///
    /// | field | arm64 | `x86_64` |
    /// |---|---|---|
    /// | `x_regs[0]` to `x_regs[5]` | `x0` to `x5` | `rdi`, `rsi`, `rdx`, `rcx`, `r8`, `r9` |
    /// | `x_regs[6]`, `x_regs[7]` | `x6`, `x7` | none |
    /// | `lr` | `lr`, the return address | the return address |
    /// | `fp` | `fp` (`x29`) | `rbp` |
    /// | `sp` | `sp` | `rsp` |
    ///
    /// [`register_names`](Self::register_names) returns these names. Where `atf record` cannot read a
    /// register, it stores 0: see `docs/record.md`.
    ///
    /// A payload is recognized by its size: the event's length must be exactly the sum of its
    /// headers and `stack_size`. Any other payload is opaque.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct FunctionPayload {
        /// The function's id, the same as in the index event.
        pub function_id: u64,
        /// Arguments of a call, or return values.
        pub x_regs: [u64; 8],
        /// Link register.
        pub lr: u64,
        /// Frame pointer.
        pub fp: u64,
        /// Stack pointer.
        pub sp: u64,
        /// Reserved; conforming writers set it to 0.
        pub reserved: u16,
        /// The `stack_size` bytes of the stack, starting at `sp`; the sources allow at most 256.
        pub stack: Vec<u8>,
    }
}

impl FunctionPayload {
    /// The number of bytes before the stack.
    pub const SIZE: usize = DetailFunctionPayload::SIZE;

    /// The maximum number of bytes of a stack that the sources allow.
    pub const MAX_STACK: u16 = DetailFunctionPayload::STACK_SIZE_MAX;

    /// The size in bytes of the longest payload of this shape.
    pub(crate) const LARGEST: usize = Self::SIZE + u16::MAX as usize;

    /// Returns the names of `x_regs`, `lr`, `fp` and `sp` on this architecture. A register that the
    /// architecture does not have, or any of an unknown one, is named after its field.
    #[must_use]
    pub fn register_names(arch: Arch) -> [&'static str; 11] {
        match arch {
            Arch::X86_64 => [
                "rdi", "rsi", "rdx", "rcx", "r8", "r9", "x6", "x7", "lr", "rbp", "rsp",
            ],
            _ => [
                "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "lr", "fp", "sp",
            ],
        }
    }

    /// Returns the size in bytes of an event's payload, if it can have this shape.
    #[inline]
    pub(super) fn possible(event: &DetailEvent) -> Option<usize> {
        let size = usize::try_from(event.payload_size()).ok();
        size.filter(|size| (Self::SIZE..=Self::LARGEST).contains(size))
    }

    /// Encodes the payload: the inverse of [`decode`](Self::decode).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) at `stack_size` if the stack is
    /// longer than the sources allow.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let fixed = self.encode_fixed(self.stack.len())?;
        Ok([&fixed[..], &self.stack].concat())
    }

    /// Encodes the bytes that precede a stack of this size, without allocating memory, for tracers
    /// that add the stack themselves.
    ///
    /// # Errors
    ///
    /// The errors of [`encode`](Self::encode).
    pub fn encode_fixed(&self, stack_size: usize) -> Result<[u8; Self::SIZE]> {
        let stack_size = u16::try_from(stack_size)
            .ok()
            .filter(|size| *size <= Self::MAX_STACK)
            .ok_or(OutOfRange {
                field: "stack_size",
                found: stack_size as u64,
                max: Self::MAX_STACK.into(),
            })?;
        Ok(zerocopy::transmute!(DetailFunctionPayload {
            function_id: self.function_id.into(),
            x_regs: self.x_regs.map(Into::into),
            lr: self.lr.into(),
            fp: self.fp.into(),
            sp: self.sp.into(),
            stack_size: stack_size.into(),
            _reserved: self.reserved.into(),
        }))
    }

    /// Decodes an event's complete payload. Returns `None` if it has a different shape.
    #[must_use]
    #[inline]
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let (raw, stack) = Self::split(payload)?;
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

    /// Splits a complete payload into its numbers and the stack, without copying. Returns `None` if
    /// it has a different shape.
    #[inline]
    pub(crate) fn split(payload: &[u8]) -> Option<(&DetailFunctionPayload, &[u8])> {
        let (raw, stack) = DetailFunctionPayload::ref_from_prefix(payload).ok()?;
        (stack.len() == usize::from(raw.stack_size.get())).then_some((raw, stack))
    }
}

/// The size in bytes of the longest payload with fields. A longer one could have the shape of a
/// [`FunctionPayload`].
pub const LARGEST_FIELDS: usize = 4096;

/// Returns the fields of a call as a JSON object, if the payload contains one.
///
/// For example, `atf-tracing` records the fields of spans in this way. Rely on the manifest's
/// [`detail_fields`](crate::manifest::Manifest::detail_fields) to learn whether a session's details
/// have fields; payloads from other tracers may look like JSON by chance. The object contains no
/// control characters, so it is a single line.
///
/// ```
/// use atf::detail::fields;
///
/// assert_eq!(fields(br#"{"path":"a.txt"}"#), Some(r#"{"path":"a.txt"}"#));
/// assert_eq!(fields(b"a.txt"), None);
/// ```
#[must_use]
pub fn fields(payload: &[u8]) -> Option<&str> {
    let text = str::from_utf8(payload).ok()?;
    let is_object = text.starts_with('{')
        && text.len() <= LARGEST_FIELDS
        && !text.contains(char::is_control)
        && serde_json::from_str::<&RawValue>(text).is_ok_and(|found| found.get() == text);
    is_object.then_some(text)
}
