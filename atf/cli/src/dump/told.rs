//! Reports each problem of a trace once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

use atf::Error;
use atf::manifest::Manifest;

use super::ready::Ready;
use super::trace::{ThreadName, Trace};
use crate::loss::{Lost, end_of_tracer};
use crate::output::{State, complain};
use crate::text::{Counted, Since};

/// Reports problems on standard error and remembers them.
#[derive(Debug, Default)]
pub(crate) struct Told {
    said: BTreeSet<String>,
}

impl Told {
    /// Reports a problem, unless it was reported before.
    pub(crate) fn tell(&mut self, problem: &Error) {
        let message = problem.to_string();
        if !self.said.contains(&message) {
            complain(&message);
            self.said.insert(message);
        }
    }

    /// The state for the exit status: damaged if any problem was reported.
    pub(crate) fn state(&self) -> State {
        State::of(!self.said.is_empty())
    }
}

/// Reports how many threads were read only partly, so their checksums were not compared.
pub(crate) fn tell_unverified(threads: usize) {
    if threads > 0 {
        let threads = Counted(threads as u64, "thread");
        complain(format_args!(
            "{threads} read partly, so no checksum was compared; to compare: `atf info --verify`"
        ));
    }
}

/// Reports what the tracer lost of the dumped threads in the dumped time. The exit status stays: the
/// events that are in the files are intact, and no other copy has those that are not.
pub(crate) fn tell_losses(trace: &Trace, ready: &Ready<'_>) {
    for (process, session) in (0..).zip(trace.sessions()) {
        let of_process = ready.threads.iter().filter(|it| it.process == process);
        let dumped: BTreeMap<u32, ThreadName> =
            of_process.map(|it| (it.name.id, it.name)).collect();
        let manifest = session.manifest();
        tell_losses_of(manifest, &ready.filter.times(), ready.start_ns(), |id| {
            dumped.get(&id).copied()
        });
    }
}

/// Reports what a session's tracer lost of the threads that have a name.
pub(crate) fn tell_losses_of(
    manifest: Option<&Manifest>,
    times: &RangeInclusive<u64>,
    start_ns: u64,
    name_of: impl Fn(u32) -> Option<ThreadName>,
) {
    let Some(manifest) = manifest else { return };
    let tell = |place: &dyn fmt::Display, lost: Lost| {
        if let Some((first, last)) = lost.times()
            && first <= *times.end()
            && last >= *times.start()
        {
            let [first, last] = [first, last].map(|time_ns| Since { time_ns, start_ns });
            complain(format_args!(
                "{place}: the tracer lost {lost}, from {first}s to {last}s"
            ));
        }
    };
    for thread in &manifest.threads {
        if let Some(name) = name_of(thread.id) {
            let called = thread.name.as_ref().map(|name| format!(" ({name})"));
            let called = called.unwrap_or_default();
            tell(&format_args!("thread {name}{called}"), Lost::of(thread));
        }
    }
    tell(&"threads without files", Lost::of_no_thread(manifest));
    if let Some(events) = manifest.unwritten_events.filter(|events| *events > 0) {
        let events = Counted(events, "event");
        let end = end_of_tracer(manifest.ended_by.is_some());
        complain(format_args!(
            "the tracer {end}: up to {events} of each thread are missing"
        ));
    }
}
