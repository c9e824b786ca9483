//! The conformance rules, as the spec states them.

// Its generator lays it out.
#[rustfmt::skip]
pub mod table;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::check::Verdict;

/// A rule of the format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its permanent id: `ATF-IFTR-004`.
    pub id: &'static str,
    /// What must hold, one sentence.
    pub rule: &'static str,
    /// The wire versions that it holds for.
    pub wires: &'static [u8],
    /// How strict it is.
    pub severity: Severity,
    /// Whom it binds.
    pub binds: &'static [Party],
    /// What a reader does with a file that breaks it.
    pub reader: ReaderDoes,
    /// Verdicts on such a file that are as right.
    pub allows: &'static [Verdict],
    /// Why such a file must be refused, where it must: a source's sentence, or the harm of reading it.
    pub because: Option<&'static str>,
    /// The records, fields and enumerations that it is about.
    pub about: &'static [&'static str],
    /// The sources that it rests on, S0 to S4.
    pub sources: &'static [&'static str],
    /// The questions that it was settled by: names of [`DECISIONS`](table::DECISIONS).
    pub settled_by: &'static [&'static str],
    /// What else there is to know.
    pub note: Option<&'static str>,
    /// Why no file can be a case of it; all others have cases that meet and that break them.
    pub untestable: Option<&'static str>,
}

/// A question about the format, and how it was settled.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// Its name: `checksum.algorithm`.
    pub topic: &'static str,
    /// The question.
    pub question: &'static str,
    /// What holds.
    pub answer: &'static str,
    /// Why; empty where the sources agree.
    pub reason: &'static str,
    /// The sources that say something about it.
    pub sources: &'static [&'static str],
}

/// The version of what implementations are graded by.
#[derive(Debug)]
#[non_exhaustive]
pub struct Edition {
    /// Major, minor and patch number.
    pub version: &'static str,
    /// SHA-256, in hexadecimal, of what the version was given to.
    pub digest: &'static str,
}

/// How strict a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Advice,
    /// A good reason is needed to do otherwise.
    Should,
    /// Whoever breaks it does not conform.
    Must,
}

/// Who a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Party {
    /// Who writes thread files or a session.
    Writer,
    /// Who reads them.
    Reader,
    /// Who gives verdicts on them.
    Validator,
}

/// What a reader does with a file that breaks a rule, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReaderDoes {
    /// Takes no notice.
    Ignore,
    /// Reads on and says so.
    Warn,
    /// Gives what survived and says what is missing.
    Recover,
    /// Refuses the file.
    Reject,
}

impl Severity {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Should => "should",
            Self::Must => "must",
        }
    }
}

/// The rule of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    table::ALL.iter().copied().find(|rule| rule.id == id)
}

/// The question of that name.
#[must_use]
pub fn decision(topic: &str) -> Option<&'static Decision> {
    let mut all = table::DECISIONS.iter();
    all.find(|decision| decision.topic == topic)
}

/// Rules about what a tracer saw and what it called its threads. A recovery that mended what breaks them
/// would invent, so it keeps that as it is.
const OF_CONTENT: [&str; 9] = [
    "ATF-DEVT-004",
    "ATF-DPAY-001",
    "ATF-IEVT-001",
    "ATF-IEVT-003",
    "ATF-LINK-006",
    "ATF-LINK-011",
    "ATF-MANI-009",
    "ATF-SESS-001",
    "ATF-SESS-005",
];

impl Rule {
    /// The verdicts that are right on a file which breaks it.
    #[must_use]
    pub fn verdicts(&self) -> BTreeSet<Verdict> {
        let own: &[Verdict] = match self.reader {
            ReaderDoes::Ignore => &[Verdict::Accept],
            // To read on and say so, in the verdict or elsewhere.
            ReaderDoes::Warn => &[Verdict::Accept, Verdict::Recover],
            ReaderDoes::Recover => &[Verdict::Recover],
            ReaderDoes::Reject => &[Verdict::Reject],
        };
        own.iter().chain(self.allows).copied().collect()
    }

    /// Whether a writer's file can break it. What binds readers alone, an answer breaks.
    #[must_use]
    pub fn binds_writers(&self) -> bool {
        self.binds.contains(&Party::Writer)
    }

    /// Whether it is a MUST about structure: what is recovered breaks none of these, whatever happened
    /// to the trace.
    #[must_use]
    pub fn is_structural_must(&self) -> bool {
        self.severity == Severity::Must && !OF_CONTENT.contains(&self.id)
    }
}
