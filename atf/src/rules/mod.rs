//! The conformance rules, as the spec states them.

pub(crate) mod of_file;
// Do not format generated code: its generator formats it.
#[rustfmt::skip]
pub(crate) mod table;
mod verdict;

use std::collections::BTreeSet;

pub use table::{ALL, RULES_EDITION, SPEC_EDITION};
// For the conformance kit and the site.
#[doc(hidden)]
pub use table::{CORPUS_EDITION, DECISIONS, GROUPS, SOURCES};
#[doc(hidden)]
pub use verdict::Verdict;

/// A rule of the format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its permanent id: `ATF-IFTR-004`.
    pub id: &'static str,
    /// The requirement, in one sentence.
    pub rule: &'static str,
    /// The wire versions it applies to.
    pub wires: &'static [u8],
    /// How strict it is.
    pub severity: Severity,
    /// Who must follow it.
    pub binds: &'static [Party],
    /// The reader's reaction to a file that breaks it.
    pub reader: ReaderDoes,
    /// Other verdicts that are equally correct for a file that breaks the rule.
    #[doc(hidden)]
    pub allows: &'static [Verdict],
    /// The verdicts that are wrong, each with the reason.
    #[doc(hidden)]
    pub excludes: &'static [Exclusion],
    /// The records, fields and enumerations it concerns.
    pub about: &'static [&'static str],
    /// The sources the rule is based on, S0 to S4.
    pub sources: &'static [&'static str],
    /// The topics of the decisions that settled it.
    #[doc(hidden)]
    pub settled_by: &'static [&'static str],
    /// An additional note.
    pub note: Option<&'static str>,
    /// Why no file can test it. All other rules have test cases that follow them and test cases
    /// that break them.
    #[doc(hidden)]
    pub untestable: Option<&'static str>,
}

/// A wrong verdict, and why it is wrong.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exclusion {
    /// The wrong verdict.
    pub verdict: Verdict,
    /// Whether it is wrong for files that follow the rule, instead of those that break it.
    pub if_followed: bool,
    /// The sentences of sources that exclude it.
    pub sentences: &'static [Sentence],
    /// Why each event that a reader returned with this verdict would be a phantom.
    pub phantom: Option<&'static str>,
}

/// A sentence of a source.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sentence {
    /// Its lines in the source: `S2:112`.
    pub lines: &'static str,
    /// The sentence, in our words.
    pub says: &'static str,
}

/// A question about the format, and how it was settled.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// Its name: `checksum.algorithm`.
    pub topic: &'static str,
    /// The question.
    pub question: &'static str,
    /// The answer.
    pub answer: &'static str,
    /// The reason; empty if the sources agree.
    pub reason: &'static str,
    /// The sources that address it.
    pub sources: &'static [&'static str],
}

/// An edition of the spec, the rules or the corpus that implementations are graded against.
#[derive(Debug)]
#[non_exhaustive]
pub struct Edition {
    /// Major, minor and patch number.
    pub version: &'static str,
    /// The SHA-256, in hexadecimal, of this version's content.
    pub digest: &'static str,
}

/// How strict a rule is. This enum is exhaustive: the spec has only MUST and SHOULD, as in RFC
/// 2119, and advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A hint: a file that does not follow it is still correct.
    Advice,
    /// A recommendation, which an implementation may break only for a good reason.
    Should,
    /// A requirement: an implementation that breaks it does not conform.
    Must,
}

/// Who must follow a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Party {
    /// Writes thread files or a session.
    Writer,
    /// Reads thread files or a session.
    Reader,
    /// Gives verdicts on thread files or a session.
    Validator,
}

/// A reader's reaction to a file that breaks a rule, from the most lenient to the strictest. This
/// enum is exhaustive, so that the compiler makes every program handle each reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReaderDoes {
    /// Ignores the broken rule.
    Ignore,
    /// Continues, and reports the broken rule.
    Warn,
    /// Returns the recovered events and reports what is missing.
    Recover,
    /// Rejects the file.
    Reject,
}

impl From<ReaderDoes> for Verdict {
    fn from(reader: ReaderDoes) -> Self {
        match reader {
            ReaderDoes::Ignore | ReaderDoes::Warn => Self::Accept,
            ReaderDoes::Recover => Self::Recover,
            ReaderDoes::Reject => Self::Reject,
        }
    }
}

/// Returns the rule with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    table::ALL.iter().copied().find(|rule| rule.id == id)
}

/// Returns the decision on this topic.
#[doc(hidden)]
#[must_use]
pub fn decision(topic: &str) -> Option<&'static Decision> {
    let mut all = table::DECISIONS.iter();
    all.find(|decision| decision.topic == topic)
}

/// Rules about the content that a tracer recorded and how it named its threads. Recovery does not
/// change content that breaks them, because a fix would invent data, and keeps what it reports of
/// its own losses.
const OF_CONTENT: [&str; 10] = [
    "ATF-DEVT-004",
    "ATF-DPAY-001",
    "ATF-IEVT-001",
    "ATF-IEVT-003",
    "ATF-LINK-006",
    "ATF-LINK-011",
    "ATF-MANI-009",
    "ATF-MANI-017",
    "ATF-SESS-001",
    "ATF-SESS-005",
];

impl Rule {
    /// Returns the correct verdicts for a file that breaks the rule.
    #[doc(hidden)]
    #[must_use]
    pub fn verdicts(&self) -> BTreeSet<Verdict> {
        let own: &[Verdict] = match self.reader {
            ReaderDoes::Ignore => &[Verdict::Accept],
            // The reader continues, and may report the broken rule in the verdict or elsewhere.
            ReaderDoes::Warn => &[Verdict::Accept, Verdict::Recover],
            ReaderDoes::Recover => &[Verdict::Recover],
            ReaderDoes::Reject => &[Verdict::Reject],
        };
        own.iter().chain(self.allows).copied().collect()
    }

    /// Returns whether a writer's file can break the rule. Only a reader's output can break a rule
    /// for readers.
    #[doc(hidden)]
    #[must_use]
    pub fn binds_writers(&self) -> bool {
        self.binds.contains(&Party::Writer)
    }

    /// Returns whether this is a MUST rule about structure. A recovered trace follows all of these
    /// rules, whatever happened to the original.
    #[doc(hidden)]
    #[must_use]
    pub fn is_structural_must(&self) -> bool {
        self.severity == Severity::Must && !OF_CONTENT.contains(&self.id)
    }
}
