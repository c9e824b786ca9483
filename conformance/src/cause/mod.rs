//! Groups similar failures under named causes.
//!
//! A cause follows from the differences between the expected and the given answer. If an
//! implementation misreads clean files, this explains the same differences in other files.

mod clean;
mod clues;
pub mod crash;
pub mod table;

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::charge;
use crate::results::{CaseResult, Difference, Failure, Grade, NO_RULE, Outcome, State, follows};
use crate::rules;
use clean::Clean;
use clues::{Clues, Turn, path};
use table::KNOWN;

/// Begins the title of a cause that the kit can only guess.
pub const MAY_BE: &str = "may be: ";

/// The cause of a failure, inferred from what the kit can observe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cause {
    /// A machine-readable id, such as `checksum-unnoticed` or `crash:SIGSEGV:read.c:120`.
    pub id: String,
    /// A human-readable title, such as `checksum mismatch not noticed`.
    pub title: String,
}

/// Failures that share a cause.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// The shared cause.
    pub cause: Cause,
    /// The failures and their positions in [`Results::cases`](crate::results::Results::cases), unexpected failures first.
    pub cases: Vec<(usize, &'a CaseResult)>,
    /// The number of unexpected failures: failures that are not on a failure list.
    pub failed: usize,
}

/// How urgent a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Clean files are misread, which causes other failures.
    Clean,
    /// The implementation gives no answer: it crashes, hangs, or prints no document.
    Broken,
    Outside,
    Data,
    Label,
}

/// Finds the causes of a run's failures.
#[derive(Debug)]
pub struct Causes<'a> {
    cases: &'a [CaseResult],
    clean: Clean,
}

impl<'a> Causes<'a> {
    /// Finds the fields that each implementation misreads in clean files.
    #[must_use]
    pub fn new(cases: &'a [CaseResult]) -> Self {
        let clean = Clean::new(cases);
        Self { cases, clean }
    }

    /// Returns the cause of a failure, or `None` if the result is not a failure.
    #[must_use]
    pub fn of(&self, case: &CaseResult) -> Option<Cause> {
        self.ranked(case).map(|(_, cause)| cause)
    }

    fn ranked(&self, case: &CaseResult) -> Option<(Rank, Cause)> {
        let Outcome::Failed {
            class,
            message,
            differences,
        } = &case.outcome
        else {
            return None;
        };
        let is_wrong_answer = matches!(
            class,
            Failure::WrongAccept
                | Failure::WrongReject
                | Failure::WrongDecode
                | Failure::WrongLabel
        );
        if !is_wrong_answer {
            let rank = match class {
                _ if class.is_broken() => Rank::Broken,
                Failure::Outside => Rank::Outside,
                _ => Rank::Data,
            };
            let cause = Cause::without_answer(case, *class, message, differences.first());
            return Some((rank, cause));
        }
        if differences.is_empty() {
            return Some((Rank::Data, Cause::new(class.name(), NO_RULE, class.name())));
        }
        let is_new = |it: &&Difference| !self.clean.explains(case, it);
        let new: Vec<_> = differences.iter().filter(is_new).collect();
        // Misread values explain wrong values derived from them, and the rest of a list.
        let is_rest = |it: &Difference| it.place.ends_with(" more]");
        let is_known = |it: &&&Difference| {
            differences.len() > new.len() && (follows(&it.place) || is_rest(it))
        };
        let new: Vec<_> = { new.iter() }.filter(|it| !is_known(it)).copied().collect();
        let rank = |all: &[&Difference]| match all.iter().map(|it| it.grade).min() {
            Some(Grade::Data) => Rank::Data,
            _ => Rank::Label,
        };
        if new.is_empty() {
            let all: Vec<_> = differences.iter().filter(|it| !is_new(it)).collect();
            let cause = self.clean.cause(case, &all)?;
            let rank = match rank(&all) {
                Rank::Data => Rank::Clean,
                _ => Rank::Label,
            };
            return Some((rank, cause));
        }
        Some((rank(&new), Cause::of_differences(&new)))
    }

