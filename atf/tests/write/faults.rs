//! Makes each call to the operating system fail once.

use std::io;
use std::path::Path;
use std::sync::Arc;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::manifest::{Manifest, Symbol};
use atf::write::{
    Durability, Fate, Memory, SessionWriter, Step, Storage, ThreadWriter, WriteOptions,
};
use atf::{Completeness, ErrorKind, Result, Wire};

use super::{assert_event, put, refused};

const COUNT: u64 = 400;
const PAYLOAD: [u8; 40] = [7; 40];

fn options(wire: Wire, durability: Durability) -> WriteOptions {
    WriteOptions::default()
        .wire(wire)
        .durability(durability)
        .buffer_size(4 << 10)
}

/// Refuses the step with this number, or all steps from there on.
fn refuse(
    fault: u64,
    kind: io::ErrorKind,
    for_ever: bool,
) -> impl FnMut(Step, &Path) -> Fate + Send + 'static {
    let mut steps = 0..;
    move |_, _| match steps.next().unwrap() {
        step if step == fault || (for_ever && step > fault) => Fate::Refused(kind),
        _ => Fate::Done,
    }
}

/// Writes a thread until the first error. Returns the writer, which counts the flushed events, and
/// the result.
fn write(storage: Arc<dyn Storage>, options: &WriteOptions) -> (Option<ThreadWriter>, Result<()>) {
    let mut writer = match ThreadWriter::create_on(storage, "thread_7", 7, options) {
        Ok(writer) => writer,
        Err(error) => return (None, Err(error)),
    };
    let mut run = || -> Result<()> {
        for seq in 0..COUNT {
            put(&mut writer, seq, (seq % 3 == 0).then_some(&PAYLOAD))?;
            if seq == COUNT / 2 {
                writer.flush()?;
            }
        }
        writer.finalize().map(drop)
    };
    let result = run();
    (Some(writer), result)
}

/// Compares the files with what was written and with the writer's counts.
fn check(memory: &Memory, counts: (u64, u64), case: &str) {
    let index = memory.bytes("thread_7/index.atf").unwrap();
    let index = IndexReader::from_bytes(index).unwrap();
    let details = memory.bytes("thread_7/detail.atf").unwrap_or_default();
    let details = DetailReader::from_bytes(details).ok();
    let detail_count = details.as_ref().map_or(0, DetailReader::event_count);
    assert_eq!((index.event_count(), detail_count), counts, "{case}");
    for (seq, read) in index.events_in(..).enumerate() {
        let (seq, read) = (seq as u64, read.unwrap());
        assert_event(&read, seq);
        let link = seq.is_multiple_of(3).then_some(seq / 3);
        assert_eq!(read.detail_seq, link, "{case}");
        assert!(link.is_none_or(|link| link < detail_count), "{case}");
    }
    for read in details.iter().flat_map(|detail| detail.events_in(..)) {
        let read = read.unwrap();
        assert_eq!(read.header.index_seq, 3 * read.seq, "{case}");
        let payload = details.as_ref().unwrap().payload(&read, 1000).unwrap();
        assert_eq!(payload, PAYLOAD, "{case}");
    }
}

/// Writes while `decide` chooses the outcome of each step, checks all guarantees, and returns the
/// number of steps.
fn run(
    options: &WriteOptions,
    case: &str,
    decide: impl FnMut(Step, &Path) -> Fate + Send + 'static,
) -> u64 {
    let memory = Memory::new();
    memory.decide(decide);
    let (writer, result) = write(Arc::new(memory.clone()), options);
    let steps = memory.steps();
    let Some(mut writer) = writer else {
        result.unwrap_err();
        return steps;
    };
    let counts = (writer.flushed_events(), writer.flushed_details());
    match &result {
        Ok(()) => {
            assert_eq!(counts, (COUNT, COUNT.div_ceil(3)), "{case}");
            let index = memory.bytes("thread_7/index.atf").unwrap();
            let index = IndexReader::from_bytes(index).unwrap();
            let is_finalized = matches!(index.completeness(), Completeness::Finalized);
            assert!(is_finalized, "{case}");
        }
        Err(error) => {
            memory.decide(|_, _| Fate::Done);
            for again in refused(&mut writer, COUNT) {
                assert_eq!(again.to_string(), error.to_string(), "{case}");
            }
            assert!(!writer.is_finalized());
        }
    }
    check(&memory, counts, case);
    drop(writer);
    check(&memory, counts, case);
    steps
}

#[test]
fn files_contain_the_flushed_events_whichever_call_fails() {
    for &wire in Wire::ALL {
        for durability in [
            Durability::None,
            Durability::Finalize,
            Durability::EachFlush,
        ] {
            let options = options(wire, durability);
            let steps = run(&options, "no fault", |_, _| Fate::Done);
            assert!(steps > 15, "too few steps to test: {steps}");
            for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
                for fault in 0..steps {
                    for for_ever in [false, true] {
                        let case = format!(
                            "{wire}, {durability:?}, {kind} at step {fault}, forever: {for_ever}"
                        );
                        run(&options, &case, refuse(fault, kind, for_ever));
                    }
                }
            }
        }
    }
}

