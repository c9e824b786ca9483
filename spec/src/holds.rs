//! Finds what verifies a statement: something that fails if the statement becomes false, or a decision
//! that explains why it does not apply.

use crate::load::Spec;
use crate::model::{RuleSpec, Topic};

/// An entry of `held_by`: a test (`PATH.rs::NAME`), a benchmark (`atf/bench/PATH.rs::WORK`) or a
/// section of a document (`PATH.md#ANCHOR`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold<'a> {
    /// [`Kind::Test`], [`Kind::Benchmark`] or [`Kind::Document`].
    pub kind: Kind,
    /// The file, relative to the repository's root.
    pub path: &'a str,
    /// The test's function, the start of the benchmark's text in the column `work`, or the anchor
    /// of the section's heading.
    pub name: &'a str,
}

impl<'a> Hold<'a> {
    /// Parses an entry, or returns `None` if it has none of these forms.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let hold = |kind, path, name| Self { kind, path, name };
        if let Some((path, anchor)) = text.split_once(".md#") {
            let path = &text[..path.len() + ".md".len()];
            return (!anchor.is_empty()).then_some(hold(Kind::Document, path, anchor));
        }
        let (path, name) = text.split_once("::")?;
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        match path {
            _ if !path.ends_with(".rs") || name.is_empty() => None,
            _ if path.starts_with("atf/bench/") => Some(hold(Kind::Benchmark, path, name)),
            _ => is_name(name).then_some(hold(Kind::Test, path, name)),
        }
    }
}

/// The kinds of verification. A statement is counted under the first kind that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The statement is not implemented, at least in part.
    NotDone,
    /// A decision overrules the statement.
    Decision,
    /// A rule with test cases.
    Rule,
    /// A test.
    Test,
    /// A benchmark.
    Benchmark,
    /// A section of a document.
    Document,
}

impl Kind {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 6] = [
        Self::Rule,
        Self::Test,
        Self::Benchmark,
        Self::Document,
        Self::Decision,
        Self::NotDone,
    ];

    /// Returns the kind in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rule => "a rule with test cases",
            Self::Test => "a test",
            Self::Benchmark => "a benchmark",
            Self::Document => "a document",
            Self::Decision => "a decision against it",
            Self::NotDone => "not done",
        }
    }
}

/// Everything that verifies a stance on a topic.
#[derive(Debug)]
pub struct Held<'a> {
    /// The rules that cite the topic. An untestable rule does not verify anything by itself.
    pub rules: Vec<&'a RuleSpec>,
    /// Tests, benchmarks and documents.
    pub holds: Vec<Hold<'a>>,
    /// Whether a decision overruled the stance.
    pub is_overruled: bool,
    /// The topic.
    pub topic: &'a Topic,
}

impl<'a> Held<'a> {
    /// Finds everything that verifies a stance. `term` is one of the topic's terms.
    #[must_use]
    pub fn new(spec: &'a Spec, topic: &'a Topic, term: &str) -> Self {
        let holds = topic.held_by.iter().filter_map(|text| Hold::parse(text));
        let chooses_another =
            topic.choices().count() > 0 && !topic.choices().any(|choice| choice.value == term);
        Self {
            rules: spec.rules_citing(&topic.topic).collect(),
            holds: holds.collect(),
            is_overruled: topic.against.is_some() || chooses_another,
            topic,
        }
    }

    /// Returns the kind under which the stance counts, or `None` if it is not verified by anything
    /// that can fail.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        let holds = self.holds.iter().map(|hold| hold.kind);
        let rule = self.rules.iter().any(|rule| rule.untestable.is_none());
        let first = [
            self.topic.not_done.is_some().then_some(Kind::NotDone),
            self.is_overruled.then_some(Kind::Decision),
            rule.then_some(Kind::Rule),
        ];
        first.into_iter().flatten().chain(holds).min()
    }
}
