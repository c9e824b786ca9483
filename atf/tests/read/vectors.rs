//! Reads files that were typed in hexadecimal from the sources' tables.

use atf::index::IndexEvent;
use atf::{Arch, Checksum, Clock, Completeness, DetailEventType, EventKind, Os, Wire};

use crate::ways;
use atf_samples::files::hex;

#[test]
fn an_index_file_of_wire_version_1_typed_from_s0() {
    let bytes = hex("
        41544932 01 01 02 05  01000000  2a000000
        03 000000 00000000  20000000 02000000
        4000000000000000 8000000000000000
        e803000000000000 d007000000000000

        e803000000000000 0200000001000000  2a000000 01000000 01000000 00000000
        d007000000000000 0300000001000000  2a000000 03000000 02000000 ffffffff

        32495441 00000000 0200000000000000
        e803000000000000 d007000000000000 4000000000000000
        00000000 00000000 00000000 00000000 00000000 00000000
    ");
    let index = ways::index(bytes).unwrap();
    let header = index.header();
    assert_eq!(
        (header.wire, header.arch, header.os),
        (Wire::V1, Arch::ARM64, Os::WINDOWS)
    );
    assert_eq!((header.thread_id, header.clock_type), (42, Clock::BOOTTIME));
    assert_eq!(header.event_count, 2);
    assert_eq!((header.events_offset, header.footer_offset), (64, 128));
    assert_eq!((header.time_start_ns, header.time_end_ns), (1000, 2000));
    assert!(header.has_detail_file());
    assert!(matches!(index.completeness(), Completeness::Finalized));
    assert_eq!(index.checksum().unwrap(), Checksum::Absent);
    assert!(index.disagreements().is_empty());
    let footer = index.footer().unwrap();
    assert_eq!((footer.event_count, footer.bytes_written), (2, 64));
    assert_eq!((footer.time_start_ns, footer.time_end_ns), (1000, 2000));
    let events: Vec<IndexEvent> = index.events_in(..).collect::<Result<_, _>>().unwrap();
    let call = IndexEvent::new(1000, 0x1_0000_0002, EventKind::CALL)
        .thread_id(42)
        .call_depth(Some(1))
        .detail_seq(Some(0));
    let exception = call
        .timestamp_ns(2000)
        .function_id(0x1_0000_0003)
        .event_kind(EventKind::EXCEPTION)
        .call_depth(Some(2))
        .detail_seq(None);
    assert_eq!(events, [call, exception]);
}

#[test]
fn an_index_file_of_wire_version_2_typed_from_s2() {
    let bytes = hex("
        41544932 01 02 01 04  00000000  2a000000
        01 000000 20000000  0200000000000000
        4000000000000000 8000000000000000
        e803000000000000 d007000000000000

        e803000000000000 0200000001000000  0000000001000000 01 00000000000000
        d007000000000000 0300000001000000  ffffffffffffffff 02 00000000000000

        32495441 00000000 0200000000000000
        e803000000000000 d007000000000000 4000000000000000
        00000000 00000000 00000000 00000000 00000000 00000000
    ");
    let index = ways::index(bytes).unwrap();
    let header = index.header();
    assert_eq!(
        (header.wire, header.arch, header.os),
        (Wire::V2, Arch::X86_64, Os::LINUX)
    );
    assert_eq!((header.thread_id, header.event_count), (42, 2));
    assert!(matches!(index.completeness(), Completeness::Finalized));
    let events: Vec<IndexEvent> = index.events_in(..).collect::<Result<_, _>>().unwrap();
    let call = IndexEvent::new(1000, 0x1_0000_0002, EventKind::CALL)
        .thread_id(42)
        .detail_seq(Some(0x1_0000_0000));
    let exit = call
        .timestamp_ns(2000)
        .function_id(0x1_0000_0003)
        .event_kind(EventKind::RETURN)
        .detail_seq(None);
    assert_eq!(events, [call, exit]);
}

const DETAIL_PAYLOAD: &str = "
    0200000001000000
    0000000000000000 0100000000000000 0200000000000000 0300000000000000
    0400000000000000 0500000000000000 0600000000000000 0700000000000000
    6c00000000000000 6600000000000000 7300000000000000 0300 0000 a1a2a3
";
const DETAIL_FOOTER: &str = "
    32445441 00000000 0200000000000000 9700000000000000
    e803000000000000 d007000000000000
    00000000 00000000 00000000 00000000 00000000 00000000
";

fn check_detail(bytes: Vec<u8>, index_seq: u64) {
    let detail = ways::detail(bytes).unwrap();
    let header = detail.header();
    assert_eq!(
        (
            header.events_offset,
            header.event_count,
            header.bytes_length
        ),
        (64, 2, 151)
    );
    assert_eq!((header.index_seq_start, header.index_seq_end), (5, 6));
    assert!(
        matches!(detail.completeness(), Completeness::Finalized),
        "{detail:?}"
    );
    let call = detail.get(0).unwrap().unwrap();
    assert_eq!(
        (call.header.total_length, call.header.timestamp),
        (127, 1000)
    );
    assert_eq!(call.header.event_type, DetailEventType::FUNCTION_CALL);
    assert_eq!(
        (call.header.index_seq, call.header.thread_id),
        (index_seq, 42)
    );
    let payload = detail.function_payload(&call).unwrap().unwrap();
    assert_eq!(payload.function_id, 0x1_0000_0002);
    assert_eq!(payload.x_regs, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((payload.lr, payload.fp, payload.sp), (0x6c, 0x66, 0x73));
    assert_eq!(payload.stack, [0xa1, 0xa2, 0xa3]);
    let bare = detail.get(1).unwrap().unwrap();
    assert_eq!(
        (bare.offset, bare.payload_size(), bare.header.index_seq),
        (191, 0, 6)
    );
    assert_eq!(detail.function_payload(&bare).unwrap(), None);
    let footer = detail.footer().unwrap();
    assert_eq!(
        (
            footer.time_start_ns,
            footer.time_end_ns,
            footer.bytes_length
        ),
        (1000, 2000, 151)
    );
}

#[test]
fn a_detail_file_of_wire_version_1_typed_from_s1_and_s4() {
    let events = format!(
        "7f000000 0300 0000 05000000 2a000000 e803000000000000 {DETAIL_PAYLOAD}
         18000000 0400 0000 06000000 2a000000 d007000000000000"
    );
    let header = "
        41544432 01 01 02 04  00000000 2a000000 00000000
        4000000000000000 0200000000000000 9700000000000000
        0500000000000000 0600000000000000 00000000";
    check_detail(hex(&format!("{header} {events} {DETAIL_FOOTER}")), 5);
}

#[test]
fn a_detail_file_of_wire_version_2_typed_from_s2() {
    let events = format!(
        "7f000000 0300 0000 0500000001000000 e803000000000000 {DETAIL_PAYLOAD}
         18000000 0400 0000 0600000000000000 d007000000000000"
    );
    let header = "
        41544432 01 02 02 04  00000000 2a000000 00000000
        4000000000000000 0200000000000000 9700000000000000
        0500000000000000 0600000000000000 00000000";
    check_detail(
        hex(&format!("{header} {events} {DETAIL_FOOTER}")),
        0x1_0000_0005,
    );
}

#[test]
fn checksums_are_crc_32c() {
    assert_eq!(atf_samples::files::crc32c(b"123456789"), 0xE306_9283);
    assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
}

#[test]
fn wire_versions_are_called_by_their_number() {
    assert_eq!(atf::Wire::V1.to_string(), "wire version 1");
    assert_eq!(atf::Wire::V2.to_string(), "wire version 2");
}
