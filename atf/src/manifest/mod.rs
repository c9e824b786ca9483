//! `manifest.json`: what a session says of itself.
//!
//! No source gives it a schema; this is what tracers in the field write. It is written before the
//! thread files are finalized, so it may be wrong or missing after a crash, and nothing in it is
//! needed to read the events.

mod json;
mod read;
mod write;

pub(crate) use read::unknown_keys;
pub(crate) use write::json;

use crate::error::Error;
use crate::wire::Clock;

/// What could be read of a `manifest.json`, and what is wrong with it.
///
/// ```
/// use atf::manifest::Manifest;
///
/// let text = r#"{"threads": [{"id": 0, "has_detail": true}, {"id": "../1"}]}"#;
/// let manifest = Manifest::parse(text.as_bytes());
/// assert_eq!(manifest.threads[0].id, 0);
/// assert_eq!(manifest.threads.len(), 1);
///
/// let problem = &manifest.problems[0];
/// assert_eq!(problem.field(), Some("threads[1].id"));
/// assert_eq!(problem.offset(), Some(51));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// `"2.0"` without symbols, `"2.1"` with them.
    pub format_version: Option<String>,
    /// The threads, each id once, in the manifest's order.
    pub threads: Vec<ManifestThread>,
    /// Least timestamp of all threads in nanoseconds; tracers in the field write 0.
    pub time_start_ns: Option<u64>,
    /// Greatest timestamp of all threads in nanoseconds; tracers in the field write 0.
    pub time_end_ns: Option<u64>,
    /// The clock of the timestamps.
    pub clock_type: Option<Clock>,
    /// Executables and libraries.
    pub modules: Vec<Module>,
    /// Names of functions.
    pub symbols: Vec<Symbol>,
    /// What is wrong, each with the path of its value (`threads[2].id`) and its byte offset in the
    /// file; the first 100.
    pub problems: Vec<Error>,
    /// How many things are wrong in all.
    pub problem_count: u64,
}

/// A thread that the manifest lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestThread {
    /// Its position in the manifest's list, counted from 0; entries that cannot be read count too.
    pub position: usize,
    /// Its thread id, which names its folder.
    pub id: u32,
    /// Whether it has a `detail.atf`; tracers in the field always say so.
    pub has_detail: Option<bool>,
}

/// An executable or a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// The upper half of its functions' `function_id`.
    pub module_id: u32,
    /// Where it was loaded from.
    pub path: Option<String>,
    /// Where it was loaded to.
    pub base_address: Option<u64>,
    /// Its size in memory in bytes.
    pub size: Option<u64>,
    /// Its build id.
    pub uuid: Option<String>,
}

/// The name of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its position in the manifest's list, counted from 0; entries that cannot be read count too.
    pub position: usize,
    /// The function, as in the events.
    pub function_id: u64,
    /// The upper half of `function_id`.
    pub module_id: Option<u32>,
    /// The lower half of `function_id`.
    pub symbol_index: Option<u32>,
    /// Its name, of at least one character, which may be any. An empty one is read as `None`, and
    /// not written.
    pub name: Option<String>,
}
