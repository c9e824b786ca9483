//! Why results fail: failures that look alike share a cause, which has a name.

mod crash;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::results::{CaseResult, Difference, Failure, Grade, Outcome, Results, State};
use crate::rules;
use table::{KNOWN, Known};

/// What a failure comes from, judged by what the kit can see of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cause {
    /// Its name for programs: `checksum-unnoticed`, `crash:SIGSEGV:read.c:120`.
    pub id: String,
    /// Its name for people: `checksum mismatch not noticed`.
    pub title: String,
}

/// The failures of one cause.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Their cause.
    pub cause: Cause,
    /// The failures with their positions in [`Results::cases`]: unexpected ones first.
    pub cases: Vec<(usize, &'a CaseResult)>,
    /// How many of them no failure list has.
    pub failed: usize,
}

/// The failures of a run by their causes, the cause of most unexpected failures first.
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
    /// The cause of a failure; `None` of a result that is none.
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
            Failure::Memory => Self::new("memory", rule, "takes too much memory at"),
            Failure::Garbage => Self::garbage(message),
            Failure::Outside => Self::new("outside", rule, "reads outside the session at"),
            Failure::Rule => Self::new("writes", rule, "breaks"),
            Failure::WrongFile => match first.filter(|first| first.rule.is_none()) {
                Some(first) => Self::unasked(Clues::of(first, rule).field),
                None => Self::new(
                    "wrong-file",
                    rule,
                    "writes what the script does not say, at",
                ),
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

    /// What a writer wrote into a field that no rule speaks of there.
    fn unasked(field: &str) -> Self {
        Self {
            id: format!("wrong-file:{field}"),
            title: format!("writes what the script does not say: {field}"),
        }
    }

    /// Where all values that are wrong are those of one field, the field is misread, whatever rule the
    /// case is about.
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

    /// Crashes at one place of the testee's code have one cause; those whose place is not known have
    /// the same cause if they end alike on files that break rules of one group.
    fn crash(message: &str, stderr: &str, rule: &str) -> Self {
        let how = crash::how(message);
        match crash::place(stderr) {
            Some(place) => Self {
                id: format!("crash:{how}:{place}"),
                title: format!("crash ({how}) at {place}"),
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

    /// What is wrong with an output, without what it says.
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
            return Self {
                id: known.id.to_owned(),
                title: known.title.to_owned(),
            };
        }
        let Clues { field, turn, .. } = &clues;
        let turn = turn.words();
        match difference.grade {
            Grade::Data if clues.turn == Turn::Refused => Self {
                id: "refused".to_owned(),
                title: "file refused, though its events can be read".to_owned(),
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

/// The record and the field that a difference is in, if a value of it is wrong and nothing else.
fn field_of_record(difference: &Difference) -> Option<(&str, &str)> {
    let is_nothing = |text: &str| text == "nothing";
    // A writer's places begin with a file.
    let place = difference.place.rsplit(": ").next()?;
    let (above, field) = place.rsplit_once('.')?;
    let record = above.rsplit('.').next()?;
    let record = record.split('[').next()?;
    let is_value = !is_nothing(&difference.expected) && !is_nothing(&difference.got);
    let is_record = ["header", "events", "footer"].contains(&record);
    (is_value && is_record).then_some((record, field))
}

/// The rule's id with its sentence, if the spec has it.
fn named(rule: &str) -> String {
    match rules::find(rule) {
        Some(known) => format!("{rule}: {}", known.rule),
        None => rule.to_owned(),
    }
}

/// What a difference says about its cause.
#[derive(Debug)]
struct Clues<'a> {
    grade: Grade,
    rule: &'a str,
    /// The place's last name: `detail_seq` of `threads[0].index.events[3].detail_seq`.
    field: &'a str,
    turn: Turn,
    expected: &'a str,
}

/// In which direction an answer is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// What is good was refused.
    Refused,
    /// What must be refused was read.
    Believed,
    /// Something was given that is not there.
    Extra,
    /// Something that is there was not given.
    Lost,
    /// Another value.
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
        // A writer's places begin with a file; values of documents are JSON.
        let place = difference.place.rsplit(": ").next().unwrap_or_default();
        let field = place.rsplit('.').next().unwrap_or_default();
        let field = field.split('[').next().unwrap_or_default();
        let expected = difference.expected.trim_matches('"');
        let got = difference.got.trim_matches('"');
        let turn = match (field, expected, got) {
            ("verdict", _, "reject") => Turn::Refused,
            ("verdict", "reject", _) => Turn::Believed,
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
            && known.expected.is_none_or(|value| value == self.expected)
    }
}
