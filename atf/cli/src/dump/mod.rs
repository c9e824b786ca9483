//! The events of a trace: filtered, named, written as text or as JSON lines.

mod detail;
mod filter;
mod json;
mod merged;
mod names;
mod pattern;
mod text;
mod time;

use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexEvent;
use atf::session::SessionReader;
use atf::{FileKind, Wire};

use crate::output::{Failure, Outcome, State, complain, stdout};
use crate::target::Target;

pub(crate) use filter::Kind;
pub(crate) use pattern::Pattern;
pub(crate) use time::Time;

use detail::{Detail, Details};
use filter::Filter;
use json::Json;
use merged::{Merged, Threads};
use names::Names;
use text::Text;

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line for each event, for people.
    Text,
    /// A JSON object for each event.
    Json,
}

/// What is to be written of which trace.
#[derive(Debug)]
pub(crate) struct Dump<'a> {
    /// The trace.
    pub(crate) path: &'a Path,
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

    /// The end.
    fn finish(&mut self) -> Result<(), Failure>;
}

impl Dump<'_> {
    /// Writes it.
    pub(crate) fn run(&self) -> Outcome {
        let mut sink: Box<dyn Sink> = match self.form {
            Form::Text => Box::new(Text::new(stdout())),
            Form::Json => Box::new(Json::new(stdout())),
        };
        let state = match Target::of(self.path)? {
            Target::File(path, FileKind::Detail) => self.details(&path, sink.as_mut())?,
            Target::File(path, FileKind::Index) | Target::OtherFile(path) => {
                self.events(&Threads::of_file(&path)?, None, sink.as_mut())?
            }
            Target::Thread(path) => {
                self.events(&Threads::of_folder(&path)?, None, sink.as_mut())?
            }
            Target::Session(path) => self.session(&path, sink.as_mut())?,
            Target::Sessions(paths) => match paths.as_slice() {
                [path] => self.session(path, sink.as_mut())?,
                paths => return Err(several(self.path, paths)),
            },
        };
        sink.finish()?;
        Ok(state)
    }

    fn session(&self, path: &Path, sink: &mut dyn Sink) -> Outcome {
        let session = SessionReader::open(path)?;
        self.events(&Threads::of_session(&session), Some(&session), sink)
    }

    fn events(
        &self,
        threads: &Threads,
        session: Option<&SessionReader>,
        sink: &mut dyn Sink,
    ) -> Outcome {
        let names = Names::of(self.symbols, session.and_then(SessionReader::manifest))?;
        let start_ns = threads.start_ns();
        let filter = Filter::new(self, start_ns, &names)?;
        sink.start(start_ns.unwrap_or(0))?;
        let mut details = Details::new(self.details, threads);
        let mut is_damaged = threads.report();
        let mut left = self.limit;
        for event in Merged::new(threads, &filter) {
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
            let detail = match details.of(&event) {
                Ok(detail) => detail,
                Err(error) => {
                    complain(error);
                    is_damaged = true;
                    None
                }
            };
            sink.event(&Row {
                thread: event.thread,
                seq: event.seq,
                wire: event.wire,
                event: event.event,
                name: names.get(event.event.function_id),
                detail,
            })?;
            left -= 1;
        }
        Ok(State::of(is_damaged))
    }

    /// The events of a `detail.atf`.
    fn details(&self, path: &Path, sink: &mut dyn Sink) -> Outcome {
        let is_filtered = !self.functions.is_empty() || !self.kinds.is_empty();
        if is_filtered || !self.threads.is_empty() {
            let message = "--thread, --function and --kind need the index file";
            return Err(Failure::Usage(format!("{}: {message}", path.display())));
        }
        let reader = match DetailReader::open(path) {
            Ok(reader) => reader,
            Err(error) => {
                complain(error);
                return Ok(State::Damaged);
            }
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
