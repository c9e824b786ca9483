//! The correct verdicts on a subject that breaks some rules, and why the others are wrong.
//!
//! A verdict is wrong only for a reason: a sentence of a source that is about one of the subject's
//! rules, or harm to the data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Case, Subject};
use crate::named::named;
use crate::rules::{ReaderDoes, Rule, Sentence};
use crate::{VERDICTS, Verdict, rule, verdict_in};

/// The wrong verdicts, each with its reasons.
pub type Because = BTreeMap<Verdict, Vec<Reason>>;

/// Why a verdict is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A sentence of a source excludes the verdict, whatever the answer contains.
    Sentence(Sentence),
    /// The verdict comes with wrong data. An answer without this harm is correct.
    Harm {
        /// The kind of harm.
        effect: Effect,
        /// The events that it affects, such as `events[0..6]`.
        place: String,
        /// The explanation; empty if the effect needs none.
        why: String,
    },
}

named! {
    /// The kind of harm.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    pub enum Effect {
        /// Events are missing from the answer.
        Lost = "lost",
        /// The answer has events that were never traced.
        Phantom = "phantom",
    }
}

impl Reason {
    /// Returns whether a sentence excludes the verdict.
    #[must_use]
    pub const fn is_sentence(&self) -> bool {
        matches!(self, Self::Sentence(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(said) => write!(f, "{}: {}", said.lines, said.says),
            Self::Harm { effect, place, why } => {
                write!(f, "{}: {place}", effect.name())?;
                if why.is_empty() {
                    Ok(())
                } else {
                    write!(f, ". {why}")
                }
            }
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The correct verdicts on a subject, and the reasons that exclude the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judged {
    /// The correct verdicts, mildest first.
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) because: Because,
}

impl Judged {
    /// Finds a reason for each verdict that is not allowed, and allows the verdicts without one.
    fn new(mut verdicts: BTreeSet<Verdict>, reasons: impl Fn(Verdict) -> Vec<Reason>) -> Self {
        let mut because = Because::new();
        for verdict in VERDICTS {
            if verdicts.contains(&verdict) {
                continue;
            }
            let mut own: Vec<Reason> = Vec::new();
            for reason in reasons(verdict) {
                if !own.contains(&reason) {
                    own.push(reason);
                }
            }
            if own.is_empty() {
                verdicts.insert(verdict);
            } else {
                because.insert(verdict, own);
            }
        }
        let verdicts = verdicts.into_iter().collect();
        Self { verdicts, because }
    }
}

/// Returns the verdicts that the rules allow on a file that breaks them. Readers choose one of the
/// verdicts that each rule allows; the file's verdict is the worst of them.
pub(crate) fn of_rules<'a>(broken: impl IntoIterator<Item = &'a str>) -> BTreeSet<Verdict> {
    let rules = broken.into_iter().map(rule);
    rules.fold(BTreeSet::from([Verdict::Accept]), |all, rule| {
        worst_of(&all, &rule.verdicts())
    })
}

/// Combines the verdicts on two parts into the verdicts on the whole.
fn worst_of(one: &BTreeSet<Verdict>, other: &BTreeSet<Verdict>) -> BTreeSet<Verdict> {
    let one = one.iter();
    let pairs = one.flat_map(|first| other.iter().map(move |second| (*first).max(*second)));
    pairs.collect()
}

/// Judges a file that breaks these rules. `allowed` are the verdicts that its rules or its case
/// allow.
///
/// `phantom` is the reason why reading it would yield phantoms, if no rule states it; empty
/// otherwise. `events` is the number of events that a reader loses by rejecting it.
pub(crate) fn file(
    path: &str,
    broken: &[&str],
    phantom: &str,
    events: usize,
    allowed: BTreeSet<Verdict>,
) -> Judged {
    let is_followed = of_rules(broken.iter().copied()) == BTreeSet::from([Verdict::Accept]);
    Judged::new(allowed, |verdict| {
        let broken = broken.iter().copied().map(rule);
        let mut reasons: Vec<_> = broken
            .flat_map(|rule| excluded(rule, verdict, false, "events"))
            .collect();
        if is_followed {
            reasons.extend(excluded(rule_about_footer(path), verdict, true, "events"));
        }
        if !phantom.is_empty() && verdict != Verdict::Reject {
            reasons.push(phantoms("events", phantom));
        }
        if verdict == Verdict::Reject && events > 0 {
            reasons.push(loses(&format!("events[0..{events}]")));
        }
        reasons
    })
}

/// Returns the rule that requires a footer in this file.
fn rule_about_footer(path: &str) -> &'static Rule {
    if path.ends_with("detail.atf") {
        rule("ATF-DFTR-001")
    } else {
        rule("ATF-IFTR-001")
    }
}

/// Judges a session.
///
/// `broken` are the rules that its files and folders break, by path; `paths` are its trace files;
/// `lost` names the events that a reader loses by rejecting it. `may_reject` is whether a reader may
/// reject every thread's index.
pub(crate) fn session(
    broken: &[(&str, &str)],
    paths: &[String],
    lost_events: Option<&str>,
    may_reject: bool,
    own: &[Verdict],
) -> Judged {
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, rule) in broken {
        by_file.entry(file).or_default().push(rule);
    }
    // A rejected file is treated as missing.
    let missing = |verdicts: BTreeSet<Verdict>| -> BTreeSet<Verdict> {
        let verdicts = verdicts.into_iter();
        verdicts.map(|it| it.min(Verdict::Recover)).collect()
    };
    let files = by_file.into_values().map(of_rules);
    let mut allowed = files.fold(BTreeSet::from([Verdict::Accept]), |all, file| {
        worst_of(&all, &missing(file))
    });
    if may_reject {
        allowed.insert(Verdict::Reject);
    }
    allowed.extend(own);
    // Only trace files have a footer that confirms them.
    let is_of_file = |(path, _): &(&str, &str)| paths.iter().any(|known| known == path);
    let is_followed = !paths.is_empty() && broken.iter().all(is_of_file);
    Judged::new(allowed, |verdict| {
        let mut reasons = Vec::new();
        for (path, id) in broken {
            reasons.extend(excluded(rule(id), verdict, false, path));
        }
        let is_unreadable = |(_, id): &(&str, &str)| rule(id).reader == ReaderDoes::Reject;
        if broken.iter().any(is_unreadable) {
            reasons.extend(excluded(rule("ATF-RDER-003"), verdict, false, ""));
        }
        if is_followed && verdict == Verdict::Recover {
            for path in paths {
                reasons.extend(excluded(rule_about_footer(path), verdict, true, path));
            }
        }
        if verdict == Verdict::Reject {
            match lost_events {
                Some(events) => reasons.push(loses(events)),
                None if is_followed => {
                    reasons.extend(excluded(rule("ATF-IFTR-001"), verdict, true, ""));
                }
                None => {}
            }
        }
        reasons
    })
}

