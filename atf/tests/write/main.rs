//! Tests the writers.

mod claims;
mod encode;
mod faults;
mod held;
mod memory;
mod names;
mod refusals;
mod reserve;
mod ring;
mod round_trip;

use atf::write::{Detail, Event};
use atf::{DetailEventType, EventKind};

/// Returns event `seq` of a trace in which calls and their returns alternate, one microsecond
/// apart.
fn event(seq: u64) -> Event {
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

/// Returns the detail of a call or a return.
fn detail(seq: u64, payload: &[u8]) -> Detail<'_> {
    Detail::new(
        match seq % 2 {
            0 => DetailEventType::FUNCTION_CALL,
            _ => DetailEventType::FUNCTION_RETURN,
        },
        payload,
    )
}