    /// Groups the failures by cause, in this order: misread clean files, crashes and hangs, reads
    /// outside the session, data, labels. Within each, causes seen in clean files come first,
    /// followed by those that break the most rules. Failures with the same differences count once.
    #[must_use]
    pub fn groups(&self) -> Vec<Group<'a>> {
        let mut groups: Vec<(Rank, Group<'a>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (seq, case) in self.cases.iter().enumerate() {
            let Some((rank, cause)) = self.ranked(case) else {
                continue;
            };
            let place = *known.entry(cause.id.clone()).or_insert(groups.len());
            if place == groups.len() {
                let group = Group {
                    cause,
                    cases: Vec::new(),
                    failed: 0,
                };
                groups.push((rank, group));
            }
            if let Some((worst, group)) = groups.get_mut(place) {
                *worst = rank.min(*worst);
                group.failed += usize::from(case.state() == State::Failed);
                group.cases.push((seq, case));
            }
        }
        for (_, group) in &mut groups {
            let is_label = |case: &CaseResult| case.outcome.class() == Some(Failure::WrongLabel);
            group.cases.sort_by_key(|(_, case)| {
                let is_failed = case.state() == State::Failed;
                (!is_failed, is_label(case), !case.files.is_clean)
            });
        }
        groups.sort_by_cached_key(|(rank, group)| {
            let rules: BTreeSet<_> = group.cases.iter().flat_map(|(_, it)| it.blamed()).collect();
            let copies: BTreeSet<_> = group.cases.iter().map(|(_, it)| differing(it)).collect();
            let is_clean = group.cases.iter().any(|(_, it)| it.files.is_clean);
            let size = (is_clean, rules.len(), copies.len(), group.failed);
            (group.failed == 0, *rank, std::cmp::Reverse(size))
        });
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// Corrects charges by comparing all results of an implementation. A mistake in clean files has the
/// same charge in other files. A broken rule does not explain a rejection if other files that break
/// it are read. The charge for a rejection is the rule that forbids it.
pub fn settle_charges(cases: &mut [CaseResult]) {
    let clean = Clean::new(cases);
    let read: BTreeSet<_> = { cases.iter() }
        .filter(|case| case.outcome == Outcome::Passed)
        .flat_map(|case| {
            let key = (case.testee, case.role, case.files.subject);
            { case.files.broken.iter() }.map(move |rule| (key, *rule))
        })
        .collect();
    for case in cases {
        let mut outcome = std::mem::replace(&mut case.outcome, Outcome::Passed);
        if let Outcome::Failed {
            class, differences, ..
        } = &mut outcome
            && !class.is_broken()
        {
            for difference in differences {
                let key = (case.testee, case.role, case.files.subject);
                let is_refuted = |rule: &str| read.contains(&(key, rule));
                let is_refused = Clues::new(difference, NO_RULE).turn == Turn::Refused;
                if let Some(charge) = clean.charge(case, difference) {
                    difference.rule = Some(charge);
                } else if is_refused && difference.rule.as_deref().is_some_and(is_refuted) {
                    let mut others = case.files.broken.iter();
                    let other = others.find(|rule| !is_refuted(rule));
                    difference.rule = other
                        .map(|rule| (*rule).to_owned())
                        .or(difference.rule.take());
                }
                if is_refused {
                    difference.rule = difference.rule.take().map(asked_of_readers);
                }
            }
        }
        case.outcome = outcome;
    }
}

/// Returns the rule by which readers must not reject a file that breaks this rule for writers, or
/// the same rule if there is none.
fn asked_of_readers(rule: String) -> String {
    let own = match rule.as_str() {
        "ATF-IFTR-001" | "ATF-IFTR-010" | "ATF-IFTR-011" | "ATF-DFTR-001" | "ATF-DFTR-010"
        | "ATF-DFTR-011" => crate::rule("ATF-RDER-001"),
        "ATF-IFTR-006" | "ATF-DFTR-006" => crate::rule("ATF-RDER-005"),
        _ => return rule,
    };
    own.id.to_owned()
}

/// Returns where and how a failure differs from the expected answer.
fn differing(case: &CaseResult) -> (usize, Vec<[&str; 3]>) {
    let all = case.outcome.differences().iter();
    let all = all.map(|it| [it.place.as_str(), it.expected.as_str(), it.got.as_str()]);
    (case.testee, all.collect())
}

impl Cause {
    /// Returns the cause of a failure other than a wrong answer.
    fn without_answer(
        case: &CaseResult,
        class: Failure,
        message: &str,
        first: Option<&Difference>,
    ) -> Self {
        let rule = first.and_then(|first| first.rule.as_deref());
        let should = || case.shoulds().find_map(|note| note.rule.as_deref());
        let rule = rule.or_else(should).unwrap_or(NO_RULE);
        match class {
            Failure::Crash => Self::crash(message, &case.stderr, rule),
            Failure::Timeout => Self::new("timeout", rule, "does not end at"),
            Failure::Memory => Self::new("memory", rule, "uses too much memory at"),
            Failure::Garbage => Self::garbage(message),
            Failure::Outside => Self::titled("outside", "reads outside the session"),
            Failure::Rule if rules::find(rule).is_some() => Self::new("writes", rule, "breaks"),
            Failure::Should => Self::new("should", rule, "breaks"),
            _ => match first {
                // A difference that breaks no rule.
                Some(first) if rules::find(rule).is_none() => {
                    let field = path(&first.place).join(".");
                    let title = format!("differs from the script: {field}");
                    Self::titled(format!("wrong-file:{field}"), title)
                }
                _ => Self::new("wrong-file", rule, "differs from the script at"),
            },
        }
    }

