//! Describes a thread's folder: both files and the links between them.

use std::fmt;
use std::path::Path;

use atf::check::wrong_thread_id;
use atf::detail::DetailReader;
use atf::manifest::{Cut, ManifestThread};
use atf::session::{SessionReader, thread_id};
use atf::thread::{DETAIL_FILE, INDEX_FILE, Ring, ThreadReader};
use atf::{Error, OpenOptions};
use serde::Serialize;

use super::Problem;
use super::aside::{Recovered, SetAside};
use super::file::{Facts, FileInfo};
use crate::json::{self, LossInfo, U64};
use crate::text::counted;

#[derive(Debug, Default, Serialize)]
pub(crate) struct ThreadInfo {
    /// The id in the folder's name, if the thread is in a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    /// The thread's name in the session's manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) path: String,
    /// The tracer's losses in the thread, from the manifest.
    #[serde(flatten)]
    pub(crate) lost: LossInfo,
    /// The part of a longer trace that the thread was cut to, from the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut: Option<CutInfo>,
    pub(crate) index: Option<FileInfo>,
    pub(crate) detail: Option<FileInfo>,
    /// The events that a killed writer left in `ring.atf`. The counts for the files include them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ring: Option<RingInfo>,
    /// The links, if they were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<Links>,
    /// The recovery that wrote the thread, if it was recovered without a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recovered: Option<Recovered>,
    /// Files of events that a recovery could not place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) set_aside: Vec<SetAside>,
    /// Problems outside the thread's files.
    pub(crate) problems: Vec<Problem>,
}

/// The part of a longer trace that a thread was cut to.
#[derive(Debug, Serialize)]
pub(crate) struct CutInfo {
    pub(crate) from_ns: U64,
    pub(crate) to_ns: U64,
    /// The number of repeated calls at the start of the thread.
    pub(crate) calls: U64,
    /// The number of added returns at the end of the thread.
    pub(crate) returns: U64,
}

impl From<Cut> for CutInfo {
    fn from(cut: Cut) -> Self {
        Self {
            from_ns: U64(cut.from_ns),
            to_ns: U64(cut.to_ns),
            calls: U64(cut.calls),
            returns: U64(cut.returns),
        }
    }
}

impl fmt::Display for CutInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = counted(self.calls.0, "repeated call");
        let returns = counted(self.returns.0, "added return");
        write!(f, "{calls} and {returns} from a cut")
    }
}

/// The number of bytes that `ring.atf` adds to the files.
#[derive(Debug, Serialize)]
pub(crate) struct RingInfo {
    pub(crate) index_bytes: U64,
    pub(crate) detail_bytes: U64,
}

impl From<Ring> for RingInfo {
    fn from(ring: Ring) -> Self {
        Self {
            index_bytes: ring.index_bytes.into(),
            detail_bytes: ring.detail_bytes.into(),
        }
    }
}

/// The links between the two files of a thread.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Links {
    /// Links to a detail event that links back and has the same time.
    pub(crate) good: U64,
    /// Links to a detail event that links back but has a different time.
    #[serde(skip_serializing_if = "json::is_default")]
    pub(crate) times_differ: U64,
    /// Links to a missing detail event.
    pub(crate) dangling: U64,
    /// Links to a detail event that links elsewhere.
    pub(crate) crossed: U64,
    /// Detail events that no event links to.
    pub(crate) orphans: U64,
}

impl ThreadInfo {
    /// Describes a thread's folder. From the surrounding session, uses only the thread's manifest
    /// entry.
    pub(crate) fn of_folder(path: &Path, verify: bool) -> Self {
        let thread = ThreadReader::open_with(path, OpenOptions::new().scan(verify));
        let this = Self {
            recovered: Recovered::find(path),
            ..Self::new(None, path, thread, verify)
        };
        let session = SessionReader::around(path);
        let manifest = session.as_ref().and_then(SessionReader::manifest);
        // As in a session, the id is the one in the folder's name, because the header may contain
        // another thread's id.
        let folder = path.canonicalize().ok();
        let name = folder.as_ref().and_then(|folder| folder.file_name());
        let id = name.and_then(|name| thread_id(&name.to_string_lossy()));
        let listed = manifest.and_then(|it| it.thread(id?));
        this.listed(listed)
    }

    /// Adds the thread's manifest entry.
    pub(crate) fn listed(self, listed: Option<&ManifestThread>) -> Self {
        Self {
            name: listed.and_then(|listed| listed.name.clone()),
            lost: LossInfo(listed.map(ManifestThread::losses).unwrap_or_default()),
            cut: listed.and_then(|listed| listed.cut).map(CutInfo::from),
            ..self
        }
    }

    /// Describes a thread from the result of opening it.
    pub(crate) fn new(
        id: Option<u32>,
        path: &Path,
        thread: Result<ThreadReader, Error>,
        verify: bool,
    ) -> Self {
        let mut this = Self {
            id,
            path: json::path(path),
            set_aside: SetAside::find_all(path),
            ..Self::default()
        };
        match thread {
            Ok(thread) => this.look(path, &thread, verify),
            Err(error) => {
                this.problems.push(Problem::from_error(&error));
                // The thread may have details even if its index cannot be read.
                let detail = path.join(DETAIL_FILE);
                if std::fs::symlink_metadata(&detail).is_ok_and(|data| data.is_file()) {
                    this.detail = Some(FileInfo::of_detail(&detail, verify));
                }
            }
        }
        this
    }

