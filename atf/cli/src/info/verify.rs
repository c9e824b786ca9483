//! What only reading all events shows.

use std::collections::BTreeMap;

use atf::Error;
use atf::detail::DetailReader;
use atf::index::IndexReader;
use serde::Serialize;

use super::Problem;
use crate::json::U64;
use crate::text::Counted;

/// How many kinds that the format does not name are counted apart: a hostile file has as many as
/// events.
const UNKNOWN_KINDS: usize = 16;

/// What all events of a file are.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Contents {
    /// How many events of each kind, or type, by its number.
    pub(crate) kinds: BTreeMap<u32, U64>,
    /// Events of kinds that are not counted apart.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) other_kinds: U64,
    /// Events whose time is before that of the one in front of them.
    pub(crate) out_of_order: U64,
    /// Index events with a link to a detail event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<U64>,
    /// Index events that are nothing but zeros.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) zero_events: U64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &U64) -> bool {
    number.0 == 0
}

impl Contents {
    fn add(&mut self, kind: u32, time_ns: u64, last_ns: &mut u64) -> bool {
        let is_back = time_ns < *last_ns;
        *last_ns = time_ns;
        self.out_of_order.0 += u64::from(is_back);
        if self.kinds.len() < UNKNOWN_KINDS || self.kinds.contains_key(&kind) {
            self.kinds.entry(kind).or_default().0 += 1;
        } else {
            self.other_kinds.0 += 1;
        }
        is_back
    }

    /// What a position, where time first goes back, says.
    fn order_problem(&self, first: Option<u64>) -> Option<Problem> {
        let events = Counted(self.out_of_order.0, "event");
        let message = |seq| format!("events[{seq}]: time goes back, {events} in all");
        first.map(message).map(Problem::new)
    }
}

/// Reads all events of an index file.
pub(super) fn index(reader: &IndexReader, problems: &mut Vec<Problem>) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let (mut links, mut last_ns, mut first_back) = (0, 0, None);
    for (seq, event) in (0..).zip(reader.events()) {
        let event = event?;
        links += u64::from(event.detail_seq.is_some());
        let kind = u32::from(event.event_kind);
        if contents.add(kind, event.timestamp_ns, &mut last_ns) {
            first_back = first_back.or(Some(seq));
        }
    }
    contents.links = Some(U64(links));
    problems.extend(contents.order_problem(first_back));
    for hole in reader.holes() {
        let hole = hole?;
        contents.zero_events.0 += hole.count;
        let count = Counted(hole.count, "event");
        let message = format!("events[{}]: {count} of zeros, a hole", hole.seq);
        problems.push(Problem::new(message));
    }
    Ok(contents)
}

/// Reads all events of a detail file.
pub(super) fn detail(
    reader: &DetailReader,
    problems: &mut Vec<Problem>,
) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let (mut last_ns, mut first_back) = (0, None);
    for event in reader.events() {
        let event = event?;
        let kind = event.header.event_type.0.into();
        if contents.add(kind, event.header.timestamp, &mut last_ns) {
            first_back = first_back.or(Some(event.seq));
        }
    }
    problems.extend(contents.order_problem(first_back));
    Ok(contents)
}
