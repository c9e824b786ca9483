//! Describes the parts of a file as it was written, regardless of what its bytes claim.

use std::ops::Range;

use atf_samples::layout::Record;

/// The parts of a trace file.
///
/// Expected results depend on this description. For example, which events survive a truncation
/// depends on where they were written, not on what a reader finds.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Whether it is a detail file.
    pub is_detail: bool,
    /// The wire version.
    pub wire: u8,
    /// The offset of the first event.
    pub start: usize,
    /// The sizes of the events.
    pub events: Vec<usize>,
    /// The number of bytes at the start of the file that are unchanged since they were written.
    pub own: usize,
    /// The sizes of the events that a reader finds, if it cannot find every complete event.
    pub framed: Option<Vec<usize>>,
}

/// A range of bytes that form one part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    pub(super) offset: usize,
    pub(super) size: usize,
    /// The prefix of the fields' names, such as `events[3]`.
    pub(super) name: String,
    /// The record; `None` for bytes without fields.
    pub(super) record: Option<Record>,
    /// The wire version of the record.
    pub(super) wire: u8,
}

/// Divides the bytes of a kill journal into regions.
pub(super) fn ring_regions(wire: u8, bytes: &[u8]) -> Vec<Region> {
    let header = Record::RingHeader;
    let mut parts = Parts::new(wire);
    parts.add(header.size().min(bytes.len()), "header", Some(header));
    parts.add(bytes.len().saturating_sub(header.size()), "areas", None);
    parts.regions.retain(|region| region.size > 0);
    parts.regions
}

impl Shape {
    /// Describes a finalized file with events of these sizes.
    #[must_use]
    pub fn new(is_detail: bool, wire: u8, events: Vec<usize>) -> Self {
        let own = 64 + events.iter().sum::<usize>() + 64;
        Self {
            is_detail,
            wire,
            start: 64,
            events,
            own,
            framed: None,
        }
    }

    /// Returns the offset at which the last event ends.
    pub(super) fn events_end(&self) -> usize {
        self.start + self.events.iter().sum::<usize>()
    }

    /// Returns the range of each complete event.
    pub(super) fn survivors(&self) -> Vec<Range<usize>> {
        let mut offset = self.start;
        let mut found = Vec::new();
        for size in self.framed.as_ref().unwrap_or(&self.events) {
            if offset + size <= self.own {
                found.push(offset..offset + size);
            }
            offset += size;
        }
        found
    }

    /// Returns the offset at which the last complete event ends.
    pub(super) fn survivors_end(&self) -> usize {
        self.survivors().last().map_or(self.start, |last| last.end)
    }

    /// Returns the offset of the footer, if it is complete.
    pub(super) fn footer(&self) -> Option<usize> {
        let offset = self.events_end();
        (offset + 64 <= self.own).then_some(offset)
    }

    /// Returns the record at the start of the file.
    pub(super) const fn header_record(&self) -> Record {
        self.either(Record::IndexHeader, Record::DetailHeader)
    }

    /// Returns the record at the start of an event.
    pub(super) const fn event_record(&self) -> Record {
        self.either(Record::IndexEvent, Record::DetailEventHeader)
    }

    /// Returns the record after the events.
    pub(super) const fn footer_record(&self) -> Record {
        self.either(Record::IndexFooter, Record::DetailFooter)
    }

    const fn either(&self, index: Record, detail: Record) -> Record {
        if self.is_detail { detail } else { index }
    }

    /// Divides the file's bytes into contiguous regions.
    pub(super) fn regions(&self, bytes: &[u8]) -> Vec<Region> {
        let mut parts = Parts::new(self.wire);
        parts.add(self.start.min(64), "header", Some(self.header_record()));
        parts.add(self.start.saturating_sub(64), "padding", None);
        for (seq, size) in self.events.iter().enumerate() {
            let event = self.event_record();
            let payload = size - event.size();
            let name = format!("events[{seq}]");
            parts.add(event.size(), &name, Some(event));
            let name = format!("events[{seq}].payload");
            let stack_size = bytes.get(parts.end + 96..parts.end + 98);
            match stack_size.map(atf_samples::layout::little_endian) {
                Some(stack) if stack + 100 == payload as u64 => {
                    parts.add(100, &name, Some(Record::DetailFunctionPayload));
                    parts.add(payload - 100, &format!("{name}.stack"), None);
                }
                _ => parts.add(payload, &name, None),
            }
        }
        parts.add(64, "footer", Some(self.footer_record()));
        for region in &mut parts.regions {
            region.size = region.size.min(self.own.saturating_sub(region.offset));
        }
        parts.end = self.own;
        let after = bytes.len().saturating_sub(self.own);
        parts.add(after, "trailing bytes", None);
        parts.regions.retain(|region| region.size > 0);
        parts.regions
    }
}

/// The regions of a file, which are added one after another.
struct Parts {
    regions: Vec<Region>,
    end: usize,
    wire: u8,
}

impl Parts {
    const fn new(wire: u8) -> Self {
        Self {
            regions: Vec::new(),
            end: 0,
            wire,
        }
    }

    fn add(&mut self, size: usize, name: &str, record: Option<Record>) {
        self.regions.push(Region {
            offset: self.end,
            size,
            name: name.to_owned(),
            record,
            wire: self.wire,
        });
        self.end += size;
    }
}
