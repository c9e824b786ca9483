//! Reads `detail.atf`.

use serde_json::{Value, json};

use crate::layout::{Layout, Record, View, is_zero};
use crate::section::{Derived, between, is_checksum_good};

/// A detail file with a valid header.
struct File<'a> {
    bytes: &'a [u8],
    header: View<'a>,
    event: &'a Record,
    payload: &'a Record,
    footer: &'a Record,
    start: u64,
}

/// The result of a walk from event to event.
struct Walk {
    /// The offset of each event.
    places: Vec<u64>,
    /// The offset where the walk ended.
    end: u64,
    is_whole: bool,
}

/// A decoded file.
pub(crate) struct Detail {
    pub(crate) document: Value,
    pub(crate) wire: u64,
    /// The `index_seq` of each event.
    pub(crate) index_seqs: Vec<u64>,
}

/// Decodes a file. Returns `None` if a reader must reject it.
pub(crate) fn read(layout: &Layout, bytes: &[u8]) -> Option<Detail> {
    let file = File::open(layout, bytes)?;
    let footer_at = file.find_footer();
    let footer = footer_at.and_then(|at| file.footer.at(bytes, at));
    let (walk, end) = match (footer_at, &footer) {
        (Some(at), Some(footer)) => {
            // In a finalized file, all events must be complete and match the footer's count.
            let walk = file.walk(at);
            let is_counted = walk.places.len() as u64 == footer.number("event_count");
            let section = between(bytes, file.start, at)?;
            if !walk.is_whole || !is_counted || !is_checksum_good(footer, section) {
                return None;
            }
            (walk, at.checked_add(file.footer.size as u64)?)
        }
        _ => {
            // A different events_offset is valid only if a footer confirms it.
            if file.start != file.header.bytes.len() as u64 || file.has_damaged_footer() {
                return None;
            }
            let mut walk = file.walk(file.counted_end().unwrap_or(bytes.len() as u64));
            if let Some(last) = walk.places.pop_if(|last| file.is_torn(*last, walk.end)) {
                walk.end = last;
            }
            let end = walk.end;
            (walk, end)
        }
    };
    let is_finalized = footer.is_some() && (!file.is_placeholder() || walk.places.is_empty());
    let derived = Derived {
        event_count: walk.places.len(),
        count_source: "framing",
        trailing_bytes: (bytes.len() as u64).checked_sub(end)?,
    };
    let events: Option<Vec<_>> = walk.places.iter().map(|at| file.document(*at)).collect();
    let index_seq = |at: &u64| Some(file.event.at(bytes, *at)?.number("index_seq"));
    let index_seqs: Option<Vec<_>> = walk.places.iter().map(index_seq).collect();
    Some(Detail {
        document: json!({
            "kind": "detail",
            "verdict": if is_finalized { "accept" } else { "recover" },
            "header": file.header.document(),
            "footer": footer.map(|footer| footer.document()),
            "derived": derived.document(footer.as_ref()),
            "events": events?,
        }),
        wire: file.header.number("version"),
        index_seqs: index_seqs?,
    })
}

impl<'a> File<'a> {
    fn open(layout: &'a Layout, bytes: &'a [u8]) -> Option<Self> {
        let header = |wire| layout.record("detail_header", wire).at(bytes, 0);
        let wire = [1, 2]
            .into_iter()
            .find(|wire| header(*wire).is_some_and(|h| h.has_constants()))?;
        let header = header(wire)?;
        let start = header.number("events_offset");
        let is_inside = start >= header.bytes.len() as u64 && start <= bytes.len() as u64;
        is_inside.then_some(Self {
            bytes,
            header,
            event: layout.record("detail_event_header", wire),
            payload: layout.record("detail_function_payload", wire),
            footer: layout.record("detail_footer", wire),
            start,
        })
    }

    /// Returns the length of the event at an offset, if it is valid and ends at or before `end`.
    fn length(&self, at: u64, end: u64) -> Option<u64> {
        let length = self.event.at(self.bytes, at)?.number("total_length");
        let is_whole = length >= self.event.size as u64 && length <= end.checked_sub(at)?;
        is_whole.then_some(length)
    }

    fn walk(&self, end: u64) -> Walk {
        let mut at = self.start;
        let mut places = Vec::new();
        while let Some(length) = self.length(at, end) {
            places.push(at);
            at = at.saturating_add(length);
        }
        Walk {
            places,
            end: at,
            is_whole: at == end,
        }
    }

    fn is_placeholder(&self) -> bool {
        let fields = [
            "event_count",
            "bytes_length",
            "index_seq_start",
            "index_seq_end",
        ];
        self.header.are_zero(&fields)
    }

    fn stated_end(&self) -> Option<u64> {
        self.start.checked_add(self.header.number("bytes_length"))
    }

    fn at_end(&self) -> Option<u64> {
        (self.bytes.len() as u64).checked_sub(self.footer.size as u64)
    }

