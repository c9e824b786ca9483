//! Views hand-typed bytes through the macro's structs and through the library's structs, which are
//! generated as files.
//!
//! Bytes and values come from the tables in the source documents, never from the layout: S1 for
//! wire version 1, S2 for wire version 2. Every byte of a number differs from its neighbours, to
//! reveal a wrong offset or byte order.

use std::mem::{align_of, offset_of, size_of};

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

/// Views the bytes through both structs, at an odd address, and compares each field's offset and
/// value, the size, the alignment and the bytes written back.
macro_rules! assert_record {
    ($wire:ident::$record:ident, $hex:expr, $($field:ident @ $offset:literal = $value:expr;)*) => {
        assert_record!(@view derived::$wire::$record, $hex, $($field @ $offset = $value;)*);
        assert_record!(@view atf::wire::$wire::$record, $hex, $($field @ $offset = $value;)*);
    };
    (@view $record:ty, $hex:expr, $($field:ident @ $offset:literal = $value:expr;)*) => {{
        let bytes = hex($hex);
        let record = <$record>::ref_from_bytes(&bytes[1..]).expect("bytes of the record's size");
        $(
            assert_eq!(offset_of!($record, $field), $offset, "offset of {}", stringify!($field));
            assert_eq!(record.$field, $value, "{}", stringify!($field));
        )*
        assert_eq!(size_of::<$record>(), bytes.len() - 1);
        assert_eq!(<$record>::SIZE, bytes.len() - 1);
        assert_eq!(align_of::<$record>(), 1);
        assert_eq!(record.as_bytes(), &bytes[1..]);
    }};
}

/// Returns the bytes of a hex dump after one byte of padding, which makes their address odd.
fn hex(text: &str) -> Vec<u8> {
    let bytes = text.split_whitespace();
    let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).expect("two hex digits"));
    std::iter::once(0xff).chain(bytes).collect()
}

#[test]
fn index_header() {
    assert_record!(v1::IndexHeader,
        "41 54 49 32 01 01 02 04 11 12 13 14 21 22 23 24
         03 00 00 00 00 00 00 00 20 00 00 00 31 32 33 34
         41 42 43 44 45 46 47 48 51 52 53 54 55 56 57 58
         61 62 63 64 65 66 67 68 71 72 73 74 75 76 77 78",
        magic @ 0 = *b"ATI2";
        endian @ 4 = 1;
        version @ 5 = 1;
        arch @ 6 = 2;
        os @ 7 = 4;
        flags @ 8 = 0x1413_1211_u32;
        thread_id @ 12 = 0x2423_2221_u32;
        clock_type @ 16 = 3;
        event_size @ 24 = 32_u32;
        event_count @ 28 = 0x3433_3231_u32;
        events_offset @ 32 = 0x4847_4645_4443_4241_u64;
        footer_offset @ 40 = 0x5857_5655_5453_5251_u64;
        time_start_ns @ 48 = 0x6867_6665_6463_6261_u64;
        time_end_ns @ 56 = 0x7877_7675_7473_7271_u64;
    );
    assert_record!(v2::IndexHeader,
        "41 54 49 32 01 02 01 05 11 12 13 14 21 22 23 24
         02 00 00 00 20 00 00 00 31 32 33 34 35 36 37 38
         41 42 43 44 45 46 47 48 51 52 53 54 55 56 57 58
         61 62 63 64 65 66 67 68 71 72 73 74 75 76 77 78",
        magic @ 0 = *b"ATI2";
        endian @ 4 = 1;
        version @ 5 = 2;
        arch @ 6 = 1;
        os @ 7 = 5;
        flags @ 8 = 0x1413_1211_u32;
        thread_id @ 12 = 0x2423_2221_u32;
        clock_type @ 16 = 2;
        event_size @ 20 = 32_u32;
        event_count @ 24 = 0x3837_3635_3433_3231_u64;
        events_offset @ 32 = 0x4847_4645_4443_4241_u64;
        footer_offset @ 40 = 0x5857_5655_5453_5251_u64;
        time_start_ns @ 48 = 0x6867_6665_6463_6261_u64;
        time_end_ns @ 56 = 0x7877_7675_7473_7271_u64;
    );
}

