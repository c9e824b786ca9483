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
pub use set::{Scripted, scripts};

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
    /// The program ends: what is buffered is written, what is open is not finalized.
    Abort,
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
                Operation::Open(_) | Operation::Abort => {}
            }
        }
        threads
    }

    /// Whether the writer is asked to stop before all is finalized.
    #[must_use]
    pub fn aborts(&self) -> bool {
        self.operations.last() == Some(&Operation::Abort)
    }

    /// Whether it asks for `detail.atf`.
    #[must_use]
    pub fn has_details(&self) -> bool {
        let is_detail = |operation: &Operation| matches!(operation, Operation::Detail(_));
        self.operations.iter().any(is_detail)
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
            | Self::Finalize { thread_id } => Some(*thread_id),
            Self::Abort => None,
        }
    }
}
