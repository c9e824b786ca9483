//! The records exactly as they are in the files, and their fields in each wire version.
//!
//! The folder `generated` is generated from the resolved layout; [`Field`] and its functions are
//! written by hand. [`Record::fields`] lists the fields of a record. Most callers do not need it,
//! because the readers decode each record into one type for all wire versions, for example
//! [`IndexHeader`](crate::index::IndexHeader). For packed structs, use the crate `atf-derive`.

use std::fmt;

// Do not format generated code; its generator does.
#[rustfmt::skip]
pub(crate) mod generated;

#[doc(hidden)]
pub use generated::Record;
pub(crate) use generated::*;
/// These structs have the same layout in every wire version.
pub(crate) use v1::{DetailFunctionPayload, RingHeader};

/// A number that does not fit its field in a wire version.
pub(crate) struct OutOfRange {
    /// The field's path.
    pub(crate) field: &'static str,
    pub(crate) found: u64,
    pub(crate) max: u64,
}

/// A field of a record in one wire version.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The field's name in the spec.
    pub name: &'static str,
    /// The offset in bytes from the start of the record.
    pub offset: usize,
    /// The size in bytes.
    pub size: usize,
    /// Whether the field is reserved: written as 0, and ignored when read.
    pub is_reserved: bool,
}

impl Field {
    /// Returns the field's bytes in a record, or no bytes if the record is too short.
    #[must_use]
    pub fn bytes<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        let rest = record.get(self.offset..).unwrap_or_default();
        rest.get(..self.size).unwrap_or_default()
    }

    /// Returns the field's value in a record, as a number. The field must have at most 8 bytes.
    #[must_use]
    pub fn number(&self, record: &[u8]) -> u64 {
        let bytes = self.bytes(record).iter().rev();
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

impl Record {
    /// Returns the field with this name in a wire version, if it has one.
    #[must_use]
    pub const fn field(self, wire: Wire, name: &str) -> Option<Field> {
        let mut fields = self.fields(wire);
        while let [field, rest @ ..] = fields {
            if is_same(field.name.as_bytes(), name.as_bytes()) {
                return Some(*field);
            }
            fields = rest;
        }
        None
    }

    /// Returns the reserved fields that are not 0.
    pub(crate) fn nonzero_reserved(
        self,
        wire: Wire,
        record: &[u8],
    ) -> impl Iterator<Item = &'static Field> {
        let reserved = self.fields(wire).iter().filter(|field| field.is_reserved);
        reserved.filter(move |field| field.bytes(record).iter().any(|byte| *byte != 0))
    }
}

/// The effect of an event on the open calls of its thread, as the spec defines it for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// The event opens a call.
    Opens,
    /// The event ends a call that returned.
    Returns,
    /// The event ends a call that an exception left.
    Throws,
    /// The event neither opens nor ends a call.
    None,
}

impl CallEffect {
    /// Returns whether the event ends a call.
    pub(crate) const fn ends_call(self) -> bool {
        matches!(self, Self::Returns | Self::Throws)
    }
}

impl EventKind {
    /// Returns whether an event of this kind opens a call.
    #[must_use]
    pub const fn opens_call(self) -> bool {
        matches!(self.effect(), CallEffect::Opens)
    }

    /// Returns the type of the details that writers add to events of this kind:
    /// [`DetailEventType::FUNCTION_CALL`] if the event opens a call, otherwise
    /// [`DetailEventType::FUNCTION_RETURN`]. Exceptions have no separate type.
    #[must_use]
    pub const fn detail_type(self) -> DetailEventType {
        if self.opens_call() {
            DetailEventType::FUNCTION_CALL
        } else {
            DetailEventType::FUNCTION_RETURN
        }
    }
}

const fn is_same(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}

/// Returns a field's layout in each wire version.
///
/// # Panics
///
/// Panics if a version lacks the field, so this must be evaluated at compile time.
#[expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time"
)]
pub(crate) const fn in_each(record: Record, name: &str) -> [Field; Wire::COUNT] {
    let blank = Field {
        name: "",
        offset: 0,
        size: 0,
        is_reserved: false,
    };
    let mut fields = [blank; Wire::COUNT];
    let mut index = 0;
    while index < fields.len() {
        match record.field(Wire::ALL[index], name) {
            Some(field) => fields[index] = field,
            None => panic!("a wire version lacks the field"),
        }
        index += 1;
    }
    fields
}

