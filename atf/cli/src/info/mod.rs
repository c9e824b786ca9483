//! Collects a trace's contents, state and problems for `info`, which writes them as text or JSON.

mod aside;
mod file;
mod session;
mod text;
mod thread;
mod verify;

use std::fmt;
use std::path::Path;

use atf::check::Finding;
use atf::rules;
use atf::trace::PathKind;
use atf::{Error, FileKind};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::json::U64;
use crate::output::Failure;
use crate::recordings::report_several;

pub(crate) use text::Text;

pub(crate) use aside::lost_manifest;
pub(crate) use file::Ending;
pub(crate) use thread::RingInfo;

use file::FileInfo;
use session::SessionInfo;
use thread::ThreadInfo;

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
    pub(crate) fn read(path: &Path, verify: bool, progress: &ProgressBar) -> Result<Self, Failure> {
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

    pub(crate) fn has_problems(&self) -> bool {
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
