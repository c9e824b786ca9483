//! The outcome for a mutant: the kit kills it, or it passes and is compared with the original.

use std::cell::RefCell;
use std::path::PathBuf;

use atf_conformance::protocol::Manifest;
use atf_conformance::results::{CaseResult, State};
use atf_conformance::rules;
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::faulted::{self, Compared, Digests};
use crate::implementation::Workshop;
use crate::kit::{self, Kit};
use crate::mutant::{Id, Mutant, Typed};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Invalid,
    /// Compiled to the same program.
    Same,
    /// The first failed cases.
    Killed(Vec<String>),
    /// Killed only by the smoke test.
    Refused(String),
    /// Passed, with the difference between its answers and the original's.
    Passed(Compared),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: Id,
    pub(crate) outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) typed: Option<Charged>,
}

impl Record {
    /// Returns whether this is the result for a handwritten fault.
    pub(crate) fn is_of(&self, name: &str, mutant: &Mutant) -> bool {
        let is_named = self.typed.as_ref().is_some_and(|it| it.name == name);
        is_named && self.id == mutant.id
    }
}

/// The charge for a handwritten fault.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Charged {
    pub(crate) name: String,
    /// The charge expected before the first run, if changed since.
    pub(crate) before: Option<String>,
    pub(crate) expected: String,
    pub(crate) got: String,
    pub(crate) is_right: bool,
}

impl Charged {
    fn new(fault: &Typed, charge: Option<(String, String)>) -> Self {
        let (rule, field) = charge.unwrap_or_default();
        // The charge for a field of the format may be the field itself or a rule about it.
        let is_about = |rule: &str, field: &str| {
            rules::find(rule).is_some_and(|rule| rule.about.contains(&field))
        };
        let is_same =
            rule == fault.rule || is_about(&rule, &fault.rule) || is_about(&fault.rule, &rule);
        // A program that crashes gives no answer, so no field differs.
        let is_field = field == fault.field || field == "answer";
        Self {
            name: fault.name.clone(),
            before: fault.before.clone(),
            expected: format!("{} {}", fault.rule, fault.field),
            got: format!("{rule} {field}"),
            is_right: is_field && is_same,
        }
    }
}

pub(crate) struct Judge<'a> {
    kit: &'a Kit,
    workshop: &'a Workshop<'a>,
    manifest: Manifest,
    original: Manifest,
    /// The failures of the original.
    known: Vec<CaseResult>,
    folder: PathBuf,
    files: usize,
    digests: RefCell<Digests>,
}

/// The number of failed cases after which grading stops. A single one would be weak evidence.
const ENOUGH: usize = 3;
/// The same for a handwritten fault, whose charge depends on all failures.
const TYPED: usize = 50;

impl<'a> Judge<'a> {
    /// Keeps a copy of the original in `folder`, and checks that it passes.
    pub(crate) fn new(
        kit: &'a Kit,
        workshop: &'a Workshop<'a>,
        folder: PathBuf,
        files: usize,
    ) -> Result<Self, Fault> {
        faulted::empty(&folder)?;
        let original = workshop.original(&folder.join("original"))?;
        // The starters fail some cases.
        let mut known = kit.grade(&original, &[], usize::MAX, None)?;
        known.retain(|case| case.state() == State::Failed);
        if !original.name.starts_with("starter") && !known.is_empty() {
            let failed = kit::failed(&known);
            return Err(format!("{} itself fails: {failed:?}", original.name).into());
        }
        let manifest = workshop.manifest()?;
        Ok(Self {
            kit,
            workshop,
            manifest,
            original,
            known,
            folder,
            files,
            digests: RefCell::default(),
        })
    }

    /// Grades a mutant, which may be a handwritten fault.
    pub(crate) fn record(&self, mutant: &Mutant, typed: Option<&Typed>) -> Result<Record, Fault> {
        let (mut outcome, mut charge) = (Outcome::Same, None);
        let compiles = self.workshop.with(&mutant.id.file, &mutant.text, || {
            let most = if typed.is_some() { TYPED } else { ENOUGH };
            let grade = |most, only| self.kit.grade(&self.manifest, &self.known, most, only);
            let results = grade(most, None)?;
            charge = kit::charge(&results);
            let mut cases = kit::failed(&results);
            // On a busy machine, one or two failures may be timeouts.
            if (1..ENOUGH).contains(&cases.len()) {
                let again = kit::failed(&grade(usize::MAX, Some(cases.as_slice()))?);
                cases.retain(|case| again.contains(case));
            }
            outcome = match cases {
                cases if cases.is_empty() => match self.kit.refused(&self.manifest)? {
                    Some(why) => Outcome::Refused(why),
                    None => Outcome::Passed(self.compare()?),
                },
                cases => Outcome::Killed(cases),
            };
            Ok(())
        })?;
        if !compiles {
            outcome = Outcome::Invalid;
        }
        let typed = typed.map(|fault| Charged::new(fault, charge));
        Ok(Record {
            id: mutant.id.clone(),
            outcome,
            typed,
        })
    }

    /// Compares a mutant's answers with the original's.
    fn compare(&self) -> Result<Compared, Fault> {
        let place = self.folder.join("faulted");
        faulted::empty(&place)?;
        let digests = &mut self.digests.borrow_mut();
        match faulted::read(&self.original, &self.manifest, self.files, &place, digests)? {
            Compared::Same => {
                faulted::write(&self.original, &self.manifest, self.files / 20, &place)
            }
            compared => Ok(compared),
        }
    }
}
