//! The events of a trace: filtered, named, written as text or as JSON lines.

mod detail;
mod filter;
mod follow;
mod holes;
mod json;
mod names;
mod pattern;
mod ready;
mod text;
mod time;
mod trace;

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use atf::detail::DetailReader;
use atf::index::IndexEvent;
use atf::merge::MergedEvent;
use atf::spans::{Paired, Span, Spans, Unmatched};
use atf::{Error, FileKind, Wire};

use crate::output::{Failure, Outcome, State, complain, stdout};
use crate::target::Target;

pub(crate) use filter::Kind;
pub(crate) use pattern::Pattern;
pub(crate) use time::{Time, parse_span};

use detail::{Detail, Details};
use holes::Holes;
use json::Json;
use names::Names;
use ready::Ready;
use text::Text;
use trace::Trace;

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line for each event, for people.
    Text,
    /// A JSON object for each event.
    Json,
}

/// What of a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Its events, those of all threads in one order.
    Events,
    /// Its calls, from a call's event to that which ended it, thread by thread.
    Spans,
}

/// What is to be written of which trace.
#[derive(Debug)]
pub(crate) struct Dump<'a> {
    /// The trace.
    pub(crate) path: &'a Path,
    /// Events or calls.
    pub(crate) what: What,
    /// Threads, by their folders; all where there is none.
    pub(crate) threads: &'a [u32],
    /// The first time.
    pub(crate) from: Option<Time>,
    /// The last time.
    pub(crate) to: Option<Time>,
    /// Functions; all where there is none.
    pub(crate) functions: &'a [Pattern],
    /// Kinds; all where there is none.
    pub(crate) kinds: &'a [Kind],
    /// How many events at most.
    pub(crate) limit: u64,
    /// How many events at most from the end; all where there is none.
    pub(crate) last: Option<usize>,
    /// Whether with details.
    pub(crate) details: bool,
    /// A manifest with names of functions.
    pub(crate) symbols: Option<&'a Path>,
    /// How it is written.
    pub(crate) form: Form,
    /// How long to wait between looks at files that are still being written; `None` for those that
    /// are not.
    pub(crate) follow: Option<Duration>,
}

/// An event as it is written.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The thread's id in its folder's name, or in a file's header.
    pub(crate) thread: u32,
    /// The event's position in its file.
    pub(crate) seq: u64,
    /// The wire version of its file.
    pub(crate) wire: Wire,
    /// The event.
    pub(crate) event: IndexEvent,
    /// Its function's name.
    pub(crate) name: Option<&'a str>,
    /// Its details, where they are asked for and there are any.
    pub(crate) detail: Option<Detail<'a>>,
}

/// Takes what is dumped, in its order.
pub(crate) trait Sink {
    /// The time from which others are told.
    fn start(&mut self, start_ns: u64) -> Result<(), Failure>;

