//! Finds the rules that a written session breaks.

use std::cmp::Reverse;
use std::path::Path;

use super::{Wrong, compare};
use atf::thread::DETAIL_FILE;

use crate::results::{Difference, Note, shortened};
use crate::rules::{Rule, Severity};
use crate::scripts::Script;
use crate::{Checked, Place};

/// The checker's findings in a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    findings: Vec<Finding>,
}

#[derive(Debug, Clone)]
pub(super) struct Finding {
    rule: &'static Rule,
    file: String,
    place: Place,
    message: String,
}

/// Returns the rules that a session breaks, with the files' paths in the folder `out`.
pub(crate) fn broken(out: &Path) -> Vec<(String, &'static str)> {
    let findings = Found::check(out).findings.into_iter();
    findings.map(|found| (found.file, found.rule.id)).collect()
}

impl Found {
    pub(super) fn check(out: &Path) -> Self {
        let checked = Checked::new(out);
        let findings = checked.findings().map(|(report, finding)| {
            let file = report.path.strip_prefix(out).unwrap_or(&report.path);
            let mut place = finding.place.clone();
            place.field = shortened(&place.field);
            Finding {
                rule: finding.rule,
                file: file.to_string_lossy().into_owned(),
                place,
                message: shortened(&finding.message),
            }
        });
        // The comparison with the script reports unreadable files.
        let mut findings: Vec<_> = findings.collect();
        // Sort by severity, and put findings that stop readers first.
        findings.sort_by_key(|found| Reverse((found.rule.severity, found.rule.reader)));
        Self { findings }
    }

    /// Discards findings in files that are not graded.
    pub(super) fn keep(&mut self, is_graded: impl Fn(&str) -> bool) {
        self.findings.retain(|found| is_graded(&found.file));
    }

    /// Returns the broken MUST at the place of the first difference from the script or, failing
    /// that, the worst one. The message also lists the other broken MUSTs.
    pub(super) fn broken_must(&self, wrong: Option<&Wrong>) -> Option<(&Finding, String)> {
        let is_must = |found: &&Finding| found.rule.severity == Severity::Must;
        let all = || self.findings.iter().filter(is_must);
        let difference = wrong.and_then(|wrong| wrong.difference.as_deref());
        let at = |it: &Difference| {
            let found = all().filter(|found| found.is_at(it));
            found.min_by_key(|found| (Reverse(found.rule.reader), found.rule.id))
        };
        let first = difference.and_then(at);
        let first = first.or_else(|| all().next())?;
        let musts = all().filter(|found| found.rule.id != first.rule.id);
        let mut message = format!("{}: {} {}", first.rule.id, first.rule.rule, first);
        let mut others: Vec<&str> = musts.map(|found| found.rule.id).collect();
        others.sort_unstable();
        others.dedup();
        if !others.is_empty() {
            message.push_str(&format!("; also {}", others.join(", ")));
        }
        Some((first, message))
    }

    /// Returns a note for each broken SHOULD.
    pub(super) fn notes(&self, script: &Script) -> Vec<Note> {
        let note = |found: &Finding| Note {
            severity: Severity::Should,
            rule: Some(found.rule.id.to_owned()),
            text: format!("{} {found}", found.rule.rule),
        };
        self.shoulds(script).map(note).collect()
    }

    /// Returns the broken SHOULDs that do not follow from an `abort`.
    fn shoulds(&self, script: &Script) -> impl Iterator<Item = &Finding> {
        let threads = script.threads().into_iter();
        let open: Vec<_> = threads
            .filter(|(_, thread)| !thread.is_finalized)
            .map(|(id, _)| format!("thread_{id}/"))
            .collect();
        let aborts = script.aborts();
        let follows = move |found: &Finding| match found.rule.id {
            "ATF-IFTR-001" | "ATF-DFTR-001" => open.iter().any(|it| found.file.starts_with(it)),
            "ATF-MANI-008" => aborts,
            // Only writers that support sessions need a manifest.
            "ATF-MANI-001" => true,
            _ => false,
        };
        self.findings
            .iter()
            .filter(move |found| found.rule.severity == Severity::Should && !follows(found))
    }

    /// Returns the rule that is broken at the place of a difference, or else in the same header or
    /// footer, or else the field that was written incorrectly.
    pub(super) fn charge(&self, difference: &Difference) -> Option<String> {
        let (file, name) = difference.place.split_once(": ")?;
        let own = || self.findings.iter().filter(|found| found.file == file);
        let is_named = |found: &&Finding| {
            let rest = name.strip_prefix(found.place.field.as_str());
            let is_part = |rest: &str| rest.is_empty() || rest.starts_with(['[', '.']);
            !found.place.field.is_empty() && rest.is_some_and(is_part)
        };
        let found = own().find(|found| found.is_at(difference));
        found
            .or_else(|| own().find(is_named))
            .map(|found| found.rule.id.to_owned())
            .or_else(|| field_of(file, name))
    }
}

impl Finding {
    /// Returns whether the finding is at the bytes of a difference.
    fn is_at(&self, difference: &Difference) -> bool {
        let Some((dump, at)) = difference.hexdump.as_ref().zip(self.place.offset) else {
            return false;
        };
        let end = dump.field_offset.saturating_add(dump.field_size.max(1));
        dump.file == self.file && (dump.field_offset..end).contains(&at)
    }

    pub(super) fn is_in_events(&self) -> bool {
        self.place.field.starts_with("events")
    }

    /// Returns whether the rule is about a footer.
    pub(super) fn is_of_footer(&self) -> bool {
        let id = self.rule.id;
        id.starts_with("ATF-IFTR-") || id.starts_with("ATF-DFTR-")
    }

    /// Describes the broken rule as a difference. If the first difference from the script, `wrong`,
    /// is in the same place, returns that one instead, because it is more specific.
    pub(super) fn difference(&self, out: &Path, wrong: Option<Wrong>) -> Difference {
        let Self {
            rule,
            file,
            place,
            message,
        } = self;
        let is_same = |difference: &Difference| {
            let dump = difference.hexdump.as_ref();
            dump.is_some_and(|it| it.file == *file && Some(it.field_offset) == place.offset)
        };
        let same = wrong.and_then(|wrong| Some(*wrong.difference?));
        let own = || {
            let hexdump = |offset| compare::hexdump(out, file, offset);
            Difference {
                hexdump: place.offset.and_then(hexdump),
                ..Difference::in_data(format!("{file}: {}", place.field), rule.rule, message)
            }
        };
        Difference {
            rule: Some(rule.id.to_owned()),
            ..same.filter(is_same).unwrap_or_else(own)
        }
    }
}

/// Returns the record and field of a place in a file, such as `index_event.call_depth`.
fn field_of(file: &str, name: &str) -> Option<String> {
    let is_detail = file.ends_with(DETAIL_FILE);
    let (record, field) = name.split_once('.')?;
    let record = match (record.split('[').next()?, is_detail) {
        ("header", false) => "index_header",
        ("header", true) => "detail_header",
        ("events", false) => "index_event",
        ("events", true) => "detail_event_header",
        ("footer", false) => "index_footer",
        ("footer", true) => "detail_footer",
        _ => return None,
    };
    let field = field.split('[').next()?;
    Some(format!("{record}.{field}"))
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, field) = (&self.file, &self.place.field);
        write!(f, "{file}: {field}: {}", self.message)?;
        match self.place.offset {
            Some(offset) => write!(f, " (at {offset:#x})"),
            None => Ok(()),
        }
    }
}
