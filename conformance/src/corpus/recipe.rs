//! Recipes: edits of the clean session, each with the finding that it must cause.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::edit::Edit;
use super::flags::effect;
use super::trace::{DETAIL, INDEX, MANIFEST, RING, Trace};
use super::verdicts::{Judged, of_rules};
use super::{Case, Class, Subject, document};
use crate::{Place, Verdict, rules};

/// One edit of the clean session, in one or both wire versions. [`recipes`](super::recipes) reads
/// them from data files.
///
/// The slug is permanent. It consists of the first rule and the name, so the name must never
/// change.
#[derive(Debug, Clone, Default)]
pub struct Recipe {
    /// The rules that the recipe tests.
    pub rules: Vec<&'static str>,
    /// The wire versions that have the case.
    pub wires: Vec<u8>,
    /// A short description that becomes part of the slug.
    pub name: String,
    /// The finding that a checker must report for the first rule; `None` if the session follows the
    /// rule.
    pub found: Option<Found>,
    /// Other rules that the edit unavoidably breaks, by file.
    pub also: Vec<(String, &'static str)>,
    /// The known implementation mistakes that the recipe reveals.
    pub flags: Vec<&'static str>,
    /// For a file, the correct verdicts if they differ from those that the rules allow. For a
    /// session, the correct verdicts in addition to those.
    pub(super) verdicts: Vec<Verdict>,
    /// The reason why reading the file would yield phantoms, if no rule states it; empty otherwise.
    pub(super) phantoms: String,
    /// Other correct documents.
    pub(super) others: Vec<Other>,
    /// The edit; `None` for the clean session itself.
    pub(super) edit: Option<Edit>,
    /// The file that the first rule is about, which the edit changes; empty for the session's folder.
    pub(super) file: &'static str,
    /// A file or folder of the session; empty for the session itself.
    pub(super) subject: String,
    /// Whether the slug consists only of the name.
    pub(super) is_named: bool,
    /// The phrase that replaces the name in the note; empty to use the name.
    pub(super) title: String,
    pub(super) note: String,
}

/// The finding that the recipe's rule must cause.
#[derive(Debug, Clone)]
pub struct Found {
    /// The path of the file within the session's folder.
    pub file: String,
    /// The field's path.
    pub field: String,
    /// The number of times that the file breaks the rule.
    pub count: u64,
    /// The verdict on the file.
    pub verdict: Verdict,
    /// The offset, unless it is the field's.
    pub(super) offset: Option<Offset>,
}

/// The offset of a finding.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected an offset, or text that occurs exactly once in the file"
)]
pub(super) enum Offset {
    /// Bytes from the start of the file.
    Bytes(u64),
    Text(String),
}

/// Another correct document.
#[derive(Debug, Clone)]
pub(super) enum Other {
    /// The manifest has this state.
    Manifest(String),
    /// The document of the session after another edit.
    Read(Edit),
}

/// Returns the file that a rule is about; empty for the session's folder.
pub(super) fn file_of(rule: &str) -> &'static str {
    match (rule.get(4..8).unwrap_or_default(), rule) {
        ("IHDR" | "IEVT" | "IFTR", _) => INDEX,
        ("LINK", "ATF-LINK-001" | "ATF-LINK-002" | "ATF-LINK-005") => INDEX,
        ("DHDR" | "DEVT" | "DPAY" | "DFTR" | "LINK", _) => DETAIL,
        ("MANI", _) => MANIFEST,
        ("RING", _) => RING,
        _ => "",
    }
}

/// Returns the file that a rule's cases read by default; empty for the whole session.
pub(super) fn subject_of(rule: &str) -> &'static str {
    match rule.get(4..8) {
        // Whether this flag is correct depends on whether the folder contains a detail file.
        _ if rule == "ATF-IHDR-018" => "",
        Some("LINK" | "MANI" | "RING") => "",
        _ => file_of(rule),
    }
}

