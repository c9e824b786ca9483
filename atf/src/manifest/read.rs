//! Parses the text of a manifest.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Members, Object, Place, Reader};
use super::{Cut, Loss, Manifest, ManifestThread, Module, Symbol, TIMESCALE};
use crate::clock::{MediaTime, TimingAnchor};
use crate::error::{Error, ErrorKind, Result};
use crate::source::{Input, OpenOptions};

const BYTE_ORDER_MARK: &str = "\u{feff}";
/// The keys that this crate knows.
const KEYS: [&str; 12] = [
    "format_version",
    "threads",
    "time_start_ns",
    "time_end_ns",
    "clock_type",
    "modules",
    "symbols",
    "timing_anchors",
    "lost_events",
    "unwritten_events",
    "ended_by",
    "clock_error_ns",
];

impl Manifest {
    /// Reads as much as possible and lists the rest in [`problems`](Self::problems).
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let problem = Error::new(ErrorKind::NotUtf8);
                return Self::unreadable(problem.with_offset(error.valid_up_to() as u64));
            }
        };
        let json = without_mark(text);
        let mark = text.len().saturating_sub(json.len());
        let mut reader = Reader::new(json, mark as u64);
        let mut this = match reader.root() {
            Some(root) => manifest(&mut reader, root),
            None => Self::default(),
        };
        if reader.is_out_of_memory {
            return Self::unreadable(Error::out_of_memory());
        }
        this.problems = reader.problems;
        this.problem_count = reader.problem_count;
        if mark > 0 {
            this.problems
                .insert(0, Error::new(ErrorKind::ByteOrderMark).with_offset(0));
            this.problem_count = this.problem_count.saturating_add(1);
        }
        this
    }

    /// The largest file read, in bytes, unless [`manifest_limit`](OpenOptions::manifest_limit) sets
    /// another limit: 256 MiB, the names of about two million functions.
    pub const LIMIT: u64 = 256 << 20;

    /// Reads a file, as [`parse`](Self::parse) does.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ManifestTooLarge`] if it is larger than [`LIMIT`](Self::LIMIT); those of
    /// [`FileSource::open`](crate::FileSource::open); [`ErrorKind::Io`] if it cannot be read, or if
    /// there is not enough memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let options = OpenOptions::new();
        Self::of(&Input::open(path, options)?, options)
    }

    /// Reads the manifest of a session; `None` if the session has no manifest.
    pub(crate) fn in_session(path: &Path, options: OpenOptions) -> Option<Self> {
        // It is read once, so a mapping would not help.
        let options = OpenOptions {
            map: None,
            ..options
        };
        let read = Input::open_in_session(path, options).and_then(|file| Self::of(&file, options));
        match read {
            Ok(this) => Some(this),
            Err(error) if *error.kind() == ErrorKind::Io(io::ErrorKind::NotFound) => None,
            Err(error) => Some(Self::unreadable(error)),
        }
    }

    fn of(file: &Input, options: OpenOptions) -> Result<Self> {
        let mut this = Self::parse(&whole(file, options.manifest_limit)?);
        let problems = std::mem::take(&mut this.problems).into_iter();
        this.problems = problems
            .map(|problem| problem.with_path(file.path()))
            .collect();
        Ok(this)
    }

    /// Returns whether the whole file is unreadable because it cannot be opened or is not a JSON
    /// object. The [`problems`](Self::problems) say why.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        let of_file = |problem: &Error| {
            problem.field().is_none() && *problem.kind() != ErrorKind::ByteOrderMark
        };
        self.problems.iter().any(of_file)
            && self.format_version.is_none()
            && self.clock_type.is_none()
            && self.threads.is_empty()
            && self.modules.is_empty()
            && self.symbols.is_empty()
            && self.timing_anchors.is_empty()
            && self.lost_events.is_none()
            && self.unwritten_events.is_none()
            && self.ended_by.is_none()
            && self.clock_error_ns.is_none()
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

/// Reads all bytes in steps, instead of allocating whatever size the file claims.
fn whole(file: &Input, limit: u64) -> Result<Vec<u8>> {
    const STEP: usize = 64 << 10;
    let found = file.size();
    if found > limit {
        return Err(file.error(ErrorKind::ManifestTooLarge { found, limit }));
    }
    let mut bytes = Vec::new();
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
    let options = OpenOptions::new();
    whole(
        &Input::open_in_session(path, options)?,
        options.manifest_limit,
    )
}