/// Returns for each wire version whether it has a field. Must be evaluated at compile time.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time"
)]
const fn is_in_each(record: Record, name: &str) -> [bool; Wire::COUNT] {
    let mut is_in = [false; Wire::COUNT];
    let mut index = 0;
    while index < is_in.len() {
        is_in[index] = record.field(Wire::ALL[index], name).is_some();
        index += 1;
    }
    is_in
}

/// Returns a field's offset if it is the same in every wire version.
///
/// # Panics
///
/// Panics if the offsets differ, so this must be evaluated at compile time.
pub(crate) const fn common_offset(record: Record, name: &str) -> usize {
    let [first, others @ ..] = in_each(record, name);
    let mut others: &[Field] = &others;
    while let [field, rest @ ..] = others {
        assert!(
            field.offset == first.offset,
            "the field's offset differs between wire versions"
        );
        others = rest;
    }
    first.offset
}

/// Asserts that a record has the same layout in every wire version. Must be evaluated at compile
/// time.
///
/// There are no gaps between fields, so if the offsets and the number of fields are equal, the
/// layouts are equal.
const fn assert_common(record: Record) {
    let mut fields = record.fields(Wire::V1);
    let mut wires = Wire::ALL;
    while let [wire, rest @ ..] = wires {
        assert!(record.fields(*wire).len() == fields.len());
        wires = rest;
    }
    while let [field, rest @ ..] = fields {
        common_offset(record, field.name);
        fields = rest;
    }
}

/// The offset of a field in its record, in one wire version or, if all agree, in all of them.
macro_rules! offset {
    ($record:ident . $field:ident) => {
        const { $crate::wire::common_offset($crate::wire::Record::$record, stringify!($field)) }
    };
    ($wire:expr, $record:ident . $field:ident) => {
        $wire
            .pick(
                const { $crate::wire::in_each($crate::wire::Record::$record, stringify!($field)) },
            )
            .offset
    };
}
pub(crate) use offset;

/// The size of a header in bytes, the same for both files and wire versions.
pub(crate) const HEADER_SIZE: usize = Record::DetailHeader.size();

/// The `endian` byte of every header: little-endian.
pub(crate) const ENDIAN: u8 = decoded::IndexHeader::ENDIAN;

impl Wire {
    /// Returns the `detail_seq` of an index event without a detail: `ATF_NO_DETAIL_SEQ`.
    pub(crate) const fn no_detail_seq(self) -> u64 {
        self.pick(decoded::IndexEvent::DETAIL_SEQ_NONE)
    }

    /// Returns the maximum number of events that an index header can count.
    pub(crate) const fn most_events(self) -> u64 {
        match self
            .pick(const { in_each(Record::IndexHeader, "event_count") })
            .size
        {
            4 => u32::MAX as u64,
            _ => u64::MAX,
        }
    }

    /// Returns whether events record the thread id, which is also in the header.
    #[must_use]
    pub const fn records_thread_id(self) -> bool {
        self.pick(const { is_in_each(Record::IndexEvent, "thread_id") })
    }

    /// Returns whether events record their call depth.
    #[must_use]
    pub const fn records_call_depth(self) -> bool {
        self.pick(const { is_in_each(Record::IndexEvent, "call_depth") })
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wire version {}", self.version())
    }
}

/// Facts that readers and writers rely on in every wire version.
const _: () = {
    // A reader needs these fields before it has determined the wire version.
    assert!(offset!(IndexHeader.magic) == 0);
    assert!(offset!(IndexHeader.endian) == 4);
    assert!(offset!(IndexHeader.version) == 5);
    assert!(offset!(IndexHeader.magic) == offset!(DetailHeader.magic));
    assert!(offset!(IndexHeader.endian) == offset!(DetailHeader.endian));
    assert!(offset!(IndexHeader.version) == offset!(DetailHeader.version));
    assert!(offset!(IndexHeader.magic) == offset!(RingHeader.magic));
    assert!(offset!(IndexHeader.endian) == offset!(RingHeader.endian));
    assert!(offset!(IndexHeader.version) == offset!(RingHeader.version));
    // The same code searches for footers in both files.
    assert!(offset!(IndexFooter.magic) == offset!(DetailFooter.magic));
    assert!(Record::IndexFooter.size() == Record::DetailFooter.size());
    assert!(Record::IndexHeader.size() == HEADER_SIZE);
    assert_common(Record::DetailFunctionPayload);
    assert_common(Record::RingHeader);
    assert!(decoded::DetailHeader::ENDIAN == ENDIAN && RingHeader::ENDIAN == ENDIAN);
};
