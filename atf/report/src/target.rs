//! The format and destination of a report.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anstream::{AutoStream, StripStream};
use atf::session;

use crate::Printable;
use atf::check::has_extension;

/// The maximum number of symlinks that Linux follows in one path.
const MOST_LINKS: u32 = 40;

/// A requested report, such as `html=report.html`, or `tap` for standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The format.
    pub form: Form,
    /// The file; `None` for standard output.
    pub file: Option<PathBuf>,
}

impl Target {
    /// Returns the requested reports. If none of them goes to standard output, adds a report in the
    /// format `default` there.
    ///
    /// # Errors
    ///
    /// Returns an error if two reports would overwrite each other.
    pub fn chosen(asked: &[Self], default: Form) -> Result<Vec<Self>, String> {
        let mut targets = asked.to_vec();
        if targets.iter().all(|target| target.file.is_some()) {
            let (form, file) = (default, None);
            targets.insert(0, Self { form, file });
        }
        let mut files = BTreeSet::new();
        for target in &targets {
            if !files.insert(target.file.as_deref().map(canonical)) {
                let place = target.place();
                return Err(format!("two reports go to {place}"));
            }
        }
        Ok(targets)
    }

    /// Describes the destination.
    fn place(&self) -> String {
        match &self.file {
            None => "standard output".to_owned(),
            Some(path) => Printable(path.display()).to_string(),
        }
    }

    /// Creates the file, or opens standard output. Only a terminal gets colours.
    ///
    /// # Errors
    ///
    /// Returns an error with the file's name if the file cannot be created.
    pub fn open(&self) -> io::Result<Box<dyn Write>> {
        let Some(path) = &self.file else {
            let out = io::stdout().lock();
            return Ok(match self.form {
                // Standard output is line-buffered, so text appears as it is written.
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

    /// Checks that the file can be written, so that a long run does not fail at the end. Leaves an
    /// existing file unchanged and creates none.
    ///
    /// # Errors
    ///
    /// Returns an error with the file's name if the file cannot be written.
    pub fn probe(&self) -> io::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        self.check_place(path)?;
        let is_new = match fs::metadata(path) {
            // Opening a FIFO waits for its reader, and closing it again ends the reader.
            Ok(meta) if !meta.is_file() && !meta.is_dir() => return Ok(()),
            found => found.is_err(),
        };
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path);
        let checked = file.and_then(|_| {
            if is_new {
                // The path may be a symlink, which is kept.
                fs::remove_file(fs::canonicalize(path)?)?;
            }
            Ok(())
        });
        checked.map_err(|error| self.failure(&error))
    }

    /// Refuses to overwrite any file in the checked traces, regardless of its name.
    pub(crate) fn spare(&self, traces: &[PathBuf]) -> io::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        match session::is_file_of(traces, path) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.over_trace()),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn over_trace(&self) -> io::Error {
        let error = io::Error::new(
            io::ErrorKind::InvalidInput,
            "refusing to write a report over part of a trace",
        );
        self.failure(&error)
    }

    /// Refuses to overwrite part of a trace, even through symlinks.
    fn check_place(&self, path: &Path) -> io::Result<()> {
        let mut place = path.to_owned();
        for _ in 0..=MOST_LINKS {
            if has_extension(&place) || session::is_part_of_trace(&place) {
                return Err(self.over_trace());
            }
            // Writing the report could create the symlink's target, so the target need not exist.
            let Ok(linked) = fs::read_link(&place) else {
                return Ok(());
            };
            place = place.with_file_name(linked);
        }
        let error = io::Error::new(io::ErrorKind::InvalidInput, "too many symlinks in a row");
        Err(self.failure(&error))
    }

    /// Adds the file's name to an error. A closed stdout is not an error.
    ///
    /// # Errors
    ///
    /// Returns the error with the name of the file.
    pub fn settled(&self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if self.file.is_none() && error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written.map_err(|error| self.failure(&error)),
        }
    }

    /// Prefixes an error with the destination.
    pub(crate) fn failure(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.place()))
    }
}

/// Returns the same path for each way to write a file's path, if the file or its folder exists.
fn canonical(path: &Path) -> PathBuf {
    let in_folder = || {
        // The parent of a bare name is empty.
        let folder = path.parent().map(|folder| Path::new(".").join(folder));
        Some(fs::canonicalize(folder?).ok()?.join(path.file_name()?))
    };
    let existing = fs::canonicalize(path).ok();
    existing
        .or_else(in_folder)
        .unwrap_or_else(|| path.to_owned())
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One screen of text with scores and causes. A check writes the same as for `Text`.
    Summary,
    /// Text with every failure in full, coloured on a terminal.
    Text,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// JUnit XML, for CI services.
    Junit,
    /// One JSON object.
    Json,
    /// One self-contained page for a browser.
    Html,
    /// A small SVG image for a README.
    Badge,
    /// SARIF 2.1.0, for services that show findings next to the files. Only for a check.
    Sarif,
}

impl Form {
    /// Returns the help text for an option that takes a report, with the names of all formats.
    #[must_use]
    pub fn help() -> String {
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        format!("Write a report to a file, or to standard output: {names} (of checks)")
    }

    /// All formats with their names on the command line.
    const ALL: [(&'static str, Self); 8] = [
        ("summary", Self::Summary),
        ("text", Self::Text),
        ("tap", Self::Tap),
        ("junit", Self::Junit),
        ("json", Self::Json),
        ("html", Self::Html),
        ("badge", Self::Badge),
        ("sarif", Self::Sarif),
    ];
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, file) = match text.split_once('=') {
            Some((_, "")) => return Err(format!("{text}: file name missing")),
            Some((word, "-")) => (word, None),
            Some((word, file)) => (word, Some(Path::new(file).to_owned())),
            None => (text, None),
        };
        match Form::ALL.iter().find(|(name, _)| *name == word) {
            Some((_, form)) => Ok(Self { form: *form, file }),
            None => {
                let names: Vec<_> = Form::ALL.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                Err(format!(
                    "unknown report form {word:?}; known forms: {names}"
                ))
            }
        }
    }
}
