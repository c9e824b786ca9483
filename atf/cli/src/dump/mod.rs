//! Writes the events of a trace, filtered and named, as text or JSON lines.

mod calls;
mod detail;
mod filter;
mod follow;
mod json;
mod lines;
mod names;
mod reported;
mod text;
mod trace;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use atf::detail::DetailReader;
use atf::index::IndexEvent;
use atf::merge::{Merge, MergedEvent};
use atf::symbols::Function;
use atf::trace::{PathKind, Trace};
use atf::{FileKind, Wire};
use atf_analyze::Pattern;

use crate::output::{Failure, Outcome, State, stdout};
use crate::recordings::or_newest;
use crate::text::counted;
use crate::time::{Time, TimeRange, parse_span};
use crate::trace::{Clock, ClockOption, ThreadOption, open_trace, other_names, several};

pub(crate) use filter::Kind;
pub(crate) use reported::Reported;
pub(crate) use text::Shown;

use calls::{Line, Replay, Step, Stop, each_call};
use detail::{Detail, Details, File, Found};
use filter::Ready;
use json::Json;
use names::{Named, Names};
use reported::{Dangling, report_losses, report_unverified};
use text::Text;
use trace::{NamedThread, Sessions, ThreadName, is_readable_as_one};

const AFTER_HELP: &str = "\
TIME is in nanoseconds of the trace's clock, or has a unit: 1000250000000, 1000.25s. With a + it
counts from the first event: +1.5ms, +700; with a - back from the last one: -10ms. --from and --to
are inclusive.
FUNCTION is a function_id (0x06444fc100000001), =NAME for an exact name, a pattern with * and ? for
the whole name, or a part of a name. Repeating a filter selects more, different ones select fewer.

Text: seconds since the first event, thread, seq, kind, call depth, function, link to a detail
event; with --spans: start, duration, thread, position of the call, function. Problems are written
to standard error after all events that can be read. docs/commands.md explains the forms and
--follow.

Exit status: 0, even if no event matches; 1 such a problem was found, but not for events that the
manifest counts as lost or unwritten; 2 usage, or a path that could not be read.

Example:
  $ atf dump --from +1ms --to +2ms --function 'parse*' session_20260105_101500/pid_4242";

/// The options of `dump`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Dump {
    /// A session, a folder with one session below it, a thread's folder or a file; or several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadOption,
    #[command(flatten)]
    range: TimeRange,
    #[command(flatten)]
    clock: ClockOption,
    /// Only events of these functions
    #[arg(long = "function", value_name = "FUNCTION")]
    functions: Vec<Pattern>,
    /// Only events of this kind: call, return, exception, or its number
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
    /// Stop after this many events
    #[arg(long, value_name = "COUNT", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    /// Only the last events of each thread, up to this many
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["limit", "follow"])]
    last: Option<usize>,
    /// Write calls with their durations instead of events
    #[arg(long, conflicts_with_all = ["kinds", "details"])]
    spans: bool,
    /// Write calls in the order in which they started, with braces around inner calls
    #[arg(long, conflicts_with_all = ["spans", "kinds", "details", "follow", "json"])]
    calls: bool,
    /// Also write each event's detail: registers and stack, or fields
    #[arg(long)]
    details: bool,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
    /// Write the events of files that are still being written, as they arrive
    #[arg(long, conflicts_with = "spans")]
    follow: bool,
    /// How long --follow waits between polls
    #[arg(long, value_name = "SPAN", default_value = "200ms", requires = "follow", value_parser = parse_span)]
    interval: Duration,
    /// Write JSON lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The thread and its process. The thread's id comes from its folder's name or from a file's
    /// header.
    pub(crate) thread: ThreadName,
    /// The event's position in its thread.
    pub(crate) seq: u64,
    /// The event.
    pub(crate) event: IndexEvent,
    /// Whether the event is all zeros, so that its time is unknown.
    pub(crate) is_zero: bool,
    /// The event's function.
    pub(crate) function: Named<'a>,
    /// The event's detail, if requested and present.
    pub(crate) detail: Option<&'a Detail<'a>>,
}

/// A sink for events or calls, which writes them in the order in which they are passed.
pub(crate) trait Sink {
    /// Sets the origin of the times in text; `None` to write absolute times.
    fn start(&mut self, origin_ns: Option<u64>) -> Result<(), Failure>;

