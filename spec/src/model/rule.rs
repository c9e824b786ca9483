//! `rules/*.yaml`: the conformance rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Citation;
use crate::layout::Wire;
use crate::named::named;
use crate::yaml::{At, List};

/// A file of `rules/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesFile {
    /// The prefix of the ids in this file: `ATF-IHDR`.
    pub prefix: At<String>,
    /// The rules' subject, as a heading.
    pub title: String,
    /// The rules. Ids are permanent: a retired rule's id is never reused.
    pub rules: List<RuleSpec>,
    /// The ids of retired rules.
    #[serde(default)]
    pub retired: List<At<String>>,
}

/// A rule.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Its id: the file's prefix, a hyphen and three digits.
    pub id: At<String>,
    /// The requirement, one sentence.
    pub rule: String,
    /// The wire versions that it applies to; omitted if it applies to all.
    #[serde(default)]
    pub wire: List<At<Wire>>,
    /// The severity.
    pub severity: At<Severity>,
    /// The roles that it binds.
    pub binds: Vec<Binds>,
    /// How a reader must react to a file that breaks it.
    pub reader: At<ReaderDoes>,
    /// Other correct verdicts on such a file. For example, `recover` lets a reader return the
    /// recoverable events of a file that it could also refuse.
    #[serde(default)]
    pub allows: List<At<Verdict>>,
    /// Why other verdicts are wrong. Required for `accept` if readers must recover or refuse the file,
    /// and for `recover` if they must refuse it, unless `allows` lists the verdict.
    #[serde(default)]
    pub excludes: List<Exclusion>,
    /// The records, fields and enums that it is about.
    #[serde(default)]
    pub about: List<At<String>>,
    /// The sources that it cites.
    #[serde(default)]
    pub sources: List<At<String>>,
    /// The topics and silences whose decisions it cites.
    #[serde(default)]
    pub settled_by: List<At<String>>,
    /// Additional information.
    pub note: Option<String>,
    /// Why no file can test the rule. Every other rule has test cases that follow it and test cases
    /// that break it.
    pub untestable: Option<String>,
}

/// A wrong verdict, and why it is wrong: sentences of sources, or harm to data.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// The wrong verdict.
    pub verdict: At<Verdict>,
    /// Whether it is wrong for files that break the rule or for files that follow it.
    #[serde(default)]
    pub when: When,
    /// The sentences that exclude it. Each is about a topic that the rule cites in `settled_by`.
    #[serde(default)]
    pub lines: List<At<Citation>>,
    /// Why each event that a reader returned with this verdict would be a phantom.
    pub phantom: Option<String>,
}

/// The files for which a verdict is wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Files that break the rule.
    #[default]
    Broken,
    /// Files that follow the rule and break no rule that readers report.
    Followed,
}

named! {
    /// A rule's severity.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
    )]
    pub enum Severity {
        /// Informative: breaking it is not an error.
        Advice = "advice",
        /// Required, unless there is a good reason not to.
        Should = "should",
        /// Required for conformance.
        Must = "must",
    }
}

/// A role that a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binds {
    /// Writes thread files or a session.
    Writer,
    /// Reads them.
    Reader,
    /// Validates them.
    Validator,
}

named! {
    /// A reader's reaction to a file that breaks a rule, in ascending severity.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
    )]
    pub enum ReaderDoes {
        /// Ignores the fault.
        Ignore = "ignore",
        /// Reports it and continues reading.
        Warn = "warn",
        /// Returns the recovered events and reports what is missing.
        Recover = "recover",
        /// Refuses the file.
        Reject = "reject",
    }
}

named! {
    /// A reader's verdict on a file, in ascending severity.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
    )]
    pub enum Verdict {
        /// The file is read.
        Accept = "accept",
        /// The recoverable events are read.
        Recover = "recover",
        /// The file is refused.
        Reject = "reject",
    }
}
