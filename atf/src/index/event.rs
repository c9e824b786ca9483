//! An event of `index.atf`.

use std::mem::offset_of;

use crate::error::{Result, out_of_range};
use crate::setters::setters;
use crate::wire::{EventKind, Wire, v1, v2};

/// Bytes of an event, as a file offset.
pub(super) const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// An event begins with its timestamp in both wire versions.
const _: () =
    assert!(offset_of!(v1::IndexEvent, timestamp_ns) == offset_of!(v2::IndexEvent, timestamp_ns));

/// Returns the timestamp of an event of either wire version.
#[inline]
pub(super) fn timestamp_ns(bytes: &[u8; IndexEvent::SIZE]) -> u64 {
    let raw: &v1::IndexEvent = zerocopy::transmute_ref!(bytes);
    raw.timestamp_ns.get()
}

/// Returns the kind of an event.
#[inline]
pub(super) fn event_kind(wire: Wire, bytes: &[u8; IndexEvent::SIZE]) -> EventKind {
    match wire {
        Wire::V1 => {
            let raw: &v1::IndexEvent = zerocopy::transmute_ref!(bytes);
            raw.event_kind.get().into()
        }
        Wire::V2 => {
            let raw: &v2::IndexEvent = zerocopy::transmute_ref!(bytes);
            raw.event_kind.into()
        }
    }
}

/// Returns one more than the event's `detail_seq`, or 0 if it has no link.
#[inline]
pub(super) fn link_end(wire: Wire, bytes: &[u8; IndexEvent::SIZE]) -> u64 {
    const _: () = assert!(v1::IndexEvent::DETAIL_SEQ_NONE == u32::MAX);
    const _: () = assert!(v2::IndexEvent::DETAIL_SEQ_NONE == u64::MAX);
    match wire {
        Wire::V1 => {
            let raw: &v1::IndexEvent = zerocopy::transmute_ref!(bytes);
            raw.detail_seq.get().wrapping_add(1).into()
        }
        Wire::V2 => {
            let raw: &v2::IndexEvent = zerocopy::transmute_ref!(bytes);
            raw.detail_seq.get().wrapping_add(1)
        }
    }
}

/// One event of `index.atf`, from either wire version.
///
/// Its position in the file is its `index_seq`, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEvent {
    /// The timestamp, in nanoseconds of the header's clock.
    pub timestamp_ns: u64,
    /// The function: module in the upper 32 bits, symbol in the lower; both are opaque.
    pub function_id: u64,
    /// The thread. Wire version 2 does not record it; its events have the header's.
    pub thread_id: u32,
    /// The kind; unknown kinds are kept.
    pub event_kind: EventKind,
    /// The depth of the call stack as the tracer counted it; `None` in wire version 2, which does
    /// not record it. Tracers in the field start at 1 and repeat a call's depth at its return.
    pub call_depth: Option<u32>,
    /// The position of its event in `detail.atf`, counted from 0; `None` if it has none.
    pub detail_seq: Option<u64>,
}

impl IndexEvent {
    /// Creates an event of thread 0, without depth or link.
    #[must_use]
    pub const fn new(timestamp_ns: u64, function_id: u64, event_kind: EventKind) -> Self {
        Self {
            timestamp_ns,
            function_id,
            thread_id: 0,
            event_kind,
            call_depth: None,
            detail_seq: None,
        }
    }
}

setters!(IndexEvent {
    timestamp_ns: u64,
    function_id: u64,
    thread_id: u32,
    event_kind: EventKind,
    call_depth: Option<u32>,
    detail_seq: Option<u64>,
});

impl IndexEvent {
    /// Its size in bytes, in either wire version.
    pub const SIZE: usize = v1::IndexEvent::SIZE;

    /// Decodes an event of a file whose header has this wire version and thread. Any bytes are a
    /// valid event.
    #[must_use]
    #[inline]
    pub fn decode(wire: Wire, thread_id: u32, bytes: &[u8; Self::SIZE]) -> Self {
        match wire {
            Wire::V1 => Self::from_v1(&zerocopy::transmute!(*bytes)),
            Wire::V2 => Self::from_v2(&zerocopy::transmute!(*bytes), thread_id),
        }
    }

