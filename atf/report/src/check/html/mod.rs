//! The HTML page of a check: a table of sessions by rule, followed by the findings.
//!
//! The page's size is limited, so that browsers can open it. It shows the worst sessions, counts
//! all of them, and lists what it omits.

mod page;
mod session;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Sink;
use super::session::session_folder;
use crate::html::{self, shown};
use atf::check::{FileReport, Summary};
use atf::rules::Severity;
use page::Page;
use session::Session;

const TEMPLATE: &str = include_str!("../../../templates/check.html");
/// The maximum number of sessions on a page.
const SESSIONS: usize = 1000;
/// The maximum number of unreadable paths on a page.
const UNREADABLE: usize = 200;
/// The approximate limit on the total size in bytes of the sessions on a page.
const BYTES: usize = 4_000_000;

pub(super) struct Html<W> {
    out: W,
    deny: Severity,
    /// The session whose files are currently arriving.
    current: Option<(PathBuf, Session)>,
    /// The worst sessions so far. Equally bad sessions are in the order in which they arrived.
    kept: BTreeMap<(Reverse<Option<Severity>>, u64), Session>,
    bytes: usize,
    totals: Totals,
    unreadable: Vec<(String, String)>,
}

/// The totals of all sessions, including those not on the page.
#[derive(Default)]
struct Totals {
    sessions: u64,
    /// The number of sessions that fail the check.
    denied: u64,
    /// The number of omitted sessions, by the severity of the strictest rule that they break.
    left_out: BTreeMap<Option<Severity>, u64>,
    rules: BTreeMap<&'static str, RuleTotal>,
}

#[derive(Default)]
struct RuleTotal {
    sessions: u64,
    files: u64,
    times: u64,
}

impl<W: Write> Html<W> {
    pub(super) fn new(deny: Severity, out: W) -> Self {
        Self {
            out,
            deny,
            current: None,
            kept: BTreeMap::new(),
            bytes: 0,
            totals: Totals::default(),
            unreadable: Vec::new(),
        }
    }

    /// Counts the finished session, and keeps it if it is one of the worst.
    fn end(&mut self) {
        let Some((_, session)) = self.current.take() else {
            return;
        };
        let totals = &mut self.totals;
        totals.sessions += 1;
        totals.denied += u64::from(session.worst >= Some(self.deny));
        for (id, cell) in &session.rules {
            let total = totals.rules.entry(id).or_default();
            total.sessions += 1;
            total.files += cell.files;
            total.times = total.times.saturating_add(cell.times);
        }
        self.bytes += session.size;
        let key = (Reverse(session.cost), totals.sessions);
        self.kept.insert(key, session);
        // A single session is always far below the limit, because the number of its findings is
        // also limited.
        while self.kept.len() > SESSIONS || self.bytes > BYTES {
            let Some((_, session)) = self.kept.pop_last() else {
                return;
            };
            self.bytes -= session.size;
            *totals.left_out.entry(session.worst).or_default() += 1;
        }
    }
}

impl<W: Write> Sink for Html<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        let path = session_folder(report);
        let is_next = |(current, _): &(PathBuf, Session)| current != path;
        if self.current.as_ref().is_some_and(is_next) {
            self.end();
        }
        let open = || (path.to_owned(), Session::new(path));
        let (_, session) = self.current.get_or_insert_with(open);
        session.add(path, report);
        Ok(())
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        if self.unreadable.len() < UNREADABLE {
            let path = shown(&path.to_string_lossy());
            self.unreadable.push((path, shown(why)));
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.end();
        let page = Page::new(self, summary);
        html::write(TEMPLATE, page, &mut self.out)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atf::check::{Kind, Place};
    use atf::rules;

    /// Returns a page with these reports, and the estimated size of its sessions.
    fn page(reports: &[FileReport]) -> (String, usize) {
        let (mut out, mut summary) = (Vec::new(), Summary::default());
        let mut html = Html::new(Severity::Must, &mut out);
        for report in reports {
            summary.add(report);
            html.file(report).unwrap();
        }
        html.end();
        let estimate = html.bytes;
        html.finish(&summary).unwrap();
        (String::from_utf8(out).unwrap(), estimate)
    }

    #[test]
    fn missing_data_looks_worse_than_advice() {
        for id in ["ATF-MANI-001", "ATF-MANI-005", "ATF-MANI-014"] {
            let rule = rules::find(id).unwrap();
            let mut report = FileReport::new(Path::new("s/manifest.json"), Kind::Manifest);
            report.add(rule, Place::in_field(""), || "missing".to_owned());
            let (page, _) = page(&[report]);
            assert!(page.contains("✗ incomplete"), "{page}");
            for wrong in ["✗ accept", ">i 1<", ">! 1<"] {
                assert!(!page.contains(wrong), "{wrong}");
            }
        }
    }

    #[test]
    fn session_size_estimates_are_close() {
        let session = |seq: usize| format!("{}/{seq}", "session".repeat(20));
        let report = |session: &str, thread: usize| {
            let path = format!("{session}/thread_{thread}/detail.atf");
            FileReport::new(Path::new(&path), Kind::Detail)
        };
        let long = "a message of some length ".repeat(20);
        let clean: Vec<_> = (0..50).map(|seq| report(&session(seq), 0)).collect();
        let one_rule = (0..100).map(|thread| {
            let mut report = report("one", thread);
            report.add(
                rules::find("ATF-DFTR-004").unwrap(),
                Place::at("footer.checksum", 100),
                || long.clone(),
            );
            report
        });
        let mut many_rules = report("one", 0);
        for rule in rules::ALL.iter().take(60) {
            many_rules.add(rule, Place::at("field", 100), || "wrong".to_owned());
        }
        let empty = page(&[]).0.len();
        for reports in [clean, one_rule.collect(), vec![many_rules]] {
            let (page, estimate) = page(&reports);
            let size = page.len() - empty;
            assert!(
                (size / 2..size * 2).contains(&estimate),
                "estimated {estimate}, real size {size}"
            );
        }
    }
}
