//! Collects a trace's contents, state and problems for `info`, which writes them as text or JSON.

mod aside;
mod file;
mod session;
mod text;
mod thread;
mod verify;

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use atf::check::Finding;
use atf::rules;
use atf::trace::PathKind;
use atf::{Error, FileKind};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::json::U64;
use crate::output::{Colours, Failure, Outcome, State, progress_bar, stdout};
use crate::recordings::{newest, report_several};

pub(crate) use aside::lost_manifest;
pub(crate) use file::Ending;
pub(crate) use thread::RingInfo;

use file::FileInfo;
use session::SessionInfo;
use text::Text;
use thread::ThreadInfo;

const AFTER_HELP: &str = "\
Without --verify it reads headers, footers, the first and last events, and the start of each event
of detail files. With --verify it reads everything and checks checksums, time order, kinds, gaps and
links.

JSON: 64-bit numbers are decimal strings; unknown values are null or omitted.

Memory: 8 bytes per detail event of one thread at a time, about 4 KB per thread, and the manifest.

Exit status: 0; 1 problems are listed, such as an unfinalized file, but not for what readers ignore,
such as an unknown key of the manifest; 2 usage, or a path that could not be read. Without --verify
no checksum of an index file is compared.

Example:
  $ atf info --verify samples/sample-crashed";

/// The options of `info`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// A file, a thread's folder, a session or a folder with sessions below it
    /// [default: the newest recording in or below the current folder]
    path: Option<PathBuf>,
    /// Read everything: check checksums, time order, kinds, gaps and links
    #[arg(long)]
    verify: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    pub(crate) fn run(&self) -> Outcome {
        let progress = if self.verify {
            progress_bar(None, "{spinner} {pos} threads read, {elapsed}")
        } else {
            ProgressBar::hidden()
        };
        let path = match &self.path {
            Some(path) => path,
            None => &newest()?,
        };
        let info = Info::read(path, self.verify, &progress)?;
        progress.finish_and_clear();
        let mut out = stdout();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &info)?;
            out.write_all(b"\n")?;
        } else {
            let (out, colours) = (&mut out, Colours::of_stdout());
            Text { out, colours }.info(&info)?;
        }
        out.flush()?;
        Ok(State::damaged_if(info.has_problems()))
    }
}

/// A description of the file or folder at a path.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Info {
    File(Box<FileInfo>),
    Thread(Box<ThreadInfo>),
    Session(Box<SessionInfo>),
    /// Sessions below a folder.
    Sessions {
        sessions: Vec<SessionInfo>,
    },
}

impl Info {
    /// Describes the file or folder at a path. With `verify`, reads all events. `progress` counts
    /// the threads read so far.
    fn read(path: &Path, verify: bool, progress: &ProgressBar) -> Result<Self, Failure> {
        let session = |path: &Path| SessionInfo::read(path, verify, progress);
        Ok(match PathKind::detect(path)? {
            PathKind::File(FileKind::Detail) => {
                Self::File(Box::new(FileInfo::of_detail(path, verify)))
            }
            PathKind::File(FileKind::Index) => {
                Self::File(Box::new(FileInfo::of_index(path, verify)))
            }
            PathKind::Thread => Self::Thread(Box::new(ThreadInfo::of_folder(path, verify))),
            PathKind::Session => Self::Session(Box::new(session(path)?)),
            PathKind::Sessions(paths) => {
                report_several(&[path.to_owned()], paths.iter().map(AsRef::as_ref));
                let sessions = paths.iter().map(|path| session(path));
                Self::Sessions {
                    sessions: sessions.collect::<Result<_, _>>()?,
                }
            }
        })
    }

    fn has_problems(&self) -> bool {
        match self {
            Self::File(file) => !file.problems.is_empty(),
            Self::Thread(thread) => thread.has_problems(),
            Self::Session(session) => session.has_problems(),
            Self::Sessions { sessions } => sessions.iter().any(SessionInfo::has_problems),
        }
    }
}

/// A problem and its location.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// The file or folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<U64>,
    /// The rule that the problem breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    /// The problem and its location as one sentence.
    pub(crate) message: String,
}

impl Problem {
    /// Creates a problem that no reader reports on its own, optionally with a field and an offset.
    pub(crate) fn new(field: Option<String>, offset: Option<u64>, what: &str) -> Self {
        let of = field.as_ref().map(|field| format!("{field}: "));
        let at = offset.map(|offset| format!(" (at {offset:#x})"));
        Self {
            path: None,
            field,
            offset: offset.map(U64),
            rule: None,
            message: [&of.unwrap_or_default(), what, &at.unwrap_or_default()].concat(),
        }
    }

    /// Converts an error that a reader returned.
    pub(crate) fn from_error(error: &Error) -> Self {
        Self {
            path: error.path().map(crate::json::path),
            field: error.field().map(str::to_owned),
            offset: error.offset().map(U64),
            rule: error.rule().map(|rule| rule.id),
            message: error.to_string(),
        }
    }

    /// Converts a finding of the checker.
    pub(crate) fn found(finding: Finding) -> Self {
        let place = finding.place;
        Self {
            rule: Some(finding.rule.id),
            ..Self::new(Some(place.field), place.offset, &finding.message)
        }
    }

    /// Adds the id of the rule that the file breaks.
    pub(crate) fn breaks(self, rule: &'static str) -> Self {
        debug_assert!(rules::find(rule).is_some(), "{rule}");
        let rule = Some(rule);
        Self { rule, ..self }
    }

    /// Returns the message without the path of the folder that contains the file.
    pub(crate) fn inside(&self, folder: &str) -> &str {
        let inside = self.message.strip_prefix(folder);
        inside.map_or(&self.message, |rest| {
            rest.trim_start_matches(['/', '\\', ':', ' '])
        })
    }

    /// Adds the file or folder, unless the problem already has one.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        if self.path.is_none() {
            self.message = format!("{}: {}", path.display(), self.message);
            self.path = Some(crate::json::path(path));
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.rule {
            Some(rule) => write!(f, " [{rule}]"),
            None => Ok(()),
        }
    }
}

/// The first and the last timestamp.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Times {
    pub(crate) start_ns: U64,
    pub(crate) end_ns: U64,
    pub(crate) duration_ns: U64,
}

impl Times {
    pub(crate) fn new((start, end): (u64, u64)) -> Self {
        Self {
            start_ns: U64(start),
            end_ns: U64(end),
            duration_ns: U64(end.saturating_sub(start)),
        }
    }
}
