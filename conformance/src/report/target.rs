//! Where a report goes, and in which form.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anstream::{AutoStream, StripStream};
use atf::session;

use super::Printable;
use crate::check::has_extension;

/// A report that was asked for: `html=report.html`, or `tap` for standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In which form.
    pub form: Form,
    /// The file; `None` is standard output.
    pub file: Option<PathBuf>,
}

impl Target {
    /// The reports that were asked for, and `default` on standard output if nothing else goes there.
    ///
    /// # Errors
    ///
    /// Two reports that would overwrite one another.
    pub fn chosen(asked: &[Self], default: Form) -> Result<Vec<Self>, BadTarget> {
        let mut targets = asked.to_vec();
        if targets.iter().all(|target| target.file.is_some()) {
            let file = None;
            targets.insert(
                0,
                Self {
                    form: default,
                    file,
                },
            );
        }
        let mut files = BTreeSet::new();
        for target in &targets {
            if !files.insert(target.file.as_deref()) {
                let place = target.place();
                return Err(BadTarget(format!("two reports go to {place}")));
            }
        }
        Ok(targets)
    }

    /// Where it goes, in words.
    fn place(&self) -> String {
        match &self.file {
            None => "standard output".to_owned(),
            Some(path) => Printable(path.display()).to_string(),
        }
    }

    /// Opens the file, which is made anew, or standard output. Colours stay where a terminal shows them.
    ///
    /// # Errors
    ///
    /// Where the file cannot be made, with its name.
    pub(super) fn open(&self) -> io::Result<Box<dyn Write>> {
        let Some(path) = &self.file else {
            let out = io::stdout().lock();
            return Ok(match self.form {
                // Line by line, as they come.
                Form::Summary | Form::Text => Box::new(AutoStream::auto(out)),
                _ => Box::new(BufWriter::new(out)),
            });
        };
        self.check_place(path)?;
        let file = File::create(path).map_err(|error| self.failure(&error))?;
        let out: Box<dyn Write> = Box::new(BufWriter::new(file));
        Ok(match self.form {
            Form::Summary | Form::Text => Box::new(StripStream::new(out)),
            _ => out,
        })
    }

    /// Asks, before long work, whether the file can be written. One that is there stays as it is.
    ///
    /// # Errors
    ///
    /// Where it cannot, with its name.
    pub fn probe(&self) -> io::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        self.check_place(path)?;
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path);
        file.map(drop).map_err(|error| self.failure(&error))
    }

    /// Refuses to write over a part of a trace.
    fn check_place(&self, path: &Path) -> io::Result<()> {
        if has_extension(path) || session::is_part_of_trace(path) {
            let error = io::Error::new(
                io::ErrorKind::InvalidInput,
                "a report must not change a trace",
            );
            return Err(self.failure(&error));
        }
        Ok(())
    }

    /// An error with the file's name. A reader of standard output who has seen enough is none.
    pub(super) fn settled(&self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if self.file.is_none() && error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written.map_err(|error| self.failure(&error)),
        }
    }

    /// The error with the name of where the report goes.
    pub(super) fn failure(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.place()))
    }
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A screen of text: scores and causes. Of a check, the same as `Text`.
    Summary,
    /// Text with every failure in full, with colours on a terminal.
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
    const ALL: [(&'static str, Self); 7] = [
        ("summary", Self::Summary),
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