/// Returns a rule's reasons against a verdict, for files that break it or, if `if_followed`, for
/// those that follow it.
fn excluded(rule: &Rule, verdict: Verdict, if_followed: bool, place: &str) -> Vec<Reason> {
    let own = rule.excludes.iter();
    let own = own.filter(|it| it.verdict == verdict && it.if_followed == if_followed);
    own.flat_map(|it| {
        let sentences = it.sentences.iter().copied().map(Reason::Sentence);
        let phantom = it.phantom.map(|why| phantoms(place, why));
        sentences.chain(phantom)
    })
    .collect()
}

impl Case {
    /// Sets the correct verdicts on the subject and on the files in `file_verdicts`: those in the
    /// expected document, and those allowed by the broken rules. `broken` lists these by path.
    pub fn judge(&mut self, broken: &[(&str, &str)]) {
        let judged = |path: &str, document: &Value| {
            let broken = broken.iter().filter(|(file, _)| *file == path);
            let broken: Vec<_> = broken.map(|(_, rule)| *rule).collect();
            let mut allowed = of_rules(broken.iter().copied());
            allowed.extend(verdict_in(document));
            let events = document["events"].as_array().map_or(0, Vec::len);
            file(path, &broken, "", events, allowed)
        };
        let threads = self.expected["threads"].as_array();
        let threads = threads.map_or(&[][..], Vec::as_slice);
        for file in &mut self.file_verdicts {
            let thread = threads.iter().find(|it| it["thread_id"] == file.thread);
            let document = thread.map_or(&Value::Null, |it| &it[file.file]);
            let Judged { verdicts, because } = judged(&file.path, document);
            (file.verdicts, file.because) = (verdicts, because);
        }
        let Judged { verdicts, because } = if self.subject == Subject::Session {
            let paths = self.file_verdicts.iter().map(|file| file.path.clone());
            let paths: Vec<_> = paths.collect();
            let own: Vec<_> = verdict_in(&self.expected).into_iter().collect();
            session(broken, &paths, lost(threads).as_deref(), false, &own)
        } else {
            judged(&self.path, &self.expected)
        };
        (self.verdicts, self.because) = (verdicts, because);
    }
}

/// Names the events of the first file of a session's threads that has some.
pub(crate) fn lost(threads: &[Value]) -> Option<String> {
    threads.iter().enumerate().find_map(|(seq, thread)| {
        ["index", "detail"].into_iter().find_map(|file| {
            let events = thread[file]["events"].as_array().map_or(0, Vec::len);
            (events > 0).then(|| format!("threads[{seq}].{file}.events[0..{events}]"))
        })
    })
}

fn loses(place: &str) -> Reason {
    Reason::Harm {
        effect: Effect::Lost,
        place: place.to_owned(),
        why: String::new(),
    }
}

fn phantoms(place: &str, why: &str) -> Reason {
    Reason::Harm {
        effect: Effect::Phantom,
        place: place.to_owned(),
        why: why.to_owned(),
    }
}
