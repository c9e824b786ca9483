//! Describes a session: its manifest and its threads.

use std::collections::BTreeMap;
use std::path::Path;

use atf::clock::TimingAnchor;
use atf::manifest::{Manifest, ManifestThread, Module};
use atf::session::SessionReader;
use atf::{Clock, Error, ErrorKind, OpenOptions};
use atf_analyze::in_parallel;
use indicatif::ProgressBar;
use serde::Serialize;

use super::aside::Recovered;
use super::thread::{Links, ThreadInfo};
use super::verify::Contents;
use super::{Problem, Times};
use crate::json::{self, LossInfo, U64};
use crate::output::Failure;

#[derive(Debug, Default, Serialize)]
pub(crate) struct SessionInfo {
    pub(crate) path: String,
    pub(crate) index_events: U64,
    pub(crate) detail_events: U64,
    pub(crate) time: Option<Times>,
    /// The tracer's total losses across all threads, as stated in the manifest. Losses do not count
    /// as problems of the files.
    #[serde(flatten)]
    pub(crate) lost: LossInfo,
    pub(crate) manifest: Option<ManifestInfo>,
    pub(crate) threads: Vec<ThreadInfo>,
    /// The recovery that wrote the session, if it was recovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recovered: Option<Recovered>,
    pub(crate) problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ManifestInfo {
    /// Whether no part of the manifest could be read.
    #[serde(skip)]
    pub(crate) is_unreadable: bool,
    pub(crate) format_version: Option<String>,
    pub(crate) clock_type: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<&'static str>,
    pub(crate) time_start_ns: Option<U64>,
    pub(crate) time_end_ns: Option<U64>,
    pub(crate) threads: usize,
    pub(crate) symbols: usize,
    pub(crate) modules: Vec<ModuleInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) timing_anchors: Vec<AnchorInfo>,
    /// The maximum number of events that may be missing at the end of each thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unwritten_events: Option<U64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drops_events: Option<bool>,
    /// A sentence that contains this number.
    #[serde(skip)]
    pub(crate) unwritten: Option<String>,
    /// The signal that ended the traced process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_by: Option<String>,
    /// Why the tracer could not record everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recording_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock_error_ns: Option<U64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail_fields: Option<bool>,
    /// Threads whose `has_detail` is wrong. Some existing tracers write it before the correct value
    /// is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) wrong_has_detail: Vec<HasDetail>,
    pub(crate) problem_count: U64,
    /// The first few problems.
    pub(crate) problems: Vec<Problem>,
    /// The first few problems that readers ignore, such as unknown keys. They do not affect the exit
    /// status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ignored: Vec<Problem>,
    /// Descriptions of what recoveries lost or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recovered: Vec<String>,
}

/// The `has_detail` of a thread in the manifest.
#[derive(Debug, Serialize)]
pub(crate) struct HasDetail {
    pub(crate) thread: u32,
    pub(crate) has_detail: bool,
}

/// An executable or a library.
#[derive(Debug, Serialize)]
pub(crate) struct ModuleInfo {
    pub(crate) module_id: u32,
    pub(crate) path: Option<String>,
    pub(crate) base_address: Option<U64>,
    pub(crate) size: Option<U64>,
    pub(crate) uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) function_offsets: Option<bool>,
}

/// A moment on both the trace's clock and a recording's clock.
#[derive(Debug, Serialize)]
pub(crate) struct AnchorInfo {
    pub(crate) host_time_ns: U64,
    /// A string, because it may need 64 bits.
    pub(crate) media_time: String,
    pub(crate) media_timescale: i32,
}

impl SessionInfo {
    /// Describes a session, reading several threads at a time.
    pub(crate) fn read(path: &Path, verify: bool, progress: &ProgressBar) -> Result<Self, Failure> {
        let session = SessionReader::open_with(path, OpenOptions::new().scan(verify))?;
        let mut this = Self {
            path: json::path(session.path()),
            lost: LossInfo(session.manifest().map(Manifest::losses).unwrap_or_default()),
            manifest: session.manifest().map(ManifestInfo::new),
            recovered: Recovered::find(session.path()),
            problems: unrecognized(&session),
            ..Self::default()
        };
        let listed = session.manifest().into_iter().flat_map(|it| &it.threads);
        let listed: BTreeMap<u32, &ManifestThread> = listed.map(|it| (it.id, it)).collect();
        let threads = in_parallel(session.threads(), None, |entry| {
            let thread = ThreadInfo::new(Some(entry.id()), entry.path(), entry.open(), verify);
            progress.inc(1);
            thread.listed(listed.get(&entry.id()).copied())
        });
        threads.into_iter().for_each(|thread| this.add(thread));
        let threads = &this.threads;
        if let (Some(info), Some(manifest)) = (&mut this.manifest, session.manifest()) {
            info.compare(manifest, threads);
        }
        Ok(this)
    }

