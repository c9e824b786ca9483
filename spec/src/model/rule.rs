//! `rules/*.yaml`: the conformance rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layout::Wire;
use crate::yaml::{At, List};

/// A file of `rules/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesFile {
    /// What the ids in this file begin with: `ATF-IHDR`.
    pub prefix: At<String>,
    /// What the rules are about, as a heading.
    pub title: String,
    /// The rules. Ids are permanent: the id of a rule that is given up is not used again.
    pub rules: List<RuleSpec>,
}

/// A rule.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Its id: the file's prefix, a hyphen, three digits.
    pub id: At<String>,
    /// What must hold, one sentence.
    pub rule: String,
    /// The wire versions that it holds for.
    pub wire: List<At<Wire>>,
    /// How strict it is.
    pub severity: At<Severity>,
    /// Whom it binds.
    pub binds: Vec<Binds>,
    /// What a reader does with a file that breaks it.
    pub reader: At<ReaderDoes>,
    /// The verdicts on such a file that are as right as what `reader` asks for: `recover` where a
    /// reader may refuse and another one finds the same events.
    #[serde(default)]
    pub allows: List<At<Verdict>>,
    /// Why such a file must be refused: the sentence of a source that asks for it, or the harm that
    /// reading it does. Needed where `reader` is `reject` and `allows` is empty, and only there.
    pub because: Option<At<String>>,
    /// The records, fields and enums that it is about.
    #[serde(default)]
    pub about: List<At<String>>,
    /// The sources that it rests on.
    #[serde(default)]
    pub sources: List<At<String>>,
    /// The topics and silences whose decision it rests on.
    #[serde(default)]
    pub settled_by: List<At<String>>,
    /// What else there is to know.
    pub note: Option<String>,
    /// Why no file can be a case of it. A rule without this has cases that meet it and cases that
    /// break it.
    pub untestable: Option<String>,
}

/// How strict a rule is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Advice,
    /// A good reason is needed to do otherwise.
    Should,
    /// Whoever breaks it does not conform.
    Must,
}

/// Whom a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binds {
    /// Who writes thread files or a session.
    Writer,
    /// Who reads them.
    Reader,
    /// Who gives verdicts on them.
    Validator,
}

/// What a reader does with a file that breaks a rule, the worst last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
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

/// A reader's verdict on a file, the worst last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is read.
    Accept,
    /// What survived is read.
    Recover,
    /// It is refused.
    Reject,
}

impl Severity {
    /// Its word in the YAML files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Should => "should",
            Self::Must => "must",
        }
    }
}

impl ReaderDoes {
    /// Its word in the YAML files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Warn => "warn",
            Self::Recover => "recover",
            Self::Reject => "reject",
        }
    }
}