#[test]
fn index_event() {
    assert_record!(v1::IndexEvent,
        "11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28
         31 32 33 34 02 00 00 00 41 42 43 44 51 52 53 54",
        timestamp_ns @ 0 = 0x1817_1615_1413_1211_u64;
        function_id @ 8 = 0x2827_2625_2423_2221_u64;
        thread_id @ 16 = 0x3433_3231_u32;
        event_kind @ 20 = 2_u32;
        call_depth @ 24 = 0x4443_4241_u32;
        detail_seq @ 28 = 0x5453_5251_u32;
    );
    assert_record!(v2::IndexEvent,
        "11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28
         31 32 33 34 35 36 37 38 03 00 00 00 00 00 00 00",
        timestamp_ns @ 0 = 0x1817_1615_1413_1211_u64;
        function_id @ 8 = 0x2827_2625_2423_2221_u64;
        detail_seq @ 16 = 0x3837_3635_3433_3231_u64;
        event_kind @ 24 = 3;
    );
}

/// Both wire versions have the same layout; the sources' sums of 68 bytes are wrong.
macro_rules! assert_index_footer {
    ($wire:ident) => {
        assert_record!($wire::IndexFooter,
            "32 49 54 41 11 12 13 14 21 22 23 24 25 26 27 28
             31 32 33 34 35 36 37 38 41 42 43 44 45 46 47 48
             51 52 53 54 55 56 57 58 00 00 00 00 00 00 00 00
             00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            magic @ 0 = *b"2ITA";
            checksum @ 4 = 0x1413_1211_u32;
            event_count @ 8 = 0x2827_2625_2423_2221_u64;
            time_start_ns @ 16 = 0x3837_3635_3433_3231_u64;
            time_end_ns @ 24 = 0x4847_4645_4443_4241_u64;
            bytes_written @ 32 = 0x5857_5655_5453_5251_u64;
            reserved @ 40 = [0; 24];
        );
    };
}

/// Unlike in the index footer, the times come after the length.
macro_rules! assert_detail_footer {
    ($wire:ident) => {
        assert_record!($wire::DetailFooter,
            "32 44 54 41 11 12 13 14 21 22 23 24 25 26 27 28
             31 32 33 34 35 36 37 38 41 42 43 44 45 46 47 48
             51 52 53 54 55 56 57 58 00 00 00 00 00 00 00 00
             00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            magic @ 0 = *b"2DTA";
            checksum @ 4 = 0x1413_1211_u32;
            event_count @ 8 = 0x2827_2625_2423_2221_u64;
            bytes_length @ 16 = 0x3837_3635_3433_3231_u64;
            time_start_ns @ 24 = 0x4847_4645_4443_4241_u64;
            time_end_ns @ 32 = 0x5857_5655_5453_5251_u64;
            reserved @ 40 = [0; 24];
        );
    };
}

#[test]
fn footers() {
    assert_index_footer!(v1);
    assert_index_footer!(v2);
    assert_detail_footer!(v1);
    assert_detail_footer!(v2);
}

/// The 64-bit numbers are unaligned; the sources of version 1 omit the last four bytes.
macro_rules! assert_detail_header {
    ($wire:ident, $version:literal, $hex:expr) => {
        assert_record!($wire::DetailHeader, $hex,
            magic @ 0 = *b"ATD2";
            endian @ 4 = 1;
            version @ 5 = $version;
            arch @ 6 = 2;
            os @ 7 = 3;
            flags @ 8 = 0x1413_1211_u32;
            thread_id @ 12 = 0x2423_2221_u32;
            events_offset @ 20 = 0x3837_3635_3433_3231_u64;
            event_count @ 28 = 0x4847_4645_4443_4241_u64;
            bytes_length @ 36 = 0x5857_5655_5453_5251_u64;
            index_seq_start @ 44 = 0x6867_6665_6463_6261_u64;
            index_seq_end @ 52 = 0x7877_7675_7473_7271_u64;
        );
    };
}

