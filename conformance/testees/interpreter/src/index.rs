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
    kinds: &'a [u64],
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
            if file.start != file.header.bytes.len() as u64 {
                return None;
            }
            let count = match file.torn_footer() {
                Some(count) => count,
                None if file.has_damaged_footer() => return None,
                None => file.survivors()?,
            };
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
            kinds: &layout.kinds,
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

    /// Looks for the footer where a rewritten header places it, at the end, and after each event.
    fn find_footer(&self) -> Option<u64> {
        let stated = Some(self.header.number("footer_offset")).filter(|_| !self.is_placeholder());
        // Under a placeholder, the first of two footers counts.
        let at_end = self.at_end().filter(|_| stated.is_some());
        let mut places = stated.into_iter().chain(at_end).chain(self.ends());
        places.find(|at| self.is_footer(*at))
    }

    /// Returns whether the known end of the events is in the file, and data follows.
    fn is_end_proven(&self) -> bool {
        let data_end = without_zeros(self.bytes).len() as u64;
        self.is_end_known() && data_end > self.header.number("footer_offset")
    }

    /// Returns whether there is one of the events that the header counts, even if it looks like a
    /// footer: it has the kind of an event.
    fn is_counted(&self, at: u64) -> bool {
        self.is_end_known()
            && at < self.header.number("footer_offset")
            && self
                .event
                .at(self.bytes, at)
                .is_some_and(|event| self.has_kind(&event))
    }

    fn is_between_events(&self, at: u64) -> bool {
        let size = at.checked_sub(self.start);
        size.is_some_and(|size| size.is_multiple_of(self.event.size as u64))
    }

    fn has_kind(&self, event: &View<'_>) -> bool {
        self.kinds.contains(&event.number("event_kind"))
    }

    /// Returns whether there is a damaged footer. It can be neither trusted nor read as events.
    fn has_damaged_footer(&self) -> bool {
        let stated = Some(self.header.number("footer_offset")).filter(|_| !self.is_placeholder());
        let mut expected = [stated, self.at_end()].into_iter().flatten();
        let end = without_zeros(self.bytes).len() as u64;
        // Nothing but zeros follows.
        let is_last = |at: u64| {
            let footer = self.footer_at(at);
            let size = end.saturating_sub(at);
            footer.is_some_and(|footer| self.footer.has_magic(footer.bytes))
                && size > self.event.size as u64
                && size <= self.footer.size as u64
        };
        expected.any(|at| self.is_damaged(at, true))
            || self.ends().any(|at| self.is_damaged(at, is_last(at)))
    }

    /// Returns whether two of a footer's magic, numbers, start time and reserved bytes are right.
    /// Where none is expected, two of magic and numbers must be right, and one of the others.
    fn is_damaged(&self, at: u64, is_expected: bool) -> bool {
        let Some(footer) = self.footer_at(at) else {
            return false;
        };
        if self.is_counted(at) {
            return false;
        }
        if at == self.header.number("footer_offset") && self.is_end_proven() {
            return !is_zero(footer.bytes);
        }
        // At the start of the section, zeros in these fields would always match.
        let numbers = [
            self.event_at(footer.number("event_count")) == Some(at),
            footer.number("bytes_written").checked_add(self.start) == Some(at),
        ];
        let right = numbers.into_iter().filter(|is_right| *is_right).count();
        let magic = usize::from(self.footer.has_magic(footer.bytes));
        let reserved = footer.is_zero("reserved");
        let has_events = at > self.start;
        let time = if has_events && self.is_between_events(at) {
            self.weight_of_start_time(footer.bytes)
        } else {
            0
        };
        if !is_expected {
            let is_sure = magic.saturating_add(right) == 2 && (has_events || magic == 1);
            return is_sure && (reserved || time > 0);
        }
        let right = if has_events { right } else { 0 };
        [magic, right, time, usize::from(reserved)]
            .iter()
            .sum::<usize>()
            >= 2
    }

    /// Returns 0 if the start time of the footer in these bytes is 0 or not the first event's.
    /// Otherwise, returns 2 if, as an event, the bytes would have an unknown kind, and 1 if not.
    fn weight_of_start_time(&self, bytes: &[u8]) -> usize {
        let padded: Vec<_> = bytes.iter().copied().chain([0; 64]).take(64).collect();
        let footer = self.footer.at(&padded, 0);
        let start = footer.map_or(0, |footer| footer.number("time_start_ns"));
        let first = self.view(0).map(|event| event.number("timestamp_ns"));
        if start == 0 || first != Some(start) {
            return 0;
        }
        let event = self.event.at(&padded, 0);
        let is_event = event.is_some_and(|event| self.has_kind(&event));
        if is_event { 1 } else { 2 }
    }

    /// Returns how many events precede a torn footer: the file or its data ends within it. Zeros at
    /// the end of the file do not count as written. Without this, 32 bytes of a footer could count
    /// as an event.
    fn torn_footer(&self) -> Option<u64> {
        if self.is_end_proven() {
            return None;
        }
        let rest = between(self.bytes, self.start, self.bytes.len() as u64)?;
        let data = without_zeros(rest);
        let last = (data.len() as u64).div_ceil(self.event.size as u64);
        let length = self.footer.field("bytes_written")?.offset;
        let mut places = last.saturating_sub(2)..last;
        places.find(|seq| {
            let at = seq.saturating_mul(self.event.size as u64);
            let cut = |bytes| between(bytes, at, bytes.len() as u64).unwrap_or_default();
            let (written, left) = (cut(data), cut(rest));
            let is_cut = left.len() < self.footer.size || written.len() <= length;
            let is_torn = (written.len() > length && self.ends_footer(left, at))
                || (is_cut && self.begins_footer(written, *seq));
            is_torn && !self.event_at(*seq).is_some_and(|at| self.is_counted(at))
        })
    }

    /// Returns whether the bytes are the beginning of a footer for `seq` events: two of its magic,
    /// count and start time are right, or its magic as far as it was written, or its start time
    /// where no event can be.
    fn begins_footer(&self, written: &[u8], seq: u64) -> bool {
        let bytes_of = |name: &str| {
            let offset = self.footer.field(name).map_or(0, |field| field.offset);
            written.get(offset..).unwrap_or_default()
        };
        let is_start = |written: &[u8], value: &[u8]| {
            written
                .iter()
                .zip(value)
                .all(|(byte, expected)| byte == expected)
        };
        let has_magic = self.footer.begins_magic(written);
        let count = bytes_of("event_count");
        let counts = is_start(count, &seq.to_le_bytes());
        if seq == 0 || count.is_empty() || (has_magic && counts) {
            return has_magic && counts;
        }
        let time = self.weight_of_start_time(written);
        time.saturating_add(usize::from(has_magic || counts)) >= 2
    }

    /// Returns whether a footer's first half never reached the disk, and the rest is the length of
    /// the events and zeros.
    fn ends_footer(&self, cut: &[u8], size: u64) -> bool {
        let length = self
            .footer
            .field("bytes_written")
            .map_or(0, |field| field.offset);
        let Some((first, rest)) = cut.split_at_checked(length) else {
            return false;
        };
        let expected = size.to_le_bytes();
        let mut bytes = rest
            .iter()
            .zip(expected.into_iter().chain(std::iter::repeat(0)));
        is_zero(first) && size > 0 && bytes.all(|(byte, expected)| *byte == expected)
    }

    /// Counts the complete events of a file without a footer.
    fn survivors(&self) -> Option<u64> {
        if self.is_end_proven() {
            // The bytes at the footer's proven offset are its remains.
            return Some(self.header.number("event_count"));
        }
        let size = self.event.size as u64;
        let rest = between(self.bytes, self.start, self.bytes.len() as u64)?;
        let whole = (rest.len() as u64).checked_div(size)?;
        let section = between(rest, 0, whole.checked_mul(size)?)?;
        let touched = (without_zeros(section).len() as u64).div_ceil(size);
        // Zeros at the end, or before a torn event, are preallocated space or blocks that never
        // reached the disk. An event of kind 0 right before them is torn.
        let is_zero_tail = section.len() < rest.len() && without_zeros(rest).len() <= section.len();
        let last = touched.checked_sub(1).and_then(|seq| self.view(seq));
        let is_torn = (touched < whole || is_zero_tail)
            && last.is_some_and(|event| event.number("event_kind") == 0);
        Some(touched.saturating_sub(u64::from(is_torn)))
    }
}

/// Returns the bytes up to the last one that is not 0.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|byte| *byte != 0);
    last.map_or(&[], |last| bytes.get(..=last).unwrap_or_default())
}