impl Recipe {
    /// Returns whether the recipe is the clean session itself.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.edit.is_none()
    }

    /// Returns the file or folder to read; empty for the whole session.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the permanent name of the recipe's case, without the wire version.
    #[must_use]
    pub fn slug(&self) -> String {
        if self.is_named {
            return slug(&self.name);
        }
        let first = self.rules.first().copied().unwrap_or_default();
        let rule = first.trim_start_matches("ATF-");
        slug(&format!("{rule} {}", self.name))
    }

    /// Returns the name of the recipe's case in one wire version.
    pub(super) fn name_in(&self, wire: u8) -> String {
        format!("v{wire}/{}", self.slug())
    }

    /// Returns the rules that the recipe tests in one wire version.
    #[must_use]
    pub fn rules_in(&self, wire: u8) -> Vec<&'static str> {
        let holds = |id: &&&'static str| {
            !self.is_named || rules::find(id).is_none_or(|rule| rule.wires.contains(&wire))
        };
        self.rules.iter().filter(holds).copied().collect()
    }

    /// Returns the edited session.
    #[must_use]
    pub fn trace(&self, wire: u8) -> Trace {
        let _named = Named(self);
        let mut trace = Trace::clean(wire);
        if let Some(edit) = &self.edit {
            edit.apply(&mut trace, self.file);
        }
        trace
    }

    /// Returns all rules that the edited session breaks, by file, starting with the recipe's own
    /// rule.
    #[must_use]
    pub fn broken(&self) -> Vec<(&str, &'static str)> {
        let first = self.rules.first().copied();
        let own = self.found.as_ref().map(|found| &*found.file).zip(first);
        let also = self.also.iter().map(|(file, rule)| (&**file, *rule));
        own.into_iter().chain(also).collect()
    }

    /// Builds the recipe's case in one wire version.
    pub(super) fn case(&self, wire: u8) -> Case {
        let trace = self.trace(wire);
        let place = self.found.as_ref().map(|found| found.place(&trace));
        let case = match file_name(&self.subject) {
            Some(_) => self.case_of_file(&trace),
            None => self.case_of_session(&trace),
        };
        let is_found = case.broken.first().map(|(_, rule)| *rule) == self.rules.first().copied();
        Case {
            name: self.name_in(wire),
            rules: self.rules_in(wire),
            flags: self.flags.clone(),
            note: self.text(),
            sources: sources(&self.rules),
            place: place.filter(|_| is_found),
            ..case
        }
    }

    fn case_of_file(&self, trace: &Trace) -> Case {
        let broken = self.broken_in(&self.subject);
        let (own, phantoms) = (&self.verdicts, &self.phantoms);
        let answer = |trace: &Trace| document::file(trace, &self.subject, &broken, own, phantoms);
        let (expected, judged) = answer(trace);
        Case {
            alternatives: self.alternatives(trace, &expected, |other| answer(other).0),
            ..of_file(trace, &self.subject, &broken, expected, judged)
        }
    }

    fn case_of_session(&self, trace: &Trace) -> Case {
        let broken = self.broken();
        let answer = |trace: &Trace, broken: &[_]| {
            document::session(trace, &self.subject, broken, &self.verdicts)
        };
        let case = answer(trace, &broken);
        let inside = broken.iter().copied();
        let inside: Vec<_> = inside.filter(|(_, rule)| *rule != "ATF-SESS-003").collect();
        let own = self.alternatives(trace, &case.expected, |it| answer(it, &inside).expected);
        let broken = broken.into_iter();
        let broken: Vec<_> = broken.map(|(file, rule)| (file.to_owned(), rule)).collect();
        let paths = trace.files().keys();
        Case {
            wire: trace.version,
            class: class(&broken),
            path: self.subject.clone(),
            subject: Subject::Session,
            files: trace.files().clone(),
            folders: trace.folders().to_vec(),
            symlinks: trace.symlinks().clone(),
            alternatives: own.into_iter().chain(case.alternatives).collect(),
            broken,
            regions: paths
                .map(|path| (path.clone(), trace.regions(path)))
                .collect(),
            ..case
        }
    }

    /// Returns whether the recipe breaks its rule in this file, and the broken rules alone determine
    /// the expected result.
    pub(super) fn is_determined_by_rules(&self, path: &str) -> bool {
        let broken = self.broken_in(path);
        let allowed = of_rules(broken.iter().copied());
        let own: BTreeSet<_> = self.verdicts.iter().copied().collect();
        let has_own_answer = !self.phantoms.is_empty() || !self.others.is_empty();
        let is_broken = self.found.is_some() && broken.first() == self.rules.first();
        self.subject == path && is_broken && !has_own_answer && (own.is_empty() || own == allowed)
    }

    /// Returns the rules that a file of the edited session breaks on its own.
    pub(super) fn broken_in(&self, path: &str) -> Vec<&'static str> {
        // The other rules are about several files.
        let is_own = |(file, rule): &(&str, &str)| *file == path && !subject_of(rule).is_empty();
        let broken = self.broken().into_iter().filter(is_own);
        broken.map(|(_, rule)| rule).collect()
    }

    /// Builds the case of a file with the faults of two recipes, which breaks these rules.
    pub(super) fn pair(
        [one, other]: [&Self; 2],
        path: &'static str,
        trace: &Trace,
        broken: &[&'static str],
    ) -> Case {
        let (expected, judged) = document::file(trace, path, broken, &[], "");
        let mut rules = vec![one.rules[0], other.rules[0]];
        // Unless something else reveals the cause, a wrong answer is attributed to the first rule.
        rules.sort_by_key(|rule| rules::find(rule).map(|rule| Reverse(rule.reader)));
        let flags = other.flags.iter().filter(|flag| !one.flags.contains(flag));
        Case {
            name: format!("v{}/pair-{}+{}", trace.version, one.slug(), other.slug()),
            sources: sources(&rules),
            rules,
            flags: one.flags.iter().chain(flags).copied().collect(),
            note: format!("{} {}", one.text(), other.text()),
            ..of_file(trace, path, broken, expected, judged)
        }
    }

    /// Returns the recipe's own alternatives to an expected document.
    fn alternatives(
        &self,
        trace: &Trace,
        expected: &Value,
        answer: impl Fn(&Trace) -> Value,
    ) -> Vec<Value> {
        let other = |other: &Other| match other {
            Other::Manifest(state) => document::with_manifest(expected, state),
            Other::Read(edit) => {
                let mut trace = trace.clone();
                edit.apply(&mut trace, self.file);
                answer(&trace)
            }
        };
        self.others.iter().map(other).collect()
    }

    fn title(&self) -> &str {
        if self.title.is_empty() {
            &self.name
        } else {
            &self.title
        }
    }

    fn text(&self) -> String {
        let rule = self.rules.first().and_then(|id| rules::find(id));
        let mut text = match (rule, self.is_named) {
            (Some(rule), false) if self.found.is_some() => {
                format!("{} Here: {}. {}", rule.rule, self.title(), effect(rule.id))
            }
            (Some(rule), false) => format!("{} Boundary case: {}.", rule.rule, self.title()),
            _ => String::new(),
        };
        if !self.note.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.note);
        }
        text
    }
}

