//! The events that tests write, and a comparison with what was read.

use atf::EventKind;
use atf::index::IndexEvent;
use atf::write::Event;

/// Returns event `seq` of a trace in which calls and their returns alternate, one microsecond
/// apart.
pub(crate) fn event(seq: u64) -> Event {
    Event::new(
        0x0004_62d5_3c8a_0000 + seq * 1000,
        0x0644_4fc1_0000_0001 + seq / 2,
        match seq % 2 {
            0 => EventKind::CALL,
            _ => EventKind::RETURN,
        },
        1,
    )
}

/// Compares event `seq` with what was written.
#[track_caller]
pub(crate) fn assert_event(found: &IndexEvent, seq: u64) {
    let expected = event(seq);
    assert_eq!(found.timestamp_ns, expected.timestamp_ns, "event {seq}");
    assert_eq!(found.function_id, expected.function_id, "event {seq}");
    assert_eq!(found.event_kind, expected.event_kind, "event {seq}");
}
