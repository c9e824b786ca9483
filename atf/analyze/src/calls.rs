//! Passes the start and the end of each call in a trace to a visitor.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use atf::Error;
use atf::index::IndexEvent;
use atf::spans::{Depth, SpanEnd, Unmatched};
use atf::thread::ThreadReader;
use atf::trace::{Process, Thread, ThreadFiles};

use crate::unit::{Deaths, Step, problems_of, read, select};
use crate::walk::{Began, Ended, Observer, Walk};
use crate::{Options, Problem, ThreadTotals};

/// A visitor that receives a trace's calls from the function [`calls`]. An error from any of its
/// methods stops the traversal.
pub trait CallVisitor {
    /// The error type of the visitor's methods.
    type Error;

    /// Receives a thread before it is opened.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn thread_start(&mut self, thread: &ThreadStart<'_>) -> Result<(), Self::Error>;

    /// Receives one of the thread's folders, whose files contain the calls and returns that follow.
    /// A folder is passed again if a call that started in it is still open at the start of the time
    /// range.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn folder(&mut self, folder: &ThreadFolder<'_>) -> Result<(), Self::Error>;

    /// Receives the start of a call. It is nested in all calls that have started but not ended.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn call_start(&mut self, call: &CallStart) -> Result<(), Self::Error>;

    /// Receives the end of the innermost call that has started but not ended.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn call_end(&mut self, call: &CallEnd) -> Result<(), Self::Error>;

    /// Receives a return, at `now_ns` nanoseconds, whose call is missing from the trace.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn unmatched(&mut self, unmatched: &Unmatched, now_ns: u64) -> Result<(), Self::Error>;

    /// Receives a thread's totals and its problems, which show how its events differ from what the
    /// tracer wrote. `totals` is `None` if the thread could not be opened.
    ///
    /// # Errors
    ///
    /// The visitor's errors.
    fn thread_end(
        &mut self,
        totals: Option<&ThreadTotals>,
        problems: &[Problem],
    ) -> Result<(), Self::Error>;
}

/// The thread whose calls the visitor receives next.
#[derive(Debug, Clone, Copy)]
pub struct ThreadStart<'a> {
    thread: &'a Thread<'a>,
}

impl ThreadStart<'_> {
    /// Returns the id in the folder's name, or in a single file's header.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.thread.id()
    }

    /// Returns the thread's name from the manifest.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.thread.name()
    }
}

/// One of a thread's folders. A thread has one folder per segment.
#[derive(Debug, Clone, Copy)]
pub struct ThreadFolder<'a> {
    files: &'a ThreadFiles<'a>,
    /// The problems of the details that the visitor opened.
    problems: &'a RefCell<Vec<Error>>,
}

impl ThreadFolder<'_> {
    /// Returns the folder's path; `None` for a single index file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.files.path()
    }

    /// Opens the folder's files to read the details of calls; returns `None` for a single index
    /// file.
    ///
    /// The problems that [`thread_end`](CallVisitor::thread_end) receives then include those of the
    /// details, such as a checksum mismatch, and any error from this method. If it is not called,
    /// finalized details are not read.
    ///
    /// # Errors
    ///
    /// The errors of [`ThreadReader::open`].
    pub fn open(&self) -> Result<Option<ThreadReader>, Error> {
        let opened = self.files.open();
        let problems = match &opened {
            Ok(Some(thread)) => thread.problems().unwrap_or_else(|error| vec![error]),
            Ok(None) => Vec::new(),
            Err(error) => vec![error.clone()],
        };
        self.problems.borrow_mut().extend(problems);
        opened
    }
}