    /// Returns the cause of these differences. There must be at least one.
    fn of_differences(all: &[&Difference]) -> Self {
        let best = all.iter().map(|it| it.grade).min();
        let worst = all.iter().filter(|it| Some(it.grade) == best).copied();
        let worst: Vec<_> = worst.collect();
        let rest = worst.iter().filter(|it| !follows(&it.place));
        let rest: Vec<_> = rest.copied().collect();
        let worst = if rest.is_empty() { worst } else { rest };
        Self::misread(&worst).unwrap_or_else(|| match worst.first() {
            Some(first) => Self::of_difference(first),
            None => Self::new("unknown", NO_RULE, "unknown at"),
        })
    }

    /// Returns the cause "field misread" if only fields of one record have wrong values.
    fn misread(data: &[&Difference]) -> Option<Self> {
        let is_shown = |it: &&&Difference| !it.place.ends_with(" more]");
        let fields = data.iter().filter(is_shown).map(|it| field_of_record(it));
        let fields: BTreeSet<_> = fields.collect::<Option<_>>()?;
        let (record, field) = *fields.first()?;
        let is_same = fields.iter().all(|(other, _)| *other == record);
        let (names, title) = match fields.len() {
            1 => (
                format!("{record}.{field}"),
                format!("{field} of the {record}"),
            ),
            // An event with three or more wrong fields is a different event.
            2 if is_same && record == "events" => {
                let names: Vec<_> = fields.iter().map(|(_, field)| *field).collect();
                let title = format!("{} of the events", names.join(" and "));
                (format!("events.{}", names.join("+")), title)
            }
            _ if is_same && record != "events" => {
                (record.to_owned(), format!("fields of the {record}"))
            }
            _ => return None,
        };
        let id = format!("misread:{names}");
        Some(Self::titled(id, format!("{title} misread")))
    }

    fn titled(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
        }
    }

    fn new(kind: &str, rule: &str, title: &str) -> Self {
        let id = format!("{kind}:{rule}");
        match rule {
            NO_RULE => Self::titled(id, title.trim_end_matches(" at")),
            _ => Self::titled(id, format!("{title} {}", named(rule))),
        }
    }

    /// Groups crashes by the source line that standard error names. If the line is unknown, groups
    /// crashes with the same signal or exit code on files that break rules of the same group.
    fn crash(message: &str, stderr: &str, rule: &str) -> Self {
        let how = crash::how(message);
        if let Some(place) = crash::place(stderr) {
            let title = format!("crash ({how}), stderr names {place}");
            return Self::titled(format!("crash:{how}:{place}"), title);
        }
        let mut groups = rules::GROUPS.iter();
        let own = groups.find(|(prefix, _)| rule.starts_with(prefix));
        let (group, title) = own.copied().unwrap_or((rule, rule));
        let id = format!("crash:{how}:{group}");
        Self::titled(id, format!("crash ({how}): {title}"))
    }

    /// Returns the cause of unusable output. Output of the same kind has the same cause.
    fn garbage(message: &str) -> Self {
        let kind = message.split(": ").next().unwrap_or(message);
        let id = format!("garbage:{}", kind.replace(' ', "-"));
        Self::titled(id, format!("no answer: {kind}"))
    }

    fn of_difference(difference: &Difference) -> Self {
        let rule = difference.rule.as_deref().unwrap_or(NO_RULE);
        let clues = Clues::new(difference, rule);
        if let Some(known) = KNOWN.iter().find(|known| known.fits(&clues)) {
            let may_be = if known.is_seen { "" } else { MAY_BE };
            return Self::titled(known.id, format!("{may_be}{}", known.title));
        }
        let Clues {
            field, turn, got, ..
        } = clues;
        match difference.grade {
            Grade::Data if turn == Turn::Refused => {
                Self::titled("refused", "readable file rejected")
            }
            Grade::Label if field == "verdict" => {
                let what = match got {
                    "accept" => "not reported",
                    "recover" => "taken for damage",
                    _ => "rejected",
                };
                Self::titled(format!("{got}:{rule}"), format!("{what}: {}", named(rule)))
            }
            Grade::Label => Self::titled(format!("label:{field}"), format!("label only: {field}")),
            Grade::Data => {
                let turn = turn.words();
                let title = format!("{field} {turn} at {}", named(rule));
                Self::titled(format!("data:{rule}:{field}:{turn}"), title)
            }
        }
    }
}

/// Returns the record and field of a difference, if the difference is only a wrong value.
fn field_of_record(difference: &Difference) -> Option<(&str, &str)> {
    let [record, field] = path(&difference.place).try_into().ok()?;
    let is_value = difference.expected != "nothing" && difference.got != "nothing";
    let is_record = ["header", "events", "footer", "function"].contains(&record);
    (is_value && is_record).then_some((record, field))
}

/// Returns the charge followed by its text: a rule's sentence, or a field's location.
fn named(charge: &str) -> String {
    match (rules::find(charge), charge::sentence(charge)) {
        (Some(rule), _) => format!("{charge}: {}", rule.rule),
        (None, Some(text)) => text,
        (None, None) => charge.to_owned(),
    }
}
