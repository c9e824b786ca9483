//! Writer scripts: what a graded writer is asked to write, one operation a line.
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

mod build;
mod order;
mod parse;
mod print;
mod set;

use std::collections::BTreeMap;
use std::str::FromStr;

pub use build::{Builder, Happening};
pub use parse::ScriptError;
pub use set::{Scripted, all, scripts, under_fire};

/// One session's operations, in an order that a tracer could have met them in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    operations: Vec<Operation>,
}

/// A line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A thread begins.
    Open(Open),
    /// An event for `index.atf`.
    Index(Index),
    /// The details of the event in the line before, for `detail.atf`.
    Detail(Detail),
    /// A thread ends: footers and headers.
    Finalize {
        /// Which thread.
        thread_id: u32,
    },
    /// What a thread has recorded must outlive the process from here on.
    Flush {
        /// Which thread.
        thread_id: u32,
    },
    /// A thread's files are closed, and nobody asks to finalize them.
    Close {
        /// Which thread.
        thread_id: u32,
    },
    /// The disk that was full has room again: the program raises its own limit on the size of files.
    Space,
    /// The program ends: what is buffered is written, what is open is not finalized.
    Abort,
    /// The program ends itself by SIGKILL.
    Kill,
}

/// What a thread's headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// The one id of the thread.
    pub thread_id: u32,
    /// The wire version, 1 or 2.
    pub wire: u8,
    /// The clock of the timestamps.
    pub clock_type: u8,
    /// The CPU architecture.
    pub arch: u8,
    /// The operating system.
    pub os: u8,
}

/// What an event of `index.atf` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The thread.
    pub thread_id: u32,
    /// When, in nanoseconds.
    pub timestamp_ns: u64,
    /// Which function.
    pub function_id: u64,
    /// 1 call, 2 return, 3 exception.
    pub event_kind: u8,
    /// Depth of the call stack, which wire version 2 does not keep.
    pub call_depth: u32,
    /// The position of its details in `detail.atf`, if it has any.
    pub detail_seq: Option<u64>,
}

/// What an event of `detail.atf` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The thread.
    pub thread_id: u32,
    /// The position of its event in `index.atf`.
    pub index_seq: u64,
    /// When, in nanoseconds: the same as in its event.
    pub timestamp: u64,
    /// What it describes: 3 a call, 4 a return, or a type of the tracer's own.
    pub event_type: u16,
    /// Flags; none has a meaning.
    pub flags: u16,
    /// Any bytes.
    pub payload: Vec<u8>,
}

/// What the files of a thread must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread<'a> {
    /// What its headers say.
    pub open: &'a Open,
    /// The events of `index.atf`, in order.
    pub events: Vec<&'a Index>,
    /// The events of `detail.atf`, in order.
    pub details: Vec<&'a Detail>,
    /// Whether the script finalizes it.
    pub is_finalized: bool,
    /// How many events and details must outlive the process, however it ends.
    pub flushed: (usize, usize),
}

impl Script {
    /// A script of these operations.
    ///
    /// # Errors
    ///
    /// An order that no session has; its line counts operations from 1, as they are printed.
    pub fn new(operations: Vec<Operation>) -> Result<Self, ScriptError> {
        order::check(&operations).map_err(|(position, message)| ScriptError {
            line: position + 1,
            column: 1,
            message,
        })?;
        Ok(Self { operations })
    }

    /// The operations, in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// What the files of each thread must hold, by the thread's id.
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
                Operation::Finalize { .. } => thread.is_finalized = true,
                Operation::Flush { .. } | Operation::Close { .. } => {
                    thread.flushed = (thread.events.len(), thread.details.len());
                }
                Operation::Open(_) | Operation::Space | Operation::Abort | Operation::Kill => {}
            }
        }
        threads
    }

    /// Whether the writer is asked to stop before all is finalized.
    #[must_use]
    pub fn aborts(&self) -> bool {
        matches!(
            self.operations.last(),
            Some(Operation::Abort | Operation::Kill)
        )
    }

    /// Whether the writer is asked to end by SIGKILL.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.operations.last() == Some(&Operation::Kill)
    }

    /// Whether an operation is one of those that a test picks out.
    pub(crate) fn any(&self, test: impl Fn(&Operation) -> bool) -> bool {
        self.operations.iter().any(test)
    }

    /// A script of operations that were made to fit what is on the disk, in whatever order.
    pub(crate) const fn settled(operations: Vec<Operation>) -> Self {
        Self { operations }
    }

    /// Whether it asks for `detail.atf`.
    #[must_use]
    pub fn has_details(&self) -> bool {
        self.any(|operation| matches!(operation, Operation::Detail(_)))
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        parse::script(text)
    }
}

impl Operation {
    /// The thread that it is about.
    #[must_use]
    pub fn thread_id(&self) -> Option<u32> {
        match self {
            Self::Open(Open { thread_id, .. })
            | Self::Index(Index { thread_id, .. })
            | Self::Detail(Detail { thread_id, .. })
            | Self::Finalize { thread_id }
            | Self::Flush { thread_id }
            | Self::Close { thread_id } => Some(*thread_id),
            Self::Space | Self::Abort | Self::Kill => None,
        }
    }
}