    fn event(&mut self, row: &Row<'_>) -> Result<(), Failure>;

    /// Writes a detail event of a `detail.atf` that is dumped on its own.
    fn detail(&mut self, wire: Wire, detail: &Detail<'_>, names: &Names<'_>)
    -> Result<(), Failure>;

    /// Writes a line about a call of a thread.
    fn call(
        &mut self,
        thread: ThreadName,
        line: &Line,
        function: Function<'_>,
    ) -> Result<(), Failure>;

    /// Flushes buffered output.
    fn flush(&mut self) -> Result<(), Failure>;
}

impl Dump {
    /// Writes the events of the traces at the paths.
    pub(crate) fn run(&self) -> Outcome {
        let paths = &or_newest(&self.paths)?;
        if self.json {
            self.run_to(paths, &mut Json::new(stdout()))
        } else {
            self.run_to(paths, &mut Text::new(stdout()))
        }
    }

    /// Returns whether `--thread` selects a thread.
    fn selects(&self, id: u32) -> bool {
        self.threads.is_empty() || self.threads.contains(&id)
    }

    fn run_to(&self, paths: &[PathBuf], sink: &mut impl Sink) -> Outcome {
        if self.follow {
            let is_before_end = |time: &Option<Time>| matches!(time, Some(Time::BeforeEnd(_)));
            if [self.range.from, self.range.to].iter().any(is_before_end) {
                let message = "--follow: times before the end are unknown while files are growing";
                return Err(Failure::Usage(message.to_owned()));
            }
            return follow::run(self, paths, sink);
        }
        if let [path] = paths
            && PathKind::detect(path)? == PathKind::File(FileKind::Detail)
        {
            let state = self.detail_file(path, sink)?;
            sink.flush()?;
            return Ok(state);
        }
        let names = other_names(self.symbols.as_deref())?;
        let trace = open_trace(paths, &names, self.clock.clock)?;
        self.check_readable_as_one(paths, &trace)?;
        let ready = Ready::new(self, &trace)?;
        let state = if self.spans || self.calls {
            self.write_calls(&trace, &ready, sink)?
        } else {
            self.write_events(&trace, &ready, sink)?
        };
        sink.flush()?;
        Ok(state)
    }

    /// Merges the events of the selected threads.
    fn merge(&self, trace: &Trace) -> Merge {
        match &self.threads[..] {
            [] => trace.merge(),
            ids => trace.merge().threads(ids.iter().copied()),
        }
    }

    fn write_events(&self, trace: &Trace, ready: &Ready<'_>, sink: &mut impl Sink) -> Outcome {
        let times = ready.sessions.timestamps(&ready.filter.times());
        let merge = self.merge(trace).time_range(times);
        sink.start(ready.origin_ns())?;
        let mut output = Output {
            details: self.details.then(|| Details::new(trace, &ready.threads)),
            sessions: &ready.sessions,
            names: &ready.names,
            sink,
            reported: Reported::default(),
            dangling: Dangling::default(),
            zeros: BTreeMap::new(),
            first_seqs: first_seqs(&ready.threads),
            written: 0,
        };
        let admits_all = ready.filter.admits_all();
        let admits = |event: &MergedEvent| {
            admits_all || {
                let time_ns = ready.sessions.time(event.session, event.event.timestamp_ns);
                let function = (event.session, event.event.function_id);
                ready
                    .filter
                    .admits(function, time_ns, event.event.event_kind)
            }
        };
        let merge = match self.last {
            Some(count) => merge.last(count, admits),
            None => merge,
        };
        for event in merge.events() {
            if output.written == self.limit {
                break;
            }
            match event {
                Ok(event) if admits(&event) => output.write(event)?,
                Ok(_) => {}
                Err(error) => output.reported.report(&error),
            }
        }
        self.report_read(ready, output.written, || merge.unverified().count());
        report_losses(trace, ready, self.threads.is_empty());
        let is_partial = output.written >= self.limit || merge.unverified().next().is_some();
        Ok(output.finish(&merge, is_partial))
    }

