//! Facts that require reading all events.

use std::collections::BTreeMap;

use atf::check::rules::table as rules;
use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexCursor, IndexEvent, IndexReader, Scan};
use atf::{Error, EventKind};
use serde::Serialize;

use super::Problem;
use crate::json::U64;
use crate::text::Counted;

/// The maximum number of detail types counted separately: in a hostile file every event can have its own type.
const UNKNOWN_TYPES: usize = 16;

/// Statistics of all events of a file.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Contents {
    /// The number of events of each kind or type, by the kind's number.
    pub(crate) kinds: BTreeMap<u32, U64>,
    /// Events of unknown kinds, or of types that are not counted separately.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) other_kinds: U64,
    /// The number of events with an earlier time than the previous event.
    pub(crate) out_of_order: U64,
    /// The number of index events with a link to a detail event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<U64>,
    /// The number of index events that are all zeros.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) zero_events: U64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &U64) -> bool {
    number.0 == 0
}

impl Contents {
    /// Adds the statistics of another file.
    pub(super) fn plus(mut self, other: Self) -> Self {
        for (kind, count) in other.kinds {
            self.kinds.entry(kind).or_default().0 += count.0;
        }
        self.other_kinds.0 += other.other_kinds.0;
        self.out_of_order.0 += other.out_of_order.0;
        self.links = self
            .links
            .zip(other.links)
            .map(|(one, more)| U64(one.0 + more.0));
        self.zero_events.0 += other.zero_events.0;
        self
    }
}

/// Makes a problem that shows where time first goes backwards.
fn order_problem(seq: u64, offset: Option<u64>, count: u64) -> Problem {
    let what = format!("time goes back, at {} in total", Counted(count, "event"));
    Problem::new(Some(format!("events[{seq}]")), offset, &what)
}

/// Returns the statistics of an index file from its scan.
pub(super) fn index(reader: &IndexReader, scan: &Scan, problems: &mut Vec<Problem>) -> Contents {
    let counts = [
        (EventKind::CALL, scan.kinds.calls),
        (EventKind::RETURN, scan.kinds.returns),
        (EventKind::EXCEPTION, scan.kinds.exceptions),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    if let Some(disorder) = scan.disorder {
        let offset = reader.event_offset(disorder.first_seq);
        let problem = order_problem(disorder.first_seq, offset, disorder.count);
        problems.push(problem.breaks(&rules::ATF_IEVT_001));
    }
    Contents {
        kinds: counts
            .map(|(kind, count)| (kind.into(), U64(count)))
            .collect(),
        other_kinds: U64(scan.kinds.unknown),
        out_of_order: U64(scan.disorder.map_or(0, |disorder| disorder.count)),
        links: Some(U64(scan.links)),
        zero_events: U64(scan.zero_events),
    }
}

/// Counts the details whose index event links back. Without an index, counts nothing.
#[derive(Debug, Default)]
pub(crate) struct LinkedDetails<'a> {
    events: Option<IndexCursor<'a>>,
    pub(super) count: u64,
}

impl<'a> LinkedDetails<'a> {
    pub(super) fn of(index: &'a IndexReader) -> Self {
        Self {
            events: Some(index.cursor()),
            count: 0,
        }
    }

    fn add(&mut self, detail: &DetailEvent) -> Result<(), Error> {
        let Some(events) = &mut self.events else {
            return Ok(());
        };
        let seq = detail.header.index_seq;
        let link = events.get(seq)?.and_then(|event| event.detail_seq);
        // Zeros are not a link to the first detail.
        let is_linked = link == Some(detail.seq)
            && (detail.seq > 0 || events.bytes(seq)? != Some([0; IndexEvent::SIZE]));
        self.count += u64::from(is_linked);
        Ok(())
    }
}

/// Reads all events of a detail file and returns their statistics.
pub(super) fn detail(
    reader: &DetailReader,
    linked: &mut LinkedDetails<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Contents, Error> {
    let mut contents = Contents::default();
    let (mut last_ns, mut first_back) = (0, None);
    for event in reader.events_in(..) {
        let event = event?;
        linked.add(&event)?;
        let kind = event.header.event_type.0.into();
        if contents.kinds.len() < UNKNOWN_TYPES || contents.kinds.contains_key(&kind) {
            contents.kinds.entry(kind).or_default().0 += 1;
        } else {
            contents.other_kinds.0 += 1;
        }
        if event.header.timestamp < last_ns {
            contents.out_of_order.0 += 1;
            first_back = first_back.or(Some(event));
        }
        last_ns = event.header.timestamp;
    }
    let count = contents.out_of_order.0;
    problems.extend(first_back.map(|e| order_problem(e.seq, Some(e.offset), count)));
    Ok(contents)
}
