//! Compares the macro's structs, and those of the library's generated files, which users may copy, with the hand-typed
//! tables in `samples`.

use std::mem::{align_of, offset_of, size_of, size_of_val};

use atf_samples::layout::{Field, Record, little_endian};
use zerocopy::{FromBytes, IntoBytes};

/// The macro's structs for one wire version.
macro_rules! derive_records {
    ($module:ident, $wire:literal) => {
        pub(crate) mod $module {
            #[atf_derive::record(index_header, wire = $wire)]
            pub(crate) struct IndexHeader;
            #[atf_derive::record(index_event, wire = $wire)]
            pub(crate) struct IndexEvent;
            #[atf_derive::record(index_footer, wire = $wire)]
            pub(crate) struct IndexFooter;
            #[atf_derive::record(detail_header, wire = $wire)]
            pub(crate) struct DetailHeader;
            #[atf_derive::record(detail_event_header, wire = $wire)]
            pub(crate) struct DetailEventHeader;
            #[atf_derive::record(detail_function_payload, wire = $wire)]
            pub(crate) struct DetailFunctionPayload;
            #[atf_derive::record(detail_footer, wire = $wire)]
            pub(crate) struct DetailFooter;
        }
    };
}

mod derived {
    derive_records!(v1, 1);
    derive_records!(v2, 2);
}

#[allow(dead_code, unreachable_pub, reason = "the tests use a part")]
#[path = "../../atf/src/wire/generated/v1.rs"]
#[rustfmt::skip]
mod copied_v1;
#[allow(dead_code, unreachable_pub, reason = "the tests use a part")]
#[path = "../../atf/src/wire/generated/v2.rs"]
#[rustfmt::skip]
mod copied_v2;

mod copied {
    pub(crate) use super::{copied_v1 as v1, copied_v2 as v2};
}

/// Views bytes through both structs, at an odd address, and compares each field's offset, its size and its value with the
/// table. Every byte differs from its neighbours, to reveal a wrong offset or byte order.
macro_rules! assert_record {
    ($wire:literal, $module:ident::$record:ident, $($field:ident)*; $($array:ident)*) => {
        assert_record!(@view $wire, $record, derived::$module::$record, $($field)*; $($array)*);
        assert_record!(@view $wire, $record, copied::$module::$record, $($field)*; $($array)*);
    };
    (@view $wire:literal, $name:ident, $record:ty, $($field:ident)*; $($array:ident)*) => {{
        let typed = Record::$name;
        let bytes: Vec<u8> = (0x7f..=0xff_u8).cycle().take(1 + typed.size()).collect();
        let record = <$record>::ref_from_bytes(&bytes[1..]).expect("bytes of the record's size");
        let place = |name: &str, offset: usize, size: usize| {
            let field = typed.fields($wire).iter().find(|field| field.name == name).expect("a field");
            assert_eq!((offset, size), (field.offset, field.size), "{name}");
            &bytes[1 + offset..1 + offset + size]
        };
        $(
            let place_of = place(stringify!($field), offset_of!($record, $field), size_of_val(&record.$field));
            assert_eq!(u64::from(record.$field), little_endian(place_of), "{}", stringify!($field));
        )*
        $(
            let place_of = place(stringify!($array), offset_of!($record, $array), size_of_val(&record.$array));
            assert_eq!(record.$array.as_bytes(), place_of, "{}", stringify!($array));
        )*
        let names = [$(stringify!($field),)* $(stringify!($array),)*];
        let has_meaning = |field: &&Field| !field.name.starts_with('_');
        assert_eq!(names.len(), typed.fields($wire).iter().filter(has_meaning).count());
        assert_eq!(size_of::<$record>(), typed.size());
        assert_eq!(<$record>::SIZE, typed.size());
        assert_eq!(align_of::<$record>(), 1);
        assert_eq!(record.as_bytes(), &bytes[1..]);
    }};
}

/// Compares a record that is the same in both wire versions.
macro_rules! assert_both {
    ($record:ident, $($fields:tt)*) => {
        assert_record!(1, v1::$record, $($fields)*);
        assert_record!(2, v2::$record, $($fields)*);
    };
}

#[test]
fn every_struct_has_the_fields_of_the_hand_typed_tables() {
    assert_both!(IndexHeader, endian version arch os flags thread_id clock_type event_size event_count
        events_offset footer_offset time_start_ns time_end_ns; magic);
    assert_record!(1, v1::IndexEvent, timestamp_ns function_id thread_id event_kind call_depth detail_seq;);
    assert_record!(2, v2::IndexEvent, timestamp_ns function_id detail_seq event_kind;);
    assert_both!(IndexFooter, checksum event_count time_start_ns time_end_ns bytes_written; magic reserved);
    assert_both!(DetailHeader, endian version arch os flags thread_id events_offset event_count bytes_length
        index_seq_start index_seq_end; magic);
    assert_record!(1, v1::DetailEventHeader, total_length event_type flags index_seq thread_id timestamp;);
    assert_record!(2, v2::DetailEventHeader, total_length event_type flags index_seq timestamp;);
    assert_both!(DetailFunctionPayload, function_id lr fp sp stack_size; x_regs);
    assert_both!(DetailFooter, checksum event_count bytes_length time_start_ns time_end_ns; magic reserved);
}
