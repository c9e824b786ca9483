//! A session on the page: how often it breaks each rule, and where.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::check::{FileReport, Finding, Verdict};
use crate::report::check::session::{name, within};
use crate::report::page::{escaped, shown, shown_value};
use crate::rules::Severity;

/// How many findings of one session a page shows.
const FINDINGS: usize = 200;
/// About how many bytes of markup surround what is shown.
const MARKUP: usize = 250;

/// A session, and what a page shows of it.
pub(super) struct Session {
    pub(super) path: String,
    pub(super) verdict: Verdict,
    pub(super) files: u64,
    pub(super) events: u64,
    pub(super) details: u64,
    pub(super) findings: Vec<FindingView>,
    /// Findings that are not among them.
    pub(super) left_out: u64,
    worst: Option<Severity>,
    rules: BTreeMap<&'static str, Cell>,
    size: usize,
}

/// How often a session breaks a rule.
#[derive(Default, Clone, Copy)]
pub(super) struct Cell {
    /// In how many files.
    pub(super) files: u64,
    /// In how many places.
    pub(super) times: u64,
}

/// A broken rule in a file.
#[derive(Serialize)]
pub(super) struct FindingView {
    file: String,
    pub(super) rule: &'static str,
    severity: &'static str,
    field: String,
    offset: Option<String>,
    message: String,
    times: u64,
    next: Option<String>,
    /// Whether it is the session's first of the rule, which a cell leads to.
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
            rules: BTreeMap::new(),
            size: MARKUP + escaped(&path),
            path,
        }
    }

    pub(super) fn add(&mut self, session: &Path, report: &FileReport) {
        self.files += 1;
        self.verdict = self.verdict.max(report.verdict());
        self.events = self.events.saturating_add(report.events.unwrap_or(0));
        self.details = self.details.saturating_add(report.details.unwrap_or(0));
        for finding in report.findings() {
            let rule = finding.rule;
            self.worst = self.worst.max(Some(rule.severity));
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

    /// The severity of the strictest rule that it breaks.
    pub(super) const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// The rules that it breaks, by id.
    pub(super) const fn rules(&self) -> &BTreeMap<&'static str, Cell> {
        &self.rules
    }

    /// About how many bytes it takes on the page.
    pub(super) const fn size(&self) -> usize {
        self.size
    }
}

fn view(file: &Path, finding: &Finding, is_first: bool) -> FindingView {
    FindingView {
        file: shown(&file.to_string_lossy()),
        rule: finding.rule.id,
        severity: finding.rule.severity.name(),
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
