//! The events of a trace: filtered, named, written as text or as JSON lines.

mod detail;
mod filter;
mod follow;
mod json;
mod names;
mod pattern;
mod text;
mod time;
mod trace;

use std::path::Path;
use std::time::Duration;

use atf::detail::DetailReader;
use atf::index::IndexEvent;
use atf::spans::{Paired, Span, Spans, Unmatched};
use atf::{Error, FileKind, Wire};

use crate::output::{Failure, Outcome, State, complain, stdout};
use crate::target::Target;

pub(crate) use filter::Kind;
pub(crate) use pattern::Pattern;
pub(crate) use time::{Time, parse_span};

use detail::{Detail, Details};
use filter::Filter;
use json::Json;
use names::Names;
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
            Target::Thread(path) => Trace::Folder(path),
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
        let names = Names::of(self.symbols, trace)?;
        let start_ns = trace.start_ns();
        let filter = Filter::new(self, start_ns, &names)?;
        let threads = match trace.threads(self.threads) {
            Ok(threads) => threads,
            Err(Failure::Input(error)) => return Ok(damaged(error)),
            Err(failure) => return Err(failure),
        };
        let merge = match trace.merge(&threads) {
            Ok(merge) => merge.time_range(filter.times()),
            Err(error) => return Ok(damaged(error)),
        };
        sink.start(start_ns.unwrap_or(0))?;
        let mut details = self.details.then(|| Details::new(trace, &threads));
        let mut is_damaged = !merge.problems().is_empty();
        for problem in merge.problems() {
            complain(&problem.error);
        }
        let mut left = self.limit;
        for event in merge.events() {
            if left == 0 {
                break;
            }
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    complain(error);
                    is_damaged = true;
                    continue;
                }
            };
            if !filter.admits(&event.event) {
                continue;
            }
            let detail = match &mut details {
                Some(details) => details.of(&event).unwrap_or_else(|error| {
                    complain(error);
                    is_damaged = true;
                    None
                }),
                None => None,
            };
            sink.event(&Row {
                thread: event.thread,
                seq: event.seq,
                wire: wire_of(&event.event),
                event: event.event,
                name: names.get(event.event.function_id),
                detail,
            })?;
            left -= 1;
        }
        Ok(State::of(is_damaged))
    }

    /// Calls instead of events, one thread after the other.
    fn spans(&self, trace: &Trace, sink: &mut dyn Sink) -> Outcome {
        let names = Names::of(self.symbols, trace)?;
        let start_ns = trace.start_ns();
        let filter = Filter::new(self, start_ns, &names)?;
        let threads = match trace.threads(self.threads) {
            Ok(threads) => threads,
            Err(Failure::Input(error)) => return Ok(damaged(error)),
            Err(failure) => return Err(failure),
        };
        sink.start(start_ns.unwrap_or(0))?;
        let mut state = State::Fine;
        let mut left = self.limit;
        for thread in threads {
            let index = match trace.index(thread.position) {
                Ok(index) => index,
                Err(error) => {
                    state = damaged(error);
                    continue;
                }
            };
            for paired in Spans::new(index.events()) {
                if left == 0 {
                    return Ok(state);
                }
                let paired = match paired {
                    Ok(paired) => paired,
                    Err(error) => {
                        state = damaged(error);
                        continue;
                    }
                };
                if filter.admits_span(&paired) {
                    let (Paired::Span(Span { function_id, .. })
                    | Paired::Unmatched(Unmatched { function_id, .. })) = paired;
                    sink.span(thread.id, &paired, names.get(function_id))?;
                    left -= 1;
                }
            }
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
    let mut message = format!("{}: several sessions; name one of", path.display());
    for session in sessions.iter().take(10) {
        message += &format!(" {}", session.display());
    }
    if sessions.len() > 10 {
        message += &format!(" and {} more", sessions.len() - 10);
    }
    Failure::Usage(message)
}
