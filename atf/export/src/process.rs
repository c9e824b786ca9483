//! The processes to export.

use std::collections::BTreeSet;
use std::slice;

use atf::analyze::{self, Options, Threads, Tree};
use atf::clock::MediaClock;
use atf::index::IndexReader;
use atf::manifest::{Loss, Manifest, Missing};
use atf::session::{ProcessName, Segments, SessionReader};
use atf::symbols::{Function, Symbols};
use atf::thread::ThreadReader;

use crate::sink::LATEST_NS;

/// A process to export: a session, its segments, a thread's folder or an index file.
#[derive(Debug, Clone)]
pub struct Process<'a> {
    pub(crate) threads: Threads<'a>,
    sessions: &'a [SessionReader],
    names: Option<Names<'a>>,
    clock: Option<MediaClock>,
}

/// The source of function names.
#[derive(Debug, Clone, Copy)]
enum Names<'a> {
    Segments(&'a Segments),
    Symbols(Symbols<'a>),
}

impl<'a> Process<'a> {
    /// Exports all threads of a session.
    #[must_use]
    pub fn of_session(session: &'a SessionReader) -> Self {
        Self {
            threads: session.into(),
            sessions: slice::from_ref(session),
            names: Some(Names::Symbols(session.symbols())),
            clock: None,
        }
    }

    /// Exports all threads of a process, over all segments.
    #[must_use]
    pub fn of_segments(segments: &'a Segments) -> Self {
        Self {
            threads: segments.into(),
            sessions: segments.sessions(),
            names: Some(Names::Segments(segments)),
            clock: None,
        }
    }

    /// Exports a thread, with names from its session.
    #[must_use]
    pub fn of_thread(thread: &'a ThreadReader, session: Option<&'a SessionReader>) -> Self {
        Self {
            threads: Threads::of_thread(thread, session),
            sessions: session.map(slice::from_ref).unwrap_or_default(),
            names: session.map(|session| Names::Symbols(session.symbols())),
            clock: None,
        }
    }

    /// Exports an index file, without names.
    #[must_use]
    pub fn of_index(index: &'a IndexReader) -> Self {
        Self {
            threads: index.into(),
            sessions: &[],
            names: None,
            clock: None,
        }
    }

    /// Exports times on a recording's clock instead of the trace's own, like [`Options::clock`].
    #[must_use]
    pub fn with_clock(mut self, clock: MediaClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Returns the time to write for a timestamp. Times before the recording become the recording's
    /// start.
    pub(crate) fn time(&self, ns: u64) -> u64 {
        match &self.clock {
            Some(clock) => clock.to_media_ns_or_zero(ns),
            None => ns,
        }
    }

    /// Returns the options for analyzing this process, up to the latest time of an export.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let options = options.clone().to_ns(options.to_ns.min(LATEST_NS));
        match &self.clock {
            Some(clock) => options.clock(Some(clock.clone())),
            None => options,
        }
    }

    /// Returns the call tree.
    pub(crate) fn tree(&self, options: &Options) -> Result<Tree, atf::Error> {
        analyze::tree(self.threads, &self.options(options))
    }

    /// Adds another manifest as a source of function names.
    #[must_use]
    pub fn with_symbols(mut self, symbols: Symbols<'a>) -> Self {
        self.names = Some(Names::Symbols(symbols));
        self
    }

    /// Returns a function, with its name if the session's manifest or the additional one contains
    /// it.
    #[must_use]
    pub fn function(&self, function_id: u64) -> Function<'a> {
        match &self.names {
            Some(Names::Segments(segments)) => segments.function(function_id),
            Some(Names::Symbols(symbols)) => symbols.function(function_id),
            None => Function::new(function_id, None),
        }
    }

    /// Returns whether details contain fields.
    pub(crate) fn has_detail_fields(&self) -> bool {
        let mut manifests = self.sessions.iter().filter_map(SessionReader::manifest);
        manifests.any(|manifest| manifest.detail_fields == Some(true))
    }

    /// Returns the events that the tracer lost in threads without readable files, unless threads
    /// are selected.
    pub(crate) fn lost_events(&self, options: &Options) -> Option<Loss> {
        let is_all = options.threads.is_empty();
        let all = self.threads.lost_events().filter(|_| is_all)?;
        let [first_ns, last_ns] = [all.first_ns, all.last_ns].map(|ns| self.time(ns));
        Some(Loss::new(all.count, first_ns, last_ns))
    }

    /// Returns the events that the tracer had not yet written when it ended.
    pub(crate) fn unwritten(&self) -> Option<Missing> {
        let sessions = self.sessions.iter().rev();
        let mut manifests = sessions.filter_map(SessionReader::manifest);
        manifests.find_map(Manifest::unwritten)
    }

    /// Returns sentences about what recoveries changed without losing events.
    pub(crate) fn changes(&self) -> impl Iterator<Item = String> + use<'a> {
        let manifests = self.sessions.iter().filter_map(SessionReader::manifest);
        let recovered = manifests.flat_map(|manifest| &manifest.recovered);
        recovered.filter(|it| !it.lost).map(ToString::to_string)
    }

    /// Returns the process id, from the name of its folder: 42 for `pid_42`, and for `pid_42_2` and
    /// `pid_42_segment_000002`.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(ProcessName::of(self.sessions.first()?.path())?.pid)
    }

    /// Returns an id for each process: its own, or its position, counted from 1, if ids are missing
    /// or not unique, as may happen with processes from several machines.
    pub(crate) fn pids(processes: &[Self]) -> Vec<u32> {
        let own: Option<Vec<u32>> = processes.iter().map(Self::pid).collect();
        let differ = |own: &Vec<u32>| own.iter().collect::<BTreeSet<_>>().len() == own.len();
        let positions = || (1..).take(processes.len()).collect();
        own.filter(differ).unwrap_or_else(positions)
    }

    /// Returns the process's name: the name of its first module or, without modules, of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let session = self.sessions.first();
        let module = session.and_then(SessionReader::manifest);
        let module = module.and_then(|manifest| manifest.modules.first()?.path.as_deref());
        let module = module.and_then(|path| path.rsplit(['/', '\\']).find(|name| !name.is_empty()));
        let folder = session.and_then(|session| session.path().file_name());
        match (module, folder) {
            (Some(module), _) => module.to_owned(),
            (None, Some(folder)) => folder.to_string_lossy().into_owned(),
            (None, None) => "trace".to_owned(),
        }
    }

    /// Returns facts about the session for a format's metadata, as keys and values.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let Some(manifest) = self.sessions.last().and_then(SessionReader::manifest) else {
            return Vec::new();
        };
        let fact = |key: &str, value: String| (key.to_owned(), value);
        let mut facts = Vec::new();
        let clock = manifest.clock_type.and_then(atf::Clock::name);
        facts.extend(clock.map(|clock| fact("clock", clock.to_owned())));
        let version = manifest.format_version.clone();
        facts.extend(version.map(|version| fact("format version", version)));
        for (number, anchor) in manifest.timing_anchors.iter().enumerate() {
            let media = anchor.media_time;
            let text = format!(
                "{} ns = {}/{} s",
                anchor.host_time_ns, media.value, media.timescale
            );
            facts.push((format!("timing anchor {number}"), text));
        }
        facts
    }
}
