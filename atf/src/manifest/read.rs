//! Parses the text of a manifest.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::path::Path;

use serde_json::value::RawValue;

use super::generated::TimingAnchorObject;
use super::json::{Members, Place, Reader, Strict};
use super::{Manifest, ManifestThread};
use crate::clock::{MediaTime, TimingAnchor};
use crate::error::{Error, ErrorKind, Result};
use crate::rules::table as rules;
use crate::source::{Input, MANIFEST_LIMIT, OpenOptions};

const BYTE_ORDER_MARK: &str = "\u{feff}";
/// The memory limit for reading, checking and rewriting a manifest, as a multiple of its size.
const MEMORY: u64 = 40;

impl Manifest {
    /// Parses as much as possible, and lists whatever is unreadable in
    /// [`problems`](Self::problems).
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let problem = Error::new(ErrorKind::NotUtf8).with_rule(&rules::ATF_MANI_002);
                return Self::unreadable(problem.with_offset(error.valid_up_to() as u64));
            }
        };
        let json = without_mark(text);
        let mark = text.len().saturating_sub(json.len());
        let mut reader = Reader::new(json, mark as u64);
        let mut this = match reader.root() {
            Some(root) => Self::read(&mut reader, root, Place::Root).unwrap_or_default(),
            None => Self::default(),
        };
        if reader.is_out_of_memory {
            return Self::unreadable(Error::out_of_memory());
        }
        this.problems = reader.problems;
        this.problem_count = reader.problem_count;
        this.ignored_count = reader.ignored_count;
        if mark > 0 {
            let error = Error::new(ErrorKind::ByteOrderMark).with_offset(0);
            let error = error.with_rule(&rules::ATF_MANI_002);
            this.problems.insert(0, error);
            this.problem_count = this.problem_count.saturating_add(1);
        }
        this
    }

    /// The size limit in bytes for reading files, unless
    /// [`manifest_limit`](OpenOptions::manifest_limit) sets another limit: 64 MiB, enough for the
    /// names of about 500,000 functions.
    pub const LIMIT: u64 = MANIFEST_LIMIT;

    /// Reads a file and parses it like [`parse`](Self::parse).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ManifestTooLarge`] if it is larger than [`LIMIT`](Self::LIMIT); the errors of
    /// [`FileSource::open`](crate::FileSource::open); [`ErrorKind::Io`] if it cannot be read, or if
    /// there is not enough memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let options = OpenOptions::new();
        Self::read_file(&Input::open(path, options)?, options)
    }

    /// Reads the manifest of a session; returns `None` if the session has no manifest.
    pub(crate) fn in_session(path: &Path, options: OpenOptions) -> Option<Self> {
        // The file is read only once, so a mapping would not help.
        let options = OpenOptions {
            map: None,
            ..options
        };
        let read =
            Input::open_in_session(path, options).and_then(|file| Self::read_file(&file, options));
        match read {
            Ok(this) => Some(this),
            Err(error) if error.is_not_found() => None,
            Err(error) => Some(Self::unreadable(error)),
        }
    }

    fn read_file(file: &Input, options: OpenOptions) -> Result<Self> {
        let mut this = Self::parse(&whole(file, options.manifest_limit)?);
        let problems = std::mem::take(&mut this.problems).into_iter();
        this.problems = problems
            .map(|problem| problem.with_path(file.path()))
            .collect();
        Ok(this)
    }

    /// Returns whether the whole file is unreadable because it cannot be opened or is not a JSON
    /// object. [`problems`](Self::problems) contains the reason.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        let of_file = |problem: &Error| {
            problem.field().is_none() && *problem.kind() != ErrorKind::ByteOrderMark
        };
        self.problems.iter().any(of_file) && self.says_the_same(&Self::default())
    }

    /// Returns the version that the content requires.
    pub(crate) const fn version(&self) -> &'static str {
        if self.symbols.is_empty() {
            "2.0"
        } else {
            "2.1"
        }
    }

    fn unreadable(problem: Error) -> Self {
        Self {
            problems: vec![problem],
            problem_count: 1,
            ..Self::default()
        }
    }
}

pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Reads all bytes in steps, so that no allocation depends on the size that the file claims to
/// have.
fn whole(file: &Input, limit: u64) -> Result<Vec<u8>> {
    const STEP: usize = 64 << 10;
    let found = file.size();
    if found > limit {
        return Err(file.error(ErrorKind::ManifestTooLarge { found, limit }));
    }
    // Some later allocations cannot report a failure, so reserve enough memory for all of them first.
    // The black box keeps the compiler from removing the unused allocation.
    let most = usize::try_from(found.saturating_mul(MEMORY)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    if black_box(&mut bytes).try_reserve_exact(most).is_err() {
        return Err(Error::out_of_memory().with_path(file.path()));
    }
    bytes = Vec::new();
    loop {
        let start = bytes.len();
        let left = found.saturating_sub(start as u64);
        if left == 0 {
            return Ok(bytes);
        }
        let size = usize::try_from(left).unwrap_or(STEP).min(STEP);
        if bytes.try_reserve(size).is_err() {
            return Err(Error::out_of_memory().with_path(file.path()));
        }
        bytes.resize(start.saturating_add(size), 0);
        let (_, piece) = bytes.split_at_mut(start);
        file.read_exact(start as u64, piece)?;
    }
}

/// Reads the bytes of a session's manifest.
pub(crate) fn bytes_in_session(path: &Path) -> Result<Vec<u8>> {
    let file = Input::open_in_session(path, OpenOptions::new())?;
    whole(&file, MANIFEST_LIMIT)
}

/// Returns the members unknown to this crate, in order, each with its last value; `None` if the
/// file cannot be read or is not JSON. Omits values such as 1e999, which are well-formed, but which
/// would make strict parsers reject the new file.
pub(crate) fn unknown_keys(path: &Path) -> Option<Vec<(String, Option<Box<RawValue>>)>> {
    let bytes = bytes_in_session(path).ok()?;
    let text = str::from_utf8(&bytes).ok()?;
    let Members(members) = serde_json::from_str(without_mark(text)).ok()?;
    let mut last = HashMap::new();
    for (key, raw) in members
        .iter()
        .filter(|(key, _)| !Manifest::KEYS.contains(&&**key))
    {
        last.insert(key, raw);
    }
    let once = members.iter().filter_map(|(key, _)| last.remove_entry(key));
    let member = |(key, raw): (&Cow<'_, str>, &&RawValue)| {
        let is_valid = serde_json::from_str::<Strict>(raw.get()).is_ok();
        (key.to_string(), is_valid.then(|| (*raw).to_owned()))
    };
    Some(once.map(member).collect())
}

/// Reads the list of threads. A repeated id is a problem, and its entry is skipped.
pub(super) fn threads<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
) -> Option<Vec<ManifestThread>> {
    let mut seen = HashSet::new();
    reader.list(raw, place, |reader, raw, place| {
        let thread = ManifestThread::read(reader, raw, place)?;
        let id = thread.id;
        reader.has_memory(seen.try_reserve(1))?;
        if seen.insert(id) {
            return Some(thread);
        }
        let kind = ErrorKind::DuplicateThread { id };
        reader.problem(raw, place, kind, &rules::ATF_MANI_004);
        None
    })
}

pub(super) fn timing_anchor<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
) -> Option<TimingAnchor> {
    let TimingAnchorObject {
        host_time_ns,
        media_time,
        media_timescale,
    } = TimingAnchorObject::read(reader, raw, place)?;
    let media_time = MediaTime::new(media_time, media_timescale);
    Some(TimingAnchor::new(host_time_ns, media_time))
}
