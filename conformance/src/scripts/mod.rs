//! Writer scripts, which list the operations that a writer under test performs, one per line.
//!
//! ```
//! use atf_conformance::scripts::Script;
//!
//! let script: Script = "\
//! open thread=0 wire=1 clock=3 arch=1 os=4
//! index thread=0 ts=1000 fn=4294967297 kind=1 depth=1 detail=0
//! detail thread=0 index=0 ts=1000 type=3 flags=0 payload=00ff
//! finalize thread=0
//! "
//! .parse()?;
//! assert_eq!(script.threads()[&0].details[0].payload, [0x00, 0xff]);
//! # Ok::<(), atf_conformance::scripts::ScriptError>(())
//! ```

mod order;
mod set;
mod text;

use std::collections::{BTreeMap, BTreeSet};

pub use set::{Scripted, all, scripts, under_fire};
pub use text::ScriptError;

/// The operations of one session, in an order in which a tracer could perform them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    operations: Vec<Operation>,
}

/// A line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Opens a thread.
    Open(Open),
    /// Adds an event to `index.atf`.
    Index(Index),
    /// Adds the details of the previous event to `detail.atf`.
    Detail(Detail),
    /// Finalizes a thread by writing footers and headers.
    Finalize(u32),
    /// Flushes a thread. The events added so far must survive the end of the process.
    Flush(u32),
    /// Closes a thread's files without finalizing them.
    Close(u32),
    /// Frees space on the simulated full disk. The program raises its own file size limit.
    Space,
    /// Ends the program after its buffers have been written, without finalizing open threads.
    Abort,
    /// Kills the program with SIGKILL, which the program sends to itself.
    Kill,
}

/// The header values of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// The thread's id.
    pub thread_id: u32,
    /// The wire version, 1 or 2.
    pub wire: u8,
    /// The clock used for timestamps.
    pub clock_type: u8,
    /// The CPU architecture.
    pub arch: u8,
    /// The operating system.
    pub os: u8,
}

/// An event of `index.atf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The thread.
    pub thread_id: u32,
    /// The time in nanoseconds.
    pub timestamp_ns: u64,
    /// The function.
    pub function_id: u64,
    /// The kind: 1 for a call, 2 for a return, 3 for an exception.
    pub event_kind: u8,
    /// The depth of the call stack. Wire version 2 does not store it.
    pub call_depth: u32,
    /// The position of the event's details in `detail.atf`, if it has any.
    pub detail_seq: Option<u64>,
}

/// An event of `detail.atf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The thread.
    pub thread_id: u32,
    /// The position of the index event in `index.atf`.
    pub index_seq: u64,
    /// The time in nanoseconds, which equals the time of the index event.
    pub timestamp: u64,
    /// The type: 3 for a call, 4 for a return, or a type that the tracer defines.
    pub event_type: u16,
    /// The flags. None are defined.
    pub flags: u16,
    /// The payload, which may be any bytes.
    pub payload: Vec<u8>,
}

/// The expected content of a thread's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread<'a> {
    /// The thread's header values.
    pub open: &'a Open,
    /// The events of `index.atf`, in order.
    pub events: Vec<&'a Index>,
    /// The events of `detail.atf`, in order.
    pub details: Vec<&'a Detail>,
    /// Whether the script finalizes the thread.
    pub is_finalized: bool,
    /// The number of events and of details that must survive, whatever happens later.
    pub flushed: (usize, usize),
}

impl Thread<'_> {
    /// Returns whether the script adds events after it finalizes the thread.
    #[must_use]
    pub const fn has_late_events(&self) -> bool {
        self.is_finalized && self.events.len() > self.flushed.0
    }
}

impl Script {
    /// Makes a script from these operations.
    ///
    /// # Errors
    ///
    /// Returns an error if a tracer could not perform the operations in this order. The error's
    /// line is the operation's number in the printed script, starting at 1.
    pub fn new(operations: Vec<Operation>) -> Result<Self, ScriptError> {
        order::check(&operations).map_err(|(position, message)| ScriptError {
            line: position + 1,
            column: 1,
            message,
        })?;
        Ok(Self { operations })
    }

    /// Returns the operations, in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the expected content of each thread's files, by thread id.
    #[must_use]
    pub fn threads(&self) -> BTreeMap<u32, Thread<'_>> {
        let mut threads = BTreeMap::new();
        for operation in &self.operations {
            let Some(id) = operation.thread_id() else {
                continue;
            };
            if let Operation::Open(open) = operation {
                let thread = Thread {
                    open,
                    events: Vec::new(),
                    details: Vec::new(),
                    is_finalized: false,
                    flushed: (0, 0),
                };
                threads.insert(id, thread);
            }
            let Some(thread) = threads.get_mut(&id) else {
                continue;
            };
            match operation {
                Operation::Index(event) => thread.events.push(event),
                Operation::Detail(detail) => thread.details.push(detail),
                Operation::Finalize(_) if thread.is_finalized => {}
                Operation::Finalize(_) | Operation::Flush(_) | Operation::Close(_) => {
                    thread.is_finalized = matches!(operation, Operation::Finalize(_));
                    thread.flushed = (thread.events.len(), thread.details.len());
                }
                Operation::Open(_) | Operation::Space | Operation::Abort | Operation::Kill => {}
            }
        }
        threads
    }

    /// Returns whether the writer must stop before all threads are finalized.
    #[must_use]
    pub fn aborts(&self) -> bool {
        matches!(
            self.operations.last(),
            Some(Operation::Abort | Operation::Kill)
        )
    }

    /// Returns whether the writer must end by SIGKILL.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.operations.last() == Some(&Operation::Kill)
    }

    /// Returns whether an operation is attempted on a finalized thread.
    #[must_use]
    pub fn is_late(&self) -> bool {
        let mut finalized = BTreeSet::new();
        self.any(|operation| match operation {
            Operation::Finalize(id) => !finalized.insert(*id),
            Operation::Index(event) => finalized.contains(&event.thread_id),
            _ => false,
        })
    }

    pub(crate) fn any(&self, test: impl FnMut(&Operation) -> bool) -> bool {
        self.operations.iter().any(test)
    }

    /// Makes a script from the operations that are on disk, without checking their order.
    pub(crate) const fn settled(operations: Vec<Operation>) -> Self {
        Self { operations }
    }

    /// Returns whether the script writes a `detail.atf`.
    #[must_use]
    pub fn has_details(&self) -> bool {
        self.any(|operation| matches!(operation, Operation::Detail(_)))
    }
}

impl Operation {
    /// Returns the thread that the operation applies to.
    #[must_use]
    pub fn thread_id(&self) -> Option<u32> {
        match self {
            Self::Open(Open { thread_id, .. })
            | Self::Index(Index { thread_id, .. })
            | Self::Detail(Detail { thread_id, .. })
            | Self::Finalize(thread_id)
            | Self::Flush(thread_id)
            | Self::Close(thread_id) => Some(*thread_id),
            Self::Space | Self::Abort | Self::Kill => None,
        }
    }
}
