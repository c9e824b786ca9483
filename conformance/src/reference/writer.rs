//! The reference writer: a script carried out with the library.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use atf::write::{Detail, Event, SessionWriter, ThreadWriter, WriteOptions};
use atf::{Arch, Clock, DetailEventType, EventKind, Os, Wire};

use crate::scripts::{Index, Open, Operation, Script, ScriptError};

/// Why a script was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The script's path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is none.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The system refused an operation.
    #[error(transparent)]
    System(io::Error),
    /// The library refused an operation.
    #[error(transparent)]
    Refused(#[from] atf::Error),
}

/// Carries out the script at a path and writes a session into the folder `out`.
///
/// # Errors
///
/// The script cannot be read or is none, or an operation failed; what was written until then stays.
pub fn write_file(script: &Path, out: &Path) -> Result<(), WriteError> {
    let text = std::fs::read_to_string(script).map_err(|source| WriteError::Unreadable {
        path: script.to_owned(),
        source,
    })?;
    write(&text.parse()?, out)
}

/// Carries out a script and writes a session into the folder `out`.
///
/// # Errors
///
/// [`WriteError::Refused`]; what was written until then stays.
pub fn write(script: &Script, out: &Path) -> Result<(), WriteError> {
    let mut session = None;
    let mut threads: BTreeMap<u32, ThreadWriter> = BTreeMap::new();
    // The event whose details come next.
    let mut waiting: Option<&Index> = None;
    for operation in script.operations() {
        match operation {
            Operation::Open(open) => {
                let session = match &session {
                    Some(session) => session,
                    None => session.insert(SessionWriter::create(out, &options(open))?),
                };
                threads.insert(open.thread_id, session.thread(open.thread_id)?);
                // As a tracer does, so that a crash leaves the names of its threads.
                session.write_manifest()?;
            }
            Operation::Index(event) => {
                let Some(thread) = threads.get_mut(&event.thread_id) else {
                    continue;
                };
                match event.detail_seq {
                    Some(_) => waiting = Some(event),
                    None => drop(thread.write(&as_event(event))?),
                }
            }
            Operation::Detail(detail) => {
                let thread = threads.get_mut(&detail.thread_id);
                if let (Some(thread), Some(event)) = (thread, waiting.take()) {
                    let detail = Detail {
                        event_type: DetailEventType(detail.event_type),
                        flags: detail.flags,
                        payload: &detail.payload,
                    };
                    thread.write_with_detail(&as_event(event), &detail)?;
                }
            }
            Operation::Finalize { thread_id } => {
                if let Some(thread) = threads.get_mut(thread_id) {
                    thread.finalize()?;
                }
            }
            Operation::Flush { thread_id } => {
                if let Some(thread) = threads.get_mut(thread_id) {
                    thread.flush()?;
                }
            }
            Operation::Close { thread_id } => {
                if let Some(mut thread) = threads.remove(thread_id) {
                    thread.flush()?;
                }
            }
            Operation::Space => make_room().map_err(WriteError::System)?,
            Operation::Kill => kill().map_err(WriteError::System)?,
            Operation::Abort => {
                let open = threads.values_mut().filter(|thread| !thread.is_finalized());
                for thread in open {
                    thread.flush()?;
                }
            }
        }
    }
    match session {
        Some(session) if script.aborts() => session.write_manifest()?,
        Some(session) => drop(session.finalize()?),
        None => {}
    }
    Ok(())
}

/// Raises the limit on the size of files.
#[cfg(unix)]
fn make_room() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Fsize);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    Ok(setrlimit(Resource::Fsize, raised)?)
}

#[cfg(unix)]
fn kill() -> io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    Ok(kill_process(getpid(), Signal::KILL)?)
}

#[cfg(not(unix))]
fn make_room() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn kill() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn options(open: &Open) -> WriteOptions {
    WriteOptions {
        wire: match open.wire {
            1 => Wire::V1,
            _ => Wire::V2,
        },
        arch: Arch(open.arch),
        os: Os(open.os),
        clock_type: Clock(open.clock_type),
        ..WriteOptions::default()
    }
}

fn as_event(event: &Index) -> Event {
    Event {
        timestamp_ns: event.timestamp_ns,
        function_id: event.function_id,
        event_kind: EventKind(event.event_kind.into()),
        call_depth: event.call_depth,
    }
}
