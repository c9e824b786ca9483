//! A recipe: the clean session, an edit, and what must be found then.

use super::effects::effect;
use super::flags::flag_of;
use super::trace::{DETAIL, INDEX, Trace};
use super::{Case, Class, Subject, document, dump, verdicts};
use crate::{Place, Verdict, rules};

/// One edit of the clean session, in each of some wire versions.
///
/// The first rule that it is about stands in its slug; so does its name, which therefore never
/// changes.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The rules that it is about.
    pub rules: Vec<&'static str>,
    /// The wire versions that it is made in.
    pub wires: &'static [u8],
    /// What is special about it.
    pub name: &'static str,
    /// What the first rule's finding is like; a recipe without one meets the rule.
    pub found: Option<Found>,
    /// Other rules that the edit cannot help to break, by file.
    pub also: Vec<(&'static str, &'static str)>,
    /// Known mistakes of implementations that it finds.
    pub flags: Vec<&'static str>,
    /// The verdicts that are right on its subject, where those are not what the rules leave open.
    verdicts: &'static [Verdict],
    /// Why its subject must be refused, where its rules do not say.
    because: Option<&'static str>,
    /// A recipe without one meets its rule in the clean session itself.
    edit: Option<fn(&mut Trace)>,
    /// A file of the session, or a folder; empty for all of it.
    subject: &'static str,
    /// Whether its name alone is its slug.
    is_named: bool,
    note: &'static str,
}

/// The finding of a recipe's rule.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file, from the session's folder.
    pub file: &'static str,
    /// The field's path.
    pub field: &'static str,
    /// How often the rule is broken there.
    pub count: u64,
    /// The verdict on the file.
    pub verdict: Verdict,
    offset: Offset,
}

/// Where a finding points, bytes from the start of the file.
#[derive(Debug, Clone)]
enum Offset {
    None,
    /// In wire versions 1 and 2.
    Bytes([u64; 2]),
    /// The one place where the file has this text.
    Text(&'static str),
}

/// The clean session is at the rule's limit as it is.
pub(super) fn holds(rule: &'static str, name: &'static str) -> Recipe {
    Recipe {
        rules: vec![rule],
        wires: &[1, 2],
        name,
        found: None,
        also: Vec::new(),
        flags: Vec::new(),
        verdicts: &[],
        because: None,
        edit: None,
        subject: subject_of(rule),
        is_named: false,
        note: "",
    }
}

/// The edit takes the rule to its limit.
pub(super) fn meets(rule: &'static str, name: &'static str, edit: fn(&mut Trace)) -> Recipe {
    Recipe {
        edit: Some(edit),
        ..holds(rule, name)
    }
}

/// The edit makes another good trace, for what these rules say.
pub(super) fn whole(
    name: &'static str,
    rules: &[&'static str],
    note: &'static str,
    edit: fn(&mut Trace),
) -> Recipe {
    Recipe {
        rules: rules.to_vec(),
        is_named: true,
        note,
        ..meets("", name, edit)
    }
}

/// The edit breaks the rule.
pub(super) fn breaks(rule: &'static str, name: &'static str, edit: fn(&mut Trace)) -> Breaking {
    Breaking(Recipe {
        flags: flag_of(rule).into_iter().collect(),
        ..meets(rule, name, edit)
    })
}

/// What a rule's cases give to read, unless they say otherwise.
fn subject_of(rule: &str) -> &'static str {
    match rule.get(4..8) {
        // Only the folder shows whether the flag is right.
        _ if rule == "ATF-IHDR-018" => "",
        Some("IHDR" | "IEVT" | "IFTR") => INDEX,
        Some("DHDR" | "DEVT" | "DPAY" | "DFTR") => DETAIL,
        _ => "",
    }
}

/// Whether a rule can be broken by one file alone.
fn is_of_one_file(rule: &str) -> bool {
    !subject_of(rule).is_empty()
}

/// A recipe that does not say yet what must be found.
pub(super) struct Breaking(Recipe);

impl Breaking {
    pub(super) fn at(
        self,
        file: &'static str,
        field: &'static str,
        offset: u64,
        verdict: Verdict,
    ) -> Recipe {
        self.at_each(file, field, [offset, offset], verdict)
    }

    /// Where the offset is another in wire version 2.
    pub(super) fn at_each(
        self,
        file: &'static str,
        field: &'static str,
        offsets: [u64; 2],
        verdict: Verdict,
    ) -> Recipe {
        self.expect(file, field, Offset::Bytes(offsets), verdict)
    }

    /// Where the file is a text.
    pub(super) fn at_text(
        self,
        file: &'static str,
        field: &'static str,
        text: &'static str,
        verdict: Verdict,
    ) -> Recipe {
        self.expect(file, field, Offset::Text(text), verdict)
    }

    /// Where there is no offset.
    pub(super) fn in_file(
        self,
        file: &'static str,
        field: &'static str,
        verdict: Verdict,
    ) -> Recipe {
        self.expect(file, field, Offset::None, verdict)
    }

