//! Reads a file according to the grammar of its kind.

use std::fmt;

use atf_spec::grammar::{Grammar, Requirement, Step};
use atf_spec::layout::{Layout, RecordLayout, Wire};

use crate::view::{View, constant};

/// A file that meets the requirements of its grammar.
#[derive(Debug)]
pub struct File<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: &'a Layout,
    pub(crate) grammar: &'a Grammar,
    pub(crate) wire: Wire,
    /// The values that the steps of reading have computed so far, with their names.
    pub(crate) values: Vec<(&'a str, u64)>,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub struct Refusal<'a> {
    /// The requirement that the file does not meet.
    pub requirement: &'a Requirement,
    /// The record with the invalid field, in prose.
    pub record: &'a str,
    /// The field's offset in the file.
    pub offset: u64,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requirement {
            field,
            expected,
            rule,
            ..
        } = self.requirement;
        let (record, offset) = (self.record, self.offset);
        write!(
            f,
            "byte {offset}: {record}, {field}: expected {expected} ({rule})"
        )
    }
}

impl<'a> File<'a> {
    /// Reads a file of the grammar's kind.
    ///
    /// # Errors
    ///
    /// Returns the first requirement that the file does not meet.
    pub fn open(
        layout: &'a Layout,
        grammar: &'a Grammar,
        bytes: &'a [u8],
    ) -> Result<Self, Refusal<'a>> {
        let mut file = Self {
            bytes,
            layout,
            grammar,
            wire: layout.wires.first().copied().unwrap_or_default(),
            values: Vec::new(),
        };
        // If no version matches, the requirement of the first one fails and reports it.
        let is_own = |wire: &&Wire| {
            let layout = file.record_in("header", **wire).unwrap_or(EMPTY);
            let field = layout.field("version");
            let stated = field.map(|field| View { layout, bytes }.number_of(field));
            stated.is_some() && stated == field.and_then(constant)
        };
        if let Some(wire) = layout.wires.iter().find(is_own) {
            file.wire = *wire;
        }
        for step in &grammar.reading {
            match step {
                Step::Value(value) => {
                    let number = file.number(&value.is);
                    file.values.push((&value.value, number));
                }
                Step::Requires(requirement) => {
                    let applies = requirement.wire.is_none_or(|wire| wire == file.wire);
                    if applies && file.number(&requirement.requires) == 0 {
                        return Err(file.refusal(requirement));
                    }
                }
            }
        }
        Ok(file)
    }

    fn refusal(&self, requirement: &'a Requirement) -> Refusal<'a> {
        let record = self.grammar.records.iter();
        let mut record = record.filter(|role| role.role == requirement.role);
        let record = record
            .next()
            .and_then(|role| self.layout.record(&role.record));
        let field = self.field(&requirement.role, &requirement.field);
        let at = requirement.at.as_ref().map_or(0, |at| self.number(at));
        Refusal {
            requirement,
            record: record.map_or("", |record| &record.title),
            offset: at.saturating_add(field.map_or(0, |field| field.offset.into())),
        }
    }

    /// Returns the file's wire version.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns a value computed while reading, or 0 for an unknown name. A truth value is 0 or 1.
    #[must_use]
    pub fn value(&self, name: &str) -> u64 {
        let known = self.values.iter().find(|(known, _)| *known == name);
        known.map_or(0, |(_, value)| *value)
    }

    /// Returns the header, the footer or another record of the grammar at an offset.
    #[must_use]
    pub fn view(&self, role: &str, at: u64) -> View<'a> {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        View {
            layout: self.record_in(role, self.wire).unwrap_or(EMPTY),
            bytes: self.bytes.get(start..).unwrap_or_default(),
        }
    }

    /// Returns a record's size in bytes.
    #[must_use]
    pub fn size(&self, role: &str) -> u64 {
        let record = self.record_in(role, self.wire);
        let last = record.and_then(|record| record.fields.last());
        last.map_or(0, |field| field.end().into())
    }

    /// Returns the offsets of the events.
    pub fn events(&self) -> impl Iterator<Item = u64> {
        let end = self.value("events_end");
        let next = move |at: &u64| Some(self.call("next_event", &[*at, end]));
        let first = Some(self.call("start", &[]));
        std::iter::successors(first, next).take_while(move |at| *at < end)
    }

    pub(crate) fn record_in(&self, role: &str, wire: Wire) -> Option<&'a RecordLayout> {
        let mut records = self.grammar.records.iter();
        let role = records.find(|known| known.role == role)?;
        self.layout.record(&role.record)?.layout(wire)
    }
}

static EMPTY: &RecordLayout = &RecordLayout {
    wire: 0,
    fields: Vec::new(),
};
