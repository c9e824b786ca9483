//! Determines the facts that require reading all events.

use std::collections::BTreeMap;

use atf::check::{Fact, Kind};
use atf::detail::{self, DetailReader};
use atf::index::{IndexReader, Scan};
use serde::Serialize;

use super::Problem;
use crate::json::U64;
use crate::text::Counted;

/// Statistics over all events of a file.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Contents {
    /// The number of events of each kind or type, keyed by its number.
    pub(crate) kinds: BTreeMap<u32, U64>,
    /// The number of events of unknown kinds, or of types that are not counted separately.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) other_kinds: U64,
    /// The number of events that are earlier than their predecessor.
    pub(crate) out_of_order: U64,
    /// The number of index events that link to a detail event.
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

/// Creates the problem for times that go backwards. Its place is the first such event.
fn order_problem(seq: u64, offset: Option<u64>, count: u64) -> Problem {
    let what = format!("time goes back, at {} in total", Counted(count, "event"));
    Problem::new(Some(format!("events[{seq}]")), offset, &what)
}

/// Returns the statistics of an index file from its scan.
pub(super) fn index(reader: &IndexReader, scan: &Scan, problems: &mut Vec<Problem>) -> Contents {
    let counts = scan.kinds.iter().filter(|(_, count)| *count > 0);
    if let Some(disorder) = scan.disorder {
        let offset = reader.event_offset(disorder.first_seq);
        let problem = order_problem(disorder.first_seq, offset, disorder.count);
        problems.push(problem.breaks(Kind::Index, Fact::TimeGoesBack));
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
