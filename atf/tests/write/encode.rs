//! Encodes records and decodes them again. `round_trip` compares written files with bytes written
//! by hand.

use atf::detail::{DetailEventHeader, DetailHeader, FunctionPayload};
use atf::index::{IndexEvent, IndexHeader};
use atf::{Arch, Clock, DetailEventType, ErrorKind, EventKind, IndexFlags, Os, Wire};
use proptest::prelude::*;

fn event() -> IndexEvent {
    IndexEvent::new(1000, 0x1_0000_0002, EventKind::RETURN)
        .thread_id(42)
        .call_depth(Some(3))
        .detail_seq(Some(7))
}

#[track_caller]
fn assert_out_of_range<T: std::fmt::Debug>(
    result: atf::Result<T>,
    field: &str,
    found: u64,
    max: u64,
) {
    let error = result.unwrap_err();
    let kind = ErrorKind::OutOfRange { found, min: 0, max };
    assert_eq!((error.field(), error.kind()), (Some(field), &kind));
}

#[test]
fn a_number_too_large_for_its_field_is_refused_and_never_truncated() {
    let linked = |seq| event().detail_seq(Some(seq));
    let none = u64::from(u32::MAX);
    linked(none - 1).encode(Wire::V1).unwrap();
    for seq in [none, none + 1] {
        let refused = linked(seq).encode(Wire::V1);
        assert_out_of_range(refused, "detail_seq", seq, none - 1);
        linked(seq).encode(Wire::V2).unwrap();
    }
    let refused = linked(u64::MAX).encode(Wire::V2);
    assert_out_of_range(refused, "detail_seq", u64::MAX, u64::MAX - 1);

    let kind = event().event_kind(EventKind(256));
    kind.encode(Wire::V1).unwrap();
    assert_out_of_range(kind.encode(Wire::V2), "event_kind", 256, 255);

    let mut long = IndexHeader::new(Wire::V1, 42);
    long.event_count = none + 1;
    assert_out_of_range(long.encode(), "header.event_count", none + 1, none);
    long.wire = Wire::V2;
    long.encode().unwrap();

    let detail =
        DetailEventHeader::new(DetailEventType::FUNCTION_CALL, none + 1, 0).total_length(24);
    assert_out_of_range(detail.encode(Wire::V1), "index_seq", none + 1, none);
    detail.encode(Wire::V2).unwrap();

    let payload = FunctionPayload::default().stack(vec![0; 257]);
    assert_out_of_range(payload.encode(), "stack_size", 257, 256);
}

proptest! {
    /// Different bytes are different events, so each event that can be encoded round-trips too.
    #[test]
    fn any_32_bytes_without_reserved_bytes_round_trip_as_an_event(
        wire in prop::sample::select(Wire::ALL),
        mut bytes: [u8; 32],
    ) {
        if wire == Wire::V2 {
            bytes[25..].fill(0);
        }
        let event = IndexEvent::decode(wire, 5, &bytes);
        prop_assert_eq!(event.encode(wire).unwrap(), bytes);
    }

    #[test]
    fn an_index_header_round_trips(
        wire in prop::sample::select(Wire::ALL),
        (arch, os, clock) in any::<(u8, u8, u8)>(),
        (flags, thread_id, count) in any::<(u32, u32, u32)>(),
        (footer_offset, start, end) in any::<(u64, u64, u64)>(),
    ) {
        let mut header = IndexHeader::new(wire, thread_id);
        header.arch = Arch(arch);
        header.os = Os(os);
        header.flags = IndexFlags(flags);
        header.clock_type = Clock(clock);
        header.event_count = count.into();
        header.events_offset = 64;
        header.footer_offset = footer_offset;
        header.time_start_ns = start;
        header.time_end_ns = end;
        let bytes = header.encode().unwrap();
        prop_assert_eq!(IndexHeader::decode(&bytes, 64).unwrap(), header);
    }

    #[test]
    fn a_detail_header_round_trips(
        wire in prop::sample::select(Wire::ALL),
        (arch, os, flags, thread_id) in any::<(u8, u8, u32, u32)>(),
        (count, size, start, end) in any::<(u64, u64, u64, u64)>(),
    ) {
        let mut header = DetailHeader::new(wire, thread_id);
        header.arch = Arch(arch);
        header.os = Os(os);
        header.flags = flags;
        header.events_offset = 64;
        header.event_count = count;
        header.bytes_length = size;
        header.index_seq_start = start;
        header.index_seq_end = end;
        prop_assert_eq!(DetailHeader::decode(&header.encode(), 64).unwrap(), header);
    }

    #[test]
    fn a_detail_event_round_trips(wire in prop::sample::select(Wire::ALL), bytes: [u8; 24]) {
        let header = DetailEventHeader::decode(wire, 5, &bytes);
        prop_assert_eq!(header.encode(wire).unwrap(), bytes);
    }

    #[test]
    fn a_function_payload_round_trips(
        (function_id, x_regs) in any::<(u64, [u64; 8])>(),
        (lr, fp, sp, reserved) in any::<(u64, u64, u64, u16)>(),
        stack in proptest::collection::vec(any::<u8>(), 0..=256),
    ) {
        let payload = FunctionPayload::default().function_id(function_id).x_regs(x_regs).lr(lr).fp(fp).sp(sp).reserved(reserved).stack(stack);
        let bytes = payload.encode().unwrap();
        prop_assert_eq!(FunctionPayload::decode(&bytes), Some(payload));
    }
}
