//! Tests which parts of a trace a rewrite keeps, sets aside and drops.

mod convert;
#[cfg(unix)]
mod copies;
mod cut;
mod large;
mod losses;
mod manifest;
mod places;
mod ring;
mod salvage;
mod scrub;
mod sessions;
#[cfg(unix)]
mod special;
mod text;
mod thread_ids;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use atf::Wire;
use atf::manifest::Manifest;
use atf::rewrite::{ConvertOptions, RecoverOptions, Report, ScrubOptions, convert, recover, scrub};
use atf_samples::files::{IndexFile, crc32c};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder, and paths in it.
struct Places {
    folder: TempDir,
}

impl Places {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    /// Creates a session at `in` whose thread 7 has this index and no details.
    fn with_index(index: impl AsRef<[u8]>) -> Self {
        let places = Self::new();
        places.put("in/thread_7/index.atf", index);
        places
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and creates its parent folders.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes both files of a thread of the session at `in`.
    fn put_thread(&self, folder: &str, index: impl AsRef<[u8]>, detail: impl AsRef<[u8]>) {
        self.put(&format!("in/{folder}/index.atf"), index);
        self.put(&format!("in/{folder}/detail.atf"), detail);
    }

    /// Recovers the trace at `in` to `out`.
    fn recover(&self) -> Report {
        self.recover_by(&RecoverOptions::default())
    }

    fn recover_by(&self, options: &RecoverOptions<'_>) -> Report {
        recover(self.path("in"), self.path("out"), options).unwrap()
    }

    /// Converts one trace to another.
    fn convert(&self, from: &str, to: &str, wire: Wire) -> Report {
        let options = ConvertOptions::default();
        convert(self.path(from), self.path(to), wire, &options).unwrap()
    }

    /// Scrubs the trace at `in`.
    fn scrub(&self, out: &str) -> Report {
        scrub(self.path("in"), self.path(out), &ScrubOptions::default()).unwrap()
    }

    /// Recovers the trace at `in` to `out`, and then the result, which must stay the same and lose
    /// nothing.
    fn recover_twice(&self, options: &RecoverOptions<'_>) -> Report {
        let report = self.recover_by(options);
        let second = recover(self.path("out"), self.path("again"), options).unwrap();
        assert!(!second.changed() && second.losses() == 0, "{second}");
        assert_eq!(files(&self.path("out")), files(&self.path("again")));
        report
    }

    /// Returns the manifest of a session.
    fn manifest(&self, name: &str) -> Manifest {
        Manifest::open(self.path(name).join("manifest.json")).unwrap()
    }

    /// Returns the sorted names of all entries.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

/// Returns the index without links, as of a thread without details.
fn unlinked(mut index: IndexFile) -> IndexFile {
    let events = index.events.iter_mut();
    events.for_each(|event| event.detail_seq = None);
    index.flags = 0;
    index.checksum = crc32c(&index.section());
    index
}

/// Returns a finalized index of nine events whose flags state that there is no `detail.atf`.
fn without_details(version: u8) -> Vec<u8> {
    let file = IndexFile {
        flags: 0,
        ..IndexFile::finalized(version, 9)
    };
    file.bytes()
}

/// Returns the report on the first session, as JSON.
fn session_of(report: &Report) -> Value {
    let session = serde_json::to_value(report).unwrap()["sessions"][0].take();
    assert!(session.is_object(), "no session: {report}");
    session
}

/// Returns the report on the first thread, as JSON.
fn thread_of(report: &Report) -> Value {
    let thread = session_of(report)["threads"][0].take();
    assert!(thread.is_object(), "no thread: {report}");
    thread
}

/// Returns a thread's or a manifest's notes of one kind.
fn notes<'a>(part: &'a Value, what: &str) -> Vec<&'a Value> {
    let notes = part["notes"].as_array().into_iter().flatten();
    notes.filter(|note| note["what"] == what).collect()
}

/// Returns how often a thread or a manifest has a kind of note.
fn count(part: &Value, what: &str) -> u64 {
    let notes = notes(part, what).into_iter();
    notes.map(|note| note["count"].as_u64().unwrap()).sum()
}

/// Returns the path and the reason of each entry of a report or a session that was not copied.
fn left_behind(part: impl serde_core::Serialize) -> Vec<[String; 2]> {
    let part = serde_json::to_value(part).unwrap();
    let left = part["left_behind"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    left.map(|it| ["path", "why"].map(|key| text(&it[key])))
        .collect()
}

/// Returns the path of each entry that was not copied.
fn left_paths(part: impl serde_core::Serialize) -> Vec<String> {
    left_behind(part)
        .into_iter()
        .map(|[path, _]| path)
        .collect()
}

/// Returns all files below a path, keyed by their relative paths.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    atf_samples::tree(path).unwrap()
}
