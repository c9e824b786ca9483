//! The documents' Rust examples, word for word. `docs/tests/examples` compares them.

use std::env;
use std::fs;

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

#[rustfmt::skip]
fn write(symbols: Vec<atf::manifest::Symbol>, function_id: u64) -> Result {
    use atf::{EventKind, write::{Event, SessionWriter, WriteOptions}};

    let session = SessionWriter::create("…/pid_4242", &WriteOptions::default())?;
    session.set_symbols(symbols);
    session.write_manifest()?; // before the threads: a crash then loses neither their list nor the names
    let mut thread = session.thread(0)?; // one per thread; they share nothing
    thread.write(&Event::new(atf::clock::now_ns(), function_id, EventKind::CALL, 1))?;
    thread.finalize()?;
    session.finalize()?;
    Ok(())
}

#[rustfmt::skip]
fn read() -> Result {
    use atf::thread::{Linked, ThreadReader};

    let thread = ThreadReader::open("…/thread_0")?;
    for event in thread.index().events() {
        let event = event?;
        let kind = event.event_kind.name().unwrap_or("unknown");
        println!("{} {:#x} {kind}", event.timestamp_ns, event.function_id);
        if let (Some(detail), Linked::To(found)) = (thread.detail(), thread.detail_of(&event)?)
            && let Some(payload) = detail.function_payload(&found)?
        {
            println!("  sp {:#x}, {} bytes of stack", payload.sp, payload.stack.len());
        }
    }
    Ok(())
}

#[rustfmt::skip]
fn record(function_id: u64) -> Result {
    use atf::{EventKind, write::{Event, SessionWriter, WriteOptions}};
    use atf_record::{RecordOptions, Recording};

    let session = SessionWriter::create_in("recordings", &WriteOptions::default())?;
    let recording = Recording::start(session, &RecordOptions::default())?;
    let event = Event::new(atf::clock::now_ns(), function_id, EventKind::CALL, 1);
    let _ = recording.record(&event); // from any thread; an event that is lost is also counted
    let summary = recording.stop()?;
    println!("{} events, {} lost", summary.totals.event_count, summary.lost_events);
    assert_eq!((summary.totals.event_count, summary.lost_events), (1, 0));
    Ok(())
}

#[rustfmt::skip]
fn recover_and_merge() -> Result {
    use atf::{rewrite::{RecoverOptions, recover}, trace::Trace};

    let report = recover("…/pid_4242", "…/recovered", &RecoverOptions::default())?;
    println!("{report}"); // what was kept, set aside and dropped, and why
    for event in Trace::open("…/recovered")?.merge().events() {
        let event = event?;
        println!("{} thread {} {:#x}", event.event.timestamp_ns, event.thread, event.event.function_id);
    }
    assert_eq!(report.events(), 1);
    Ok(())
}

#[rustfmt::skip]
fn trace() -> Result {
    #[tracing::instrument(skip_all)]
    fn parse(text: &str) -> usize {
        text.len()
    }

    let recording = atf_tracing::init("traces")?; // before the first span; ends when it is dropped
    parse("…");
    assert_eq!(recording.stop()?.totals.event_count, 2);
    Ok(())
}

/// The examples use relative paths and the working folder belongs to the process, so there is only
/// one test.
#[test]
fn the_examples_write_and_read_a_session() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    env::set_current_dir(folder.path()).expect("the folder is there");
    write(Vec::new(), 7).expect("a session can be written");
    recover_and_merge().expect("the session can be recovered and merged");
    fs::rename("…/pid_4242/thread_0", "…/thread_0").expect("the thread is there");
    read().expect("the thread can be read");
    record(7).expect("an event can be recorded");
    trace().expect("spans can be recorded");
    let thread = atf::thread::ThreadReader::open("…/thread_0").expect("a thread");
    let events = thread.index().events();
    let functions = events.map(|event| event.expect("an event").function_id);
    assert_eq!(functions.collect::<Vec<_>>(), [7]);
}
