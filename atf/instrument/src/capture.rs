//! Captures registers and stack as the payload of a detail.

use std::mem::MaybeUninit;
use std::ptr;

use atf::detail::FunctionPayload;
use atf::write::{Detail, Event};
use atf_record::{Lost, ThreadRecorder};

/// The registers of an instrumented function when it calls its hook. The hooks store its fields in
/// this order.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Registers {
    pub(crate) x: [u64; 8],
    /// The return address.
    pub(crate) lr: usize,
    pub(crate) fp: u64,
    /// The stack pointer; 0 if unknown.
    pub(crate) sp: usize,
}

/// The largest stack snapshot, in bytes.
pub(crate) const MOST_STACK: usize = FunctionPayload::MAX_STACK as usize;

/// The minimum alignment of a stack pointer when a function is called.
const ALIGNMENT: usize = align_of::<u64>();

/// A thread's stack: the range of readable addresses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stack {
    start: usize,
    end: usize,
}

impl Stack {
    /// Returns the calling thread's stack; empty if the system does not know it.
    pub(crate) fn current() -> Self {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call has no preconditions.
        let this = unsafe { libc::pthread_self() };
        // SAFETY: the pointer refers to attributes, which the call initializes.
        if unsafe { libc::pthread_getattr_np(this, attributes.as_mut_ptr()) } != 0 {
            return Self::default();
        }
        let (mut start, mut size) = (ptr::null_mut(), 0);
        let attributes = attributes.as_mut_ptr();
        // SAFETY: the attributes are initialized, and the other pointers refer to variables.
        let status =
            unsafe { libc::pthread_attr_getstack(attributes, &raw mut start, &raw mut size) };
        // SAFETY: the attributes are initialized, and not used afterwards.
        unsafe { libc::pthread_attr_destroy(attributes) };
        match status {
            0 => Self {
                start: start.addr(),
                end: start.addr().saturating_add(size),
            },
            _ => Self::default(),
        }
    }

    /// Returns how many bytes can be read at a stack pointer; 0 if it is not aligned. Signal
    /// handlers, coroutines and the like may run on another stack, whose bounds are unknown.
    fn room(&self, sp: usize) -> usize {
        if (self.start..self.end).contains(&sp) && sp.is_multiple_of(ALIGNMENT) {
            self.end.saturating_sub(sp)
        } else {
            0
        }
    }
}

/// The capture of a thread's details.
#[derive(Debug)]
pub(crate) struct Capture {
    stack: Stack,
    /// How many bytes of the stack to capture.
    stack_size: usize,
    /// A buffer for a payload, so that a hook need not allocate one.
    payload: [u8; FunctionPayload::SIZE + MOST_STACK],
}

impl Capture {
    /// Creates a capture of up to `stack_size` bytes of the calling thread's stack.
    pub(crate) fn new(stack_size: usize) -> Self {
        Self {
            stack: Stack::current(),
            stack_size: stack_size.min(MOST_STACK),
            payload: [0; FunctionPayload::SIZE + MOST_STACK],
        }
    }

    /// Records an event with its detail.
    // Not inlined, so that hooks without details use less stack. Takes the event by value: a
    // reference would force all hooks' events into memory, and reading one back would have to wait
    // for the stores.
    #[inline(never)]
    pub(crate) fn record(
        &mut self,
        recorder: &mut ThreadRecorder,
        event: Event,
        registers: &Registers,
    ) -> Result<(), Lost> {
        let event_type = event.event_kind.detail_type();
        let payload = self.capture(event.function_id, registers);
        let detail = Detail::new(event_type, payload);
        recorder.record_with_detail(&event, &detail).map(drop)
    }

    fn capture(&mut self, function_id: u64, registers: &Registers) -> &[u8] {
        let size = self.stack.room(registers.sp).min(self.stack_size);
        let payload = FunctionPayload::default()
            .function_id(function_id)
            .x_regs(registers.x)
            .lr(registers.lr as u64)
            .fp(registers.fp)
            .sp(registers.sp as u64);
        // This never fails, because the snapshot is no larger than the format allows.
        let Ok(fixed) = payload.encode_fixed(size) else {
            return &[];
        };
        let whole = FunctionPayload::SIZE.saturating_add(size);
        let payload = self.payload.get_mut(..whole).unwrap_or_default();
        if let Some((head, snapshot)) = payload.split_at_mut_checked(FunctionPayload::SIZE) {
            head.copy_from_slice(&fixed);
            // SAFETY: the bytes from the aligned stack pointer on are part of this thread's stack,
            // which is mapped up to its end. The instrumented function waits for its hook, so
            // nothing writes to the stack.
            unsafe { copy_stack(registers.sp, snapshot) };
        }
        payload
    }
}

/// Copies bytes from an address. Does not call `memcpy`, because `AddressSanitizer`'s ends a
/// program that reads the padding between its variables.
///
/// # Safety
///
/// The address is aligned to [`ALIGNMENT`], this many bytes can be read there, and nothing writes
/// to them.
unsafe fn copy_stack(address: usize, bytes: &mut [u8]) {
    let mut from = ptr::with_exposed_provenance::<u8>(address);
    let (words, rest) = bytes.as_chunks_mut();
    for word in words {
        // SAFETY: guaranteed by the caller, and the address is aligned.
        *word = unsafe { from.cast::<u64>().read_volatile() }.to_ne_bytes();
        from = from.wrapping_add(size_of::<u64>());
    }
    for byte in rest {
        // SAFETY: guaranteed by the caller.
        *byte = unsafe { from.read_volatile() };
        from = from.wrapping_add(1);
    }
}