    /// An event.
    fn event(&mut self, row: &Row<'_>) -> Result<(), Failure>;

    /// A detail event of a file that was named.
    fn detail(&mut self, wire: Wire, detail: &Detail<'_>) -> Result<(), Failure>;

    /// A call of a thread, or a return without a call.
    fn span(&mut self, thread: u32, paired: &Paired, name: Option<&str>) -> Result<(), Failure>;

    /// Sends on what was written.
    fn flush(&mut self) -> Result<(), Failure>;
}

impl Dump<'_> {
    /// Writes it.
    pub(crate) fn run(&self) -> Outcome {
        let mut sink: Box<dyn Sink> = match self.form {
            Form::Text => Box::new(Text::new(stdout())),
            Form::Json => Box::new(Json::new(stdout())),
        };
        if let Some(interval) = self.follow {
            return follow::run(self, interval, sink.as_mut());
        }
        let trace = match Target::of(self.path)? {
            Target::File(path, FileKind::Detail) => {
                let state = self.detail_file(&path, sink.as_mut())?;
                sink.flush()?;
                return Ok(state);
            }
            Target::File(path, FileKind::Index) | Target::OtherFile(path) => Trace::File(path),
            Target::Thread(path) => Trace::of_thread(path),
            Target::Session(path) => Trace::of_session(&path)?,
            Target::Sessions(paths) => match paths.as_slice() {
                [path] => Trace::of_session(path)?,
                paths => return Err(several(self.path, paths)),
            },
        };
        let state = match self.what {
            What::Events => self.events(&trace, sink.as_mut())?,
            What::Spans => self.spans(&trace, sink.as_mut())?,
        };
        sink.flush()?;
        Ok(state)
    }

    fn events(&self, trace: &Trace, sink: &mut dyn Sink) -> Outcome {
        let ready = match Ready::new(self, trace)? {
            Ok(ready) => ready,
            Err(error) => return Ok(damaged(error)),
        };
        let merge = match trace.merge(&ready.threads) {
            Ok(merge) => merge.time_range(ready.filter.times()),
            Err(error) => return Ok(damaged(error)),
        };
        sink.start(ready.start_ns())?;
        for problem in merge.problems() {
            complain(&problem.error);
        }
        let mut output = Output {
            details: self.details.then(|| Details::new(trace, &ready.threads)),
            names: &ready.names,
            sink,
            is_damaged: ready.is_damaged || !merge.problems().is_empty(),
            holes: Holes::default(),
            written: 0,
        };
        match (self.last, ready.threads.as_slice()) {
            (None, _) => {
                for event in merge.events() {
                    if output.written == self.limit {
                        break;
                    }
                    if let Some(event) =
                        output.take(event).filter(|e| ready.filter.admits(&e.event))
                    {
                        output.write(&event)?;
                    }
                }
            }
            (Some(count), [thread]) => {
                let index = match trace.index(thread.position) {
                    Ok(index) => index,
                    Err(error) => return Ok(damaged(error)),
                };
                let mut last = VecDeque::new();
                let seqs = (0..index.event_count()).rev();
                let mut events = seqs.zip(index.events().rev());
                while let Some((seq, event)) = events.next().filter(|_| last.len() < count) {
                    let thread = thread.id;
                    let event = event.map(|event| MergedEvent { thread, seq, event });
                    let Some(event) = output.take(event) else {
                        break;
                    };
                    if ready.filter.admits(&event.event) {
                        last.push_front(event);
                    }
                }
                last.iter().try_for_each(|event| output.write(event))?;
            }
            (Some(count), _) => {
                let mut last = Last::new(count);
                let events = merge.events().filter_map(|event| output.take(event));
                events
                    .filter(|event| ready.filter.admits(&event.event))
                    .for_each(|event| last.push(event));
                last.iter().try_for_each(|event| output.write(event))?;
            }
        }
        if output.written == 0 && self.limit > 0 && self.last != Some(0) {
            ready.tell_nothing();
        }
        Ok(State::of(output.holes.tell() || output.is_damaged))
    }

    /// Calls instead of events, one thread after the other.
    fn spans(&self, trace: &Trace, sink: &mut dyn Sink) -> Outcome {
        let ready = match Ready::new(self, trace)? {
            Ok(ready) => ready,
            Err(error) => return Ok(damaged(error)),
        };
        sink.start(ready.start_ns())?;
        let mut state = State::of(ready.is_damaged);
        let mut last = self.last.map(Last::new);
        let mut written = 0;
        let mut write = |thread: u32, paired: &Paired| {
            let (Paired::Span(Span { function_id, .. })
            | Paired::Unmatched(Unmatched { function_id, .. })) = *paired;
            written += 1;
            sink.span(thread, paired, ready.names.get(function_id))?;
            Ok::<_, Failure>(written)
        };
        let mut is_any = false;
        'threads: for thread in &ready.threads {
            let index = match trace.index(thread.position) {
                Ok(index) => index,
                Err(error) => {
                    state = damaged(error);
                    continue;
                }
            };
            for paired in Spans::new(index.events()) {
                if self.limit == 0 {
                    break 'threads;
                }
                let paired = match paired {
                    Ok(paired) => paired,
                    Err(error) => {
                        state = damaged(error);
                        continue;
                    }
                };
                if !ready.filter.admits_span(&paired) {
                    continue;
                }
                is_any = true;
                match &mut last {
                    Some(last) => last.push((thread.id, paired)),
                    None if write(thread.id, &paired)? == self.limit => break 'threads,
                    None => {}
                }
            }
        }
        for (thread, paired) in last.iter().flat_map(Last::iter) {
            write(*thread, paired)?;
        }
        if !is_any && self.limit > 0 {
            ready.tell_nothing();
        }
        Ok(state)
    }

