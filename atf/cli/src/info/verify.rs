//! Determines the facts that require reading all events.

use std::collections::BTreeMap;

use atf::Error;
use atf::detail::{self, DetailReader};
use atf::index::{IndexReader, Scan};
use serde::Serialize;

use super::Problem;
use crate::json::{U64, is_default};
use crate::text::counted;

/// Statistics over all events of a file.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Contents {
    /// The number of events of each kind or type, keyed by its number.
    pub(crate) kinds: BTreeMap<u32, U64>,
    /// The number of events of unknown kinds, or of types that are not counted separately.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) other_kinds: U64,
    /// The number of events that are earlier than their predecessor.
    pub(crate) out_of_order: U64,
    /// The number of index events that link to a detail event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<U64>,
    /// The number of index events that are all zeros.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) zero_events: U64,
}

impl Contents {
    /// Adds up the statistics of two files.
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

/// Creates the problem for times that go backwards, located at the first such event.
fn order_problem(seq: u64, offset: Option<u64>, count: u64) -> Problem {
    let what = format!("time goes back, at {} in total", counted(count, "event"));
    Problem::new(Some(format!("events[{seq}]")), offset, &what)
}

/// Returns the statistics of an index file from its scan.
pub(super) fn index(
    reader: &IndexReader,
    scan: &Scan,
    problems: &mut Vec<Problem>,
) -> Result<Contents, Error> {
    let counts = scan.kinds.iter().filter(|(_, count)| *count > 0);
    let is_whole = scan.zero_events == 0 || scan.checksum.proves_the_events();
    let disorder = if is_whole {
        scan.disorder.map(|it| (it.first_seq, it.count))
    } else {
        disorder_outside_holes(reader)?
    };
    if let Some((first_seq, count)) = disorder {
        let problem = order_problem(first_seq, reader.event_offset(first_seq), count);
        problems.push(problem.breaks("ATF-IEVT-001"));
    }
    Ok(Contents {
        kinds: counts
            .map(|(kind, count)| (kind.into(), U64(count)))
            .collect(),
        other_kinds: U64(scan.kinds.unknown),
        out_of_order: U64(disorder.map_or(0, |(_, count)| count)),
        links: Some(U64(scan.links)),
        zero_events: U64(scan.zero_events),
    })
}

/// Returns the position of the first event that is earlier than its predecessor, and the number of
/// such events. The times of all-zero events are unknown.
fn disorder_outside_holes(reader: &IndexReader) -> Result<Option<(u64, u64)>, Error> {
    let (mut found, mut last_ns) = (None, 0);
    for (seq, event) in (0..).zip(reader.events_in(..)) {
        let event = event?;
        if event.is_zero() {
            continue;
        }
        if event.timestamp_ns < last_ns {
            found.get_or_insert((seq, 0)).1 += 1;
        }
        last_ns = event.timestamp_ns;
    }
    Ok(found)
}

/// Returns the statistics of a detail file from its scan.
pub(super) fn detail(
    reader: &DetailReader,
    scan: &detail::Scan,
    problems: &mut Vec<Problem>,
) -> Contents {
    if let Some(disorder) = scan.disorder {
        let offset = reader.event_offset(disorder.first_seq);
        problems.push(order_problem(disorder.first_seq, offset, disorder.count));
    }
    let kinds = scan.types.iter();
    Contents {
        kinds: kinds
            .map(|(kind, count)| (kind.0.into(), U64(*count)))
            .collect(),
        other_kinds: U64(scan.other_types),
        out_of_order: U64(scan.disorder.map_or(0, |disorder| disorder.count)),
        ..Contents::default()
    }
}
