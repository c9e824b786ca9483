//! Offsets and sizes of the fields of each record.

use std::mem::offset_of;

use atf::wire::{self, v1, v2};

/// A field of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Bytes from the start of the record.
    pub(super) offset: usize,
    /// Bytes.
    pub(super) size: usize,
}

/// A record of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    IndexHeader,
    IndexEvent,
    IndexFooter,
    DetailHeader,
    DetailEventHeader,
    FunctionPayload,
    DetailFooter,
}

/// Lists the fields of a struct with their offsets and sizes.
macro_rules! fields {
    ($record:ty: $($field:ident)+) => {{
        const fn size<T>(_: fn(&$record) -> &T) -> usize {
            size_of::<T>()
        }
        const FIELDS: &[Field] = &[$(Field {
            name: stringify!($field),
            offset: offset_of!($record, $field),
            size: size(|record| &record.$field),
        }),+];
        FIELDS
    }};
}

/// Returns the fields of a record in one wire version.
pub(super) fn fields(record: Record, wire: u8) -> &'static [Field] {
    match (record, wire) {
        (Record::IndexHeader, 1) => fields!(v1::IndexHeader: magic endian version arch os flags
            thread_id clock_type _reserved1 _reserved2 event_size event_count events_offset
            footer_offset time_start_ns time_end_ns),
        (Record::IndexHeader, _) => fields!(v2::IndexHeader: magic endian version arch os flags
            thread_id clock_type _reserved1 event_size event_count events_offset footer_offset
            time_start_ns time_end_ns),
        (Record::IndexEvent, 1) => fields!(v1::IndexEvent: timestamp_ns function_id thread_id
            event_kind call_depth detail_seq),
        (Record::IndexEvent, _) => fields!(v2::IndexEvent: timestamp_ns function_id event_kind
            _reserved detail_seq),
        (Record::IndexFooter, _) => fields!(wire::IndexFooter: magic checksum event_count
            time_start_ns time_end_ns bytes_written reserved),
        (Record::DetailHeader, _) => fields!(wire::DetailHeader: magic endian version arch os flags
            thread_id _reserved1 events_offset event_count bytes_length index_seq_start
            index_seq_end _reserved2),
        (Record::DetailEventHeader, 1) => fields!(v1::DetailEventHeader: total_length event_type
            flags index_seq thread_id timestamp),
        (Record::DetailEventHeader, _) => fields!(v2::DetailEventHeader: total_length event_type
            flags index_seq timestamp),
        (Record::FunctionPayload, _) => fields!(wire::DetailFunctionPayload: function_id x_regs lr
            fp sp stack_size _reserved),
        (Record::DetailFooter, _) => fields!(wire::DetailFooter: magic checksum event_count
            bytes_length time_start_ns time_end_ns reserved),
    }
}

/// Returns the field with this name of a record in one wire version.
pub(super) fn field(record: Record, wire: u8, name: &str) -> Option<Field> {
    let mut fields = fields(record, wire).iter();
    fields.find(|field| field.name == name).copied()
}
