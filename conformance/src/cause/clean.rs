//! Finds the fields that an implementation misreads in clean files. The same differences in other files have the same
//! cause, because one fix removes both.

use std::collections::{BTreeMap, BTreeSet};

use super::clues::{Clues, Turn, path};
use super::{Cause, NO_RULE};
use crate::charge::group;
use crate::corpus::Subject;
use crate::results::{CaseResult, Difference, Grade, Outcome, Role, follows};
use crate::rule;
use atf_samples::layout::Record;

/// A mistake in a value: the value's names, and how it is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mistake {
    path: Vec<String>,
    turn: Turn,
    /// The kind of file, if it was rejected.
    subject: Option<Subject>,
    /// The given value of a label.
    got: Option<String>,
}

/// The mistakes of each implementation in each role.
#[derive(Debug, Default)]
pub(super) struct Clean {
    /// The rules or fields to which each mistake is attributed.
    mistakes: BTreeMap<(usize, Role), BTreeMap<Mistake, BTreeSet<String>>>,
    /// The kinds of files with entirely different events: more than two of their fields are wrong.
    moved: BTreeSet<(usize, Role, Option<Subject>)>,
    /// The implementations that reject all clean files of a kind that have a checksum, and no others.
    checksum: BTreeSet<(usize, Role)>,
}

impl Mistake {
    fn new(case: &CaseResult, difference: &Difference) -> Self {
        let Clues {
            field, turn, got, ..
        } = Clues::new(difference, NO_RULE);
        let is_refused = turn == Turn::Refused;
        let is_label = difference.grade == Grade::Label || field == "checksum";
        let names = path(&difference.place);
        let names = match names.as_slice() {
            // It makes no difference whether a rejected file is in a session or by itself.
            [.., "verdict"] if is_refused => &["verdict"][..],
            names => names,
        };
        Self {
            path: names.iter().map(|name| (*name).to_owned()).collect(),
            turn: match field {
                "verdict" if !is_refused => Turn::Other,
                _ => turn,
            },
            subject: subject(case, difference).filter(|_| is_refused),
            got: (is_label && !is_refused && !field.ends_with("bytes")).then(|| got.to_owned()),
        }
    }
}

/// Returns the kind of file that a difference is in.
fn subject(case: &CaseResult, difference: &Difference) -> Option<Subject> {
    let place = &difference.place;
    match case.files.subject {
        Some(Subject::Session) if place.contains("].index.") => Some(Subject::Index),
        Some(Subject::Session) if place.contains("].detail.") => Some(Subject::Detail),
        None if place.contains("/index.atf: ") => Some(Subject::Index),
        None if place.contains("/detail.atf: ") => Some(Subject::Detail),
        subject => subject,
    }
}

impl Clean {
    pub(super) fn new(cases: &[CaseResult]) -> Self {
        let mut clean = Self::default();
        for case in cases.iter().filter(|case| case.files.is_clean) {
            let mut fields: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
            if let Outcome::Failed { differences, .. } = &case.outcome {
                let own = clean.mistakes.entry((case.testee, case.role)).or_default();
                for difference in differences {
                    let charges = own.entry(Mistake::new(case, difference)).or_default();
                    charges.extend(difference.rule.clone());
                    if let ["events", field] = path(&difference.place).as_slice() {
                        let key = (case.testee, case.role, subject(case, difference));
                        fields.entry(key).or_default().insert(*field);
                    }
                }
                let moved = fields.into_iter().filter(|(_, fields)| fields.len() > 2);
                clean.moved.extend(moved.map(|(key, _)| key));
            }
        }
        let is_refusal = |it: &Difference| Clues::new(it, NO_RULE).turn == Turn::Refused;
        let is_rejected = |case: &CaseResult| case.outcome.differences().iter().any(is_refusal);
        clean.checksum = { clean.mistakes.keys() }
            .filter(|key| {
                let own = || cases.iter().filter(|it| (it.testee, it.role) == **key);
                let is_read = |case: &CaseResult| case.outcome == Outcome::Passed;
                let rejected = || own().filter(|it| it.files.is_clean && is_rejected(it));
                let is_kind =
                    |case: &CaseResult| rejected().any(|it| it.files.subject == case.files.subject);
                rejected().next().is_some()
                    && rejected().all(|it| it.files.has_checksum)
                    && own().any(|it| is_read(it) && !it.files.has_checksum)
                    && !own().any(|it| {
                        is_read(it) && it.files.is_clean && it.files.has_checksum && is_kind(it)
                    })
            })
            .copied()
            .collect();
        clean
    }

