//! The findings of a check: broken rules with their places, and a verdict for each file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::detail::DetailEvent;
use crate::json::{names, objects};
use crate::rules::{Party, ReaderDoes, Rule, Severity, Verdict, table as rules};
use crate::wire::{Record, Wire};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The field's path: `footer.event_count`, `events[12].detail_seq`, `threads[2].id`.
    pub field: String,
    /// The offset in bytes from the start of the file, if the place has one.
    pub offset: Option<u64>,
}

impl Place {
    /// Creates a place with an offset in bytes.
    #[doc(hidden)]
    pub fn at(field: impl Into<String>, offset: u64) -> Self {
        Self {
            field: field.into(),
            offset: Some(offset),
        }
    }

    /// Creates a place without an offset.
    #[doc(hidden)]
    pub fn in_field(field: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            offset: None,
        }
    }
}

/// A rule broken in one file: the first place and the number of places.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The first place.
    pub place: Place,
    /// The problem at the first place: what was found and what was expected.
    pub message: String,
    /// The number of places in the file.
    pub count: u64,
    /// The next few places where the rule is broken.
    pub more: Vec<Place>,
}

/// The maximum number of additional places in a finding; the rest are only counted.
const MORE_PLACES: usize = 7;

/// The kind of a file or folder in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `index.atf`.
    Index,
    /// `detail.atf`.
    Detail,
    /// `ring.atf`, reported only with findings.
    Ring,
    /// `manifest.json`.
    Manifest,
    /// A thread's folder, reported only with findings.
    Folder,
}

/// The findings about one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// The file's path, which starts with the path given to the check.
    pub path: PathBuf,
    /// The kind of file.
    pub kind: Kind,
    /// The wire version, if the header contains one.
    pub wire: Option<u8>,
    /// The number of readable index events.
    pub events: Option<u64>,
    /// The number of readable detail events.
    pub details: Option<u64>,
    /// The number of index events that are counted in the header but missing from the file.
    pub missing: u64,
    /// Broken rules, by id.
    findings: BTreeMap<&'static str, Finding>,
}

impl FileReport {
    /// Creates a report without findings.
    #[doc(hidden)]
    #[must_use]
    pub fn new(path: &Path, kind: Kind) -> Self {
        let path = path.to_owned();
        Self {
            path,
            kind,
            wire: None,
            events: None,
            details: None,
            missing: 0,
            findings: BTreeMap::new(),
        }
    }

    /// Adds a broken rule. Calls `message` only for the first place in the file.
    ///
    /// Ignores a rule that does not apply to the file's wire version.
    #[doc(hidden)]
    pub fn add(&mut self, rule: &'static Rule, place: Place, message: impl FnOnce() -> String) {
        if self.wire.is_some_and(|wire| !rule.wires.contains(&wire)) {
            return;
        }
        match self.findings.get_mut(rule.id) {
            Some(finding) => {
                finding.count = finding.count.saturating_add(1);
                if finding.more.len() < MORE_PLACES {
                    finding.more.push(place);
                }
            }
            None => {
                let finding = Finding {
                    rule,
                    place,
                    message: message(),
                    count: 1,
                    more: Vec::new(),
                };
                self.findings.insert(rule.id, finding);
            }
        }
    }

    /// Adds the findings of another report on the same file.
    pub(crate) fn append(&mut self, other: Self) {
        for (id, finding) in other.findings {
            match self.findings.get_mut(id) {
                None => {
                    self.findings.insert(id, finding);
                }
                Some(own) => {
                    own.count = own.count.saturating_add(finding.count);
                    let places = std::iter::once(finding.place).chain(finding.more);
                    own.more.extend(places);
                    own.more.truncate(MORE_PLACES);
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns whether this is the report on a manifest that does not exist.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.findings.contains_key(rules::ATF_MANI_001.id)
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings.into_values().collect()
    }

    /// Returns the findings, strictest first.
    #[must_use]
    pub fn findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.values().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.rule.severity));
        findings
    }

    /// Removes the findings for which `keep` returns `false`.
    #[doc(hidden)]
    pub fn retain(&mut self, mut keep: impl FnMut(&Finding) -> bool) {
        self.findings.retain(|_, finding| keep(finding));
    }

    /// Returns the action that a reader must take on the file.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self
            .findings
            .values()
            .map(|finding| finding.rule.reader.into());
        verdicts.max().unwrap_or(Verdict::Accept)
    }
}