/// Builds the case of a file that breaks these rules, without what the case tests.
pub(super) fn of_file(
    trace: &Trace,
    path: &str,
    broken: &[&'static str],
    expected: Value,
    judged: Judged,
) -> Case {
    let name = file_name(path).expect("the path of a trace file");
    let broken: Vec<_> = { broken.iter() }
        .map(|rule| (name.to_owned(), *rule))
        .collect();
    Case {
        wire: trace.version,
        class: class(&broken),
        path: name.to_owned(),
        subject: match name {
            "detail.atf" | "detail.atd2" => Subject::Detail,
            _ => Subject::Index,
        },
        files: [(name.to_owned(), trace.file(path).to_vec())].into(),
        regions: [(name.to_owned(), trace.regions(path))].into(),
        verdicts: judged.verdicts,
        because: judged.because,
        expected,
        broken,
        ..Case::default()
    }
}

/// Names the recipe if its edit panics, because it does not fit the session.
struct Named<'a>(&'a Recipe);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the recipe {}", self.0.slug());
        }
    }
}

/// Builds the cases of the clean session. Each case tests all rules for which the session is a
/// boundary case.
pub(super) fn clean(recipes: &[Recipe], wire: u8) -> Vec<Case> {
    let subjects = [
        (
            INDEX,
            "clean-index",
            "an index file of six events, three of them with details",
        ),
        (
            DETAIL,
            "clean-detail",
            "a detail file of three events, with stacks of 0, 17 and 8 bytes",
        ),
        (
            "",
            "clean-session",
            "two threads, one of them with details, and a manifest",
        ),
    ];
    let case = |(subject, name, what): (&'static str, &'static str, &str)| {
        let holding = recipes.iter().filter(|recipe| {
            recipe.is_clean() && recipe.subject == subject && recipe.wires.contains(&wire)
        });
        let (mut rules, mut met) = (Vec::new(), Vec::new());
        for recipe in holding {
            for rule in &recipe.rules {
                rules.push(*rule);
                met.push(format!("{rule} ({})", recipe.title()));
            }
        }
        let met = met.join(", ");
        let recipe = Recipe {
            rules,
            subject: subject.to_owned(),
            is_named: true,
            name: name.to_owned(),
            wires: vec![wire],
            ..Recipe::default()
        };
        let note = format!("No faults: {what}. Boundary case of {met}.");
        Case {
            note,
            ..recipe.case(wire)
        }
    };
    subjects.map(case).into()
}

