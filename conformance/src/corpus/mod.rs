//! The golden corpus: small traces, each with its expected result.
//!
//! A [`Recipe`] creates a case from a [valid session](Trace) with a single edit. Expected results
//! never come from a reader. They are derived from the description of what was written, and field
//! values are decoded with tables written by hand from the format's documents.

#![allow(
    clippy::missing_panics_doc,
    reason = "an edit that does not fit its session is a mistake in a table that a test must catch"
)]

pub mod document;
mod dump;
pub mod edit;
pub mod edition;
pub mod export;
mod flags;
mod json;
pub mod pairs;
mod recipe;
mod recipes;
pub mod shape;
mod table;
pub mod trace;
mod vectors;
pub(crate) mod verdicts;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, thread};

use atf::write::{Disk, Storage};
use serde::Serialize;

pub(crate) use document::{CHECKSUMS, derive_session, derive_thread, number};
pub use dump::{Content, Part};
pub use flags::{EFFECTS, FLAGS, Flag, effect};
pub use recipe::{Found, Recipe};
pub use recipes::{read as read_recipes, recipes};
pub use shape::Region;
pub use trace::Trace;
pub use verdicts::{Because, Effect, Reason};

use crate::named::named;
use crate::{Place, Verdict};

/// Returns all cases, and the large ones whose names pass `is_wanted`.
pub fn all(is_wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let mut cases = cases();
    for recipe in recipes::large() {
        let wires = recipe.wires.iter();
        let wanted = wires.filter(|wire| is_wanted(&recipe.name_in(**wire)));
        cases.extend(wanted.map(|wire| recipe.case(*wire)));
    }
    cases
}

/// Returns the names of the large cases, which take long to build.
#[must_use]
pub fn large_names() -> Vec<String> {
    let large = recipes::large().into_iter();
    let names = large.flat_map(|recipe| {
        let wires = recipe.wires.clone().into_iter();
        wires.map(move |wire| recipe.name_in(wire))
    });
    names.collect()
}

/// Returns all cases that fit into the tables, starting with wire version 1.
#[must_use]
pub fn cases() -> Vec<Case> {
    let recipes = recipes();
    let edited: Vec<_> = recipes.iter().filter(|recipe| !recipe.is_clean()).collect();
    let of_wire = |wire| {
        let edited = edited.iter();
        let mut cases = recipe::clean(recipes, wire);
        cases.extend(vectors::vectors(wire));
        for recipe in edited.filter(|recipe| recipe.wires.contains(&wire)) {
            add(&mut cases, recipe.case(wire));
        }
        cases
    };
    thread::scope(|scope| {
        let wires = atf::Wire::VERSIONS.iter();
        let wires = wires.map(|wire| scope.spawn(move || of_wire(*wire)));
        let wires: Vec<_> = wires.collect();
        let cases = wires.into_iter().flat_map(|cases| cases.join().unwrap());
        cases.collect()
    })
}

/// Adds a case, or merges it into an existing case with the same trace.
fn add(cases: &mut Vec<Case>, mut case: Case) {
    let Some(same) = cases.iter_mut().find(|other| other.is_same_trace(&case)) else {
        return cases.push(case);
    };
    // If only one of the two cases breaks a rule, keep the name of that case.
    if same.place.is_none() && case.place.is_some() {
        std::mem::swap(same, &mut case);
    }
    for (own, others) in [
        (&mut same.rules, case.rules),
        (&mut same.flags, case.flags),
        (&mut same.sources, case.sources),
    ] {
        let news = others.into_iter().filter(|other| !own.contains(other));
        let news: Vec<_> = news.collect();
        own.extend(news);
    }
    same.sources.sort_unstable();
    same.note = format!("{} {}", same.note, case.note);
}

/// The greatest size of a case's files that the tables contain, in bytes.
const MOST_SHOWN: usize = 90_000;

/// Returns the case with this name.
#[must_use]
pub fn find(name: &str) -> Option<Case> {
    let all = all(|it| it == name);
    all.into_iter().find(|case| case.name == name)
}

/// A small trace with its expected result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    /// The case's permanent name, such as `v1/iftr-004-one-bit-off`.
    pub name: String,
    /// The wire version of the case's files.
    pub wire: u8,
    /// The rules that the case tests.
    pub rules: Vec<&'static str>,
    /// The kind of fault.
    pub class: Class,
    /// The file to read, relative to the trace's folder, or empty for the folder itself.
    pub path: String,
    /// The kind of thing at `path`: an index file, a detail file or a session.
    pub subject: Subject,
    /// The known implementation mistakes that the case reveals. [`FLAGS`] explains them.
    pub flags: Vec<&'static str>,
    /// A description of the fault and of its effect on a reader that does not check for it.
    pub note: String,
    /// The sources of the rules: S0 to S4, or FIELD.
    pub sources: Vec<&'static str>,
    /// The files, by path within the trace's folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Folders without files.
    pub folders: Vec<String>,
    /// The targets of symlinks, by path.
    pub symlinks: BTreeMap<String, String>,
    /// The correct verdicts according to the sources, mildest first.
    pub verdicts: Vec<Verdict>,
    /// The wrong verdicts, each with the reasons: sentences of sources, or harm to the data.
    pub because: Because,
    /// The correct verdicts on each file of a session.
    pub file_verdicts: Vec<FileVerdicts>,
    /// The threads of a session that a reader may skip.
    pub optional: Vec<u32>,
    /// The expected document with the mildest verdict. Readers may add header, footer and derived
    /// values that the document omits.
    pub expected: serde_json::Value,
    /// Other correct documents.
    pub alternatives: Vec<serde_json::Value>,
    /// The broken rules that a checker must find, with their files, for example
    /// `("thread_7/index.atf", "ATF-IFTR-004")`.
    pub broken: Vec<(String, &'static str)>,
    /// The place in the file where the first of these rules is broken.
    pub place: Option<Place>,
    /// The parts of the trace files, by path. Other files have none.
    pub regions: BTreeMap<String, Vec<Region>>,
}

