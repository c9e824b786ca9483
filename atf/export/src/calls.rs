//! Passes the calls of a trace to a sink in one pass.

use std::mem;

use atf::detail::{DetailEvent, LARGEST_FIELDS, fields};
use atf::index::IndexEvent;
use atf::spans::Unmatched;
use atf::thread::{Linked, ThreadReader};
use atf::trace::Process;
use atf_analyze::{
    CallEnd, CallStart, CallVisitor, Options, Problem, ThreadFolder, ThreadStart, ThreadTotals,
};

use crate::notes::{foreign_details, losses_without_files, notes_of};
use crate::process::{self, has_detail_fields, until_latest};
use crate::sink::LATEST_NS;
use crate::{Detail, End, Error, ProcessInfo, Sink, Start, Summary, Thread, ThreadEnd, TraceInfo};

/// Passes the calls of processes that share a clock to a sink.
///
/// # Errors
///
/// The sink's errors and internal errors. Read errors are in the summary.
pub fn export_to<'a>(
    processes: &'a [Process],
    options: &Options,
    sink: &mut dyn Sink<'a>,
) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    let info = trace_info(processes, options);
    sink.start(&info)?;
    let mut threads = 0;
    for (pid, process) in process::pids(processes).into_iter().zip(processes) {
        sink.process(&ProcessInfo {
            pid,
            name: process::name(process),
            facts: process::facts(process),
        })?;
        let mut calls = Calls {
            process,
            pid,
            info: &info,
            options,
            sink,
            thread: Thread {
                number: threads,
                ..Thread::default()
            },
            details: None,
            foreign: 0,
            foreign_details: 0,
            end_ns: 0,
            totals: Vec::new(),
            problems: Vec::new(),
        };
        let problems = atf_analyze::calls(process, &until_latest(options), &mut calls)?;
        threads = calls.thread.number;
        let foreign = calls.foreign_details;
        summary.foreign_details = summary.foreign_details.saturating_add(foreign);
        let (totals, of_threads) = (calls.totals, calls.problems);
        let lost = losses_without_files(process, options).missing();
        let lost = lost.map(|lost| format!("threads without files: {lost}"));
        let of_session = problems.iter().map(|it| it.error.to_string());
        let changes = process.changes().map(ToString::to_string);
        let notes: Vec<_> = lost.chain(changes).chain(of_session).collect();
        sink.process_end(&notes)?;
        summary.add(
            process,
            options,
            &totals,
            problems.into_iter().chain(of_threads),
        );
    }
    sink.finish()?;
    Ok(summary)
}

fn trace_info(processes: &[Process], options: &Options) -> TraceInfo {
    let times = processes.iter().filter_map(Process::time_range);
    let starts = times.map(|(start_ns, _)| start_ns);
    let is_all = options.from_ns == 0 && options.to_ns == u64::MAX;
    TraceInfo {
        // A trace without events has no times.
        start_ns: starts.min().unwrap_or(0).min(LATEST_NS),
        range_ns: (!is_all).then_some((options.from_ns, options.to_ns)),
    }
}

/// An adapter that adds names and details to calls.
struct Calls<'a, 's> {
    process: &'a Process,
    pid: u32,
    info: &'s TraceInfo,
    options: &'s Options,
    sink: &'s mut dyn Sink<'a>,
    thread: Thread,
    details: Option<ThreadReader>,
    /// How many events of the current thread link to details of other events.
    foreign: u64,
    /// The same number for all earlier threads.
    foreign_details: u64,
    /// The end of the current thread's calls so far.
    end_ns: u64,
    totals: Vec<ThreadTotals>,
    problems: Vec<Problem>,
}

impl Calls<'_, '_> {
    /// Reads an event's detail. If it cannot be read, the thread's problems contain the reason.
    /// Counts details of other events.
    fn detail(&mut self, event: &IndexEvent) -> Option<Detail> {
        let thread = self.details.as_ref()?;
        let reader = thread.detail()?;
        let found = reader.get(event.detail_seq?).ok()??;
        if !is_own(thread, event, &found) {
            self.foreign = self.foreign.saturating_add(1);
            return None;
        }
        if let Some(function) = reader.function_payload(&found).ok()? {
            return Some(Detail::Function(function));
        }
        if !has_detail_fields(self.process) {
            return None;
        }
        let payload = reader.payload(&found, LARGEST_FIELDS).ok()?;
        Some(Detail::Fields(fields(&payload)?.to_owned()))
    }
}

/// Returns whether a detail that an event links to belongs to the event.
fn is_own(thread: &ThreadReader, event: &IndexEvent, detail: &DetailEvent) -> bool {
    let back = thread.event_of(detail).ok().and_then(Linked::found);
    detail.header.timestamp == event.timestamp_ns && back == Some(*event)
}

impl CallVisitor for Calls<'_, '_> {
    type Error = Error;

    fn thread_start(&mut self, thread: &ThreadStart<'_>) -> Result<(), Error> {
        self.thread = Thread {
            pid: self.pid,
            number: self.thread.number.saturating_add(1),
            id: thread.id(),
            name: thread.name().map(str::to_owned),
        };
        self.details = None;
        Ok(self.sink.thread(&self.thread)?)
    }

    fn folder(&mut self, folder: &ThreadFolder<'_>) -> Result<(), Error> {
        if self.sink.wants_details() {
            // If the file cannot be opened, the thread's problems contain the reason.
            self.details = folder.open().ok().flatten();
        }
        Ok(())
    }

    fn call_start(&mut self, call: &CallStart) -> Result<(), Error> {
        let detail = self.detail(&call.event);
        Ok(self.sink.call_start(&Start {
            function: self.process.function(call.event.function_id),
            start_ns: call.start_ns,
            detail,
        })?)
    }

    fn call_end(&mut self, call: &CallEnd) -> Result<(), Error> {
        let detail = call.event.and_then(|event| self.detail(&event));
        self.end_ns = self.end_ns.max(call.end_ns);
        Ok(self.sink.call_end(&End {
            function: self.process.function(call.function_id),
            start_ns: call.start_ns,
            end_ns: call.end_ns,
            is_minimum: call.is_minimum,
            self_ns: call.self_ns,
            depth: call.depth,
            end: call.end,
            detail,
        })?)
    }

    fn unmatched(&mut self, unmatched: &Unmatched, now_ns: u64) -> Result<(), Error> {
        let function = self.process.function(unmatched.function_id);
        Ok(self.sink.unmatched(function, now_ns)?)
    }

    fn thread_end(
        &mut self,
        totals: Option<&ThreadTotals>,
        problems: &[Problem],
    ) -> Result<(), Error> {
        let mut notes = notes_of(totals, self.options, self.process.unwritten(), problems);
        let foreign = mem::take(&mut self.foreign);
        notes.extend((foreign > 0).then(|| foreign_details(foreign)));
        self.foreign_details = self.foreign_details.saturating_add(foreign);
        let times = totals.and_then(|totals| totals.times);
        let of_calls = mem::take(&mut self.end_ns);
        self.sink.thread_end(&ThreadEnd {
            thread: &self.thread,
            end_ns: times.map_or(self.info.first_ns(), |(_, end_ns)| end_ns.max(of_calls)),
            notes: &notes,
        })?;
        self.problems.extend_from_slice(problems);
        self.totals.extend(totals.cloned());
        Ok(())
    }
}
