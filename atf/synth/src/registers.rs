//! Registers and part of the stack, as a tracer for arm64 would capture them.

use atf::DetailEventType;
use atf::detail::FunctionPayload;
use atf::write::Event;

use crate::random::Random;

/// The top of thread 0's stack; the other threads' stacks are below it.
const STACK_TOP: u64 = 0x7FFF_F000_0000;
const STACK_SPACING: u64 = 0x80_0000;
const FRAME_SIZE: u64 = 96;
const HEAP: u64 = 0x5600_0000_0000;
/// The longest snapshot that the format allows, in bytes.
const LONGEST_STACK: u32 = 256;
/// The alignment of stacks in bytes.
const ALIGNMENT: u32 = 16;

/// The contents of a detail event. The payload is generated on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// [`DetailEventType::FUNCTION_CALL`] for a call, otherwise
    /// [`DetailEventType::FUNCTION_RETURN`], because there is no type for exceptions.
    pub event_type: DetailEventType,
    function_id: u64,
    lr: u64,
    sp: u64,
    seed: u64,
}

impl Registers {
    /// Generates the registers at an event; `caller` is the address of the calling code.
    pub(crate) fn new(event: &Event, thread: u32, caller: Option<u64>, seed: u64) -> Self {
        let event_type = event.event_kind.detail_type();
        let top = STACK_TOP - u64::from(thread) * STACK_SPACING;
        Self {
            event_type,
            function_id: event.function_id,
            // The return address is after the caller's first instruction.
            lr: caller.map_or(0, |caller| caller + 4 * (1 + seed % 15)),
            sp: top - u64::from(event.call_depth) * FRAME_SIZE,
            seed,
        }
    }

    /// Replaces the contents of `buffer` with the payload: 100 bytes, followed by 0 to 256 bytes of
    /// the stack.
    #[expect(clippy::missing_panics_doc, reason = "the stack is short enough")]
    pub fn write_payload(&self, buffer: &mut Vec<u8>) {
        let mut random = Random::new(self.seed, 0);
        let stack_size = ALIGNMENT * random.below(LONGEST_STACK / ALIGNMENT + 1);
        let payload = FunctionPayload::default()
            .function_id(self.function_id)
            .x_regs(std::array::from_fn(|_| self.value(&mut random)))
            .lr(self.lr)
            .fp(self.sp + u64::from(ALIGNMENT))
            .sp(self.sp)
            .encode_fixed(stack_size as usize)
            .expect("a stack of at most 256 bytes");
        buffer.clear();
        buffer.extend_from_slice(&payload);
        for _ in 0..stack_size / 8 {
            buffer.extend_from_slice(&self.value(&mut random).to_le_bytes());
        }
    }

    /// Returns a pointer to the heap or the stack, a small number, a hash, or 0.
    fn value(&self, random: &mut Random) -> u64 {
        let bits = random.next();
        match bits >> 61 {
            0 | 1 => HEAP + (bits & 0xFF_FFF0),
            2 => self.sp + (bits & 0xFF8),
            3 => self.lr,
            4 => 0,
            5 => bits,
            _ => bits & 0xFFF,
        }
    }
}
