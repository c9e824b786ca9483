//! Lines of the source documents, each with its claims or the reason why it makes none.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::inline_schema::inline_schema;
use crate::yaml::{At, List, Pairs};

/// Lines of a document, counted from 1: `12`, or `12-14` inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// Lines of a source: `S2:112`, or `S2:106-107`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Citation {
    /// The source's id.
    pub source: String,
    /// The lines.
    pub lines: Lines,
}

/// The text of a source that is a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// Its file in the folder given to `spec check --sources`.
    pub file: At<String>,
    /// The number of lines.
    pub lines: At<u32>,
    /// Lines that claim nothing.
    #[serde(default)]
    pub silent: Silent,
}

/// Lines that claim nothing, by reason.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Silent {
    /// Blank lines.
    #[serde(default)]
    pub blank: List<At<Lines>>,
    /// Lines that only start or end a code block.
    #[serde(default)]
    pub fence: List<At<Lines>>,
    /// Horizontal rules, across the page or under a table header.
    #[serde(default)]
    pub rule: List<At<Lines>>,
    /// Headings.
    #[serde(default)]
    pub heading: List<At<Lines>>,
    /// Column headings of tables.
    #[serde(default)]
    pub table_head: List<At<Lines>>,
    /// Lines that introduce an example described in the following lines.
    #[serde(default)]
    pub scenario: List<At<Lines>>,
    /// References to the document itself or to other documents.
    #[serde(default)]
    pub reference: List<At<Lines>>,
}

/// Why lines claim nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// [`Silent::blank`].
    Blank,
    /// [`Silent::fence`].
    Fence,
    /// [`Silent::rule`].
    Rule,
    /// [`Silent::heading`].
    Heading,
    /// [`Silent::table_head`].
    TableHead,
    /// [`Silent::scenario`].
    Scenario,
    /// [`Silent::reference`].
    Reference,
}

/// `digests.yaml`: a digest of each span's text as it was when the claims were written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DigestsFile {
    /// The first 16 hexadecimal digits of the text's SHA-256, by source and lines.
    pub sources: Pairs<Pairs<At<String>>>,
}

impl Silent {
    /// Returns all lines by reason.
    #[must_use]
    pub fn all(&self) -> [(Reason, &[At<Lines>]); 7] {
        [
            (Reason::Blank, &self.blank),
            (Reason::Fence, &self.fence),
            (Reason::Rule, &self.rule),
            (Reason::Heading, &self.heading),
            (Reason::TableHead, &self.table_head),
            (Reason::Scenario, &self.scenario),
            (Reason::Reference, &self.reference),
        ]
    }
}

impl Reason {
    /// Returns the reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Blank => "blank line",
            Self::Fence => "code fence",
            Self::Rule => "horizontal rule",
            Self::Heading => "heading",
            Self::TableHead => "table header",
            Self::Scenario => "introduction of an example",
            Self::Reference => "document reference",
        }
    }

    /// Returns whether a line's text proves the reason, or `None` if no text can prove it. In that
    /// case, the line needs a digest.
    #[must_use]
    pub fn proves(self, line: &str) -> Option<bool> {
        let line = line.trim();
        let drawn = |line: &str| line.chars().all(|c| matches!(c, '-' | '|' | ' '));
        match self {
            Self::Blank => Some(line.is_empty()),
            Self::Fence => Some(line.starts_with("```")),
            Self::Rule => Some(line.contains("---") && drawn(line)),
            Self::Heading | Self::TableHead | Self::Scenario | Self::Reference => None,
        }
    }
}

impl Lines {
    /// Returns `line 12` or `lines 12-14`.
    #[must_use]
    pub fn words(self) -> String {
        let plural = if self.first == self.last { "" } else { "s" };
        format!("line{plural} {self}")
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last {
            write!(f, "{first}")
        } else {
            write!(f, "{first}-{last}")
        }
    }
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if 1 <= first && first <= last => Ok(Self { first, last }),
            _ => Err(format!(
                "`{text}` is not a line or a range of lines: write 12 or 12-14"
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Line(u32),
            Range(String),
        }
        let text = match Form::deserialize(deserializer)? {
            Form::Line(line) => line.to_string(),
            Form::Range(range) => range,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

inline_schema!(Lines, {
    "anyOf": [
        { "type": "integer", "minimum": 1 },
        { "type": "string", "pattern": "^[1-9][0-9]*-[1-9][0-9]*$" },
    ]
});

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.lines)
    }
}

impl TryFrom<String> for Citation {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (source, lines) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` names no lines of a source: write S2:112"))?;
        Ok(Self {
            source: source.to_owned(),
            lines: lines.parse()?,
        })
    }
}

impl Serialize for Citation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

inline_schema!(Citation, {
    "type": "string",
    "pattern": "^[A-Z][A-Z0-9]*:[1-9][0-9]*(-[1-9][0-9]*)?$",
});
