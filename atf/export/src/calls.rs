//! Passes the calls of a process to a sink.

use std::mem;

use atf::detail::{DetailEvent, LARGEST_FIELDS, fields};
use atf::index::IndexEvent;
use atf::spans::Unmatched;
use atf::thread::{Linked, ThreadReader};
use atf::trace::Process;
use atf_analyze::{
    CallEnd, CallStart, CallVisitor, Options, Problem, ThreadFolder, ThreadStart, ThreadTotals,
};

use crate::notes::{foreign_details, notes_of};
use crate::process::has_detail_fields;
use crate::{Detail, End, Error, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// An adapter that adds names and details to calls.
pub(crate) struct Calls<'a, 's> {
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
    pub(crate) foreign_details: u64,
    /// The end of the current thread's calls so far.
    end_ns: u64,
    /// The totals of the threads.
    pub(crate) totals: Vec<ThreadTotals>,
    /// The problems of the threads.
    pub(crate) problems: Vec<Problem>,
}

impl<'a, 's> Calls<'a, 's> {
    pub(crate) fn new(
        process: &'a Process,
        pid: u32,
        threads: u32,
        (info, options): (&'s TraceInfo, &'s Options),
        sink: &'s mut dyn Sink<'a>,
    ) -> Self {
        Self {
            process,
            pid,
            info,
            options,
            sink,
            thread: Thread {
                pid,
                number: threads,
                id: 0,
                name: None,
            },
            details: None,
            foreign: 0,
            foreign_details: 0,
            end_ns: 0,
            totals: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the number of threads in this process and the processes before it.
    pub(crate) fn thread_count(&self) -> u32 {
        self.thread.number
    }

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
