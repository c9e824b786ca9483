//! Groups similar failures under named causes.

mod crash;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::results::{CaseResult, Difference, Failure, Grade, Outcome, Results, State};
use crate::rules;
use table::{KNOWN, Known};

/// Begins the title of a cause that the kit can only guess.
const MAY_BE: &str = "may be: ";

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
    /// The failures and their positions in [`Results::cases`], unexpected failures first.
    pub cases: Vec<(usize, &'a CaseResult)>,
    /// The number of unexpected failures: failures that are not on a failure list.
    pub failed: usize,
}

/// Groups a run's failures by cause. The group with the most unexpected failures comes first.
#[must_use]
pub fn groups(results: &Results) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (seq, case) in results.cases.iter().enumerate() {
        let Some(cause) = Cause::of(case) else {
            continue;
        };
        let place = *known.entry(cause.id.clone()).or_insert(groups.len());
        if place == groups.len() {
            let (cases, failed) = (Vec::new(), 0);
            groups.push(Group {
                cause,
                cases,
                failed,
            });
        }
        if let Some(group) = groups.get_mut(place) {
            group.failed += usize::from(case.state() == State::Failed);
            group.cases.push((seq, case));
        }
    }
    for group in &mut groups {
        group
            .cases
            .sort_by_key(|(_, case)| case.state() != State::Failed);
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.failed, group.cases.len())));
    groups
}

impl Cause {
    /// Returns the cause of a failure, or `None` if the result is not a failure.
    #[must_use]
    pub fn of(case: &CaseResult) -> Option<Self> {
        let Outcome::Failed {
            class,
            message,
            differences,
        } = &case.outcome
        else {
            return None;
        };
        let first = differences.first();
        let rule = first.and_then(|first| first.rule.as_deref());
        let rule = rule.or_else(|| case.rules.first().map(String::as_str));
        let rule = rule.unwrap_or("no rule");
        Some(match class {
            Failure::Crash => Self::crash(message, &case.stderr, rule),
            Failure::Timeout => Self::new("timeout", rule, "does not end at"),
            Failure::Memory => Self::new("memory", rule, "uses too much memory at"),
            Failure::Garbage => Self::garbage(message),
            Failure::Outside => Self::new("outside", rule, "reads outside the session at"),
            Failure::Rule => Self::new("writes", rule, "breaks"),
            Failure::WrongFile => match first.filter(|first| first.rule.is_none()) {
                Some(first) => Self::unasked(Clues::of(first, rule).field),
                None => Self::new("wrong-file", rule, "differs from the script at"),
            },
            _ => match first {
                Some(first) => {
                    let misread = Self::misread(differences);
                    let misread = misread.filter(|_| *class == Failure::WrongDecode);
                    misread.unwrap_or_else(|| Self::of_difference(first, rule))
                }
                None => Self::new(class.name(), rule, &format!("{} at", class.name())),
            },
        })
    }

    /// Returns the cause of a wrong value in a field that none of the case's rules cover.
    fn unasked(field: &str) -> Self {
        Self {
            id: format!("wrong-file:{field}"),
            title: format!("differs from the script: {field}"),
        }
    }

    /// Returns the cause "field misread" if all wrong values are in the same field, regardless of
    /// the case's rules.
    fn misread(differences: &[Difference]) -> Option<Self> {
        let is_shown = |it: &&Difference| !it.place.ends_with(" more]");
        let data = differences.iter().filter(|it| it.grade == Grade::Data);
        let data = data.filter(is_shown);
        let fields: Option<BTreeSet<_>> = data.map(field_of_record).collect();
        let fields = fields?;
        let (record, field) = fields.first().filter(|_| fields.len() == 1)?;
        Some(Self {
            id: format!("misread:{record}.{field}"),
            title: format!("{field} of the {record} misread"),
        })
    }

    fn new(kind: &str, rule: &str, title: &str) -> Self {
        Self {
            id: format!("{kind}:{rule}"),
            title: format!("{title} {}", named(rule)),
        }
    }

    /// Groups crashes by the source line that standard error names. If the line is unknown, groups crashes with the same signal
    /// or exit code on files that break rules of the same group.
    fn crash(message: &str, stderr: &str, rule: &str) -> Self {
        let how = crash::how(message);
        match crash::place(stderr) {
            Some(place) => Self {
                id: format!("crash:{how}:{place}"),
                title: format!("crash ({how}), stderr names {place}"),
            },
            None => {
                let groups = rules::table::GROUPS.iter();
                let mut own = groups.filter(|(prefix, _)| rule.starts_with(prefix));
                let (group, title) = own.next().copied().unwrap_or((rule, rule));
                Self {
                    id: format!("crash:{how}:{group}"),
                    title: format!("crash ({how}): {title}"),
                }
            }
        }
    }