/// Returns the members that this crate does not know, in order, with the last value of each; `None`
/// if the file cannot be read or is not JSON.
pub(crate) fn unknown_keys(path: &Path) -> Option<Vec<(String, Box<RawValue>)>> {
    let bytes = bytes_in_session(path).ok()?;
    let text = str::from_utf8(&bytes).ok()?;
    let Members(members) = serde_json::from_str(without_mark(text)).ok()?;
    let mut last = HashMap::new();
    for (key, raw) in members.iter().filter(|(key, _)| !KEYS.contains(&&**key)) {
        last.insert(key, raw);
    }
    let once = members.iter().filter_map(|(key, _)| last.remove_entry(key));
    let valid = |(key, raw): (&Cow<'_, str>, &&RawValue)| {
        // A value that is only well-formed, as 1e999, would make strict parsers refuse the new file.
        serde_json::from_str::<Value>(raw.get()).ok()?;
        Some((key.to_string(), (*raw).to_owned()))
    };
    once.map(valid).collect()
}

fn manifest<'a>(reader: &mut Reader<'a>, root: &'a RawValue) -> Manifest {
    let place = Place::Root;
    let Some(object) = reader.object(root, place, &KEYS) else {
        return Manifest::default();
    };
    reader.must_have(&object, place, "threads");
    let threads = reader.list(&object, place, "threads");
    let modules = reader.list(&object, place, "modules");
    let symbols = reader.list(&object, place, "symbols");
    let anchors = reader.list(&object, place, "timing_anchors");
    let clock_type: Option<u8> = reader.member(&object, place, "clock_type", "a u8");
    Manifest {
        format_version: reader.text(&object, place, "format_version"),
        threads: threads
            .map(|items| self::threads(reader, items))
            .unwrap_or_default(),
        time_start_ns: reader.member(&object, place, "time_start_ns", "a u64"),
        time_end_ns: reader.member(&object, place, "time_end_ns", "a u64"),
        clock_type: clock_type.map(Into::into),
        modules: list(reader, modules, "modules", module),
        symbols: list(reader, symbols, "symbols", symbol),
        timing_anchors: list(reader, anchors, "timing_anchors", anchor),
        lost_events: loss(reader, &object, place, "lost_events"),
        unwritten_events: reader.member(&object, place, "unwritten_events", "a u64"),
        ended_by: reader.text(&object, place, "ended_by"),
        clock_error_ns: reader.member(&object, place, "clock_error_ns", "a u64"),
        ..Manifest::default()
    }
}

/// Lists each thread once: a thread listed twice must not have its events doubled.
fn threads<'a>(reader: &mut Reader<'a>, items: Vec<&'a RawValue>) -> Vec<ManifestThread> {
    let mut seen = HashSet::new();
    let once = |reader: &mut Reader<'a>, raw, place: Place<'_>, position| {
        let thread = thread(reader, raw, place, position)?;
        let id = thread.id;
        reader.has_memory(seen.try_reserve(1))?;
        if seen.insert(id) {
            return Some(thread);
        }
        reader.problem(raw, place, ErrorKind::DuplicateThread { id });
        None
    };
    list(reader, Some(items), "threads", once)
}

fn list<'a, T>(
    reader: &mut Reader<'a>,
    items: Option<Vec<&'a RawValue>>,
    key: &str,
    mut read: impl FnMut(&mut Reader<'a>, &'a RawValue, Place<'_>, usize) -> Option<T>,
) -> Vec<T> {
    let list = Place::Key(&Place::Root, key);
    let mut values = Vec::new();
    for (position, raw) in items.unwrap_or_default().into_iter().enumerate() {
        if let Some(value) = read(reader, raw, Place::Item(&list, position), position)
            && reader.has_memory(values.try_reserve(1)).is_some()
        {
            values.push(value);
        }
        if reader.is_out_of_memory {
            break;
        }
    }
    values
}