    /// Refuses what a `detail.atf` by itself does not tell.
    fn check_details_alone(&self, path: &Path) -> Result<(), Failure> {
        let is_filtered = !self.functions.is_empty() || !self.kinds.is_empty();
        if is_filtered || !self.threads.is_empty() || self.what == What::Spans {
            let message = "--thread, --function, --kind and --spans need the index file";
            return Err(Failure::Usage(format!("{}: {message}", path.display())));
        }
        Ok(())
    }

    /// The events of a `detail.atf`.
    fn detail_file(&self, path: &Path, sink: &mut dyn Sink) -> Outcome {
        self.check_details_alone(path)?;
        let reader = match DetailReader::open(path) {
            Ok(reader) => reader,
            Err(error) => return Ok(damaged(error)),
        };
        let start_ns = reader.time_range()?.map(|(start_ns, _)| start_ns);
        let range = filter::times(self, start_ns)?;
        sink.start(start_ns.unwrap_or(0))?;
        let problem = reader.framing_problem();
        problem.into_iter().for_each(complain);
        let mut is_damaged = problem.is_some();
        let mut left = self.limit;
        for event in reader.events() {
            let event = match event {
                Ok(event) if left > 0 => event,
                Ok(_) => break,
                Err(error) => {
                    complain(error);
                    is_damaged = true;
                    break;
                }
            };
            if range.contains(&event.header.timestamp) {
                let wire = reader.wire();
                sink.detail(wire, &Detail::new(&reader, event))?;
                left -= 1;
            }
        }
        Ok(State::of(is_damaged))
    }
}

/// Writes events, and knows what was wrong with those that came.
struct Output<'a> {
    details: Option<Details<'a>>,
    names: &'a Names<'a>,
    sink: &'a mut dyn Sink,
    is_damaged: bool,
    holes: Holes,
    /// How many events.
    written: u64,
}

impl Output<'_> {
    /// The event, or nothing where it could not be read, which is said.
    fn take(&mut self, event: Result<MergedEvent, Error>) -> Option<MergedEvent> {
        match event {
            Ok(event) => {
                self.holes.look(event.thread, event.seq, &event.event);
                Some(event)
            }
            Err(error) => {
                complain(error);
                self.is_damaged = true;
                None
            }
        }
    }

    fn write(&mut self, event: &MergedEvent) -> Result<(), Failure> {
        let detail = match &mut self.details {
            Some(details) => details.of(event).unwrap_or_else(|error| {
                complain(error);
                self.is_damaged = true;
                None
            }),
            None => None,
        };
        self.written += 1;
        self.sink.event(&Row {
            thread: event.thread,
            seq: event.seq,
            wire: wire_of(&event.event),
            event: event.event,
            name: self.names.get(event.event.function_id),
            detail,
        })
    }
}

/// The last of what comes, so many at most.
struct Last<T> {
    count: usize,
    items: VecDeque<T>,
}

impl<T> Last<T> {
    const fn new(count: usize) -> Self {
        let items = VecDeque::new();
        Self { count, items }
    }

    fn push(&mut self, item: T) {
        self.items.push_back(item);
        if self.items.len() > self.count {
            self.items.pop_front();
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

/// Says why a thread cannot be read, or not further.
fn damaged(error: Error) -> State {
    complain(error);
    State::Damaged
}

/// The wire version of an event's file: only version 1 records a depth.
fn wire_of(event: &IndexEvent) -> Wire {
    match event.call_depth {
        Some(_) => Wire::V1,
        None => Wire::V2,
    }
}

fn several(path: &Path, sessions: &[std::path::PathBuf]) -> Failure {
    let mut names: Vec<_> = sessions
        .iter()
        .take(10)
        .map(|session| session.display().to_string())
        .collect();
    if sessions.len() > 10 {
        names.push(format!("and {} more", sessions.len() - 10));
    }
    let message = format!("{}: several sessions; name one of", path.display());
    Failure::Choice(message, names)
}
