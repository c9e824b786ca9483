//! The records as they stand in the files: packed structs of little-endian integers.
//!
//! The structs come from the layout that the spec resolves; their offsets and sizes are asserted
//! when they compile. [`v1`] and [`v2`] hold what differs between the two wire versions, this
//! module what does not. Few need them: the readers decode each record into one type for both
//! versions, for example [`IndexHeader`](crate::index::IndexHeader).

use std::fmt;

pub mod v1;
pub mod v2;

/// The footer of `index.atf`, the same in both wire versions.
#[atf_derive::record(index_footer, wire = 1)]
pub struct IndexFooter;

/// The header of `detail.atf`: both wire versions lay it out alike and differ in the value of
/// `version` only, so [`VERSION`](Self::VERSION) is that of version 1.
#[atf_derive::record(detail_header, wire = 1)]
pub struct DetailHeader;

/// What follows the header of a detail event that describes a call or a return, the same in both
/// wire versions.
#[atf_derive::record(detail_function_payload, wire = 1)]
pub struct DetailFunctionPayload;

/// The footer of `detail.atf`, the same in both wire versions.
#[atf_derive::record(detail_footer, wire = 1)]
pub struct DetailFooter;

/// The header of `ring.atf`, the same in both wire versions; it opens the buffers that survive
/// SIGKILL.
#[atf_derive::record(ring_header, wire = 1)]
pub struct RingHeader;

/// The processor that the trace was taken on.
#[atf_derive::open_enum(arch)]
pub struct Arch;

/// The operating system that the trace was taken on.
#[atf_derive::open_enum(os)]
pub struct Os;

/// The clock that the timestamps were read from.
#[atf_derive::open_enum(clock)]
pub struct Clock;

/// What an index event records.
#[atf_derive::open_enum(event_kind)]
pub struct EventKind;

/// What a detail event records.
#[atf_derive::open_enum(detail_event)]
pub struct DetailEventType;

/// The flags of an index header.
#[atf_derive::open_enum(index_flag)]
pub struct IndexFlags;

/// A wire version: which of the two incompatible layouts a file has.
///
/// The header's `version` byte tells them apart. Version 1 is what S0, S1, S3 and S4 describe and
/// tracers in the field write; version 2 is what S2 describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wire {
    /// Version 1.
    V1,
    /// Version 2.
    V2,
}

impl Wire {
    /// Both wire versions, ascending.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];

    /// The wire version whose header has this `version` byte.
    #[must_use]
    pub const fn from_version(version: u8) -> Option<Self> {
        match version {
            v1::IndexHeader::VERSION => Some(Self::V1),
            v2::IndexHeader::VERSION => Some(Self::V2),
            _ => None,
        }
    }

    /// The header's `version` byte.
    #[must_use]
    pub const fn version(self) -> u8 {
        match self {
            Self::V1 => v1::IndexHeader::VERSION,
            Self::V2 => v2::IndexHeader::VERSION,
        }
    }
}

/// What `index.atf` begins with, in every wire version.
pub const INDEX_MAGIC: [u8; 4] = v1::IndexHeader::MAGIC;

/// Bytes of an index event, as headers state them, in every wire version.
pub const INDEX_EVENT_SIZE: u32 = v1::IndexHeader::EVENT_SIZE;

impl Wire {
    /// The `detail_seq` of an index event without a detail: `ATF_NO_DETAIL_SEQ`.
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

/// What both headers begin with and a reader must know before anything else.
const _: () = {
    use core::mem::offset_of;
    assert!(u32::from_le_bytes(INDEX_MAGIC) == u32::from_le_bytes(v2::IndexHeader::MAGIC));
    assert!(INDEX_EVENT_SIZE == v2::IndexHeader::EVENT_SIZE);
    assert!(offset_of!(v1::IndexHeader, magic) == offset_of!(DetailHeader, magic));
    assert!(offset_of!(v1::IndexHeader, endian) == offset_of!(DetailHeader, endian));
    assert!(offset_of!(v1::IndexHeader, version) == offset_of!(DetailHeader, version));
    assert!(offset_of!(v1::IndexHeader, version) == offset_of!(v2::IndexHeader, version));
};
