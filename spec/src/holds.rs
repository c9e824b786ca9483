//! What holds a statement: something that fails when the statement is no longer true, or a decision
//! that says why it does not hold here.

use crate::load::Spec;
use crate::model::{RuleSpec, Topic};

/// What an entry of `held_by` names, from the root of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold<'a> {
    /// `PATH.rs::NAME`: a test.
    Test {
        /// Its file.
        path: &'a str,
        /// Its function.
        name: &'a str,
    },
    /// `atf/bench/PATH.rs::WORK`: a row of the benchmarks.
    Benchmark {
        /// The file that makes the row.
        path: &'a str,
        /// The beginning of what it says in the column `work`.
        work: &'a str,
    },
    /// `PATH.md#ANCHOR`: a section of a document.
    Document {
        /// Its file.
        path: &'a str,
        /// Its heading, as a link names it.
        anchor: &'a str,
    },
}

impl<'a> Hold<'a> {
    /// What the text names, if it has one of the forms.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        if let Some((path, anchor)) = text.split_once(".md#") {
            let path = &text[..path.len() + ".md".len()];
            return (!anchor.is_empty()).then_some(Self::Document { path, anchor });
        }
        let (path, name) = text.split_once("::")?;
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        match path {
            _ if !path.ends_with(".rs") || name.is_empty() => None,
            _ if path.starts_with("atf/bench/") => Some(Self::Benchmark { path, work: name }),
            _ => is_name(name).then_some(Self::Test { path, name }),
        }
    }
}

/// The kinds of holds; a statement counts as the first that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is not done, at least in part.
    NotDone,
    /// It was decided against.
    Decision,
    /// A rule with cases.
    Rule,
    /// A test.
    Test,
    /// A row of the benchmarks.
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

    /// The kind in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rule => "a rule with cases",
            Self::Test => "a test",
            Self::Benchmark => "a row of the benchmarks",
            Self::Document => "a document",
            Self::Decision => "a decision against it",
            Self::NotDone => "not done",
        }
    }
}

/// What holds a stance on a topic.
#[derive(Debug)]
pub struct Held<'a> {
    /// The rules that rest on the topic; one that says why it is untestable holds nothing by itself.
    pub rules: Vec<&'a RuleSpec>,
    /// Tests, benchmarks and documents.
    pub holds: Vec<Hold<'a>>,
    /// Whether a decision went against it.
    pub is_overruled: bool,
    /// The topic.
    pub topic: &'a Topic,
}

impl<'a> Held<'a> {
    /// What holds a stance, one of the topic's terms.
    #[must_use]
    pub fn of(spec: &'a Spec, topic: &'a Topic, term: &str) -> Self {
        let rules = spec.all_rules().map(|(_, rule)| rule);
        let name = topic.topic.as_str();
        let resting = rules.filter(|rule| rule.settled_by.iter().any(|known| known.value == name));
        let choices = topic.decisions.iter().filter_map(|d| d.choice.as_ref());
        Self {
            rules: resting.collect(),
            holds: topic
                .held_by
                .iter()
                .filter_map(|text| Hold::parse(text))
                .collect(),
            is_overruled: topic.against.is_some()
                || choices.clone().count() > 0
                    && !choices.clone().any(|choice| choice.value == term),
            topic,
        }
    }

    /// The kind that it counts as; `None` if nothing holds it that can fail.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        let holds = self.holds.iter().map(|hold| match hold {
            Hold::Test { .. } => Kind::Test,
            Hold::Benchmark { .. } => Kind::Benchmark,
            Hold::Document { .. } => Kind::Document,
        });
        let rule = self.rules.iter().any(|rule| rule.untestable.is_none());
        let first = [
            self.topic.not_done.is_some().then_some(Kind::NotDone),
            self.is_overruled.then_some(Kind::Decision),
            rule.then_some(Kind::Rule),
        ];
        first.into_iter().flatten().chain(holds).min()
    }
}

#[cfg(test)]
mod tests {
    use super::Hold;

    #[test]
    fn a_hold_is_a_test_a_row_or_a_section() {
        let (path, name) = ("atf/tests/x.rs", "a_b");
        assert_eq!(
            Hold::parse("atf/tests/x.rs::a_b"),
            Some(Hold::Test { path, name })
        );
        let (path, work) = ("atf/bench/src/rows/x.rs", "write, and more");
        let row = Hold::parse("atf/bench/src/rows/x.rs::write, and more");
        assert_eq!(row, Some(Hold::Benchmark { path, work }));
        let (path, anchor) = ("docs/x.md", "a-b");
        assert_eq!(
            Hold::parse("docs/x.md#a-b"),
            Some(Hold::Document { path, anchor })
        );
        for text in [
            "",
            "x",
            "x.rs",
            "x.rs::",
            "x.rs::a b",
            "x.c::a",
            "docs/x.md",
            "docs/x.md#",
            "ATF-IHDR-001",
        ] {
            assert_eq!(Hold::parse(text), None, "{text}");
        }
    }
}
