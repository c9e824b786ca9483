//! Writes a session from four threads at once, each with its own writer, without locks. Every
//! hundredth call has a detail: registers and stack.
//!
//! ```sh
//! cargo run --example write_threads -- FOLDER
//! ```

use std::error::Error;

use atf::clock::now_ns;
use atf::detail::FunctionPayload;
use atf::manifest::Symbol;
use atf::write::{Detail, Event, SessionWriter, ThreadWriter, WriteOptions};
use atf::{DetailEventType, EventKind};

/// The traced function: its module in the upper 32 bits, its symbol in the lower.
const FUNCTION: u64 = 0x0000_0001_0000_0007;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1);
    let folder = folder.ok_or("usage: write_threads FOLDER")?;
    let session = SessionWriter::create_in(folder, &WriteOptions::default())?;
    session.set_symbols(vec![Symbol::new(FUNCTION, "parse")]);
    // Write the manifest before the threads, so that the list of threads and the names survive a
    // crash.
    session.write_manifest()?;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for id in 0..4 {
            let writer = session.thread(id)?;
            threads.push(scope.spawn(move || trace(writer)));
        }
        let mut threads = threads.into_iter();
        threads.try_for_each(|thread| thread.join().expect("trace does not panic"))
    })?;
    let (totals, path) = (session.finalize()?, session.path().display());
    println!(
        "{path}: {} events, {} details",
        totals.event_count, totals.detail_count
    );
    Ok(())
}

/// Simulates a traced thread: records calls and returns of one function.
fn trace(mut writer: ThreadWriter) -> atf::Result<()> {
    // A real tracer would read the registers and copy the stack.
    let registers = FunctionPayload::default()
        .function_id(FUNCTION)
        .stack(vec![0; 64]);
    let payload = registers.encode()?;
    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload);
    let event = |event_kind| Event::new(now_ns(), FUNCTION, event_kind, 1);
    for call in 0..1000 {
        if call % 100 == 0 {
            writer.write_with_detail(&event(EventKind::CALL), &detail)?;
        } else {
            writer.write(&event(EventKind::CALL))?;
        }
        writer.write(&event(EventKind::RETURN))?;
    }
    writer.finalize()?;
    Ok(())
}