    /// Writes calls instead of events, one thread after another, in the order of their ends or of
    /// their starts.
    fn write_calls(&self, trace: &Trace, ready: &Ready<'_>, sink: &mut dyn Sink) -> Outcome {
        sink.start(ready.origin_ns())?;
        let mut reported = Reported::default();
        let mut written = 0;
        let mut partly = 0;
        for NamedThread {
            session,
            name,
            thread,
        } in &ready.threads
        {
            let mut write = |line: &Line| -> Result<(), Stop> {
                let function = ready.names.get((*session, line.function_id()));
                sink.call(*name, line, function)?;
                // A call in braces counts once.
                written += u64::from(!matches!(line, Line::End(..)));
                if written == self.limit {
                    return Err(None);
                }
                Ok(())
            };
            let mut last = VecDeque::new();
            let mut replay = Replay::default();
            let read = each_call(thread, &mut reported, &mut partly, |step| {
                if self.limit == 0 {
                    return Err(None);
                }
                let mut put = |line| {
                    let Some(count) = self.last else {
                        return write(&line);
                    };
                    last.push_back(line);
                    if last.len() > count {
                        last.pop_front();
                    }
                    Ok(())
                };
                match step {
                    Step::Begin(call) if self.calls => replay.begin(call),
                    Step::Begin(_) => {}
                    Step::End(paired, until_ns) => {
                        let is_admitted = ready.filter.admits_span(*session, &paired, until_ns);
                        if self.calls {
                            let admits = |id| ready.filter.admits_function(*session, id);
                            replay.end(paired, is_admitted, admits, put)?;
                        } else if is_admitted {
                            put(Line::Whole(paired))?;
                        }
                    }
                }
                Ok(())
            });
            match read.and_then(|()| last.iter().try_for_each(write)) {
                Ok(()) => {}
                Err(None) => break,
                Err(Some(failure)) => return Err(failure),
            }
        }
        self.report_read(ready, written, || partly);
        report_losses(trace, ready, self.threads.is_empty());
        // Also report problems outside the paired events.
        let problems = self.merge(trace).problems();
        reported.report_all(problems.iter().map(|problem| &problem.error));
        Ok(reported.state())
    }

    /// Reports why nothing was written, and how many threads were only partly read.
    fn report_read(&self, ready: &Ready<'_>, written: u64, partly: impl FnOnce() -> usize) {
        if self.limit == 0 || self.last == Some(0) {
            return;
        }
        if written == 0 {
            ready.report_nothing();
        }
        report_unverified(partly());
    }

    /// Rejects a trace that is not from a single run.
    fn check_readable_as_one(&self, paths: &[PathBuf], trace: &Trace) -> Result<(), Failure> {
        let mut processes = trace.processes().iter();
        if let [process] = trace.processes() {
            if process.is_single_file() {
                self.check_index_alone(process.path())?;
            }
        } else if let Some(single) = processes.find(|it| it.is_single_thread()) {
            let message = "if there are several paths, each must be a session";
            return Err(Failure::at(single.path(), message));
        } else if !is_readable_as_one(trace) {
            let sessions = trace.sessions().map(|it| it.path().to_path_buf());
            return Err(several(paths, &sessions.collect::<Vec<_>>()));
        }
        Ok(())
    }

    /// Rejects options that need a `detail.atf`, for an `index.atf` on its own.
    fn check_index_alone(&self, path: &Path) -> Result<(), Failure> {
        if self.details {
            let message = "--details needs the thread's folder, not just its index file";
            return Err(Failure::at(path, message));
        }
        Ok(())
    }

    /// Rejects filters that do not apply to a `detail.atf` on its own.
    fn check_details_alone(&self, path: &Path) -> Result<(), Failure> {
        let is_filtered = !self.functions.is_empty() || !self.kinds.is_empty();
        let selects = is_filtered || !self.threads.is_empty() || self.last.is_some();
        if selects || self.spans || self.calls {
            let message =
                "--thread, --function, --kind, --last, --spans and --calls need the index file";
            return Err(Failure::at(path, message));
        }
        Ok(())
    }