    fn expect(
        self,
        file: &'static str,
        field: &'static str,
        offset: Offset,
        verdict: Verdict,
    ) -> Recipe {
        let found = Found {
            file,
            field,
            offset,
            count: 1,
            verdict,
        };
        Recipe {
            found: Some(found),
            ..self.0
        }
    }
}

impl Recipe {
    /// Breaks another rule too.
    pub(super) fn also(mut self, file: &'static str, rule: &'static str) -> Self {
        self.also.push((file, rule));
        self
    }

    /// Holds in one wire version only.
    pub(super) fn only(mut self, wires: &'static [u8]) -> Self {
        self.wires = wires;
        self
    }

    /// Breaks the rule so many times.
    pub(super) fn times(mut self, count: u64) -> Self {
        if let Some(found) = &mut self.found {
            found.count = count;
        }
        self
    }

    /// Finds a known mistake of implementations.
    pub(super) fn flag(mut self, flag: &'static str) -> Self {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
        self
    }

    /// Is about what a reader does, which no file breaks.
    pub(super) fn asks(mut self, rule: &'static str) -> Self {
        self.rules.push(rule);
        self
    }

    /// May be judged in these ways, whatever its rules leave open.
    pub(super) fn may(mut self, verdicts: &'static [Verdict]) -> Self {
        self.verdicts = verdicts;
        self
    }

    /// Must be refused, for this source or this harm.
    pub(super) fn must_reject(mut self, because: &'static str) -> Self {
        self.because = Some(because);
        self.may(&[Verdict::Reject])
    }

    /// Says more about it.
    pub(super) fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Gives this file or folder to read; empty for the whole session.
    pub(super) fn of(mut self, subject: &'static str) -> Self {
        self.subject = subject;
        self
    }

    /// Whether it is the clean session itself.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.edit.is_none()
    }

    /// The file or folder of the session that is to be read; empty for all of it.
    #[must_use]
    pub const fn subject(&self) -> &'static str {
        self.subject
    }

    /// Its permanent name in one wire version.
    #[must_use]
    pub fn slug(&self) -> String {
        let first = self.rules.first().copied().unwrap_or_default();
        match self.is_named {
            true => slug(self.name),
            false => slug(&format!(
                "{} {}",
                first.trim_start_matches("ATF-"),
                self.name
            )),
        }
    }

    /// The rules that it is about in one wire version.
    #[must_use]
    pub fn rules_in(&self, wire: u8) -> Vec<&'static str> {
        let holds = |id: &&&'static str| {
            !self.is_named || rules::find(id).is_none_or(|rule| rule.wires.contains(&wire))
        };
        self.rules.iter().filter(holds).copied().collect()
    }

    /// The session, edited.
    #[must_use]
    pub fn trace(&self, wire: u8) -> Trace {
        let mut trace = Trace::clean(wire);
        if let Some(edit) = self.edit {
            edit(&mut trace);
        }
        trace
    }

    /// All rules that the edited session breaks, by file, the one that it is about first.
    #[must_use]
    pub fn broken(&self) -> Vec<(&'static str, &'static str)> {
        let first = self.rules.first().copied();
        let own = self.found.as_ref().map(|found| found.file).zip(first);
        own.into_iter().chain(self.also.iter().copied()).collect()
    }

    /// The case that it makes in one wire version.
    pub(super) fn case(&self, wire: u8) -> Case {
        let trace = self.trace(wire);
        let place = self.found.as_ref().map(|found| found.place(&trace));
        let mut case = Case {
            name: format!("v{wire}/{}", self.slug()),
            wire,
            rules: self.rules_in(wire),
            class: Class::Valid,
            path: self.subject.to_owned(),
            subject: Subject::Session,
            flags: self.flags.clone(),
            note: self.text(),
            sources: sources(&self.rules),
            files: trace.files().clone(),
            folders: trace.folders().to_vec(),
            symlinks: trace.symlinks().clone(),
            verdicts: Vec::new(),
            because: Vec::new(),
            file_verdicts: Vec::new(),
            optional: Vec::new(),
            expected: serde_json::Value::Null,
            broken: Vec::new(),
            place: None,
            dump: String::new(),
        };
        if let Some(name) = file_name(self.subject) {
            let is_own =
                |(file, rule): &(&str, &str)| *file == self.subject && is_of_one_file(rule);
            let broken = self.broken().into_iter().filter(is_own);
            let broken: Vec<_> = broken.map(|(_, rule)| rule).collect();
            let (expected, verdicts) = document::file(&trace, self.subject, &broken, self.verdicts);
            if verdicts == [Verdict::Reject] {
                case.because = verdicts::because(broken.iter().copied());
                case.because.extend(self.because);
            }
            case.subject = match name {
                "detail.atf" | "detail.atd2" => Subject::Detail,
                _ => Subject::Index,
            };
            case.path = name.to_owned();
            case.files = [(name.to_owned(), trace.file(self.subject).to_vec())].into();
            (case.folders, case.symlinks) = (Vec::new(), [].into());
            case.dump = dump_of(&trace, self.subject);
            (case.expected, case.verdicts) = (expected, verdicts);
            case.broken = broken.iter().map(|rule| (name.to_owned(), *rule)).collect();
        } else {
            let expected = document::session(&trace, self.subject, &self.broken());
            (case.expected, case.verdicts) = (expected.document, expected.verdicts);
            (case.file_verdicts, case.optional) = (expected.files, expected.optional);
            let clean = (!self.is_clean()).then(|| Trace::clean(wire));
            let dumps = trace.files().iter().map(|(path, bytes)| {
                let same = clean.as_ref().and_then(|clean| clean.files().get(path));
                match same == Some(bytes) {
                    true => format!("{path}\nas in v{wire}/clean-session\n"),
                    false => format!("{path}\n{}", dump_of(&trace, path)),
                }
            });
            case.dump = dumps.collect::<Vec<_>>().join("\n");
            case.broken = (self.broken().into_iter())
                .map(|(file, rule)| (file.to_owned(), rule))
                .collect();
        }
        let is_found = case.broken.first().map(|(_, rule)| *rule) == self.rules.first().copied();
        case.place = place.filter(|_| is_found);
        case.class = class(&case.broken);
        case
    }

    fn text(&self) -> String {
        let rule = self.rules.first().and_then(|id| rules::find(id));
        let mut text = match (rule, self.is_named) {
            (Some(rule), false) if self.found.is_some() => {
                format!("{} Here: {}. {}", rule.rule, self.name, effect(rule.id))
            }
            (Some(rule), false) => format!("{} At its limit: {}.", rule.rule, self.name),
            _ => String::new(),
        };
        if !self.note.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.note);
        }
        text
    }
}