#[test]
fn detail_header() {
    assert_detail_header!(
        v1,
        1,
        "41 54 44 32 01 01 02 03 11 12 13 14 21 22 23 24
         00 00 00 00 31 32 33 34 35 36 37 38 41 42 43 44
         45 46 47 48 51 52 53 54 55 56 57 58 61 62 63 64
         65 66 67 68 71 72 73 74 75 76 77 78 00 00 00 00"
    );
    assert_detail_header!(
        v2,
        2,
        "41 54 44 32 01 02 02 03 11 12 13 14 21 22 23 24
         00 00 00 00 31 32 33 34 35 36 37 38 41 42 43 44
         45 46 47 48 51 52 53 54 55 56 57 58 61 62 63 64
         65 66 67 68 71 72 73 74 75 76 77 78 00 00 00 00"
    );
}

#[test]
fn detail_event_header() {
    assert_record!(v1::DetailEventHeader,
        "11 12 13 14 04 00 21 22 31 32 33 34 41 42 43 44
         51 52 53 54 55 56 57 58",
        total_length @ 0 = 0x1413_1211_u32;
        event_type @ 4 = 4_u16;
        flags @ 6 = 0x2221_u16;
        index_seq @ 8 = 0x3433_3231_u32;
        thread_id @ 12 = 0x4443_4241_u32;
        timestamp @ 16 = 0x5857_5655_5453_5251_u64;
    );
    assert_record!(v2::DetailEventHeader,
        "11 12 13 14 03 00 21 22 31 32 33 34 35 36 37 38
         51 52 53 54 55 56 57 58",
        total_length @ 0 = 0x1413_1211_u32;
        event_type @ 4 = 3_u16;
        flags @ 6 = 0x2221_u16;
        index_seq @ 8 = 0x3837_3635_3433_3231_u64;
        timestamp @ 16 = 0x5857_5655_5453_5251_u64;
    );
}

/// Only the sources of version 1 describe this record; readers recognize it by its length in either
/// version.
macro_rules! assert_detail_function_payload {
    ($wire:ident) => {
        assert_record!($wire::DetailFunctionPayload,
            "01 02 03 04 05 06 07 08
             10 11 12 13 14 15 16 17 20 21 22 23 24 25 26 27
             30 31 32 33 34 35 36 37 40 41 42 43 44 45 46 47
             50 51 52 53 54 55 56 57 60 61 62 63 64 65 66 67
             70 71 72 73 74 75 76 77 80 81 82 83 84 85 86 87
             91 92 93 94 95 96 97 98 a1 a2 a3 a4 a5 a6 a7 a8
             b1 b2 b3 b4 b5 b6 b7 b8 00 01 00 00",
            function_id @ 0 = 0x0807_0605_0403_0201_u64;
            x_regs @ 8 = [
                0x1716_1514_1312_1110_u64, 0x2726_2524_2322_2120, 0x3736_3534_3332_3130,
                0x4746_4544_4342_4140, 0x5756_5554_5352_5150, 0x6766_6564_6362_6160,
                0x7776_7574_7372_7170, 0x8786_8584_8382_8180,
            ];
            lr @ 72 = 0x9897_9695_9493_9291_u64;
            fp @ 80 = 0xa8a7_a6a5_a4a3_a2a1_u64;
            sp @ 88 = 0xb8b7_b6b5_b4b3_b2b1_u64;
            stack_size @ 96 = 256_u16;
        );
    };
}

#[test]
fn detail_function_payload() {
    assert_detail_function_payload!(v1);
    assert_detail_function_payload!(v2);
}