/// The start of a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallStart {
    /// The call's event.
    pub event: IndexEvent,
    /// The start time in nanoseconds, clipped to the time range. Times never decrease.
    pub start_ns: u64,
    /// The call's depth: as recorded in wire version 1, otherwise derived from the open calls.
    pub depth: Depth,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// The function.
    pub function_id: u64,
    /// The return or exception that ended the call; `None` if the call ended in any other way.
    pub event: Option<IndexEvent>,
    /// The start time, as in the [`CallStart`].
    pub start_ns: u64,
    /// The end time in nanoseconds, clipped to the time range. Times never decrease. If no event
    /// ended the call, this is the time of the thread's last event or, with `is_minimum`, of the
    /// process's.
    pub end_ns: u64,
    /// Whether the call lasts at least until `end_ns`: no event ended it, because the process died,
    /// and the thread's events are complete.
    pub is_minimum: bool,
    /// The time during which this call was the innermost open call, in nanoseconds.
    pub self_ns: u64,
    /// The call's depth: as recorded in wire version 1, otherwise derived from the open calls.
    pub depth: Depth,
    /// How the call ended.
    pub end: SpanEnd,
}

/// Passes the calls in a trace to `visitor`, thread by thread, in the order of each thread's
/// events: a call's start, the calls inside it, and its end. Returns the session's own problems.
///
/// Times are measured as in any [analysis](super#time): they never decrease, and a call without an
/// end lasts until the thread's last event. With a time range, calls that are open when the range
/// starts are clipped to its start.
///
/// If more calls are open than [`CallStack::LIMIT`](atf::spans::CallStack::LIMIT), all open calls
/// end as [`SpanEnd::GivenUp`]. This keeps calls properly nested and memory bounded. The thread
/// then has the problem [`TooManyOpenCalls`](atf::ErrorKind::TooManyOpenCalls).
///
/// Uses 60 MB of memory for 262,144 open calls, regardless of the number of events.
///
/// # Errors
///
/// The visitor's errors. Read errors are reported as problems instead.
pub fn calls<V: CallVisitor>(
    process: impl Into<Process>,
    options: &Options,
    visitor: &mut V,
) -> Result<Vec<Problem>, V::Error> {
    let process = process.into();
    let (threads, problems) = select(&process, options);
    let deaths = Deaths::from_process(&process);
    for thread in &threads {
        visitor.thread_start(&ThreadStart { thread })?;
        let mut problems = Vec::new();
        let of_details = RefCell::new(Vec::new());
        let calls = Calls {
            visitor,
            problems: &of_details,
            folders: Vec::new(),
            folder: None,
            open: VecDeque::new(),
            seen: 0,
            next: 0,
            result: Ok(()),
        };
        let mut walk = Walk::new(thread.id(), options, calls);
        let end = read(thread, &mut problems, |step| {
            walk.step(&step);
            let calls = &mut walk.open.observer;
            if let Step::Files(files, _) = step {
                calls.folders.push(*files);
                calls.show_last_folder();
            }
            calls.check()
        })?;
        let totals = end.map(|end| {
            let (totals, mut calls) = walk.finish(thread, &end, &deaths);
            problems.extend(end.given_up(totals.given_up));
            calls.check().map(|()| totals)
        });
        let totals = totals.transpose()?;
        add_new(&mut problems, of_details.take());
        let problems: Vec<_> = problems_of(thread, problems).collect();
        visitor.thread_end(totals.as_ref(), &problems)?;
    }
    Ok(problems)
}

/// Adds the problems that are not yet in `known`.
fn add_new(known: &mut Vec<Error>, problems: Vec<Error>) {
    let mut texts: BTreeSet<String> = known.iter().map(Error::to_string).collect();
    let new = problems.into_iter();
    known.extend(new.filter(|error| texts.insert(error.to_string())));
}

/// An observer that passes a thread's calls to a visitor.
struct Calls<'v, 'a, V: CallVisitor> {
    visitor: &'v mut V,
    /// The problems of the details that the visitor opened.
    problems: &'v RefCell<Vec<Error>>,
    /// The folders found so far.
    folders: Vec<ThreadFiles<'a>>,
    /// The index of the folder that the visitor received last.
    folder: Option<usize>,
    /// The open calls, outermost first: those that the visitor has received, followed by those that
    /// started before the time range.
    open: VecDeque<Open>,
    /// The number of open calls that the visitor has received.
    seen: usize,
    /// The number of the next call.
    next: u64,
    result: Result<(), V::Error>,
}

