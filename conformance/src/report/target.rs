//! Where a report goes, and in which form.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A report that was asked for: `html=report.html`, or `tap` for standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In which form.
    pub form: Form,
    /// The file; `None` is standard output.
    pub file: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text, with colours on a terminal.
    Text,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// JUnit's XML, as CI services read it.
    Junit,
    /// One JSON object.
    Json,
    /// One page for a browser, without any other file.
    Html,
    /// A small picture for a README, SVG.
    Badge,
}

impl Form {
    /// All forms with the words that ask for them.
    const ALL: [(&'static str, Self); 6] = [
        ("text", Self::Text),
        ("tap", Self::Tap),
        ("junit", Self::Junit),
        ("json", Self::Json),
        ("html", Self::Html),
        ("badge", Self::Badge),
    ];
}

/// Why a text asks for no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTarget(String);

impl std::fmt::Display for BadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadTarget {}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let (word, file) = match text.split_once('=') {
            Some((_, "")) => return Err(BadTarget(format!("{text} names no file"))),
            Some((word, "-")) => (word, None),
            Some((word, file)) => (word, Some(Path::new(file).to_owned())),
            None => (text, None),
        };
        match Form::ALL.iter().find(|(name, _)| *name == word) {
            Some((_, form)) => Ok(Self { form: *form, file }),
            None => {
                let names: Vec<_> = Form::ALL.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                Err(BadTarget(format!(
                    "{word:?} is no form of a report: {names}"
                )))
            }
        }
    }
}