fn thread<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    position: usize,
) -> Option<ManifestThread> {
    let keys = [
        "id",
        "has_detail",
        "name",
        "lost_events",
        "lost_details",
        "cut",
    ];
    let object = reader.object(raw, place, &keys)?;
    let thread = ManifestThread {
        position,
        has_detail: reader.member(&object, place, "has_detail", "true or false"),
        name: name(reader, &object, place),
        lost_events: loss(reader, &object, place, "lost_events"),
        lost_details: loss(reader, &object, place, "lost_details"),
        cut: cut(reader, &object, place),
        ..ManifestThread::new(0)
    };
    let id = reader.required(&object, place, "id", "a u32")?;
    Some(ManifestThread { id, ..thread })
}

/// Reads a name, which must not be empty.
fn name<'a>(reader: &mut Reader<'a>, object: &Object<'a>, place: Place<'_>) -> Option<String> {
    let name = reader.text(object, place, "name")?;
    if name.is_empty() {
        reader.problem_of(object, place, "name", ErrorKind::EmptyName);
        return None;
    }
    Some(name)
}

fn loss<'a>(
    reader: &mut Reader<'a>,
    owner: &Object<'a>,
    place: Place<'_>,
    key: &str,
) -> Option<Loss> {
    let raw = reader.member(owner, place, key, "an object")?;
    let place = Place::Key(&place, key);
    let object = reader.object(raw, place, &["count", "first_ns", "last_ns"])?;
    let [count, first_ns, last_ns] =
        ["count", "first_ns", "last_ns"].map(|key| reader.required(&object, place, key, "a u64"));
    Some(Loss::new(count?, first_ns?, last_ns?))
}

fn cut<'a>(reader: &mut Reader<'a>, thread: &Object<'a>, place: Place<'_>) -> Option<Cut> {
    const KEYS: [&str; 4] = ["from_ns", "to_ns", "calls", "returns"];
    let raw = reader.member(thread, place, "cut", "an object")?;
    let place = Place::Key(&place, "cut");
    let object = reader.object(raw, place, &KEYS)?;
    let [from_ns, to_ns, calls, returns] =
        KEYS.map(|key| reader.required(&object, place, key, "a u64"));
    Some(Cut::new(from_ns?, to_ns?, calls?, returns?))
}

fn module<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    _position: usize,
) -> Option<Module> {
    let keys = [
        "module_id",
        "path",
        "base_address",
        "size",
        "uuid",
        "function_offsets",
    ];
    let object = reader.object(raw, place, &keys)?;
    let module_id = reader.required(&object, place, "module_id", "a u32");
    let module = Module {
        module_id: 0,
        path: reader.text(&object, place, "path"),
        base_address: reader.hex(&object, place, "base_address"),
        size: reader.member(&object, place, "size", "a u64"),
        uuid: reader.text(&object, place, "uuid"),
        function_offsets: reader.member(&object, place, "function_offsets", "true or false"),
    };
    Some(Module {
        module_id: module_id?,
        ..module
    })
}

pub(super) fn symbol<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    position: usize,
) -> Option<Symbol> {
    let keys = ["function_id", "module_id", "symbol_index", "name"];
    let object = reader.object(raw, place, &keys)?;
    let name = name(reader, &object, place);
    let module_id = reader.member(&object, place, "module_id", "a u32");
    let symbol_index = reader.member(&object, place, "symbol_index", "a u32");
    let function_id = reader.hex(&object, place, "function_id");
    if !object.has("function_id") {
        reader.problem(
            raw,
            Place::Key(&place, "function_id"),
            ErrorKind::MissingKey,
        );
    }
    Some(Symbol {
        position,
        function_id: function_id?,
        module_id,
        symbol_index,
        name,
    })
}

fn anchor<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    _position: usize,
) -> Option<TimingAnchor> {
    let keys = ["host_time_ns", "media_time", "media_timescale"];
    let object = reader.object(raw, place, &keys)?;
    let host_time_ns = reader.required(&object, place, "host_time_ns", "a u64");
    let value = reader.required(&object, place, "media_time", "an i64");
    let timescale = reader.positive(&object, place, "media_timescale", TIMESCALE);
    let media_time = MediaTime::new(value?, timescale?);
    Some(TimingAnchor::new(host_time_ns?, media_time))
}