    fn add(&mut self, thread: ThreadInfo) {
        let facts = |file: &Option<super::FileInfo>| {
            let facts = file.as_ref().and_then(|file| file.facts.as_ref());
            facts.map(|facts| (facts.event_count.0, facts.time))
        };
        if let Some((count, time)) = facts(&thread.index) {
            self.index_events.0 = self.index_events.0.saturating_add(count);
            self.time = match (self.time, time) {
                (Some(all), Some(one)) => Some(Times::new((
                    all.start_ns.0.min(one.start_ns.0),
                    all.end_ns.0.max(one.end_ns.0),
                ))),
                (all, one) => all.or(one),
            };
        }
        if let Some((count, _)) = facts(&thread.detail) {
            self.detail_events.0 = self.detail_events.0.saturating_add(count);
        }
        self.lost = LossInfo(self.lost.0.plus(thread.lost.0));
        self.threads.push(thread);
    }

    /// Returns the combined statistics of all index files, if their events were read.
    pub(crate) fn contents(&self) -> Option<Contents> {
        let facts = self.threads.iter().filter_map(ThreadInfo::index_facts);
        let contents = facts.filter_map(|facts| facts.contents.as_ref());
        contents.cloned().reduce(Contents::plus)
    }

    /// Returns the combined links of all threads, if they were followed.
    pub(crate) fn links(&self) -> Option<Links> {
        let links = self.threads.iter().filter_map(|thread| thread.links);
        links.reduce(Links::plus)
    }

    pub(crate) fn has_problems(&self) -> bool {
        let manifest = self.manifest.as_ref();
        !self.problems.is_empty()
            || manifest.is_some_and(|manifest| manifest.problem_count.0 > 0)
            || self.threads.iter().any(ThreadInfo::has_problems)
    }
}

/// Returns the problems of folders whose names contain no thread id, and what recoveries lost.
fn unrecognized(session: &SessionReader) -> Vec<Problem> {
    let problems = session.problems().into_iter();
    let problem = |error: Error| match error.kind() {
        ErrorKind::NoThreadId | ErrorKind::LostInRecovery { .. } => {
            Some(Problem::from_error(&error))
        }
        _ => None,
    };
    problems.filter_map(problem).collect()
}

impl ManifestInfo {
    fn new(manifest: &Manifest) -> Self {
        let clock_type = manifest.clock_type.map(|clock| u32::from(clock.0));
        let of = |is_ignored| {
            let problems = manifest.problems.iter();
            let problems = problems.filter(move |it| it.kind().is_ignored() == is_ignored);
            let problems = problems.map(Problem::from_error);
            problems.collect()
        };
        Self {
            is_unreadable: manifest.is_unreadable(),
            format_version: manifest.format_version.clone(),
            clock_type,
            clock: manifest.clock_type.and_then(Clock::name),
            time_start_ns: manifest.time_start_ns.map(U64),
            time_end_ns: manifest.time_end_ns.map(U64),
            threads: manifest.threads.len(),
            symbols: manifest.symbols.len(),
            modules: manifest.modules.iter().map(ModuleInfo::new).collect(),
            timing_anchors: manifest
                .timing_anchors
                .iter()
                .map(AnchorInfo::new)
                .collect(),
            unwritten_events: manifest
                .unwritten_events
                .filter(|events| *events > 0)
                .map(U64),
            drops_events: manifest.drops_events,
            unwritten: manifest.unwritten().map(|missing| missing.to_string()),
            ended_by: manifest.ended_by.clone(),
            recording_error: manifest.recording_error.clone(),
            clock_error_ns: manifest.clock_error_ns.map(U64),
            detail_fields: manifest.detail_fields,
            wrong_has_detail: Vec::new(),
            problem_count: U64(manifest.problem_count - manifest.ignored_count),
            problems: of(false),
            ignored: of(true),
            recovered: manifest.recovered.iter().map(ToString::to_string).collect(),
        }
    }

    /// Compares each thread's `has_detail` in the manifest with the thread itself.
    fn compare(&mut self, manifest: &Manifest, threads: &[ThreadInfo]) {
        let has_detail: BTreeMap<_, _> = threads
            .iter()
            .filter(|thread| thread.index.is_some())
            .map(|thread| (thread.id, thread.detail.is_some()))
            .collect();
        for listed in &manifest.threads {
            let is = has_detail.get(&Some(listed.id));
            if let (Some(states), Some(is)) = (listed.has_detail, is)
                && states != *is
            {
                self.wrong_has_detail.push(HasDetail {
                    thread: listed.id,
                    has_detail: states,
                });
            }
        }
    }
}

impl ModuleInfo {
    fn new(module: &Module) -> Self {
        Self {
            module_id: module.module_id,
            path: module.path.clone(),
            base_address: module.base_address.map(U64),
            size: module.size.map(U64),
            uuid: module.uuid.clone(),
            function_offsets: module.function_offsets,
        }
    }
}

impl AnchorInfo {
    fn new(anchor: &TimingAnchor) -> Self {
        Self {
            host_time_ns: U64(anchor.host_time_ns),
            media_time: anchor.media_time.value.to_string(),
            media_timescale: anchor.media_time.timescale,
        }
    }
}