/// The clean session's cases: each is about all rules that it is at the limit of.
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
        let holding: Vec<_> = holding.collect();
        let met: Vec<_> = (holding.iter())
            .flat_map(|recipe| {
                recipe
                    .rules
                    .iter()
                    .map(|rule| format!("{rule} ({})", recipe.name))
            })
            .collect();
        let recipe = Recipe {
            rules: holding
                .iter()
                .flat_map(|recipe| recipe.rules.clone())
                .collect(),
            subject,
            is_named: true,
            ..holds("", name)
        };
        let note = format!(
            "Nothing is wrong: {what}. At the limit of {}.",
            met.join(", ")
        );
        Case {
            note,
            ..recipe.case(wire)
        }
    };
    subjects.map(case).into()
}

impl Found {
    /// Where the finding points, in the edited session.
    #[must_use]
    pub fn place(&self, trace: &Trace) -> Place {
        let offset = match &self.offset {
            Offset::None => None,
            Offset::Bytes([first, _]) if trace.version == 1 => Some(*first),
            Offset::Bytes([_, second]) => Some(*second),
            Offset::Text(text) => {
                let all = String::from_utf8_lossy(trace.file(self.file));
                assert_eq!(all.matches(text).count(), 1, "{text} in {}", self.file);
                all.find(text).map(|offset| offset as u64)
            }
        };
        Place {
            field: self.field.to_owned(),
            offset,
        }
    }
}

fn dump_of(trace: &Trace, path: &str) -> String {
    let regions = trace.regions(path);
    let bytes = trace.file(path);
    match (regions.as_slice(), str::from_utf8(bytes)) {
        _ if path.ends_with("ring.atf") => dump::ring(bytes),
        ([], Ok(text)) if path.ends_with(".json") => text.trim_end().to_owned() + "\n",
        ([], _) => dump::raw(bytes),
        _ => dump::dump(trace.wire_of(path), bytes, &regions),
    }
}

/// The last part of a path, if it is a trace file's.
fn file_name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let is_file = [".atf", ".ati2", ".atd2"]
        .iter()
        .any(|end| name.ends_with(end));
    is_file.then_some(name)
}

/// Lower case, with one hyphen between words.
fn slug(text: &str) -> String {
    let text = text.to_lowercase().replace(['\'', ','], "");
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn sources(ids: &[&str]) -> Vec<&'static str> {
    let rules = ids.iter().filter_map(|id| rules::find(id));
    let mut sources: Vec<_> = rules
        .flat_map(|rule| rule.sources.iter().copied())
        .collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// What was done, as the broken rules say.
fn class(broken: &[(String, &'static str)]) -> Class {
    let breaks = |rules: &[&str]| broken.iter().any(|(_, rule)| rules.contains(rule));
    let is_must = |id: &str| rules::find(id).is_some_and(|r| r.severity == rules::Severity::Must);
    if breaks(&["ATF-IHDR-001", "ATF-DHDR-001"]) {
        return Class::Truncated;
    }
    if breaks(&[
        "ATF-IHDR-002",
        "ATF-IHDR-003",
        "ATF-IHDR-004",
        "ATF-IHDR-005",
        "ATF-MANI-002",
    ]) || breaks(&["ATF-DHDR-002", "ATF-DHDR-003", "ATF-DHDR-004"])
    {
        return Class::Invalid;
    }
    if broken.iter().any(|(_, rule)| is_must(rule)) {
        return Class::Malformed;
    }
    match breaks(&["ATF-IFTR-001", "ATF-DFTR-001"]) {
        true => Class::Truncated,
        false => Class::Valid,
    }
}
