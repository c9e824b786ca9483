//! The reference writer, which executes a script with the library.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::Path;

use atf::write::{Detail, Event, SessionWriter, ThreadWriter, WriteOptions};
use atf::{Arch, Clock, DetailEventType, EventKind, Os, Wire};

use crate::corpus::at;
use crate::protocol::text::read_text;
use crate::scripts::{Index, Open, Operation, Script};

/// Executes a script file and writes a session into the folder `out`.
///
/// # Errors
///
/// Returns an error if the script is unreadable or invalid, or if an operation fails. Everything
/// written up to that point is kept.
pub fn write_file(script: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let text = read_text(script).map_err(at(script))?;
    write(&text.parse()?, out)
}

/// Executes a script and writes a session into the folder `out`.
///
/// # Errors
///
/// Returns an error if the library or the operating system refuses an operation. Everything written
/// up to that point is kept.
pub fn write(script: &Script, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut session = None;
    let mut threads: BTreeMap<u32, ThreadWriter> = BTreeMap::new();
    // The last event, if the next operation writes its detail.
    let mut waiting: Option<&Index> = None;
    for operation in script.operations() {
        match operation {
            Operation::Open(open) => {
                let session = match &session {
                    Some(session) => session,
                    None => session.insert(SessionWriter::create(out, &options(open))?),
                };
                threads.insert(open.thread_id, session.thread(open.thread_id)?);
                // Write the manifest early, as a tracer would, so that it lists the threads even
                // after a crash.
                session.write_manifest()?;
            }
            Operation::Index(event) => {
                let Some(thread) = threads.get_mut(&event.thread_id) else {
                    continue;
                };
                match event.detail_seq {
                    Some(_) => waiting = Some(event),
                    // The library refuses events of a finalized thread.
                    None if thread.is_finalized() => drop(thread.write(&as_event(event))),
                    None => drop(thread.write(&as_event(event))?),
                }
            }
            Operation::Detail(detail) => {
                let thread = threads.get_mut(&detail.thread_id);
                if let (Some(thread), Some(event)) = (thread, waiting.take()) {
                    let detail = Detail::new(DetailEventType(detail.event_type), &detail.payload)
                        .flags(detail.flags);
                    thread.write_with_detail(&as_event(event), &detail)?;
                }
            }
            Operation::Finalize(thread_id) => {
                let thread = threads.get_mut(thread_id);
                if let Some(thread) = thread.filter(|thread| !thread.is_finalized()) {
                    thread.finalize()?;
                }
            }
            Operation::Flush(thread_id) => {
                if let Some(thread) = threads.get_mut(thread_id) {
                    thread.flush()?;
                }
            }
            Operation::Close(thread_id) => {
                if let Some(mut thread) = threads.remove(thread_id) {
                    thread.flush()?;
                }
            }
            Operation::Space => make_room()?,
            Operation::Kill => kill()?,
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

/// Frees space on the simulated full disk by raising the process's file size limit.
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
    WriteOptions::default()
        .wire(Wire::from_version(open.wire).unwrap_or(Wire::V1))
        .arch(Arch(open.arch))
        .os(Os(open.os))
        .clock_type(Clock(open.clock_type))
}

fn as_event(event: &Index) -> Event {
    Event::new(
        event.timestamp_ns,
        event.function_id,
        EventKind(event.event_kind.into()),
        event.call_depth,
    )
}
