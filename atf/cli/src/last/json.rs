//! JSON Lines output: one object per session.

use std::io::Write;

use atf::index::IndexEvent;
use atf::spans::Span as Call;
use atf_analyze::LastOfThread;
use serde::Serialize;

use super::{Section, Sink, end_ns, open_ns};
use crate::info::{Ending, RingInfo};
use crate::json::{self, LossInfo, Named, U64};
use crate::output::Failure;
use crate::trace::{TimedProcess, unwritten_events};

pub(super) struct Json<W>(pub(super) W);

#[derive(Serialize)]
struct Session<'a> {
    path: String,
    /// The signal that ended the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'a str>,
    /// Why the tracer could not record everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    recording_error: Option<&'a str>,
    /// The losses of threads without files.
    #[serde(flatten)]
    lost: LossInfo,
    /// The maximum number of events that may be missing at the end of each thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    unwritten_events: Option<U64>,
    threads: Vec<Thread<'a>>,
    /// The messages of all problems, which are also written to standard error.
    problems: &'a [String],
}

#[derive(Serialize)]
struct Thread<'a> {
    thread: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_name: Option<&'a str>,
    completeness: Ending,
    /// Whether the last file has no footer although it was finalized.
    #[serde(skip_serializing_if = "json::is_default")]
    lost_footer: bool,
    event_count: U64,
    missing_events: U64,
    out_of_order: U64,
    start_ns: Option<U64>,
    end_ns: Option<U64>,
    /// The numbers of index and detail bytes that `ring.atf` added.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<RingInfo>,
    #[serde(flatten)]
    lost: LossInfo,
    open_count: U64,
    given_up: U64,
    /// The open calls, innermost first.
    open: Vec<OpenCall<'a>>,
    events: Vec<Event<'a>>,
}

#[derive(Serialize)]
struct OpenCall<'a> {
    #[serde(flatten)]
    function: Named<'a>,
    start_seq: U64,
    start_ns: U64,
    /// The time from the call to the thread's last event or, if the call lasted at least that long,
    /// to the process's.
    open_ns: U64,
    /// Whether `open_ns` is a minimum that ends with the process's last event.
    #[serde(skip_serializing_if = "json::is_default")]
    is_minimum: bool,
    depth: u32,
}

#[derive(Serialize)]
struct Event<'a> {
    seq: U64,
    timestamp_ns: U64,
    event_kind: u32,
    #[serde(flatten)]
    function: Named<'a>,
}

impl<'a> Thread<'a> {
    fn new(process: &'a TimedProcess, thread: &LastOfThread) -> Self {
        let end_ns = end_ns(thread);
        let open = |call: &Call| OpenCall {
            function: process.function(call.function_id).into(),
            start_seq: call.start_seq.into(),
            start_ns: call.start_ns.into(),
            open_ns: U64(open_ns(thread, call)),
            is_minimum: thread.open_until_ns.is_some(),
            depth: call.depth.get(),
        };
        let event = |(seq, event): &(u64, IndexEvent)| Event {
            seq: U64(*seq),
            timestamp_ns: event.timestamp_ns.into(),
            event_kind: event.event_kind.into(),
            function: process.function(event.function_id).into(),
        };
        Self {
            thread: thread.thread,
            thread_name: process.thread_name(thread.thread),
            completeness: (&thread.completeness).into(),
            lost_footer: thread.lost_footer,
            event_count: thread.event_count.into(),
            missing_events: thread.missing_events.into(),
            out_of_order: thread.out_of_order.into(),
            start_ns: thread.times.map(|(start_ns, _)| U64(start_ns)),
            end_ns: end_ns.map(U64),
            ring: thread.ring.map(RingInfo::from),
            lost: LossInfo(thread.losses),
            open_count: thread.open_count.into(),
            given_up: thread.given_up.into(),
            open: thread.open.iter().map(open).collect(),
            events: thread.events.iter().map(event).collect(),
        }
    }
}

impl<W: Write> Sink for Json<W> {
    fn section(&mut self, section: &Section<'_>) -> Result<(), Failure> {
        let Section {
            process,
            last,
            losses_without_files,
            problems,
        } = *section;
        let threads = last.threads.iter();
        let manifest = process.manifest();
        let session = Session {
            path: json::path(process.path()),
            ended_by: manifest.and_then(|manifest| manifest.ended_by.as_deref()),
            recording_error: manifest.and_then(|manifest| manifest.recording_error.as_deref()),
            lost: LossInfo(losses_without_files),
            unwritten_events: unwritten_events(process.unwritten()).map(U64),
            threads: threads.map(|thread| Thread::new(process, thread)).collect(),
            problems,
        };
        json::line(&mut self.0, &session)
    }
}
