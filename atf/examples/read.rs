//! Prints the threads of a session, or one thread: whether its files are complete, their first
//! events, and all their problems. Truncated and damaged files are read as far as possible.
//!
//! ```sh
//! cargo run --example read -- SESSION_OR_THREAD
//! ```

use std::error::Error;
use std::path::PathBuf;

use atf::Completeness;
use atf::detail::DetailReader;
use atf::session::SessionReader;
use atf::thread::{INDEX_FILE, ThreadReader};

/// Events to print per thread.
const FIRST: u64 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let path = PathBuf::from(path.ok_or("usage: read SESSION_OR_THREAD")?);
    if path.join(INDEX_FILE).exists() {
        print(&ThreadReader::open(path)?)?;
        return Ok(());
    }
    let session = SessionReader::open(path)?;
    for problem in session.problems() {
        println!("problem: {problem}");
    }
    for entry in session.threads() {
        // One unreadable thread does not hide the others.
        if let Err(error) = entry.open().and_then(|thread| print(&thread)) {
            println!("thread {}: {error}", entry.id());
        }
    }
    Ok(())
}

fn print(thread: &ThreadReader) -> atf::Result<()> {
    let index = thread.index();
    let state = match index.completeness() {
        Completeness::Finalized => "finalized",
        Completeness::Unfinalized { .. } => "not finalized",
        Completeness::DamagedFooter { .. } => "damaged at the end",
        _ => "complete, but its header was never updated",
    };
    let (id, events) = (index.header().thread_id, index.event_count());
    let details = thread.detail().map_or(0, DetailReader::event_count);
    println!("thread {id}: {state}, {events} events, {details} details");
    for event in index.events_in(..FIRST) {
        let event = event?;
        let kind = event.event_kind.name().unwrap_or("unknown");
        println!("  {} {kind} {:#x}", event.timestamp_ns, event.function_id);
    }
    // Reading all events also verifies their checksum, order and links.
    index.scan()?;
    for problem in thread.problems()? {
        println!("  problem: {problem}");
    }
    Ok(())
}
