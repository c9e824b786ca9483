//! Prepares a session for the page: where and how often it breaks each rule.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::check::session::{name, within};
use crate::html::{escaped, shown, shown_value};
use atf::check::{FileReport, Finding, Verdict};
use atf::rules::{Rule, Severity};

/// The maximum number of findings to show for a session.
const FINDINGS: usize = 200;
/// The approximate size of the markup around an item, in bytes.
const MARKUP: usize = 250;

/// A session as the page shows it.
pub(super) struct Session {
    pub(super) path: String,
    pub(super) verdict: Verdict,
    pub(super) files: u64,
    pub(super) events: u64,
    pub(super) details: u64,
    pub(super) findings: Vec<FindingView>,
    /// The number of omitted findings.
    pub(super) left_out: u64,
    /// The severity of the strictest broken rule.
    pub(super) worst: Option<Severity>,
    /// The largest cost of the broken rules.
    pub(super) cost: Option<Severity>,
    /// The broken rules, by id.
    pub(super) rules: BTreeMap<&'static str, Cell>,
    /// The approximate size on the page, in bytes.
    pub(super) size: usize,
}

/// The number of times that a session breaks a rule.
#[derive(Default, Clone, Copy)]
pub(super) struct Cell {
    /// The number of files that break the rule.
    pub(super) files: u64,
    /// The number of places where the rule is broken.
    pub(super) times: u64,
}

/// A broken rule in a file.
#[derive(Serialize)]
pub(super) struct FindingView {
    file: String,
    pub(super) rule: &'static str,
    severity: &'static str,
    cost: &'static str,
    field: String,
    offset: Option<String>,
    message: String,
    times: u64,
    next: Option<String>,
    /// Whether this is the session's first finding for its rule. The rule's cell links to it.
    pub(super) is_first: bool,
}

impl Session {
    pub(super) fn new(path: &Path) -> Self {
        let path = shown(&name(path).to_string());
        Self {
            verdict: Verdict::Accept,
            files: 0,
            events: 0,
            details: 0,
            findings: Vec::new(),
            left_out: 0,
            worst: None,
            cost: None,
            rules: BTreeMap::new(),
            size: MARKUP + escaped(&path),
            path,
        }
    }

    pub(super) fn add(&mut self, session: &Path, report: &FileReport) {
        self.files += u64::from(!report.is_absent());
        self.verdict = self.verdict.max(report.verdict());
        self.events = self.events.saturating_add(report.events.unwrap_or(0));
        self.details = self.details.saturating_add(report.details.unwrap_or(0));
        for finding in report.findings() {
            let rule = finding.rule;
            self.worst = self.worst.max(Some(rule.severity));
            self.cost = self.cost.max(Some(cost(rule)));
            let cell = self.rules.entry(rule.id).or_default();
            let is_first = cell.files == 0;
            cell.files += 1;
            cell.times = cell.times.saturating_add(finding.count);
            if self.findings.len() < FINDINGS {
                let file = within(session, &report.path);
                let view = view(file, finding, is_first);
                self.size += view.size() + if is_first { MARKUP } else { 0 };
                self.findings.push(view);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Returns the session's outcome for a reader: the verdict, or `incomplete` if the files are
    /// accepted but data is missing.
    pub(super) fn outcome(&self) -> &'static str {
        match self.verdict {
            Verdict::Accept if self.cost == Some(Severity::Must) => "incomplete",
            verdict => verdict.name(),
        }
    }
}

fn view(file: &Path, finding: &Finding, is_first: bool) -> FindingView {
    FindingView {
        file: shown(&file.to_string_lossy()),
        rule: finding.rule.id,
        severity: finding.rule.severity.name(),
        cost: cost(finding.rule).name(),
        field: shown(&finding.place.field),
        offset: finding.place.offset.map(|offset| format!("{offset:#x}")),
        message: shown_value(&finding.message),
        times: finding.count,
        next: finding.more.first().map(|next| shown(&next.field)),
        is_first,
    }
}

impl FindingView {
    fn size(&self) -> usize {
        let texts = [&self.file, &self.field, &self.message];
        MARKUP + texts.map(|text| escaped(text)).iter().sum::<usize>()
    }
}

/// The rules that are less than a MUST for writers, but whose findings mean that events or names are
/// missing.
const MISSING: [&str; 4] = [
    "ATF-MANI-001",
    "ATF-MANI-014",
    "ATF-MANI-016",
    "ATF-SESS-003",
];

/// The rules that are advice for writers, but whose findings mean that a file lost its end or
/// details.
const DOUBTFUL: [&str; 8] = [
    "ATF-DFTR-010",
    "ATF-DFTR-011",
    "ATF-DFTR-012",
    "ATF-IFTR-010",
    "ATF-IFTR-011",
    "ATF-IFTR-012",
    "ATF-LINK-002",
    "ATF-LINK-004",
];

/// Returns the severity that a broken rule has for readers.
pub(super) fn cost(rule: &Rule) -> Severity {
    if MISSING.contains(&rule.id) {
        Severity::Must
    } else if DOUBTFUL.contains(&rule.id) {
        Severity::Should
    } else {
        rule.severity
    }
}