struct Open {
    number: u64,
    /// The index of the folder in which the call started.
    folder: usize,
    start: CallStart,
    self_ns: u64,
}

impl<V: CallVisitor> Calls<'_, '_, V> {
    /// Returns the visitor's error.
    fn check(&mut self) -> Result<(), V::Error> {
        std::mem::replace(&mut self.result, Ok(()))
    }

    fn visit(&mut self, visit: impl FnOnce(&mut V) -> Result<(), V::Error>) {
        if self.result.is_ok() {
            self.result = visit(self.visitor);
        }
    }

    /// Passes a folder to the visitor, unless the visitor received that folder last.
    fn show_folder(&mut self, folder: usize) {
        if let Some(files) = self.folders.get(folder).copied()
            && self.folder != Some(folder)
        {
            self.folder = Some(folder);
            let problems = self.problems;
            let folder = ThreadFolder {
                files: &files,
                problems,
            };
            self.visit(|visitor| visitor.folder(&folder));
        }
    }

    /// Passes the calls that were open before the time range to the visitor. They may have started
    /// in earlier folders.
    fn show_all(&mut self) {
        while let Some(call) = self.open.get(self.seen) {
            let (start, folder) = (call.start, call.folder);
            self.show_folder(folder);
            self.visit(|visitor| visitor.call_start(&start));
            self.seen = self.seen.saturating_add(1);
        }
        self.show_last_folder();
    }

    fn show_last_folder(&mut self) {
        self.show_folder(self.folders.len().saturating_sub(1));
    }

    fn end_innermost(&mut self, ended: &Ended, end: SpanEnd) {
        if let Some(Open { start, self_ns, .. }) = self.open.pop_back() {
            self.seen = self.seen.min(self.open.len());
            let ended = CallEnd {
                function_id: start.event.function_id,
                event: ended.event.filter(|_| end == ended.how),
                start_ns: start.start_ns,
                end_ns: ended.now_ns,
                is_minimum: ended.is_minimum,
                self_ns,
                depth: start.depth,
                end,
            };
            self.visit(|visitor| visitor.call_end(&ended));
        }
    }

    /// Gives up the outermost call, after ending all calls inside it.
    fn give_up(&mut self, number: u64, ended: &Ended) {
        if self.open.front().is_none_or(|call| call.number != number) {
            return;
        }
        if ended.is_counted {
            self.show_all();
            while !self.open.is_empty() {
                self.end_innermost(ended, SpanEnd::GivenUp);
            }
        } else {
            self.open.pop_front();
            self.seen = self.seen.saturating_sub(1);
        }
    }
}

impl<V: CallVisitor> Observer for Calls<'_, '_, V> {
    /// The call's number.
    type Place = u64;

    fn call(&mut self, _: Option<u64>, call: &Began<'_>) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let start = CallStart {
            event: *call.event,
            start_ns: call.now_ns,
            depth: call.depth,
        };
        self.open.push_back(Open {
            number,
            folder: self.folders.len().saturating_sub(1),
            start,
            self_ns: 0,
        });
        if call.is_within {
            self.show_all();
        }
        number
    }

    fn spend(&mut self, number: u64, ns: u64) {
        if let Some(call) = self.open.back_mut().filter(|call| call.number == number) {
            call.self_ns = call.self_ns.saturating_add(ns);
        }
    }

    fn end(&mut self, number: u64, ended: &Ended) {
        if ended.how == SpanEnd::GivenUp {
            return self.give_up(number, ended);
        }
        // A call inside a call that was given up has already ended.
        if self.open.back().is_none_or(|call| call.number != number) {
            return;
        }
        if ended.is_counted {
            self.show_all();
            self.end_innermost(ended, ended.how);
        } else {
            self.open.pop_back();
            self.seen = self.seen.min(self.open.len());
        }
    }

    fn unmatched(&mut self, unmatched: &Unmatched, now_ns: u64) {
        self.show_all();
        self.visit(|visitor| visitor.unmatched(unmatched, now_ns));
    }
}