    /// Writes the events of a `detail.atf`.
    fn detail_file(&self, path: &Path, sink: &mut dyn Sink) -> Outcome {
        self.check_details_alone(path)?;
        if self.clock.clock == Clock::Media {
            let message = "--clock media: a detail file by itself has no timing anchors";
            return Err(Failure::at(path, message));
        }
        let reader = DetailReader::open(path).map_err(Failure::Damaged)?;
        let other = other_names(self.symbols.as_deref())?;
        let names = Names::of_other(other.as_deref());
        let times = reader.time_range()?;
        let range = filter::times(self, times)?;
        sink.start(Some(times.map_or(0, |(start_ns, _)| start_ns)))?;
        let mut reported = Reported::default();
        // All of the file was read when it was opened, so its problems are known even if the dump
        // ends early.
        reported.report_all(&reader.problems()?);
        let mut left = self.limit;
        for event in reader.events() {
            let event = match event {
                Ok(event) if left > 0 => event,
                Ok(_) => break,
                Err(error) => {
                    reported.report(&error);
                    continue;
                }
            };
            if range.contains(&event.header.timestamp) {
                let detail = Detail::new(File::Read(&reader), event, false);
                sink.detail(reader.wire(), &detail, &names)?;
                left -= 1;
            }
        }
        Ok(reported.state())
    }
}

/// A writer of events that collects their problems.
struct Output<'a, S> {
    details: Option<Details<'a>>,
    sessions: &'a Sessions<'a>,
    names: &'a Names<'a>,
    sink: &'a mut S,
    reported: Reported,
    dangling: Dangling,
    /// For each thread, the first event of all zeros and the number of such events.
    zeros: BTreeMap<ThreadName, (u64, u64)>,
    /// For each thread that has events in earlier segments, the number of these events.
    first_seqs: BTreeMap<(u32, u32), u64>,
    /// The number of events written.
    written: u64,
}

impl<S: Sink> Output<'_, S> {
    /// Writes an event. Inlined, so that its fields stay in registers.
    #[inline(always)]
    fn write(&mut self, event: MergedEvent) -> Result<(), Failure> {
        let thread = ThreadName {
            process: self.sessions.pid(event.session),
            id: event.thread,
        };
        let is_zero = event.event.is_zero();
        let found = match &mut self.details {
            Some(details) if !is_zero => details.find(&{ event }, &mut self.reported),
            _ => Ok(Found::None),
        };
        let mut shown = event.event;
        shown.timestamp_ns = self.sessions.time(event.session, shown.timestamp_ns);
        let detail = match found {
            Ok(Found::Detail(mut detail)) => {
                detail.event.header.timestamp = shown.timestamp_ns;
                Some(detail)
            }
            Ok(Found::None) => None,
            Ok(found @ (Found::Foreign | Found::Dangling)) => {
                let is_foreign = matches!(found, Found::Foreign);
                self.dangling.add(thread, is_foreign, event.seq);
                None
            }
            Err(error) => {
                self.reported.report(&error);
                None
            }
        };
        if is_zero {
            let (_, count) = self.zeros.entry(thread).or_insert((event.seq, 0));
            *count += 1;
        }
        self.written += 1;
        let before = if self.first_seqs.is_empty() {
            None
        } else {
            self.first_seqs.get(&(event.session, event.thread))
        };
        self.sink.event(&Row {
            thread,
            seq: event.seq.saturating_add(before.copied().unwrap_or(0)),
            event: shown,
            is_zero,
            function: self.names.named((event.session, event.event.function_id)),
            detail: detail.as_ref(),
        })
    }

    /// Reports the remaining problems, even if the dump ended early.
    fn finish(mut self, merge: &Merge, is_partial: bool) -> State {
        let problems = merge.problems();
        let problems = problems.iter().map(|problem| &problem.error);
        self.reported.report_all(problems);
        self.dangling.report(&mut self.reported);
        // After a full read, the zeros were either reported as a gap, or a checksum proved that
        // they were written.
        self.zeros.retain(|_, _| is_partial);
        for (thread, (seq, count)) in &self.zeros {
            let events = counted(*count, "event");
            self.reported.report_text(format!(
                "thread {thread}: {events} of zeros, first events[{seq}]: a gap, unless a checksum \
                 proves that they were written; check with `atf info --verify`"
            ));
        }
        self.reported.state()
    }
}

/// Returns the number of events in earlier segments, by session and id, where it is not 0.
fn first_seqs(threads: &[NamedThread<'_>]) -> BTreeMap<(u32, u32), u64> {
    let mut first_seqs = BTreeMap::new();
    for thread in threads.iter().filter(|it| it.thread.files().len() > 1) {
        let mut first_seq = 0_u64;
        for (session, files) in thread.files() {
            if first_seq > 0 {
                first_seqs.insert((session, thread.name.id), first_seq);
            }
            // A segment that cannot be opened is reported when its events are read.
            let count = files.open_index().map_or(0, |index| index.event_count());
            first_seq = first_seq.saturating_add(count);
        }
    }
    first_seqs
}