    /// Returns the bytes at an offset as a footer, whether or not they are one.
    fn footer_at(&self, at: u64) -> Option<View<'a>> {
        self.footer.at(self.bytes, at).filter(|_| at >= self.start)
    }

    fn is_footer(&self, at: u64) -> bool {
        self.footer_at(at).is_some_and(|footer| {
            let end = footer.number("bytes_length").checked_add(self.start);
            self.footer.has_magic(footer.bytes) && end == Some(at) && !self.is_payload(at, true)
        })
    }

    /// Returns whether the offset is inside an event, where captured memory may look like a footer.
    /// If the footer's numbers match too, the events must then continue to the end of the file or
    /// to zeros.
    fn is_payload(&self, at: u64, fits: bool) -> bool {
        let size = self.bytes.len() as u64;
        let walk = self.walk(size);
        let spans = walk.end > at && !walk.places.contains(&at);
        let rest = || between(self.bytes, walk.end, size).is_some_and(is_zero);
        self.rewritten_end() != Some(at) && spans && (!fits || rest())
    }

    /// Looks for the footer where the header places it, at the end, and before trailing bytes.
    fn find_footer(&self) -> Option<u64> {
        let likely = [self.stated_end(), self.at_end()].into_iter().flatten();
        if let Some(at) = { likely }.find(|at| self.is_footer(*at)) {
            return Some(at);
        }
        let walk = self.walk(self.bytes.len() as u64);
        let mut places = walk.places.into_iter().chain([walk.end]);
        places.find(|at| self.is_footer(*at))
    }

    /// Returns whether only zeros follow up to the end of the file. They do not count as written.
    fn is_unwritten(&self, from: u64) -> bool {
        between(self.bytes, from, self.bytes.len() as u64).is_some_and(is_zero)
    }

    /// Returns whether zeros follow the last event and its timestamp was never written.
    fn is_torn(&self, last: u64, end: u64) -> bool {
        let time = self
            .event
            .field("timestamp")
            .map_or(0, |field| field.offset as u64);
        end < self.bytes.len() as u64 && self.is_unwritten(last.saturating_add(time))
    }

    /// Returns whether the data ends before the length of a footer of which the header knows nothing.
    fn is_torn_footer(&self, at: u64) -> bool {
        let length = self
            .footer
            .field("bytes_length")
            .map_or(0, |field| field.offset as u64);
        self.rewritten_end() != Some(at) && self.is_unwritten(at.saturating_add(length))
    }

    /// Returns whether there is a damaged footer: its reserved bytes and its magic or its length are
    /// right. It can be neither trusted nor read as events.
    fn has_damaged_footer(&self) -> bool {
        let at_end = self.at_end();
        let stated = self.stated_end().filter(|_| !self.is_placeholder());
        let by_itself = [stated, at_end].into_iter().flatten().any(|at| {
            let Some(footer) = self.footer_at(at).filter(|_| !self.is_torn_footer(at)) else {
                return false;
            };
            let end = footer.number("bytes_length").checked_add(self.start);
            let has_length = at > self.start && end == Some(at);
            footer.is_zero("reserved")
                && (has_length || self.footer.has_magic(footer.bytes))
                && !self.is_payload(at, false)
        });
        // If the header proves that a footer exists, other nonzero bytes in its place are damage.
        let proved = [
            self.counted_end(),
            self.rewritten_end().filter(|end| at_end == Some(*end)),
        ];
        // Elsewhere, a footer is where an event could begin.
        let end = self.walk(self.bytes.len() as u64).end;
        let is_elsewhere = self.footer_at(end).is_some_and(|footer| {
            self.footer.has_magic(footer.bytes)
                && footer.is_zero("reserved")
                && !self.is_torn_footer(end)
        });
        by_itself
            || is_elsewhere
            || proved.into_iter().flatten().any(|at| {
                self.footer_at(at)
                    .is_some_and(|footer| !is_zero(footer.bytes))
            })
    }

    /// Returns the end of the events according to a rewritten header. A header without a count may
    /// be a placeholder in which a field was set too early.
    fn rewritten_end(&self) -> Option<u64> {
        let counts = ["event_count", "bytes_length"].map(|name| self.header.number(name));
        self.stated_end().filter(|_| !counts.contains(&0))
    }

    /// Like [`Self::rewritten_end`], but only if a walk through the events ends there and finds as
    /// many events as the header counts.
    fn counted_end(&self) -> Option<u64> {
        let end = self.rewritten_end()?;
        let walk = self.walk(end.min(self.bytes.len() as u64));
        let is_counted = walk.places.len() as u64 == self.header.number("event_count");
        (walk.end == end && is_counted).then_some(end)
    }

    fn document(&self, at: u64) -> Option<Value> {
        let view = self.event.at(self.bytes, at)?;
        let end = at.checked_add(view.number("total_length"))?;
        let payload = between(self.bytes, at.checked_add(self.event.size as u64)?, end)?;
        let mut event = view.document();
        event.insert("payload".to_owned(), hex(payload).into());
        event.insert("function".to_owned(), self.function(payload));
        Some(event.into())
    }

    /// Decodes registers and stack if the length matches, regardless of the event type.
    fn function(&self, payload: &[u8]) -> Value {
        let stack = payload.get(self.payload.size..).unwrap_or_default();
        match self.payload.at(payload, 0) {
            Some(view) if view.number("stack_size") == stack.len() as u64 => {
                let mut function = view.document();
                function.insert("stack".to_owned(), hex(stack).into());
                function.into()
            }
            _ => Value::Null,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