    /// Returns the cause of unusable output. Output of the same kind has the same cause.
    fn garbage(message: &str) -> Self {
        let kind = message.split(": ").next().unwrap_or(message);
        Self {
            id: format!("garbage:{}", kind.replace(' ', "-")),
            title: format!("no answer: {kind}"),
        }
    }

    fn of_difference(difference: &Difference, rule: &str) -> Self {
        let clues = Clues::of(difference, rule);
        if let Some(known) = KNOWN.iter().find(|known| clues.fit(known)) {
            let may_be = if known.is_seen { "" } else { MAY_BE };
            return Self {
                id: known.id.to_owned(),
                title: format!("{may_be}{}", known.title),
            };
        }
        let Clues { field, turn, .. } = &clues;
        let turn = turn.words();
        match difference.grade {
            Grade::Data if clues.turn == Turn::Refused => Self {
                id: "refused".to_owned(),
                title: "readable file rejected".to_owned(),
            },
            Grade::Label => Self {
                id: format!("label:{field}"),
                title: format!("label only: {field}"),
            },
            Grade::Data => Self {
                id: format!("data:{rule}:{field}:{turn}"),
                title: format!("{field} {turn} at {}", named(rule)),
            },
        }
    }
}

/// Returns the record and field of a difference, if the difference is only a wrong value.
fn field_of_record(difference: &Difference) -> Option<(&str, &str)> {
    let is_nothing = |text: &str| text == "nothing";
    // In a difference in a writer's files, the place starts with the file's name.
    let place = difference.place.rsplit(": ").next()?;
    let (above, field) = place.rsplit_once('.')?;
    let record = above.rsplit('.').next()?;
    let record = record.split('[').next()?;
    let is_value = !is_nothing(&difference.expected) && !is_nothing(&difference.got);
    let is_record = ["header", "events", "footer"].contains(&record);
    (is_value && is_record).then_some((record, field))
}

/// Returns the rule's id, followed by its text if the spec defines the rule.
fn named(rule: &str) -> String {
    match rules::find(rule) {
        Some(known) => format!("{rule}: {}", known.rule),
        None => rule.to_owned(),
    }
}

/// The parts of a difference that help to find its cause.
#[derive(Debug)]
struct Clues<'a> {
    grade: Grade,
    rule: &'a str,
    /// The last name in the place, such as `detail_seq` in `threads[0].index.events[3].detail_seq`.
    field: &'a str,
    turn: Turn,
    expected: &'a str,
    got: &'a str,
}

/// The way in which an answer is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The answer rejects a readable file.
    Refused,
    /// The answer accepts a file that must be rejected or recovered, or reads one that must be
    /// rejected.
    Believed,
    /// The answer contains something that is not in the file.
    Extra,
    /// Something in the file is missing from the answer.
    Lost,
    /// The answer has a wrong value.
    Other,
}

impl Turn {
    const fn words(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Believed => "believed",
            Self::Extra => "invented",
            Self::Lost => "lost",
            Self::Other => "wrong",
        }
    }
}

impl<'a> Clues<'a> {
    fn of(difference: &'a Difference, rule: &'a str) -> Self {
        // In a difference in a writer's files, the file's name precedes the field. Values in
        // documents are JSON.
        let place = difference.place.rsplit(": ").next().unwrap_or_default();
        let field = place.rsplit('.').next().unwrap_or_default();
        let field = field.split('[').next().unwrap_or_default();
        let expected = difference.expected.trim_matches('"');
        let got = difference.got.trim_matches('"');
        let turn = match (field, expected, got) {
            ("verdict", _, "reject") => Turn::Refused,
            ("verdict", "reject" | "recover or reject", _) => Turn::Believed,
            (_, "nothing", _) => Turn::Extra,
            (_, _, "nothing") => Turn::Lost,
            _ => Turn::Other,
        };
        Self {
            grade: difference.grade,
            rule: rule.strip_prefix("ATF-").unwrap_or(rule),
            field,
            turn,
            expected,
            got,
        }
    }

    fn fit(&self, known: &Known) -> bool {
        let is_rule = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(prefix) => self.rule.starts_with(prefix),
            None => self.rule == *pattern,
        };
        known.grade.is_none_or(|grade| grade == self.grade)
            && (known.rules.is_empty() || known.rules.iter().any(is_rule))
            && (known.fields.is_empty() || known.fields.contains(&self.field))
            && (known.turns.is_empty() || known.turns.contains(&self.turn))
            && known.values.0.is_none_or(|value| value == self.expected)
            && known.values.1.is_none_or(|value| value == self.got)
    }
}
