//! Locates a record's fields for findings.

use std::fmt;

use super::finding::{Findings, Place};
use crate::detail::DetailEvent;
use crate::rules::Rule;
use crate::wire::{Record, Wire};

/// A record in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    record: Record,
    wire: Wire,
    name: Name,
    /// The offset in bytes from the start of the file.
    pub(crate) offset: u64,
}

/// A record's name in messages.
#[derive(Debug, Clone, Copy)]
enum Name {
    Header,
    Footer,
    Event(u64),
    Payload(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Footer => f.write_str("footer"),
            Self::Event(seq) => write!(f, "events[{seq}]"),
            Self::Payload(seq) => write!(f, "events[{seq}].payload"),
        }
    }
}

impl At {
    pub(crate) const fn header(record: Record, wire: Wire) -> Self {
        Self::new(record, wire, Name::Header, 0)
    }

    pub(crate) const fn footer(record: Record, wire: Wire, offset: u64) -> Self {
        Self::new(record, wire, Name::Footer, offset)
    }

    pub(crate) const fn event(wire: Wire, seq: u64, offset: u64) -> Self {
        Self::new(Record::IndexEvent, wire, Name::Event(seq), offset)
    }

    /// Returns the location of a detail event's header.
    pub(crate) const fn detail(wire: Wire, event: &DetailEvent) -> Self {
        Self::new(
            Record::DetailEventHeader,
            wire,
            Name::Event(event.seq),
            event.offset,
        )
    }

    pub(crate) fn payload(wire: Wire, event: &DetailEvent) -> Self {
        let name = Name::Payload(event.seq);
        Self::new(
            Record::DetailFunctionPayload,
            wire,
            name,
            event.payload_offset(),
        )
    }

    const fn new(record: Record, wire: Wire, name: Name, offset: u64) -> Self {
        Self {
            record,
            wire,
            name,
            offset,
        }
    }

    /// Returns the place of a field, or of the record if the wire version has no such field.
    pub(crate) fn field(&self, name: &str) -> Place {
        let field_in = |wire: Wire| self.record.field(wire, name);
        debug_assert!(
            Wire::ALL.iter().any(|wire| field_in(*wire).is_some()),
            "{self:?} has no field {name}"
        );
        let field = field_in(self.wire);
        let offset = field.map_or(0, |field| field.offset as u64);
        Place::at(
            format!("{}.{name}", self.name),
            self.offset.saturating_add(offset),
        )
    }

    /// Reports a field if its number has no `name`.
    pub(crate) fn unknown(
        &self,
        field: &str,
        number: u8,
        name: Option<&str>,
        rule: &'static Rule,
        findings: &mut impl Findings,
    ) {
        if name.is_none() {
            findings.add(rule, self.field(field), || {
                format!("unknown {field} {number}")
            });
        }
    }

    /// Reports the record's reserved fields that are not 0.
    pub(crate) fn reserved(&self, bytes: &[u8], rule: &'static Rule, findings: &mut impl Findings) {
        for field in self.record.nonzero_reserved(self.wire, bytes) {
            findings.add(rule, self.field(field.name), || "not all zeros".to_owned());
        }
    }
}
