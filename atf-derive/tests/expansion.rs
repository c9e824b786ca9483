//! Tests the parts of an expansion other than fields: constants, open enumerations and the user's
//! own attributes.

use std::collections::HashSet;

/// A struct with pins and its own attributes.
#[atf_derive::record(index_event, wire = 1, size = 32)]
#[derive(Hash)]
struct IndexEvent {
    timestamp_ns: u64,
    /// A field with its own documentation.
    #[offset(28)]
    detail_seq: u32,
}

#[atf_derive::record(index_event, wire = 2)]
struct WideIndexEvent;

#[atf_derive::record(index_header, wire = 2)]
struct IndexHeader;

#[atf_derive::record(detail_function_payload, wire = 1)]
struct DetailFunctionPayload {
    x_regs: [u64; 8],
}

#[atf_derive::open_enum(event_kind)]
#[derive(Default)]
struct EventKind;

#[atf_derive::open_enum(arch)]
struct Arch;

#[atf_derive::open_enum(index_flags)]
struct IndexFlags;

#[test]
fn constants_come_from_the_spec() {
    assert_eq!(IndexHeader::RECORD, "index_header");
    assert_eq!(IndexHeader::WIRE, 2);
    assert_eq!(IndexHeader::SIZE, 64);
    assert_eq!(IndexHeader::MAGIC, *b"ATI2");
    assert_eq!(IndexHeader::ENDIAN, 1_u8);
    assert_eq!(IndexHeader::VERSION, 2_u8);
    assert_eq!(IndexHeader::EVENT_SIZE, 32_u32);
    assert_eq!(IndexEvent::DETAIL_SEQ_NONE, u32::MAX);
    assert_eq!(WideIndexEvent::DETAIL_SEQ_NONE, u64::MAX);
    assert_eq!(DetailFunctionPayload::SIZE, 100);
    assert!(IndexEvent::C_DEFINITION.contains("IndexEvent"));
}

#[test]
fn derives_below_the_macro_are_kept() {
    let event = IndexEvent {
        timestamp_ns: 1.into(),
        function_id: 2.into(),
        thread_id: 3.into(),
        event_kind: 1.into(),
        call_depth: 4.into(),
        detail_seq: IndexEvent::DETAIL_SEQ_NONE.into(),
    };
    let other = IndexEvent {
        timestamp_ns: 5.into(),
        ..event
    };
    assert_eq!(HashSet::from([event, other, event]).len(), 2);
}

#[test]
fn an_open_enum_names_known_values_and_keeps_unknown_ones() {
    assert_eq!(EventKind::from(2_u8), EventKind::RETURN);
    assert_eq!(EventKind::from(2_u32).name(), Some("return"));
    assert_eq!(EventKind::from(u32::MAX).name(), None);
    assert_eq!(u64::from(EventKind::from(u32::MAX)), u64::from(u32::MAX));
    assert_eq!(u32::from(EventKind::EXCEPTION), 3);
    assert_eq!(u8::from(Arch::ARM64), 2);
    assert_eq!(EventKind::default(), EventKind(0));
    assert_eq!(format!("{:?}", EventKind::CALL), "EventKind(call)");
    assert_eq!(format!("{:?}", EventKind(9)), "EventKind(9)");
    let is_call = matches!(EventKind::from(1_u16), EventKind::CALL);
    assert!(is_call, "members can be patterns");
}

#[test]
fn flags_are_masks() {
    let flags = IndexFlags::from(5_u32);
    assert!(flags.contains(IndexFlags::HAS_DETAIL_FILE));
    assert!(!IndexFlags(4).contains(IndexFlags::HAS_DETAIL_FILE));
    assert_eq!(format!("{flags:?}"), "IndexFlags(0x5)");
    assert_eq!(
        format!("{:?}", IndexFlags::HAS_DETAIL_FILE),
        "IndexFlags(has_detail_file)"
    );
}