    /// Encodes the event for this wire version: the inverse of [`decode`](Self::decode). Version 1
    /// writes an unknown depth as 0; version 2 has no fields for thread and depth.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) at `detail_seq` if it is not below
    /// the wire version's "none", and at `event_kind` if it does not fit into version 2's bits.
    pub fn encode(&self, wire: Wire) -> Result<[u8; Self::SIZE]> {
        self.check_fits(wire)?;
        let mut bytes = [0; Self::SIZE];
        self.encode_to(wire, &mut bytes);
        Ok(bytes)
    }

    fn check_fits(&self, wire: Wire) -> Result<()> {
        let none = wire.no_detail_seq();
        match self.detail_seq {
            Some(seq) if seq >= none => {
                Err(out_of_range("detail_seq", seq, none.saturating_sub(1)))
            }
            _ => Self::check_kind_fits(wire, self.event_kind),
        }
    }

    /// Checks that the wire version has enough bits for the kind. Every known kind fits.
    pub(crate) fn check_kind_fits(wire: Wire, event_kind: EventKind) -> Result<()> {
        let most = match wire {
            Wire::V1 => u32::MAX,
            Wire::V2 => u8::MAX.into(),
        };
        let event_kind = u32::from(event_kind);
        if event_kind <= most {
            Ok(())
        } else {
            Err(out_of_range("event_kind", event_kind.into(), most.into()))
        }
    }

    /// Encodes an event whose values fit. A `Result` would store the bytes in pieces and load them
    /// in others, which costs more than the encoding itself.
    #[inline]
    pub(crate) fn encode_to(&self, wire: Wire, place: &mut [u8; Self::SIZE]) {
        debug_assert!(
            self.check_fits(wire).is_ok(),
            "{self:?} in wire version {wire:?}"
        );
        match wire {
            Wire::V1 => *place = zerocopy::transmute!(self.to_v1()),
            Wire::V2 => *place = zerocopy::transmute!(self.to_v2()),
        }
    }

    #[inline]
    fn to_v1(self) -> v1::IndexEvent {
        const NONE: u32 = v1::IndexEvent::DETAIL_SEQ_NONE;
        let link = |seq| u32::try_from(seq).unwrap_or(NONE);
        v1::IndexEvent {
            timestamp_ns: self.timestamp_ns.into(),
            function_id: self.function_id.into(),
            thread_id: self.thread_id.into(),
            event_kind: u32::from(self.event_kind).into(),
            call_depth: self.call_depth.unwrap_or(0).into(),
            detail_seq: self.detail_seq.map_or(NONE, link).into(),
        }
    }

    #[inline]
    fn to_v2(self) -> v2::IndexEvent {
        const NONE: u64 = v2::IndexEvent::DETAIL_SEQ_NONE;
        v2::IndexEvent {
            timestamp_ns: self.timestamp_ns.into(),
            function_id: self.function_id.into(),
            detail_seq: self.detail_seq.unwrap_or(NONE).into(),
            event_kind: u8::try_from(u32::from(self.event_kind)).unwrap_or(u8::MAX),
            _reserved: [0; 7],
        }
    }

    #[inline]
    fn from_v1(raw: &v1::IndexEvent) -> Self {
        let detail_seq = raw.detail_seq.get();
        Self {
            timestamp_ns: raw.timestamp_ns.get(),
            function_id: raw.function_id.get(),
            thread_id: raw.thread_id.get(),
            event_kind: raw.event_kind.get().into(),
            call_depth: Some(raw.call_depth.get()),
            detail_seq: (detail_seq != v1::IndexEvent::DETAIL_SEQ_NONE).then(|| detail_seq.into()),
        }
    }

    #[inline]
    fn from_v2(raw: &v2::IndexEvent, thread_id: u32) -> Self {
        let detail_seq = raw.detail_seq.get();
        Self {
            timestamp_ns: raw.timestamp_ns.get(),
            function_id: raw.function_id.get(),
            thread_id,
            event_kind: raw.event_kind.into(),
            call_depth: None,
            detail_seq: (detail_seq != v2::IndexEvent::DETAIL_SEQ_NONE).then_some(detail_seq),
        }
    }
}