impl Case {
    /// Returns whether both cases have the same trace.
    fn is_same_trace(&self, other: &Self) -> bool {
        (&self.path, &self.files, &self.folders, &self.symlinks)
            == (&other.path, &other.files, &other.folders, &other.symlinks)
    }

    /// Returns whether the files are too large for a table, a dump or a page.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.files.values().map(Vec::len).sum::<usize>() > MOST_SHOWN
    }

    fn regions(&self, path: &str) -> &[Region] {
        self.regions.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the case's files outside the session, which no reader may open.
    pub fn decoys(&self) -> impl Iterator<Item = &str> {
        let is_session = self.subject == Subject::Session;
        let files = self.files.keys().map(String::as_str);
        files.filter(move |file| is_session && !Path::new(file).starts_with(&self.path))
    }

    /// Writes the case's files into a folder, where [`path`](Self::path) is the file or session to
    /// read.
    ///
    /// # Errors
    ///
    /// Returns the file system's error, with the path.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        write(folder, &self.files, &self.folders, &self.symlinks)
    }
}

/// An error of the file system, with the path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
struct At {
    path: PathBuf,
    source: io::Error,
}

/// Adds the path to an error of the file system.
pub fn at(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |source| {
        let path = path.to_owned();
        io::Error::new(source.kind(), At { path, source })
    }
}

/// Writes files and the folders that contain them, by path within a folder. Replaces existing files,
/// and symlinks but not their targets.
///
/// # Errors
///
/// Returns the file system's error, with the path.
pub fn write_files(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    write(folder, files, &[], &BTreeMap::new())
}

/// Writes files, empty folders and symlinks.
fn write(
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
    folders: &[String],
    symlinks: &BTreeMap<String, String>,
) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    let below = Below::open(folder).map_err(at(folder))?;
    for path in folders {
        let made = below.create_folders(Path::new(path));
        made.map_err(at(&folder.join(path)))?;
    }
    for (path, bytes) in files {
        let written = below.write(path, bytes);
        written.map_err(at(&folder.join(path)))?;
    }
    for (path, target) in symlinks {
        let new = folder.join(path);
        let made = below.create_parents(Path::new(path));
        made.and_then(|()| symlink(target, &new))
            .map_err(at(&new))?;
    }
    Ok(())
}

/// Writes files below a folder. Follows no symlinks there.
struct Below<'a> {
    folder: &'a Path,
    storage: Arc<dyn Storage>,
}

impl<'a> Below<'a> {
    fn open(folder: &'a Path) -> io::Result<Self> {
        let held = Disk.held(folder)?;
        let storage = held.ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { folder, storage })
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.create_parents(Path::new(path))?;
        let path = self.folder.join(path);
        if self.storage.exists(&path)? {
            self.storage.remove(&path)?;
        }
        self.storage.create_file(&path)?.write_all(bytes)
    }

    fn create_parents(&self, path: &Path) -> io::Result<()> {
        path.parent()
            .map_or(Ok(()), |parent| self.create_folders(parent))
    }

    fn create_folders(&self, path: &Path) -> io::Result<()> {
        let mut folder = self.folder.to_owned();
        for name in path {
            folder.push(name);
            self.storage.create_folder(&folder)?;
        }
        Ok(())
    }
}

fn symlink(target: &str, path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, path);
    #[cfg(not(unix))]
    return Err(io::Error::other(format!(
        "cannot create a symlink from {} to {target} on this system",
        path.display()
    )));
}

/// The correct verdicts on a file of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileVerdicts {
    /// The thread's id.
    pub thread: u32,
    /// `index` or `detail`.
    pub file: &'static str,
    /// The file's path in the case.
    pub path: String,
    /// The correct verdicts, mildest first.
    pub verdicts: Vec<Verdict>,
    /// The wrong verdicts, each with the reasons.
    #[serde(skip)]
    pub because: Because,
}

named! {
    /// The kind of fault in the files of a case.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Class {
        /// No MUST is broken.
        #[default]
        Valid = "valid",
        /// A field has a forbidden value.
        Malformed = "malformed",
        /// Bytes at the end are missing.
        Truncated = "truncated",
        /// The file is not a trace at all.
        Invalid = "invalid",
    }
}

named! {
    /// The kind of file or folder that a case asks implementations to read.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Subject {
        /// An `index.atf`.
        #[default]
        Index = "index",
        /// A `detail.atf`.
        Detail = "detail",
        /// A session's folder.
        Session = "session",
    }
}