    /// Returns whether clean files show the same difference.
    pub(super) fn explains(&self, case: &CaseResult, difference: &Difference) -> bool {
        // Without a footer, the header must not be rewritten, whatever its values are.
        if difference.rule.as_deref() == Some(rule("ATF-WRTR-001").id) {
            return false;
        }
        let key = (case.testee, case.role);
        let mistake = Mistake::new(case, difference);
        let is_covered = mistake.turn != Turn::Refused
            || case.files.has_checksum
            || !self.checksum.contains(&key);
        let own = self.mistakes.get(&key);
        let is_known = own.is_some_and(|own| own.contains_key(&mistake));
        is_covered && is_known || self.is_moved(case, difference)
    }

    /// Returns whether a difference is in an event, and the events of clean files differ entirely.
    fn is_moved(&self, case: &CaseResult, difference: &Difference) -> bool {
        let is_event = path(&difference.place).first() == Some(&"events");
        let key = (case.testee, case.role, subject(case, difference));
        is_event && self.moved.contains(&key)
    }

    /// Returns the charge for the same difference in clean files.
    pub(super) fn charge(&self, case: &CaseResult, difference: &Difference) -> Option<String> {
        if !self.explains(case, difference) {
            return None;
        }
        let key = (case.testee, case.role);
        let mistake = Mistake::new(case, difference);
        let is_detail = subject(case, difference) == Some(Subject::Detail);
        let (event, checksum) = if is_detail {
            (Record::DetailEventHeader, rule("ATF-DFTR-004"))
        } else {
            (Record::IndexEvent, rule("ATF-IFTR-004"))
        };
        if self.is_moved(case, difference) {
            return Some(event.name().to_owned());
        }
        if mistake.turn == Turn::Refused && self.checksum.contains(&key) {
            return Some(checksum.id.to_owned());
        }
        let charges = self.mistakes.get(&key)?.get(&mistake)?;
        let own = difference.rule.as_ref();
        let own = own.filter(|own| charges.contains(*own));
        let is_alike = |charge: &&String| group(charge).starts_with('D') == is_detail;
        let alike = || charges.iter().find(is_alike).or(charges.first());
        own.or_else(alike).cloned()
    }

    /// Returns the cause of differences that clean files explain.
    pub(super) fn cause(&self, case: &CaseResult, all: &[&Difference]) -> Option<Cause> {
        let is_verdict = |it: &Difference| path(&it.place).last() == Some(&"verdict");
        let first = *all
            .iter()
            .min_by_key(|it| (it.grade, follows(&it.place), is_verdict(it)))?;
        let is_refused = Clues::new(first, NO_RULE).turn == Turn::Refused;
        let record = path(&first.place).first().copied().unwrap_or_default();
        let paths = all.iter().map(|it| path(&it.place));
        let of_record = paths.filter(|path| path.first() == Some(&record));
        let fields: BTreeSet<_> = of_record.collect();
        let field = match path(&first.place).join(".") {
            _ if is_refused && self.checksum.contains(&(case.testee, case.role)) => {
                "rejected because of their checksum".to_owned()
            }
            _ if is_refused => "rejected".to_owned(),
            _ if self.is_moved(case, first) => "misread: events".to_owned(),
            _ if fields.len() > 1 && ["header", "footer"].contains(&record) => {
                format!("misread: {record}")
            }
            field => format!("misread: {}", field.trim_start_matches("derived.")),
        };
        let name = field.trim_start_matches("misread: ").replace(' ', "-");
        let id = format!("clean:{name}");
        Some(Cause::titled(id, format!("clean files {field}")))
    }
}