/// The totals of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of files with a verdict.
    pub files: u64,
    /// The number of manifests that do not exist. They are not among the files.
    pub absent: u64,
    /// The number of files that a reader must accept.
    pub accept: u64,
    /// The number of files that a reader must recover.
    pub recover: u64,
    /// The number of files that a reader must reject.
    pub reject: u64,
    /// The number of readable index events in all files.
    pub events: u64,
    /// The number of readable detail events in all files.
    pub details: u64,
    /// The number of index events that are counted in headers but missing from the files.
    pub missing: u64,
    /// The number of broken MUST rules, each counted once per file.
    pub must: u64,
    /// The number of broken SHOULD rules, each counted once per file.
    pub should: u64,
    /// The number of broken rules that are only advice, each counted once per file.
    pub advice: u64,
    /// The number of paths and files that could not be read.
    pub unreadable: u64,
}

impl Summary {
    /// Adds a report.
    pub fn add(&mut self, report: &FileReport) {
        let count = |counter: &mut u64| *counter = counter.saturating_add(1);
        if report.is_absent() {
            count(&mut self.absent);
        } else {
            count(&mut self.files);
            count(match report.verdict() {
                Verdict::Accept => &mut self.accept,
                Verdict::Recover => &mut self.recover,
                Verdict::Reject => &mut self.reject,
            });
        }
        self.missing = self.missing.saturating_add(report.missing);
        self.events = self.events.saturating_add(report.events.unwrap_or(0));
        self.details = self.details.saturating_add(report.details.unwrap_or(0));
        for finding in report.findings.values() {
            count(match finding.rule.severity {
                Severity::Must => &mut self.must,
                Severity::Should => &mut self.should,
                Severity::Advice => &mut self.advice,
            });
        }
    }

    /// Returns the command's exit status: 2 if a path could not be read, otherwise 1 if a rule of
    /// severity `deny` or stricter is broken, otherwise 0.
    #[must_use]
    pub const fn exit_status(&self, deny: Severity) -> u8 {
        let broken = match deny {
            Severity::Must => self.must,
            Severity::Should => self.must.saturating_add(self.should),
            Severity::Advice => self
                .must
                .saturating_add(self.should)
                .saturating_add(self.advice),
        };
        match (self.unreadable, broken) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        }
    }
}

/// A receiver of broken rules.
pub(crate) trait Findings {
    /// Records a broken rule. The message is built only if it is kept.
    fn add(&mut self, rule: &'static Rule, place: Place, message: impl FnOnce() -> String);
}

impl Findings for FileReport {
    fn add(&mut self, rule: &'static Rule, place: Place, message: impl FnOnce() -> String) {
        Self::add(self, rule, place, message);
    }
}

/// The location of a record in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    record: Record,
    wire: Wire,
    /// The position of the event that the record belongs to; 0 for headers and footers.
    seq: u64,
    /// The offset in bytes from the start of the file.
    offset: u64,
}

impl At {
    pub(crate) const fn header(record: Record, wire: Wire) -> Self {
        Self::new(record, wire, 0, 0)
    }

    pub(crate) const fn footer(record: Record, wire: Wire, offset: u64) -> Self {
        Self::new(record, wire, 0, offset)
    }

    pub(crate) const fn event(wire: Wire, seq: u64, offset: u64) -> Self {
        Self::new(Record::IndexEvent, wire, seq, offset)
    }

    /// Returns the location of a detail event's header.
    pub(crate) const fn detail(wire: Wire, event: &DetailEvent) -> Self {
        Self::new(Record::DetailEventHeader, wire, event.seq, event.offset)
    }

    pub(crate) fn payload(wire: Wire, event: &DetailEvent) -> Self {
        let offset = event.payload_offset();
        Self::new(Record::DetailFunctionPayload, wire, event.seq, offset)
    }

    const fn new(record: Record, wire: Wire, seq: u64, offset: u64) -> Self {
        Self {
            record,
            wire,
            seq,
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
        let offset = field_in(self.wire).map_or(0, |field| field.offset as u64);
        let seq = self.seq;
        let path = match self.record {
            Record::IndexHeader | Record::DetailHeader | Record::RingHeader => {
                format!("header.{name}")
            }
            Record::IndexEvent | Record::DetailEventHeader => format!("events[{seq}].{name}"),
            Record::DetailFunctionPayload => format!("events[{seq}].payload.{name}"),
            Record::IndexFooter | Record::DetailFooter => format!("footer.{name}"),
        };
        Place::at(path, self.offset.saturating_add(offset))
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

objects! {
    Place { field, offset }
    Summary {
        files, absent, accept, recover, reject, events, details, missing, must, should, advice,
        unreadable,
    }
}

names! {
    pub Kind {
        Index = "index", Detail = "detail", Ring = "ring", Manifest = "manifest", Folder = "folder",
    }
    pub Verdict { Accept = "accept", Recover = "recover", Reject = "reject" }
    pub Severity { Advice = "advice", Should = "should", Must = "must" }
    Party { Writer = "writer", Reader = "reader", Validator = "validator" }
    ReaderDoes { Ignore = "ignore", Warn = "warn", Recover = "recover", Reject = "reject" }
}
