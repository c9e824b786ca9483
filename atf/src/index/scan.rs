//! The result of a pass over all events, and how events are counted.

use super::IndexEvent;
use super::event::timestamp_ns;
use super::sparse::SparseIndex;
use crate::checksum::Checksum;
use crate::wire::EventKind;

/// The result of a pass over all events of an index file.
///
/// Created by [`IndexReader::scan`](super::IndexReader::scan).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The number of events.
    pub event_count: u64,
    /// The size of all events in bytes.
    pub bytes: u64,
    /// The CRC-32C of the events, whether or not the footer has a checksum.
    pub crc32c: u32,
    /// The result of checking the footer's checksum.
    pub checksum: Checksum,
    /// The timestamps of the first and the last event in nanoseconds; `None` if there are no
    /// events.
    pub time_range: Option<(u64, u64)>,
    /// Where timestamps decrease; `None` if they never do.
    pub disorder: Option<Disorder>,
    /// The number of events of each kind.
    pub kinds: KindCounts,
    /// The number of all-zero events. Unless a matching checksum shows that the zeros were written,
    /// they come from blocks that never reached the disk, and
    /// [`IndexReader::holes`](super::IndexReader::holes) finds them. All-zero events count as
    /// events of an unknown kind and break the order.
    pub zero_events: u64,
    /// How many events link to a detail event.
    pub links: u64,
    /// The largest `detail_seq` of all events; `None` if no event has a link.
    pub greatest_link: Option<u64>,
}

impl Scan {
    /// Returns whether timestamps never decrease, which writers must ensure.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.disorder.is_none()
    }
}

/// Where timestamps decrease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disorder {
    /// The position of the first event that is earlier than its predecessor.
    pub first_seq: u64,
    /// The number of events that are earlier than their predecessors.
    pub count: u64,
}

impl Disorder {
    /// Adds `more` events that are earlier than their predecessors, from event `first_seq` on.
    pub(crate) fn add(known: &mut Option<Self>, first_seq: u64, more: u64) {
        let count = 0;
        let known = known.get_or_insert(Self { first_seq, count });
        known.count = known.count.saturating_add(more);
    }
}

/// The number of events of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindCounts {
    /// The number of events of each of the [`EventKind::MEMBERS`], in their order.
    known: [u64; EventKind::MEMBERS.len()],
    /// The number of events of any other kind.
    pub unknown: u64,
}

impl KindCounts {
    /// Returns the known kinds, each with its number of events.
    pub fn iter(&self) -> impl Iterator<Item = (EventKind, u64)> + use<> {
        EventKind::MEMBERS.iter().copied().zip(self.known)
    }

    /// Returns the number of events of a known kind; 0 for any other kind.
    #[must_use]
    pub fn get(&self, kind: EventKind) -> u64 {
        self.iter()
            .find(|(known, _)| *known == kind)
            .map_or(0, |(_, count)| count)
    }

    pub(super) fn add(&mut self, other: Self) {
        for (count, more) in self.known.iter_mut().zip(other.known) {
            *count = count.saturating_add(more);
        }
        self.unknown = self.unknown.saturating_add(other.unknown);
    }
}

/// The result of a scan, with samples that speed up later searches by time.
#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) scan: Scan,
    pub(super) sparse: SparseIndex,
    /// The position of the first all-zero event.
    pub(super) first_zero: Option<u64>,
}

/// The counts of a block.
pub(super) struct Counts {
    /// The number of events that are earlier than their predecessors.
    pub(super) back: u64,
    pub(super) kinds: KindCounts,
    pub(super) links: Links,
}

/// The links from events to details.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Links {
    pub(super) count: u64,
    /// One more than the largest `detail_seq`; 0 if no event has a link.
    pub(super) greatest: u64,
}

impl Links {
    pub(super) fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.greatest = self.greatest.max(other.greatest);
    }
}

/// Makes several passes over a cached block, without branches that depend on its contents. The
/// compiler vectorizes each pass, but would not vectorize a single combined pass.
#[inline]
pub(super) fn walk(
    events: &[[u8; IndexEvent::SIZE]],
    before: u64,
    kind: impl Fn(&[u8; IndexEvent::SIZE]) -> EventKind,
    link_end: impl Fn(&[u8; IndexEvent::SIZE]) -> u64,
) -> Counts {
    Counts {
        back: count_back(events, before),
        kinds: count_kinds(events, kind),
        links: count_links(events.iter(), link_end),
    }
}

#[inline]
pub(super) fn count_links<'a>(
    events: impl Iterator<Item = &'a [u8; IndexEvent::SIZE]>,
    link_end: impl Fn(&[u8; IndexEvent::SIZE]) -> u64,
) -> Links {
    let (mut count, mut greatest) = (0_u64, 0_u64);
    for bytes in events {
        let end = link_end(bytes);
        count = count.wrapping_add(u64::from(end > 0));
        greatest = greatest.max(end);
    }
    Links { count, greatest }
}

fn count_back(events: &[[u8; IndexEvent::SIZE]], mut before: u64) -> u64 {
    let mut back = 0_u64;
    for bytes in events {
        let time = timestamp_ns(bytes);
        back = back.wrapping_add(u64::from(time < before));
        before = time;
    }
    back
}

/// Counts the kinds of events in a block. 32-bit counts suffice: a block has far fewer than 2³²
/// events.
#[inline]
fn count_kinds(
    events: &[[u8; IndexEvent::SIZE]],
    kind: impl Fn(&[u8; IndexEvent::SIZE]) -> EventKind,
) -> KindCounts {
    let mut known = [0_u32; EventKind::MEMBERS.len()];
    for bytes in events {
        let kind = kind(bytes);
        for (count, member) in known.iter_mut().zip(EventKind::MEMBERS) {
            *count = count.wrapping_add(u32::from(kind == *member));
        }
    }
    let known = known.map(u64::from);
    KindCounts {
        known,
        unknown: (events.len() as u64).wrapping_sub(known.into_iter().sum()),
    }
}

/// Returns the position of the first event that is earlier than its predecessor.
pub(super) fn first_back(events: &[[u8; IndexEvent::SIZE]], mut before: u64) -> Option<u64> {
    let position = events.iter().position(|bytes| {
        let time = timestamp_ns(bytes);
        std::mem::replace(&mut before, time) > time
    });
    position.map(|position| position as u64)
}
