//! Passes the calls of a process to a sink.

use atf::analyze::{CallEnd, CallStart, CallVisitor, ThreadFolder, ThreadStart, ThreadTotals};
use atf::detail::{LARGEST_FIELDS, fields};
use atf::index::IndexEvent;
use atf::session::Problem;
use atf::spans::Unmatched;
use atf::thread::ThreadReader;

use crate::notes::notes_of;
use crate::{Detail, End, Error, Process, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// An adapter that adds names and details to calls.
pub(crate) struct Calls<'a, 's> {
    process: &'s Process<'a>,
    pid: u32,
    info: &'s TraceInfo,
    sink: &'s mut dyn Sink<'a>,
    thread: Thread,
    details: Option<ThreadReader>,
    totals: Vec<ThreadTotals>,
    problems: Vec<Problem>,
}

impl<'a, 's> Calls<'a, 's> {
    pub(crate) fn new(
        process: &'s Process<'a>,
        pid: u32,
        threads: u32,
        info: &'s TraceInfo,
        sink: &'s mut dyn Sink<'a>,
    ) -> Self {
        Self {
            process,
            pid,
            info,
            sink,
            thread: Thread {
                pid,
                number: threads,
                id: 0,
                name: None,
            },
            details: None,
            totals: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the number of threads in this process and the processes before it.
    pub(crate) fn thread_count(&self) -> u32 {
        self.thread.number
    }

    /// Returns the threads' totals and problems.
    pub(crate) fn into_found(self) -> (Vec<ThreadTotals>, Vec<Problem>) {
        (self.totals, self.problems)
    }

    /// Reads an event's detail. If it cannot be read, the thread's problems contain the reason.
    fn detail(&self, event: &IndexEvent) -> Option<Detail> {
        let thread = self.details.as_ref()?;
        let found = thread.detail_of(event).ok()?.found()?;
        let reader = thread.detail()?;
        if let Some(function) = reader.function_payload(&found).ok()? {
            return Some(Detail::Function(function));
        }
        if !self.process.has_detail_fields() {
            return None;
        }
        let payload = reader.payload(&found, LARGEST_FIELDS).ok()?;
        Some(Detail::Fields(fields(&payload)?.to_owned()))
    }
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
        Ok(self.sink.call_start(&Start {
            function: self.process.function(call.event.function_id),
            start_ns: call.start_ns,
            detail: self.detail(&call.event),
        })?)
    }

    fn call_end(&mut self, call: &CallEnd) -> Result<(), Error> {
        Ok(self.sink.call_end(&End {
            function: self.process.function(call.function_id),
            start_ns: call.start_ns,
            end_ns: call.end_ns,
            self_ns: call.self_ns,
            depth: call.depth,
            end: call.end,
            detail: call.event.and_then(|event| self.detail(&event)),
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
        let notes = notes_of(totals, self.process.unwritten(), problems);
        let times = totals.and_then(|totals| totals.times);
        self.sink.thread_end(&ThreadEnd {
            thread: &self.thread,
            end_ns: times.map_or(self.info.start_ns, |(_, end_ns)| end_ns),
            notes: &notes,
        })?;
        self.problems.extend_from_slice(problems);
        self.totals.extend(totals.cloned());
        Ok(())
    }
}
