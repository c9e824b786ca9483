//! Builds scripts in code, assigning positions and links automatically.

use std::collections::BTreeMap;

use super::{Detail, Index, Open, Operation, Script, ScriptError};

/// One event of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// The time in nanoseconds.
    pub timestamp_ns: u64,
    /// The function.
    pub function_id: u64,
    /// The kind: 1 for a call, 2 for a return, 3 for an exception.
    pub event_kind: u8,
    /// The depth of the call stack.
    pub call_depth: u32,
}

/// A builder that assembles a script operation by operation.
#[derive(Debug, Clone)]
pub struct Builder {
    session: Open,
    operations: Vec<Operation>,
    /// The next positions in the index and the details of each thread.
    next: BTreeMap<u32, (u64, u64)>,
}

impl Builder {
    /// Starts a session of this wire version, for Linux on x86-64.
    #[must_use]
    pub fn new(wire: u8) -> Self {
        Self {
            session: Open {
                thread_id: 0,
                wire,
                clock_type: 3,
                arch: 1,
                os: 4,
            },
            operations: Vec::new(),
            next: BTreeMap::new(),
        }
    }

    /// Sets the header values of the threads to open.
    pub fn platform(&mut self, arch: u8, os: u8, clock_type: u8) -> &mut Self {
        self.session = Open {
            arch,
            os,
            clock_type,
            ..self.session
        };
        self
    }

    /// Opens a thread.
    pub fn open(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Open(Open {
            thread_id,
            ..self.session
        }))
    }

    /// Adds an event without details.
    pub fn event(&mut self, thread_id: u32, event: Happening) -> &mut Self {
        self.index(thread_id, event, None)
    }

    /// Adds an event with details.
    pub fn detailed(
        &mut self,
        thread_id: u32,
        event: Happening,
        event_type: u16,
        payload: impl Into<Vec<u8>>,
    ) -> &mut Self {
        let (index_seq, detail_seq) = self.next.get(&thread_id).copied().unwrap_or_default();
        self.index(thread_id, event, Some(detail_seq));
        self.next.entry(thread_id).or_default().1 += 1;
        self.push(Operation::Detail(Detail {
            thread_id,
            index_seq,
            timestamp: event.timestamp_ns,
            event_type,
            flags: 0,
            payload: payload.into(),
        }))
    }

    /// Finalizes a thread.
    pub fn finalize(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Finalize(thread_id))
    }

    /// Flushes a thread. The events added so far must survive the end of the process.
    pub fn flush(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Flush(thread_id))
    }

    /// Closes a thread's files without finalizing them.
    pub fn close(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Close(thread_id))
    }

    /// Frees space on the simulated full disk.
    pub fn space(&mut self) -> &mut Self {
        self.push(Operation::Space)
    }

    /// Kills the program with SIGKILL.
    pub fn kill(&mut self) -> &mut Self {
        self.push(Operation::Kill)
    }

    /// Ends the program without finalizing its threads.
    pub fn abort(&mut self) -> &mut Self {
        self.push(Operation::Abort)
    }

    /// Returns the script.
    ///
    /// # Errors
    ///
    /// See [`Script::new`].
    pub fn build(&self) -> Result<Script, ScriptError> {
        Script::new(self.operations.clone())
    }

    fn index(&mut self, thread_id: u32, event: Happening, detail_seq: Option<u64>) -> &mut Self {
        self.next.entry(thread_id).or_default().0 += 1;
        self.push(Operation::Index(Index {
            thread_id,
            timestamp_ns: event.timestamp_ns,
            function_id: event.function_id,
            event_kind: event.event_kind,
            call_depth: event.call_depth,
            detail_seq,
        }))
    }

    fn push(&mut self, operation: Operation) -> &mut Self {
        self.operations.push(operation);
        self
    }
}
