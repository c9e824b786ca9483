//! Counts the results of a run and reports known losses.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use atf::detail::DetailReader;
use atf::manifest::{LossKind, Losses, Manifest, ManifestThread, Missing};
use atf::session::SessionReader;
use atf_record::settings::DETAILS;

use super::Options;
use super::ring::{self, TooLarge};
use crate::output::{Failure, complain};
use crate::text::{Printable, counted};

/// The events that a process had not yet written when it died.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unwritten {
    /// The maximum number of events of each thread.
    pub(super) events: u64,
    /// Whether the latest dropped events are not counted.
    pub(super) drops: bool,
}

impl Unwritten {
    pub(super) fn from_manifest(manifest: &Manifest) -> Option<Self> {
        match manifest.unwritten()? {
            Missing::Unwritten { events, drops, .. } => Some(Self { events, drops }),
            _ => None,
        }
    }

    /// Describes several processes together.
    fn or(self, other: Self) -> Self {
        Self {
            events: self.events.max(other.events),
            drops: self.drops || other.drops,
        }
    }
}

#[derive(Default)]
pub(super) struct Summary {
    pub(super) events: u64,
    details: u64,
    /// The processes, by the names of their first sessions.
    pub(super) processes: BTreeSet<String>,
    /// Whether the program exited on its own but left a session unfinalized.
    pub(super) is_unfinished: bool,
    /// The threads with their processes; a set, because a thread may be in several segments.
    threads: BTreeSet<(String, u32)>,
    sessions: u64,
    lost: Losses,
    /// The unwritten events of all processes that died.
    unwritten: Option<Unwritten>,
    /// The largest window that did not fit into its ring.
    window: Option<TooLarge>,
}

impl Summary {
    pub(super) fn add(&mut self, path: &Path, options: &Options) -> Result<(), Failure> {
        let session = SessionReader::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let process = name.split("_segment_").next().unwrap_or_default();
        self.sessions += 1;
        self.processes.insert(process.to_owned());
        for thread in session.threads() {
            self.threads.insert((process.to_owned(), thread.id()));
            if let Ok(thread) = thread.open() {
                self.events += thread.index().event_count();
                self.details += thread.detail().map_or(0, DetailReader::event_count);
            }
        }
        let Some(manifest) = session.manifest() else {
            return Ok(());
        };
        let listed = manifest.threads.iter().map(ManifestThread::losses);
        let lost = listed.fold(manifest.losses(), Losses::plus);
        self.lost = self.lost.plus(lost);
        let all = self
            .unwritten
            .into_iter()
            .chain(Unwritten::from_manifest(manifest));
        self.unwritten = all.reduce(Unwritten::or);
        let Some(window) = options.recorder.0.window() else {
            return Ok(());
        };
        for thread in session.threads() {
            let listed = manifest.thread(thread.id());
            // `atf info` reports any problems with the thread's files.
            let (pre_roll, post_roll) = (window.pre_roll, window.post_roll);
            let found = listed.map(|listed| ring::too_large(thread, listed, pre_roll, post_roll));
            self.window = self.window.max(found.transpose().ok().flatten().flatten());
        }
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "an approximate rate is enough")]
    pub(super) fn report(&self, folder: &Path, options: &Options, elapsed: Duration) {
        let rate = self.events as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
        complain(format_args!(
            "recorded {} of {}{} in {:.3} s ({rate:.1} M per second), {}",
            counted(self.events, "event"),
            counted(self.threads.len() as u64, "thread"),
            self.places(),
            elapsed.as_secs_f64(),
            self.missing(options),
        ));
        let has_triggers = options.recorder.0.text(&DETAILS) == Some("trigger");
        if has_triggers && self.details == 0 && self.lost.get(LossKind::Details).is_none() {
            complain(
                "no details recorded: no trigger fired, or its window has no event with details",
            );
        }
        if let Some(window) = self.window {
            complain(format_args!(
                "{}",
                ring::advice(window, self.most_threads(), &options.recorder.0)
            ));
        }
        complain(format_args!("written to {}", Printable(folder.display())));
    }

    /// Returns the largest number of threads in any one process.
    fn most_threads(&self) -> u64 {
        let threads: Vec<_> = self.threads.iter().collect();
        let processes = threads.chunk_by(|one, other| one.0 == other.0);
        processes.map(<[_]>::len).max().unwrap_or(0) as u64
    }

    /// Describes the events and details that the manifests list as lost.
    pub(super) fn lost(&self) -> Option<String> {
        let is_some = !self.lost.is_empty();
        is_some.then(|| format!("{} lost", self.lost))
    }

    /// Returns whether any of the program's events may be missing.
    pub(super) fn may_lack_events(&self) -> bool {
        self.lost.get(LossKind::Events).is_some() || self.unwritten.is_some() || self.is_unfinished
    }

    /// Describes the numbers of processes and segments, if there is more than one.
    fn places(&self) -> String {
        let (processes, sessions) = (self.processes.len() as u64, self.sessions);
        match (processes, sessions > processes) {
            (1, false) => String::new(),
            (1, true) => format!(" in {sessions} segments"),
            (_, false) => format!(" in {processes} processes"),
            (_, true) => format!(" in {processes} processes with {sessions} segments"),
        }
    }

    /// Describes all known losses.
    fn missing(&self, options: &Options) -> String {
        let unwritten = self.unwritten.map(|it| options.loss_by_death(it));
        let unfinished = "later events may be missing".to_owned();
        let unfinished = self.is_unfinished.then_some(unfinished);
        let known: Vec<_> = [self.lost(), unwritten, unfinished]
            .into_iter()
            .flatten()
            .collect();
        if known.is_empty() {
            "no loss recorded".to_owned()
        } else {
            known.join(", ")
        }
    }
}
