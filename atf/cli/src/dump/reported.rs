//! Reports each problem of a trace once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::RangeInclusive;

use atf::Error;
use atf::manifest::{Losses, Manifest};
use atf::trace::Trace;

use super::filter::Ready;
use super::trace::{NamedThread, ThreadName, number};
use crate::output::{State, complain};
use crate::text::{Since, counted};

/// The problems reported so far, either on standard error or in the output.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    messages: BTreeSet<String>,
}

impl Reported {
    /// Reports a problem unless it was reported before.
    pub(crate) fn report(&mut self, problem: &Error) {
        self.report_text(problem.text_with_rule());
    }

    /// Reports each of these problems unless it was reported before.
    pub(crate) fn report_all<'e>(&mut self, problems: impl IntoIterator<Item = &'e Error>) {
        problems
            .into_iter()
            .for_each(|problem| self.report(problem));
    }

    /// Reports a problem that is not an [`Error`], like [`report`](Self::report).
    pub(crate) fn report_text(&mut self, message: String) {
        if self.messages.insert(message.clone()) {
            complain(message);
        }
    }

    /// Remembers a problem without reporting it. Returns its message unless it is already known.
    pub(crate) fn add(&mut self, problem: &Error) -> Option<String> {
        let message = problem.text_with_rule();
        self.messages.insert(message.clone()).then_some(message)
    }

    /// Returns `Damaged` if any problem was reported.
    pub(crate) fn state(&self) -> State {
        State::damaged_if(!self.messages.is_empty())
    }
}

/// Events whose details are missing. For each thread, the first such event and the number of
/// events, separately for links to details of other events.
#[derive(Debug, Default)]
pub(crate) struct Dangling(BTreeMap<(ThreadName, bool), (u64, u64)>);

impl Dangling {
    /// Adds event `seq` of a thread.
    pub(crate) fn add(&mut self, thread: ThreadName, is_foreign: bool, seq: u64) {
        let (_, count) = self.0.entry((thread, is_foreign)).or_insert((seq, 0));
        *count += 1;
    }

    pub(crate) fn report(&self, reported: &mut Reported) {
        for ((thread, is_foreign), (seq, count)) in &self.0 {
            let events = counted(*count, "event");
            let what = if *is_foreign {
                "details that do not belong to their events:"
            } else {
                "missing details of"
            };
            reported.report_text(format!(
                "thread {thread}: {what} {events}, first events[{seq}]"
            ));
        }
    }
}

/// Reports how many threads were only partly read, so their checksums were not verified.
pub(crate) fn report_unverified(threads: usize) {
    if threads > 0 {
        let threads = counted(threads as u64, "thread");
        complain(format_args!(
            "{threads} read partly, so no checksum was compared; to compare: `atf info --verify`"
        ));
    }
}

/// Reports the tracer's losses in the dumped threads and time range. Losses do not affect the exit
/// status, because the events in the files are intact, and no copy of the trace contains the lost
/// events.
pub(crate) fn report_losses(trace: &Trace, ready: &Ready<'_>, is_for_all: bool) {
    let named = |it: &NamedThread<'_>| ((it.session, it.name.id), it.name);
    let dumped: HashMap<_, _> = ready.threads.iter().map(named).collect();
    let mut first = 0;
    for process in trace.processes() {
        let sessions = process.sessions().iter();
        let manifests: Vec<_> = sessions.filter_map(|session| session.manifest()).collect();
        let name_of = |id| dumped.get(&(number(first), id)).copied();
        let time = |ns| process.time(ns);
        let (times, origin_ns) = (ready.filter.times(), ready.origin_ns());
        report_losses_of(&manifests, &times, origin_ns, is_for_all, time, name_of);
        first += process.sessions().len().max(1);
    }
}

/// Reports a process's losses, as listed in the manifests of its segments, for the threads for
/// which `name_of` returns a name. If these are all threads, also reports losses of threads without
/// files. Uses `time` to convert timestamps.
pub(crate) fn report_losses_of(
    manifests: &[&Manifest],
    times: &RangeInclusive<u64>,
    origin_ns: Option<u64>,
    is_for_all: bool,
    time: impl Fn(u64) -> u64,
    name_of: impl Fn(u32) -> Option<ThreadName>,
) {
    let report = |place: &dyn fmt::Display, lost: Losses| {
        let lost_times = lost
            .time_range()
            .map(|(first, last)| (time(first), time(last)));
        if let Some((first, last)) = lost_times
            && first <= *times.end()
            && last >= *times.start()
        {
            let [first, last] = [first, last].map(|time_ns| Since { time_ns, origin_ns });
            complain(format_args!(
                "{place}: the tracer lost {lost}, from {first}s to {last}s"
            ));
        }
    };
    let mut threads: BTreeMap<u32, (Option<&str>, Losses)> = BTreeMap::new();
    let mut without_files = Losses::default();
    for manifest in manifests {
        for thread in &manifest.threads {
            let (name, lost) = threads.entry(thread.id).or_default();
            *name = thread.name.as_deref().or(*name);
            *lost = lost.plus(thread.losses());
        }
        without_files = without_files.plus(manifest.losses());
    }
    for (id, (called, lost)) in threads {
        if let Some(name) = name_of(id) {
            let called = called.map(|name| format!(" ({name})")).unwrap_or_default();
            report(&format_args!("thread {name}{called}"), lost);
        }
    }
    if is_for_all {
        report(&"threads without files", without_files);
    }
    for change in manifests.iter().flat_map(|manifest| manifest.changes()) {
        if change.thread.map_or(is_for_all, |id| name_of(id).is_some()) {
            complain(change);
        }
    }
    let unwritten = manifests.iter().rev().find_map(|it| it.unwritten());
    unwritten.iter().for_each(complain);
}
