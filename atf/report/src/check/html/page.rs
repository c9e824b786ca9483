//! The content of the page, from top to bottom.

use serde::Serialize;

use super::session::{Cell, FindingView, Session, cost};
use super::{Html, RuleTotal};
use crate::editions::Editions;
use crate::html::shown;
use crate::printable::counted;
use atf::check::Summary;
use atf::rules::{self, ReaderDoes, Severity};

#[derive(Serialize)]
pub(super) struct Page {
    is_good: bool,
    headline: String,
    summary: Summary,
    editions: Vec<(&'static str, String)>,
    session_count: u64,
    /// Descriptions of what the page omits.
    left_out: Vec<String>,
    unreadable: Vec<(String, String)>,
    rules: Vec<RuleView>,
    sessions: Vec<SessionView>,
}

/// A broken rule and its totals.
#[derive(Serialize)]
struct RuleView {
    id: &'static str,
    rule: &'static str,
    note: Option<&'static str>,
    severity: &'static str,
    cost: &'static str,
    reader: ReaderDoes,
    sessions: u64,
    files: u64,
    times: u64,
}

#[derive(Serialize)]
struct SessionView {
    seq: usize,
    path: String,
    state: &'static str,
    cost: &'static str,
    verdict: &'static str,
    outcome: &'static str,
    files: String,
    events: String,
    details: String,
    /// The ids of the broken rules, for the filters.
    rules: String,
    /// One cell for each rule that any session breaks.
    cells: Vec<Option<CellView>>,
    findings: Vec<FindingView>,
    left_out: u64,
}

#[derive(Serialize)]
struct CellView {
    rule: &'static str,
    cost: &'static str,
    files: u64,
    label: String,
    /// Whether the page shows a finding that the rule can link to.
    is_shown: bool,
}

impl Page {
    /// Makes the page from the collected sessions.
    pub(super) fn new<W>(html: &mut Html<W>, summary: &Summary) -> Self {
        let totals = std::mem::take(&mut html.totals);
        let kept = std::mem::take(&mut html.kept);
        let unreadable = std::mem::take(&mut html.unreadable);
        let mut rules: Vec<_> = totals.rules.iter().filter_map(rule).collect();
        // Sort the rules by severity, strictest first, and then by id.
        rules.sort_by_key(|rule| rules::find(rule.id).map(|rule| std::cmp::Reverse(rule.severity)));
        let editions = Editions::current();
        let mut left_out: Vec<_> = totals
            .left_out
            .iter()
            .rev()
            .map(|(worst, count)| {
                let sessions = counted(*count, "session");
                match worst {
                    Some(worst) => format!(
                        "{sessions} whose strictest broken rule is a {}",
                        name(*worst)
                    ),
                    None => format!("{sessions} without a finding"),
                }
            })
            .collect();
        let unshown = summary.unreadable.saturating_sub(unreadable.len() as u64);
        if unshown > 0 {
            let paths = counted(unshown, "path");
            left_out.push(format!("{paths} that could not be read"));
        }
        let sessions = kept.into_values().enumerate();
        let sessions = sessions.map(|(seq, session)| session_view(seq, session, &rules));
        Self {
            is_good: summary.exit_status(html.deny) == 0,
            headline: headline(totals.sessions, totals.denied, summary, html.deny),
            summary: *summary,
            editions: (editions.of_rules().iter())
                .map(|(what, edition)| (*what, shown(edition)))
                .collect(),
            session_count: totals.sessions,
            left_out,
            unreadable,
            sessions: sessions.collect(),
            rules,
        }
    }
}

fn headline(sessions: u64, denied: u64, summary: &Summary, deny: Severity) -> String {
    let what = match deny {
        Severity::Must => "a MUST",
        Severity::Should => "a MUST or a SHOULD",
        Severity::Advice => "a rule",
    };
    let unreadable = match summary.unreadable {
        0 => String::new(),
        count => format!("; {} could not be read", counted(count, "path")),
    };
    let verdict = match (sessions, denied) {
        (0, _) => "Nothing was checked".to_owned(),
        (1, 0) => format!("The session does not break {what}"),
        (1, _) => format!("The session breaks {what}"),
        (_, 0) => format!("None of {sessions} sessions breaks {what}"),
        (_, 1) => format!("1 of {sessions} sessions breaks {what}"),
        (_, _) => format!("{denied} of {sessions} sessions break {what}"),
    };
    verdict + &unreadable
}

/// Returns the severity's name as the rules spell it.
const fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
        Severity::Advice => "piece of advice",
    }
}

fn rule((id, total): (&&'static str, &RuleTotal)) -> Option<RuleView> {
    let rule = rules::find(id)?;
    Some(RuleView {
        id: rule.id,
        rule: rule.rule,
        note: rule.note,
        severity: rule.severity.name(),
        cost: cost(rule).name(),
        reader: rule.reader,
        sessions: total.sessions,
        files: total.files,
        times: total.times,
    })
}

fn session_view(seq: usize, session: Session, rules: &[RuleView]) -> SessionView {
    let is_shown = |id| session.findings.iter().any(|finding| finding.rule == id);
    let cell = |rule: &RuleView| {
        let Cell { files, times } = *session.rules.get(rule.id)?;
        let (files_in_words, times) = (counted(files, "file"), counted(times, "time"));
        Some(CellView {
            rule: rule.id,
            cost: rule.cost,
            files,
            label: format!("{}, {}: {files_in_words}, {times}", session.path, rule.id),
            is_shown: is_shown(rule.id),
        })
    };
    let ids: Vec<_> = session.rules.keys().copied().collect();
    SessionView {
        seq,
        cells: rules.iter().map(cell).collect(),
        state: session.worst.map_or("clean", Severity::name),
        cost: session.cost.map_or("clean", Severity::name),
        verdict: session.verdict.name(),
        outcome: session.outcome(),
        files: counted(session.files, "file"),
        events: counted(session.events, "event"),
        details: counted(session.details, "detail"),
        rules: ids.join(" "),
        left_out: session.left_out,
        path: session.path,
        findings: session.findings,
    }
}