impl Found {
    /// Returns the position of the finding in the edited session.
    #[must_use]
    pub fn place(&self, trace: &Trace) -> Place {
        let offset = match &self.offset {
            None => trace.offset_of(&self.file, &self.field),
            Some(Offset::Bytes(offset)) => Some(*offset),
            Some(Offset::Text(text)) => {
                let all = String::from_utf8_lossy(trace.file(&self.file));
                assert_eq!(all.matches(text).count(), 1, "{text} in {}", self.file);
                all.find(text).map(|offset| offset as u64)
            }
        };
        match offset {
            Some(offset) => Place::at(&self.field, offset),
            None => Place::in_field(&self.field),
        }
    }
}

/// Returns the last part of a trace file's path, or `None` for other paths.
fn file_name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let mut ends = [".atf", ".ati2", ".atd2"].iter();
    ends.any(|end| name.ends_with(end)).then_some(name)
}

/// Converts a string to lower case, with one hyphen between words.
fn slug(text: &str) -> String {
    let text = text.to_lowercase().replace(['\'', ','], "");
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn sources(ids: &[&str]) -> Vec<&'static str> {
    let rules = ids.iter().filter_map(|id| rules::find(id));
    let sources: BTreeSet<_> = rules.flat_map(|rule| rule.sources).copied().collect();
    sources.into_iter().collect()
}

/// Returns the kind of fault, derived from the broken rules.
fn class(broken: &[(String, &'static str)]) -> Class {
    let breaks = |rules: &[&str]| broken.iter().any(|(_, rule)| rules.contains(rule));
    let is_must = |id: &str| rules::find(id).is_some_and(|r| r.severity == rules::Severity::Must);
    if breaks(&["ATF-IHDR-001", "ATF-DHDR-001"]) {
        return Class::Truncated;
    }
    if breaks(&["ATF-IHDR-002", "ATF-IHDR-003", "ATF-IHDR-004"])
        || breaks(&["ATF-DHDR-002", "ATF-DHDR-003", "ATF-DHDR-004"])
        || breaks(&["ATF-IHDR-005", "ATF-MANI-002"])
    {
        return Class::Invalid;
    }
    if broken.iter().any(|(_, rule)| is_must(rule)) {
        return Class::Malformed;
    }
    if breaks(&["ATF-IFTR-001", "ATF-DFTR-001"]) {
        Class::Truncated
    } else {
        Class::Valid
    }
}