    fn look(&mut self, path: &Path, thread: &ThreadReader, verify: bool) {
        let index = path.join(INDEX_FILE);
        self.index = Some(FileInfo::new(&index, "index", |problems| {
            let wrong_id = wrong_thread_id(thread.index().header(), path);
            problems.extend(wrong_id.map(Problem::found));
            FileInfo::index_facts(thread.index(), verify, problems)
        }));
        let detail = path.join(DETAIL_FILE);
        // Do not report an unreadable index as a problem of the details.
        let is_index_read = self.index_facts().is_some();
        let mut linked = (0, 0);
        self.detail = match (thread.detail(), thread.detail_error()) {
            (Some(reader), _) => Some(FileInfo::new(&detail, "detail", |problems| {
                let scan = || {
                    let scan = match (verify, is_index_read) {
                        (false, _) => None,
                        (true, true) => thread.scan_details()?,
                        (true, false) => Some(reader.scan()?),
                    };
                    if let Some(scan) = &scan {
                        linked = (scan.linked, scan.times_differ);
                    }
                    Ok(scan)
                };
                FileInfo::detail_facts(reader, scan, problems)
            })),
            (None, Some(error)) => Some(FileInfo::new(&detail, "detail", |_| Err(error.clone()))),
            (None, None) => None,
        };
        self.ring = thread.ring().map(RingInfo::from);
        let ring_error = thread.ring_error();
        self.problems.extend(ring_error.map(Problem::from_error));
        self.problems
            .extend(thread.disagreements().iter().map(Problem::from_error));
        // If details cannot be read, some linked details were not counted.
        let is_read = self.detail.as_ref().is_none_or(|file| file.facts.is_some());
        if verify && is_read {
            let has_changed = thread.has_changed();
            match has_changed.and_then(|it| Ok((Links::count(thread, linked)?, !it))) {
                Ok((links, is_proof)) => self.add_links(path, links, is_proof),
                Err(error) => self.problems.push(Problem::from_error(&error)),
            }
        }
    }

    /// Adds links and, if `is_proof` is set because the files are unchanged, the problems of wrong
    /// links. Orphans are not a problem: they result from a crash, whose other effects are already
    /// reported.
    fn add_links(&mut self, path: &Path, links: Option<Links>, is_proof: bool) {
        if let Some(links) = links.as_ref().filter(|_| is_proof) {
            let problems = links.wrong().map(|(count, what, rule)| {
                let what = format!("{} {what}", counted(count, "link"));
                let problem = Problem::new(None, None, &what).in_file(path);
                Problem { rule, ..problem }
            });
            self.problems.extend(problems);
        }
        self.links = links;
    }

    /// Returns the facts about the index file, as far as they could be read.
    pub(super) fn index_facts(&self) -> Option<&Facts> {
        self.index.as_ref()?.facts.as_ref()
    }

    pub(crate) fn has_problems(&self) -> bool {
        self.all_problems().next().is_some()
    }

    pub(crate) fn all_problems(&self) -> impl Iterator<Item = &Problem> {
        let files = [&self.index, &self.detail].into_iter().flatten();
        files.flat_map(|file| &file.problems).chain(&self.problems)
    }
}

impl Links {
    /// Returns the nonzero counts of wrong links, each with a description and the rule that they
    /// break. Whether dangling links break a rule depends on what was lost from the files.
    pub(super) fn wrong(
        &self,
    ) -> impl DoubleEndedIterator<Item = (u64, &'static str, Option<&'static str>)> {
        let elsewhere = "to detail events that link elsewhere";
        let differ = "to detail events with a different time";
        let wrong = [
            (self.crossed.0, elsewhere, Some("ATF-LINK-001")),
            (self.dangling.0, "to missing detail events", None),
            (self.times_differ.0, differ, Some("ATF-LINK-006")),
        ];
        wrong.into_iter().filter(|(count, ..)| *count > 0)
    }

    /// Adds up the links of two threads.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            good: U64(self.good.0 + other.good.0),
            times_differ: U64(self.times_differ.0 + other.times_differ.0),
            dangling: U64(self.dangling.0 + other.dangling.0),
            crossed: U64(self.crossed.0 + other.crossed.0),
            orphans: U64(self.orphans.0 + other.orphans.0),
        }
    }

    /// Counts all links. `linked` is the number of details whose event links back to them, and how
    /// many of these have a different time. Returns `None` if there are neither details nor links.
    fn count(
        thread: &ThreadReader,
        (linked, times_differ): (u64, u64),
    ) -> Result<Option<Self>, Error> {
        let scan = thread.index().scan()?;
        let there = thread.detail().map_or(0, DetailReader::event_count);
        let mut dangling = 0;
        if there == 0 {
            dangling = scan.links;
        } else if scan.greatest_link.is_some_and(|link| link >= there) {
            for event in thread.index().events_in(..) {
                let link = event?.detail_seq;
                dangling += u64::from(link.is_some_and(|link| link >= there));
            }
        }
        let links = Self {
            good: U64(linked.saturating_sub(times_differ)),
            times_differ: U64(times_differ),
            dangling: U64(dangling),
            crossed: U64(scan.links.saturating_sub(linked).saturating_sub(dangling)),
            orphans: U64(there.saturating_sub(linked)),
        };
        let is_any = thread.has_detail_file() || dangling > 0;
        Ok(is_any.then_some(links))
    }
}
