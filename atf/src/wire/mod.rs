//! The records exactly as in the files: packed structs of little-endian integers.
//!
//! The structs are generated from the layout that the spec resolves; offsets and sizes are asserted
//! at compile time. [`v1`] and [`v2`] hold what differs between the two wire versions, this module
//! what they share. Most callers do not need them: the readers decode each record into one type for
//! both versions, for example [`IndexHeader`](crate::index::IndexHeader).

use std::fmt;

pub mod v1;
pub mod v2;

/// The footer of `index.atf`, the same in both wire versions.
#[atf_derive::record(index_footer, wire = 1)]
pub struct IndexFooter;

/// The header of `detail.atf`. Both wire versions lay it out alike and differ only in the value of
/// `version`, so [`VERSION`](Self::VERSION) is that of version 1.
#[atf_derive::record(detail_header, wire = 1)]
pub struct DetailHeader;

/// The payload that follows the header of a detail event for a call or a return, the same in both
/// wire versions.
#[atf_derive::record(detail_function_payload, wire = 1)]
pub struct DetailFunctionPayload;

/// The footer of `detail.atf`, the same in both wire versions.
#[atf_derive::record(detail_footer, wire = 1)]
pub struct DetailFooter;

/// The header of `ring.atf`, the same in both wire versions. It begins the buffers that survive
/// SIGKILL.
#[atf_derive::record(ring_header, wire = 1)]
pub struct RingHeader;

/// The processor architecture of the traced program.
#[atf_derive::open_enum(arch)]
pub struct Arch;

/// The operating system of the traced program.
#[atf_derive::open_enum(os)]
pub struct Os;

/// The clock of the timestamps.
#[atf_derive::open_enum(clock)]
pub struct Clock;

/// The kind of an index event.
#[atf_derive::open_enum(event_kind)]
pub struct EventKind;

/// The kind of a detail event.
#[atf_derive::open_enum(detail_event)]
pub struct DetailEventType;

/// The flags of an index header.
#[atf_derive::open_enum(index_flag)]
pub struct IndexFlags;

/// A wire version: one of the two incompatible layouts.
///
/// The header's `version` byte distinguishes them. S0, S1, S3 and S4 describe version 1, which
/// tracers in the field write; S2 describes version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Wire {
    /// Version 1.
    V1,
    /// Version 2.
    V2,
}

impl Wire {
    /// Both wire versions in ascending order.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];

    /// Returns the wire version whose headers have this `version` byte.
    #[must_use]
    pub const fn from_version(version: u8) -> Option<Self> {
        match version {
            v1::IndexHeader::VERSION => Some(Self::V1),
            v2::IndexHeader::VERSION => Some(Self::V2),
            _ => None,
        }
    }

    /// Returns the header's `version` byte.
    #[must_use]
    pub const fn version(self) -> u8 {
        match self {
            Self::V1 => v1::IndexHeader::VERSION,
            Self::V2 => v2::IndexHeader::VERSION,
        }
    }
}

/// The magic bytes of `index.atf` in every wire version.
pub const INDEX_MAGIC: [u8; 4] = v1::IndexHeader::MAGIC;

/// Bytes per index event, as headers state them, in every wire version.
pub const INDEX_EVENT_SIZE: u32 = v1::IndexHeader::EVENT_SIZE;

impl Wire {
    /// Returns the `detail_seq` of an index event without a detail: `ATF_NO_DETAIL_SEQ`.
    #[must_use]
    pub const fn no_detail_seq(self) -> u64 {
        match self {
            Self::V1 => v1::IndexEvent::DETAIL_SEQ_NONE as u64,
            Self::V2 => v2::IndexEvent::DETAIL_SEQ_NONE,
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wire version {}", self.version())
    }
}

/// The offset of a field in its record in one wire version.
macro_rules! offset {
    ($wire:expr, $record:ident . $field:ident) => {
        match $wire {
            $crate::wire::Wire::V1 => ::core::mem::offset_of!($crate::wire::v1::$record, $field),
            $crate::wire::Wire::V2 => ::core::mem::offset_of!($crate::wire::v2::$record, $field),
        }
    };
}
pub(crate) use offset;

/// The fields at the start of both headers, which a reader must know before anything else.
const _: () = {
    use core::mem::offset_of;
    assert!(u32::from_le_bytes(INDEX_MAGIC) == u32::from_le_bytes(v2::IndexHeader::MAGIC));
    assert!(INDEX_EVENT_SIZE == v2::IndexHeader::EVENT_SIZE);
    assert!(offset_of!(v1::IndexHeader, magic) == offset_of!(DetailHeader, magic));
    assert!(offset_of!(v1::IndexHeader, endian) == offset_of!(DetailHeader, endian));
    assert!(offset_of!(v1::IndexHeader, version) == offset_of!(DetailHeader, version));
    assert!(offset_of!(v1::IndexHeader, version) == offset_of!(v2::IndexHeader, version));
};