#[test]
fn a_torn_write_leaves_only_complete_events() {
    for &wire in Wire::ALL {
        let options = options(wire, Durability::None);
        let steps = run(&options, "no fault", |_, _| Fate::Done);
        for fault in 0..steps {
            for size in (0..70).chain([95, 96, 97, 2048, 4000]) {
                for can_cut in [false, true] {
                    let case = format!("{wire}: {size} bytes of step {fault}, can cut: {can_cut}");
                    let mut step = 0;
                    run(&options, &case, move |what, _| {
                        step += 1;
                        match step - 1 {
                            before if before < fault => Fate::Done,
                            this if this == fault && what == Step::Write => Fate::Short(size),
                            _ if what == Step::SetSize && can_cut => Fate::Done,
                            _ => Fate::Refused(io::ErrorKind::StorageFull),
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn short_and_interrupted_writes_are_continued() {
    for &wire in Wire::ALL {
        let options = options(wire, Durability::EachFlush);
        let mut step = 0;
        let steps = run(&options, "short and interrupted", move |what, _| {
            step += 1;
            match what {
                Step::Write if step % 3 == 0 => Fate::Refused(io::ErrorKind::Interrupted),
                Step::Write => Fate::Short(97),
                Step::Sync if step % 2 == 0 => Fate::Refused(io::ErrorKind::Interrupted),
                _ => Fate::Done,
            }
        });
        assert!(steps > 300, "each write was split: {steps}");
    }
}

#[test]
fn a_write_of_zero_bytes_is_an_error() {
    let memory = Memory::new();
    memory.decide(|step, _| match step {
        Step::Write => Fate::Short(0),
        _ => Fate::Done,
    });
    let options = WriteOptions::default();
    let error = ThreadWriter::create_on(Arc::new(memory), "t", 0, &options).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Io(io::ErrorKind::WriteZero));
    assert_eq!(error.path(), Some(Path::new("t/index.atf")));
    assert_eq!(error.offset(), Some(0));
}

#[test]
fn a_manifest_that_cannot_be_written_leaves_the_previous_one() {
    let options = options(Wire::V1, Durability::Finalize);
    for fault in 0..20 {
        let memory = Memory::new();
        let session =
            SessionWriter::create_on(Arc::new(memory.clone()), "session", &options).unwrap();
        session.thread(3).unwrap().finalize().unwrap();
        session.thread(4).unwrap().finalize().unwrap();
        session.write_manifest().unwrap();
        let before = memory.bytes("session/manifest.json").unwrap();
        session.set_symbols(vec![Symbol::new(7, "main")]);
        memory.decide(refuse(fault, io::ErrorKind::StorageFull, false));
        let finalized = session.finalize();
        memory.decide(|_, _| Fate::Done);
        let after = memory.bytes("session/manifest.json").unwrap();
        let Err(error) = finalized else {
            assert!(fault > 4 && after != before, "the loop reached every step");
            return;
        };
        assert_eq!(*error.kind(), ErrorKind::Io(io::ErrorKind::StorageFull));
        assert_eq!(memory.bytes("session/manifest.json.part"), None);
        // The new manifest is in place only if the failed step was the synchronization of the
        // folder.
        assert!(after == before || fault == 5, "step {fault}");
        // A failed call leaves the session open.
        assert_eq!(session.finalize().unwrap().threads, 2);
    }
    panic!("the manifest was never written");
}

#[test]
fn a_thread_that_cannot_be_listed_or_created_leaves_no_files_and_can_be_retried() {
    let options = options(Wire::V1, Durability::EachFlush);
    for fault in 0..40 {
        let memory = Memory::new();
        let session =
            SessionWriter::create_on(Arc::new(memory.clone()), "session", &options).unwrap();
        session.write_manifest().unwrap();
        memory.decide(refuse(fault, io::ErrorKind::StorageFull, false));
        let made = session.thread(3).map(drop);
        let Err(error) = made else {
            assert!(fault > 9, "the loop reached every step: {fault}");
            return;
        };
        assert_eq!(*error.kind(), ErrorKind::Io(io::ErrorKind::StorageFull));
        let listed = || {
            let manifest = memory.bytes("session/manifest.json").unwrap();
            Manifest::parse(&manifest).threads.len()
        };
        assert_eq!(listed(), 0, "step {fault}");
        assert_eq!(memory.folders(), [Path::new("session")], "step {fault}");
        let manifest = Path::new("session/manifest.json");
        assert_eq!(memory.paths(), [manifest], "step {fault}");
        assert_eq!(session.totals().threads, 0);
        drop(session.thread(3).unwrap());
        assert_eq!(listed(), 1);
    }
    panic!("the thread was never created");
}

#[test]
fn if_the_detail_file_is_full_the_events_before_the_first_lost_detail_survive() {
    // There is room for the header and the first four details of 1024 bytes each.
    let mut left: usize = 64 + 4 * 1024 + 100;
    let memory = Memory::new();
    memory.decide(move |step, path| {
        if step != Step::Write || !path.ends_with("detail.atf") {
            return Fate::Done;
        }
        let Some(rest) = left.checked_sub(64) else {
            return Fate::Refused(io::ErrorKind::StorageFull);
        };
        left = rest;
        Fate::Short(64)
    });
    let options = options(Wire::V1, Durability::None);
    let storage = Arc::new(memory.clone());
    let mut writer = ThreadWriter::create_on(storage, "thread_7", 7, &options).unwrap();
    let payload = [7; 1000];
    let mut written = 0;
    let error = loop {
        match put(&mut writer, written, (written % 2 == 0).then_some(&payload)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::StorageFull));
    assert_eq!(writer.flushed_details(), 4);
    // The written details belong to events 0, 2, 4 and 6. The first lost detail belongs to event 8.
    assert_eq!(writer.flushed_events(), 8);
    let index = IndexReader::from_bytes(memory.bytes("thread_7/index.atf").unwrap()).unwrap();
    let detail = memory.bytes("thread_7/detail.atf").unwrap();
    // The written part of the fifth detail was removed.
    assert_eq!(detail.len(), 64 + 4 * 1024);
    let detail = DetailReader::from_bytes(detail).unwrap();
    assert_eq!((index.event_count(), detail.event_count()), (8, 4));
}
