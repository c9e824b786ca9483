//! An event of `index.atf`.

use crate::error::Result;
use crate::wire::{EventKind, Field, Record, Wire, in_each, offset};

pub use crate::wire::decoded::IndexEvent;

/// The size of an event in bytes, as a `u64` like file offsets.
pub(super) const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// Returns an event's timestamp, which is at the same offset in both wire versions.
#[inline]
pub(crate) fn timestamp_ns(bytes: &[u8; IndexEvent::SIZE]) -> u64 {
    const OFFSET: usize = offset!(IndexEvent.timestamp_ns);
    let (_, rest) = bytes.split_at(OFFSET);
    rest.first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Returns whether an event's bytes are all zeros: written as zeros, or never stored on the disk.
#[inline]
pub(crate) fn is_zero(bytes: &[u8; IndexEvent::SIZE]) -> bool {
    *bytes == [0; IndexEvent::SIZE]
}

/// Returns the kind of an event. Loads four bytes at once, because the compiler cannot vectorize
/// loads of single bytes.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 32 bits")]
pub(super) fn event_kind(wire: Wire, bytes: &[u8; IndexEvent::SIZE]) -> EventKind {
    const FIELDS: [Field; Wire::COUNT] = in_each(Record::IndexEvent, "event_kind");
    const { assert_in_one_word(&FIELDS) };
    let Field { offset, size, .. } = wire.pick(FIELDS);
    let (words, _) = bytes.as_chunks::<4>();
    let word = words
        .get(offset / 4)
        .map_or(0, |word| u32::from_le_bytes(*word));
    // Shift out the higher bytes, and then the lower ones.
    let above = 8_usize.wrapping_mul(4_usize.wrapping_sub(size).wrapping_sub(offset % 4)) as u32;
    let below = 8_usize.wrapping_mul(4_usize.wrapping_sub(size)) as u32;
    EventKind(word.wrapping_shl(above).wrapping_shr(below))
}

/// Asserts that no field crosses a boundary between aligned four-byte words. Evaluate this at
/// compile time.
#[expect(clippy::arithmetic_side_effects, reason = "evaluated at compile time")]
const fn assert_in_one_word(mut fields: &[Field]) {
    while let [field, rest @ ..] = fields {
        assert!(field.offset % 4 + field.size <= 4);
        fields = rest;
    }
}

/// Returns one more than the event's `detail_seq`, or 0 if the event has no link. Does so without a
/// comparison, which the compiler would not vectorize.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 64 bits")]
pub(super) fn link_end(wire: Wire, bytes: &[u8; IndexEvent::SIZE]) -> u64 {
    const FIELDS: [Field; Wire::COUNT] = in_each(Record::IndexEvent, "detail_seq");
    const { assert_none_is_greatest(&FIELDS, &IndexEvent::DETAIL_SEQ_NONE) };
    let Field { offset, size, .. } = wire.pick(FIELDS);
    let start = offset.wrapping_add(size).wrapping_sub(8);
    // The eight bytes that end where the field ends.
    let word = bytes.get(start..).and_then(<[u8]>::first_chunk);
    let word = word.map_or(0, |word| u64::from_le_bytes(*word));
    let seq = word.wrapping_shr(64_usize.wrapping_sub(size.wrapping_mul(8)) as u32);
    seq.wrapping_add(1) & wire.no_detail_seq()
}

/// Asserts that "none" is the largest value of each field, and that each field ends at least eight
/// bytes into the event. Evaluate this at compile time.
#[expect(clippy::arithmetic_side_effects, reason = "evaluated at compile time")]
const fn assert_none_is_greatest(mut fields: &[Field], mut nones: &[u64]) {
    while let ([field, rest @ ..], [none, more @ ..]) = (fields, nones) {
        assert!(field.offset + field.size >= 8);
        assert!(*none == u64::MAX >> (64 - 8 * field.size));
        (fields, nones) = (rest, more);
    }
}

impl IndexEvent {
    /// Creates an event of thread 0 without a depth or a link.
    #[must_use]
    pub const fn new(timestamp_ns: u64, function_id: u64, event_kind: EventKind) -> Self {
        Self {
            timestamp_ns,
            function_id,
            event_kind,
            ..Self::blank()
        }
    }

    /// Decodes an event. The file's header supplies `wire` and `thread_id`. Any bytes are valid.
    #[must_use]
    #[inline]
    pub fn decode(wire: Wire, thread_id: u32, bytes: &[u8; Self::SIZE]) -> Self {
        Self::from_bytes(wire, thread_id, bytes)
    }

    /// Returns whether the event was decoded from bytes that are all zeros. In an unfinalized file,
    /// such an event may never have reached the disk: see
    /// [`IndexReader::is_hole`](super::IndexReader::is_hole).
    #[must_use]
    #[inline]
    pub fn is_zero(&self) -> bool {
        let decode = |wire| Self::decode(wire, self.thread_id, &[0; Self::SIZE]);
        self.timestamp_ns == 0 && Wire::ALL.iter().any(|wire| *self == decode(*wire))
    }

    /// Returns the wire version whose fields the event has: only version 1 records a depth.
    #[must_use]
    #[inline]
    pub fn wire(&self) -> Wire {
        let has_depth = self.call_depth.is_some();
        let mut wires = Wire::ALL.iter().copied();
        let wire = wires.find(|wire| wire.records_call_depth() == has_depth);
        wire.unwrap_or(Wire::V1)
    }

    /// Encodes the event for this wire version: the inverse of [`decode`](Self::decode). Encodes an
    /// unknown depth as 0. Version 2 has no fields for thread and depth.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) at `detail_seq` if it is not below
    /// the wire version's value for "none", and at `event_kind` if the kind does not fit into
    /// version 2's bits.
    pub fn encode(&self, wire: Wire) -> Result<[u8; Self::SIZE]> {
        self.check_fits(wire)?;
        Ok(self.bytes(wire))
    }

    /// Checks that the wire version has enough bits for the kind. Every known kind fits.
    pub(crate) fn check_kind_fits(wire: Wire, event_kind: EventKind) -> Result<()> {
        Ok(Self::new(0, 0, event_kind).check_fits(wire)?)
    }

    /// Encodes an event whose values fit. If this function returned a `Result`, the bytes would be
    /// stored and loaded in pieces of different sizes, which would cost more than the encoding
    /// itself.
    #[inline]
    pub(crate) fn encode_to(&self, wire: Wire, place: &mut [u8; Self::SIZE]) {
        debug_assert!(
            self.check_fits(wire).is_ok(),
            "{self:?} in wire version {wire:?}"
        );
        *place = self.bytes(wire);
    }
}
