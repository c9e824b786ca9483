//! The environment variables.
//!
//! | variable | meaning |
//! |---|---|
//! | `ATF_RECORD=off` | record nothing |
//! | `ATF_OUT=FOLDER` | where sessions are created: `FOLDER/session_<date>_<time>/pid_<pid>`; without it, the working directory |
//! | `ATF_SESSION=FOLDER` | the folder that gets `pid_<pid>` instead, for one run of several processes |
//! | `ATF_RING=EVENTS` | record through rings of so many events, which a thread drains: less work for the program, but SIGKILL loses what is in them |
//! | `ATF_OVERFLOW=block` or `drop` | whether a full ring makes the program wait (as without this variable) or drops events |
//! | `ATF_DEPTH=N` | record no deeper calls |
//! | `ATF_MODULES=GLOB,!GLOB,…` | record only functions of these modules, or with `!` none of these; the last that matches the path or the file name decides |
//! | `ATF_FUNCTIONS=GLOB,!GLOB,…` | the same for functions, by name as in the source or as in the symbol table; see [`Filter`] for commas in names |
//! | `ATF_MIN_SIZE=BYTES` | leave out functions whose code is smaller |
//! | `ATF_DEBUG_DIRS=DIR:DIR:…` | where files with the symbols of stripped modules are searched, before `/usr/lib/debug` |
//!
//! Functions are chosen by the symbol table of their module, `static` ones too, when the first of them
//! is called. One whose name is not known is recorded: what is left out by mistake is lost, and what is
//! recorded by mistake is not. Standard error tells of each module without names.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use atf::record::{Capacity, Overflow, RecordOptions};
use atf::write::WriteOptions;
use atf_symbolize::{Filter, Function, Search};

use crate::functions::Marks;

/// The most threads that record at the same time: without rings, each has 256 KiB of buffers.
const MOST_THREADS: usize = 4096;

/// The settings.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) place: Place,
    pub(crate) write: WriteOptions,
    pub(crate) record: RecordOptions,
    /// The deepest calls that are recorded.
    pub(crate) depth: u32,
    modules: Filter,
    functions: Filter,
    /// The size of the smallest functions that are recorded, in bytes.
    min_size: u64,
    /// Where files with symbols are.
    pub(crate) symbols: Search,
}

/// Where the session goes.
#[derive(Debug)]
pub(crate) enum Place {
    /// Into a new session's folder in this one.
    Below(PathBuf),
    /// Into this session's folder.
    In(PathBuf),
}

impl Settings {
    /// Reads the variables. Returns `None` if recording is switched off.
    pub(crate) fn read() -> Result<Option<Self>, String> {
        if text("ATF_RECORD")?.is_some_and(|value| value == "off") {
            return Ok(None);
        }
        let ring: Option<usize> = number("ATF_RING")?;
        let capacity = Capacity::default().payload_size(0);
        let overflow = match text("ATF_OVERFLOW")?.as_deref() {
            None | Some("block") => Overflow::Block,
            Some("drop") => Overflow::DropNewest,
            Some(found) => return Err(wrong("ATF_OVERFLOW", "block or drop", found)),
        };
        Ok(Some(Self {
            place: match folder("ATF_SESSION") {
                Some(session) => Place::In(session),
                None => Place::Below(folder("ATF_OUT").unwrap_or_else(|| PathBuf::from("."))),
            },
            write: WriteOptions::default().survive_kill(ring.is_none()),
            record: RecordOptions::default()
                .max_threads(MOST_THREADS)
                .capacity(capacity.events(ring.unwrap_or(capacity.events)))
                .overflow(overflow),
            depth: number("ATF_DEPTH")?.unwrap_or(u32::MAX),
            modules: filter("ATF_MODULES")?,
            functions: filter("ATF_FUNCTIONS")?,
            min_size: number("ATF_MIN_SIZE")?.unwrap_or(0),
            symbols: Search::new(
                env::var_os("ATF_DEBUG_DIRS")
                    .iter()
                    .flat_map(env::split_paths),
            ),
        }))
    }

    /// Returns whether a module's functions are recorded.
    pub(crate) fn records(&self, module: &Path) -> bool {
        let name = module.file_name().map_or(module, Path::new);
        self.modules.selects(&[module, name])
    }

    /// Returns whether functions differ in their marks.
    pub(crate) fn marks_functions(&self) -> bool {
        !self.functions.is_empty() || self.min_size > 0
    }

    /// Returns the marks of a function with a name.
    pub(crate) fn marks(&self, function: &Function<'_>) -> Marks {
        let raw = &*function.raw_name;
        let is_chosen = self.functions.is_empty()
            || match atf_symbolize::demangle(raw) {
                Some(name) => self.functions.selects(&[raw, &*name]),
                None => self.functions.selects(&[raw]),
            };
        if is_chosen && function.size >= self.min_size {
            Marks::NONE
        } else {
            Marks::LEFT_OUT
        }
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
}

fn text(variable: &str) -> Result<Option<String>, String> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let value = value.map(OsString::into_string).transpose();
    value.map_err(|found| wrong(variable, "text in UTF-8", &found.to_string_lossy()))
}

fn number<T: std::str::FromStr>(variable: &str) -> Result<Option<T>, String> {
    let parse = |value: String| {
        value
            .parse()
            .map_err(|_| wrong(variable, "a number", &value))
    };
    text(variable)?.map(parse).transpose()
}

fn filter(variable: &str) -> Result<Filter, String> {
    let globs = text(variable)?.unwrap_or_default();
    Filter::parse(&globs).map_err(|error| format!("{variable}: {error}"))
}

fn wrong(variable: &str, expected: &str, found: &str) -> String {
    format!("{variable}: expected {expected}, found \"{found}\"")
}
