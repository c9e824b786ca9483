//! Reads `index.atf`.

use serde_json::{Value, json};

use crate::layout::{Layout, Record, View, is_zero};
use crate::section::{Derived, between, is_checksum_good};

/// An index file with a valid header.
struct File<'a> {
    bytes: &'a [u8],
    header: View<'a>,
    event: &'a Record,
    footer: &'a Record,
    start: u64,
}

/// A decoded file.
pub(crate) struct Index {
    pub(crate) document: Value,
    pub(crate) wire: u64,
    /// The events. `None` is a hole: zeros that no checksum covers.
    pub(crate) events: Vec<Option<Moment>>,
}

/// The fields of an event that a session needs.
pub(crate) struct Moment {
    pub(crate) timestamp_ns: u64,
    /// The position of the detail event that the event links to.
    pub(crate) detail_seq: Option<u64>,
}

/// Decodes a file. Returns `None` if a reader must reject it.
pub(crate) fn read(layout: &Layout, bytes: &[u8]) -> Option<Index> {
    let file = File::open(layout, bytes)?;
    let footer_at = file.find_footer();
    let footer = footer_at.and_then(|at| file.footer.at(bytes, at));
    let (count, end) = match (footer_at, &footer) {
        (Some(at), Some(footer)) => {
            if !is_checksum_good(footer, between(bytes, file.start, at)?) {
                return None;
            }
            (
                footer.number("event_count"),
                at.checked_add(file.footer.size as u64)?,
            )
        }
        _ => {
            // A different events_offset is valid only if a footer confirms it.
            if file.start != file.header.bytes.len() as u64 || file.has_damaged_footer() {
                return None;
            }
            let count = file.survivors()?;
            (count, file.event_at(count)?)
        }
    };
    let events: Vec<_> = (0..count).map_while(|seq| file.view(seq)).collect();
    // A verified checksum proves that zeros were really written.
    let is_proven = footer.is_some_and(|footer| footer.number("checksum") != 0);
    let is_hole = |event: &View<'_>| !is_proven && is_zero(event.bytes);
    let has_hole = events.iter().any(is_hole);
    let is_finalized = footer.is_some_and(|footer| !file.is_left_a_placeholder(&footer, footer_at));
    let derived = Derived {
        event_count: events.len(),
        count_source: "file_size",
        trailing_bytes: (bytes.len() as u64).checked_sub(end)?,
    };
    let document = json!({
        "kind": "index",
        "verdict": if is_finalized && !has_hole { "accept" } else { "recover" },
        "header": file.header.document(),
        "footer": footer.map(|footer| footer.document()),
        "derived": derived.document(footer.as_ref()),
        "events": events.iter().map(View::document).collect::<Vec<_>>(),
    });
    let moment = |event: &View<'_>| Moment {
        timestamp_ns: event.number("timestamp_ns"),
        detail_seq: event.link("detail_seq"),
    };
    let events = events.iter();
    Some(Index {
        document,
        wire: file.header.number("version"),
        events: events
            .map(|event| (!is_hole(event)).then(|| moment(event)))
            .collect(),
    })
}

impl<'a> File<'a> {
    fn open(layout: &'a Layout, bytes: &'a [u8]) -> Option<Self> {
        let header = |wire| layout.record("index_header", wire).at(bytes, 0);
        let wire = [1, 2]
            .into_iter()
            .find(|wire| header(*wire).is_some_and(|h| h.has_constants()))?;
        // In a header of version 2, a count of 32 events would look like version 1's event_size.
        let later = layout.record("index_header", 2).field("event_size")?;
        if wire == 1 && header(2)?.has_constant(later) {
            return None;
        }
        let header = header(wire)?;
        let start = header.number("events_offset");
        let is_inside = start >= header.bytes.len() as u64 && start <= bytes.len() as u64;
        is_inside.then_some(Self {
            bytes,
            header,
            event: layout.record("index_event", wire),
            footer: layout.record("index_footer", wire),
            start,
        })
    }

    /// Returns the offset of the event at a position.
    fn event_at(&self, seq: u64) -> Option<u64> {
        seq.checked_mul(self.event.size as u64)?
            .checked_add(self.start)
    }

