//! What a check finds: broken rules with their places, and a verdict for each file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::check::rules::{ReaderDoes, Rule, Severity};

/// What a reader must do about a file: the worst thing that any of its findings asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Reads it.
    Accept,
    /// Reads what survived.
    Recover,
    /// Refuses it.
    Reject,
}

impl Verdict {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Recover => "recover",
            Self::Reject => "reject",
        }
    }
}

impl From<ReaderDoes> for Verdict {
    fn from(reader: ReaderDoes) -> Self {
        match reader {
            ReaderDoes::Ignore | ReaderDoes::Warn => Self::Accept,
            ReaderDoes::Recover => Self::Recover,
            ReaderDoes::Reject => Self::Reject,
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The field's path: `footer.event_count`, `events[12].detail_seq`, `threads[2].id`.
    pub field: String,
    /// Bytes from the start of the file, where the place has some.
    pub offset: Option<u64>,
}

impl Place {
    /// A place with an offset in bytes.
    pub fn at(field: impl Into<String>, offset: u64) -> Self {
        Self {
            field: field.into(),
            offset: Some(offset),
        }
    }

    /// A place without one.
    pub fn of(field: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            offset: None,
        }
    }
}

/// A broken rule in one file: where it is broken first, and how often.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Where it is broken first.
    pub place: Place,
    /// What is wrong there: found and expected.
    pub message: String,
    /// How often it is broken in the file.
    pub count: u64,
    /// Where it is broken next, a few places at most.
    pub more: Vec<Place>,
}

/// How many further places a finding names; the rest is only counted.
const MORE_PLACES: usize = 7;

/// Which of a session's files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `index.atf`.
    Index,
    /// `detail.atf`.
    Detail,
    /// `ring.atf`, reported only if something is wrong with it.
    Ring,
    /// `manifest.json`.
    Manifest,
    /// A thread's folder, reported only if something is wrong with it.
    Folder,
}

/// What was found in one file.
#[derive(Debug)]
pub struct FileReport {
    /// The file's path: the one that was asked for, with what was found below it.
    pub path: PathBuf,
    /// Which file it is.
    pub kind: Kind,
    /// Its wire version, where its header says one.
    pub wire: Option<u8>,
    /// Index events that can be read.
    pub events: Option<u64>,
    /// Detail events that can be read.
    pub details: Option<u64>,
    /// Broken rules, by id.
    findings: BTreeMap<&'static str, Finding>,
}

impl FileReport {
    /// A report without findings.
    #[must_use]
    pub fn new(path: &Path, kind: Kind) -> Self {
        let path = path.to_owned();
        Self {
            path,
            kind,
            wire: None,
            events: None,
            details: None,
            findings: BTreeMap::new(),
        }
    }

    /// Notes a broken rule. The message is made only for the first place in the file.
    ///
    /// A rule that does not hold for the file's wire version is not broken.
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
                let message = message();
                let finding = Finding {
                    rule,
                    place,
                    message,
                    count: 1,
                    more: Vec::new(),
                };
                self.findings.insert(rule.id, finding);
            }
        }
    }

    /// The findings, the strictest first.
    #[must_use]
    pub fn findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.values().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.rule.severity));
        findings
    }

    /// The worst thing that a reader must do about the file.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self
            .findings
            .values()
            .map(|finding| finding.rule.reader.into());
        verdicts.max().unwrap_or(Verdict::Accept)
    }
}

/// The reports of a check, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files with a verdict.
    pub files: u64,
    /// Files to accept.
    pub accept: u64,
    /// Files to recover.
    pub recover: u64,
    /// Files to reject.
    pub reject: u64,
    /// Index events that can be read.
    pub events: u64,
    /// Detail events that can be read.
    pub details: u64,
    /// Broken MUST rules, one for each rule and file.
    pub must: u64,
    /// Broken SHOULD rules, one for each rule and file.
    pub should: u64,
    /// Advice, one for each rule and file.
    pub advice: u64,
    /// Paths and files that could not be read.
    pub unreadable: u64,
}

impl Summary {
    /// Adds a report.
    pub fn add(&mut self, report: &FileReport) {
        let count = |counter: &mut u64| *counter = counter.saturating_add(1);
        count(&mut self.files);
        count(match report.verdict() {
            Verdict::Accept => &mut self.accept,
            Verdict::Recover => &mut self.recover,
            Verdict::Reject => &mut self.reject,
        });
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

    /// The command's exit status: 2 where a path could not be read, else 1 where a rule of the
    /// severity `deny` or a stricter one is broken, else 0.
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
