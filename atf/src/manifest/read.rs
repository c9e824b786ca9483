//! From the text of a manifest to what it says.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::value::RawValue;

use super::json::{Place, Reader};
use super::{Manifest, ManifestThread, Module, Symbol};
use crate::error::{Error, ErrorKind};
use crate::source::{Input, OpenOptions};

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Manifest {
    /// Reads as much as can be read; what cannot is in [`problems`](Self::problems).
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let problem = Error::new(ErrorKind::NotUtf8);
                return Self::unreadable(problem.with_offset(error.valid_up_to() as u64));
            }
        };
        let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mark = text.len().saturating_sub(json.len());
        let mut reader = Reader::new(json, mark as u64);
        let mut this = match reader.root() {
            Some(root) => manifest(&mut reader, root),
            None => Self::default(),
        };
        this.problems = reader.problems;
        this.problem_count = reader.problem_count;
        if mark > 0 {
            this.problems
                .insert(0, Error::new(ErrorKind::ByteOrderMark).with_offset(0));
            this.problem_count = this.problem_count.saturating_add(1);
        }
        this
    }

    /// Reads the file at `path`; `None` where there is none.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let input = match Input::open_in_session(path, OpenOptions::new()) {
            Ok(input) => input,
            Err(error) if *error.kind() == ErrorKind::Io(io::ErrorKind::NotFound) => return None,
            Err(error) => return Some(Self::unreadable(error)),
        };
        let mut this = match whole(&input) {
            Ok(bytes) => Self::parse(&bytes),
            Err(error) => Self::unreadable(error),
        };
        let problems = std::mem::take(&mut this.problems).into_iter();
        this.problems = problems
            .map(|problem| problem.with_path(Some(path)))
            .collect();
        Some(this)
    }

    /// Whether nothing of the file could be read, since it cannot be opened or is no JSON object. The
    /// [`problems`](Self::problems) say why.
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
    }

    fn unreadable(problem: Error) -> Self {
        Self {
            problems: vec![problem],
            problem_count: 1,
            ..Self::default()
        }
    }
}

/// All bytes, read in steps: the size that a file claims is no reason to allocate as much.
fn whole(input: &Input) -> Result<Vec<u8>, Error> {
    const STEP: usize = 64 << 10;
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        let left = input.size().saturating_sub(start as u64);
        if left == 0 {
            return Ok(bytes);
        }
        bytes.resize(
            start.saturating_add(usize::try_from(left).unwrap_or(STEP).min(STEP)),
            0,
        );
        let (_, piece) = bytes.split_at_mut(start);
        input.read_exact(start as u64, piece)?;
    }
}

fn manifest<'a>(reader: &mut Reader<'a>, root: &'a RawValue) -> Manifest {
    const KEYS: [&str; 7] = [
        "format_version",
        "threads",
        "time_start_ns",
        "time_end_ns",
        "clock_type",
        "modules",
        "symbols",
    ];
    let place = Place::Root;
    let Some(object) = reader.object(root, place, &KEYS) else {
        return Manifest::default();
    };
    let threads = reader.required(&object, place, "threads", "a list");
    let modules = reader.member(&object, place, "modules", "a list");
    let symbols = reader.member(&object, place, "symbols", "a list");
    let clock_type: Option<u8> = reader.member(&object, place, "clock_type", "a u8");
    Manifest {
        format_version: reader.member(&object, place, "format_version", "a text"),
        threads: threads
            .map(|items| self::threads(reader, items))
            .unwrap_or_default(),
        time_start_ns: reader.member(&object, place, "time_start_ns", "a u64"),
        time_end_ns: reader.member(&object, place, "time_end_ns", "a u64"),
        clock_type: clock_type.map(Into::into),
        modules: list(reader, modules, "modules", module),
        symbols: list(reader, symbols, "symbols", symbol),
        ..Manifest::default()
    }
}

/// Each thread once: one that is listed twice must not double its events.
fn threads<'a>(reader: &mut Reader<'a>, items: Vec<&'a RawValue>) -> Vec<ManifestThread> {
    let mut seen = BTreeSet::new();
    let once = |reader: &mut Reader<'a>, raw, place: Place<'_>, position| {
        let thread = thread(reader, raw, place, position)?;
        let id = thread.id;
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
    let items = items.unwrap_or_default().into_iter().enumerate();
    items
        .filter_map(|(position, raw)| read(reader, raw, Place::Item(&list, position), position))
        .collect()
}

fn thread<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    position: usize,
) -> Option<ManifestThread> {
    let object = reader.object(raw, place, &["id", "has_detail"])?;
    let has_detail = reader.member(&object, place, "has_detail", "true or false");
    let id = reader.required(&object, place, "id", "a u32")?;
    Some(ManifestThread {
        position,
        id,
        has_detail,
    })
}

fn module<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    _position: usize,
) -> Option<Module> {
    let keys = ["module_id", "path", "base_address", "size", "uuid"];
    let object = reader.object(raw, place, &keys)?;
    let module_id = reader.required(&object, place, "module_id", "a u32");
    let module = Module {
        module_id: 0,
        path: reader.member(&object, place, "path", "a text"),
        base_address: reader.hex(&object, place, "base_address"),
        size: reader.member(&object, place, "size", "a u64"),
        uuid: reader.member(&object, place, "uuid", "a text"),
    };
    Some(Module {
        module_id: module_id?,
        ..module
    })
}

fn symbol<'a>(
    reader: &mut Reader<'a>,
    raw: &'a RawValue,
    place: Place<'_>,
    position: usize,
) -> Option<Symbol> {
    let keys = ["function_id", "module_id", "symbol_index", "name"];
    let object = reader.object(raw, place, &keys)?;
    let name: Option<Cow<'a, str>> = reader.member(&object, place, "name", "a text");
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
    if name.as_ref().is_some_and(|name| name.is_empty()) {
        reader.problem_of(&object, place, "name", ErrorKind::EmptyName);
    }
    Some(Symbol {
        position,
        function_id: function_id?,
        module_id,
        symbol_index,
        name: name.filter(|name| !name.is_empty()).map(Cow::into_owned),
    })
}