    fn view(&self, seq: u64) -> Option<View<'a>> {
        self.event.at(self.bytes, self.event_at(seq)?)
    }

    fn is_placeholder(&self) -> bool {
        let offset = self.header.number("footer_offset");
        let fields = ["flags", "event_count", "time_start_ns", "time_end_ns"];
        self.header.are_zero(&fields) && (offset == 0 || offset == self.header.bytes.len() as u64)
    }

    /// Returns whether the header was never rewritten. Without events, only `footer_offset` shows
    /// this.
    fn is_left_a_placeholder(&self, footer: &View<'_>, at: Option<u64>) -> bool {
        let says_all = footer.are_zero(&["event_count", "time_start_ns", "time_end_ns"])
            && at == Some(self.header.number("footer_offset"));
        self.is_placeholder() && !says_all
    }

    /// Returns whether two fields of a rewritten header agree on the end of the events. A header
    /// without a count may be a placeholder in which a field was set too early.
    fn is_end_known(&self) -> bool {
        let count = self.header.number("event_count");
        count > 0 && self.event_at(count) == Some(self.header.number("footer_offset"))
    }

    /// Returns the bytes at an offset as a footer, whether or not they are one.
    fn footer_at(&self, at: u64) -> Option<View<'a>> {
        self.footer.at(self.bytes, at).filter(|_| at >= self.start)
    }

    /// Returns whether a footer's count and length match the offset.
    fn says_its_place(&self, footer: &View<'_>, at: u64) -> bool {
        self.event_at(footer.number("event_count")) == Some(at)
            && footer.number("bytes_written").checked_add(self.start) == Some(at)
    }

    fn is_footer(&self, at: u64) -> bool {
        self.footer_at(at).is_some_and(|footer| {
            self.footer.has_magic(footer.bytes) && self.says_its_place(&footer, at)
        })
    }

    /// Returns all offsets where an event could end.
    fn ends(&self) -> impl Iterator<Item = u64> {
        let places = (0..).map_while(|seq| self.event_at(seq));
        places.take_while(|at| *at <= self.bytes.len() as u64)
    }

    /// Returns the offset of a footer at the end of the file.
    fn at_end(&self) -> Option<u64> {
        (self.bytes.len() as u64).checked_sub(self.footer.size as u64)
    }

    /// Looks for the footer where the header places it, at the end, and before trailing bytes.
    fn find_footer(&self) -> Option<u64> {
        let likely = [Some(self.header.number("footer_offset")), self.at_end()];
        let mut places = likely.into_iter().flatten().chain(self.ends());
        places.find(|at| self.is_footer(*at))
    }

    /// Returns whether there is a damaged footer. A footer with a single mismatch can be neither
    /// trusted nor read as events.
    fn has_damaged_footer(&self) -> bool {
        let stated = self.header.number("footer_offset");
        let stated = Some(stated).filter(|_| !self.is_placeholder());
        let likely = [stated, self.at_end()];
        let mut places = likely.into_iter().flatten().chain(self.ends());
        places.any(|at| {
            let Some(footer) = self.footer_at(at).filter(|footer| !is_zero(footer.bytes)) else {
                return false;
            };
            if self.is_end_known() && stated == Some(at) {
                return true;
            }
            let has_magic = self.footer.has_magic(footer.bytes);
            let is_placed = likely.contains(&Some(at));
            let counts = self.event_at(footer.number("event_count")) == Some(at);
            let measures = footer.number("bytes_written").checked_add(self.start) == Some(at);
            footer.is_zero("reserved")
                && if has_magic {
                    is_placed || counts || measures
                } else {
                    // At the start of the section, zeros in these fields would always match.
                    is_placed && counts && measures && at > self.start
                }
        })
    }

    /// Counts the complete events of a file without a footer.
    fn survivors(&self) -> Option<u64> {
        let size = self.event.size as u64;
        let rest = between(self.bytes, self.start, self.bytes.len() as u64)?;
        let data = without_zeros(rest);
        let count = self.header.number("event_count");
        let is_past = (data.len() as u64) > count.saturating_mul(size);
        if self.is_end_known() && is_past {
            // The bytes at the footer's proven offset are its remains.
            return Some(count);
        }
        let last = (data.len() as u64).div_ceil(size);
        // Without this, 32 or more bytes of a torn footer would count as an event.
        let mut ends = last.saturating_sub(2)..last;
        if let Some(seq) = ends.find(|seq| self.begins_footer(data, *seq)) {
            return Some(seq);
        }
        let mut whole = (rest.len() as u64).checked_div(size)?;
        let section = without_zeros(between(rest, 0, whole.checked_mul(size)?)?);
        let touched = (section.len() as u64).div_ceil(size);
        if touched < whole {
            // Zeros at the end, or before a torn event, are preallocated space or blocks that never
            // reached the disk. An event of kind 0 right before them is torn.
            let last = touched.checked_sub(1).and_then(|seq| self.view(seq));
            let is_torn = last.is_some_and(|event| event.number("event_kind") == 0);
            whole = touched.saturating_sub(u64::from(is_torn));
        }
        Some(whole)
    }

    /// Returns whether the bytes after `seq` events are the beginning of a footer for these events.
    fn begins_footer(&self, data: &[u8], seq: u64) -> bool {
        let at = seq.saturating_mul(self.event.size as u64);
        let Some(cut) = between(data, at, data.len() as u64) else {
            return false;
        };
        let agrees = |name: &str, value: u64| {
            let offset = self.footer.field(name).map_or(0, |field| field.offset);
            let left = cut.get(offset..).unwrap_or_default();
            left.iter()
                .zip(value.to_le_bytes())
                .all(|(byte, expected)| *byte == expected)
        };
        cut.len() < self.footer.size
            && self.footer.has_magic(cut)
            && agrees("event_count", seq)
            && agrees("bytes_written", at)
    }
}

/// Returns the bytes up to the last one that is not 0.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|byte| *byte != 0);
    last.map_or(&[], |last| bytes.get(..=last).unwrap_or_default())
}
