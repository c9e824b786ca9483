//! Finds the files that an earlier recovery left next to the files of a session or a thread.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use serde::Serialize;
use serde_json::Value;

use crate::json::U64;

/// The maximum size of a report in bytes. Real reports are far smaller, because they list only the
/// first few places of each kind of loss.
const LARGEST_REPORT: u64 = 16 << 20;

/// An earlier recovery, as its `recovery.json` describes it.
#[derive(Debug, Serialize)]
pub(crate) struct Recovered {
    /// The reports, one for each recovery that changed something.
    pub(crate) reports: Vec<String>,
    /// The total number of losses and changes in the reports; `None` if a report cannot be read.
    pub(crate) losses: Option<U64>,
    /// Whether the folder `unreadable` contains files.
    pub(crate) has_unreadable: bool,
}

/// A file of events that a recovery could not place.
#[derive(Debug, Serialize)]
pub(crate) struct SetAside {
    pub(crate) file: String,
    /// The kind of events: `event` or `detail`.
    pub(crate) what: &'static str,
    /// The number of events; `None` if the file is unreadable.
    pub(crate) event_count: Option<U64>,
}

impl Recovered {
    /// Finds the recovery reports in the folder of a session, or of a thread without a session.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let reports = reports(folder);
        let mut losses = reports.iter().map(|name| losses(&folder.join(name)));
        let losses = losses.try_fold(0, |all: u64, one| Some(all.saturating_add(one?)));
        (!reports.is_empty()).then(|| Self {
            losses: losses.map(U64),
            has_unreadable: folder.join("unreadable").is_dir(),
            reports,
        })
    }
}

impl SetAside {
    /// Finds the files of set-aside events in a thread's folder.
    pub(crate) fn find_all(folder: &Path) -> Vec<Self> {
        let salvaged = names(folder, "salvaged", ".atf");
        let salvaged = salvaged.into_iter().map(|file| {
            let reader = IndexReader::open(folder.join(&file));
            let count = reader.map(|reader| reader.event_count());
            (file, "event", count)
        });
        let orphans = names(folder, "orphans", ".atf");
        let orphans = orphans.into_iter().map(|file| {
            let reader = DetailReader::open(folder.join(&file));
            let count = reader.map(|reader| reader.event_count());
            (file, "detail", count)
        });
        let files = salvaged.chain(orphans);
        let files = files.map(|(file, what, count)| Self {
            file,
            what,
            event_count: count.ok().map(U64),
        });
        files.collect()
    }
}

/// Returns whether a recovery of the session wrote a manifest that does not contain all values of
/// the original, or had no original.
pub(crate) fn lost_manifest(folder: &Path) -> bool {
    let has_lost = |name: &String| {
        let report = read(&folder.join(name))?;
        let manifest = report.get("manifest")?;
        let values_lost = manifest.get("values_lost").is_some();
        let is_lost = manifest.get("is_lost").is_some();
        Some(is_lost || values_lost || manifest.get("was_there")? == &Value::Bool(false))
    };
    reports(folder)
        .iter()
        .any(|name| has_lost(name) == Some(true))
}

fn reports(folder: &Path) -> Vec<String> {
    names(folder, "recovery", ".json")
}

fn losses(report: &Path) -> Option<u64> {
    read(report)?.get("losses")?.as_u64()
}

fn read(report: &Path) -> Option<Value> {
    let mut text = Vec::new();
    let file = File::open(report).ok()?;
    file.take(LARGEST_REPORT).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Returns the sorted names of the files that recoveries wrote to a folder with this name.
fn names(folder: &Path, stem: &str, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter(|name| is_numbered(name, stem, extension));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Returns whether a recovery uses this name: `stem.extension`, `stem-2.extension` and so on.
fn is_numbered(name: &str, stem: &str, extension: &str) -> bool {
    let number = name.strip_prefix(stem);
    let number = number.and_then(|name| name.strip_suffix(extension));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-');
        number.is_empty() || digits.is_some_and(|digits| digits.parse::<u64>().is_ok())
    })
}
