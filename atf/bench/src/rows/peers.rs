//! Other tracers' libraries and tools doing the same work with the same events.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use atf::EventKind;
use atf::session::SessionReader;
use atf::write::{Event, SessionWriter};
use atf_record::{Overflow, RecordOptions};
use atf_synth::Shape;
use atf_tracing::AtfLayer;
use tracing::Dispatch;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, checked};
use crate::input::{Session, remove};
use crate::rows::commands::{build, time};
use crate::rows::program::is_installed;
use crate::table::skip;

/// The number of events in all threads.
const EVENTS: u64 = 4_000_000;
/// The number of events for Babeltrace. It is smaller because Babeltrace takes microseconds per
/// event.
const FEWER_EVENTS: u64 = 200_000;
const THREADS: u32 = 16;
/// The number of spans, each an enter and an exit.
const SPANS: u64 = 200_000;
/// The OTF2 program, and the header that it uses to read index files.
const OTF2: [(&str, &str); 2] = [
    ("otf2.c", include_str!("otf2.c")),
    ("atf_v1.h", include_str!("../../../include/atf_v1.h")),
];

pub(crate) fn run(context: &mut Context) -> Result<()> {
    otf2(context)?;
    babeltrace(context)?;
    spans(context)
}

/// Returns the events of each thread of a session.
fn events(session: &Path) -> Result<Vec<Vec<Event>>> {
    let session = SessionReader::open(session)?;
    let threads = session.threads().iter().map(|entry| {
        let events = entry.open()?.into_index();
        let event = |event: atf::Result<atf::index::IndexEvent>| {
            let event = event?;
            let depth = event.call_depth.unwrap_or_default();
            Ok(Event::new(
                event.timestamp_ns,
                event.function_id,
                event.event_kind,
                depth,
            ))
        };
        events.events().map(event).collect()
    });
    threads.collect()
}

/// Compares writing and merging with OTF2's library.
fn otf2(context: &mut Context) -> Result<()> {
    let folder = context.path("otf2");
    let Some(program) = compile(&folder)? else {
        skip("write and merge events", "OTF2's library is not installed");
        return Ok(());
    };
    let session = Session::new(context, THREADS, EVENTS, 0, Shape::Random)?;
    let (threads, count) = (events(session.path())?, session.count);
    let (ours, archive) = (context.path("peers_ours"), folder.join("archive"));
    let files = session.files("index.atf");
    let write = |watch: &mut Stopwatch| {
        watch.time(|| {
            let session = SessionWriter::create(&ours, &Default::default())?;
            for (id, events) in (0..).zip(&threads) {
                let mut thread = session.thread(id)?;
                for event in events {
                    thread.write(event)?;
                }
                thread.finalize()?;
            }
            session.finalize()
        })?;
        Ok(fs::remove_dir_all(&ours)?)
    };
    let write_archive = |watch: &mut Stopwatch| {
        remove(&archive)?;
        let mut command = Command::new(&program);
        watch.add(cpu_time(command.arg("write").arg(&archive).args(&files))?);
        Ok(())
    };
    let row = context.row(
        "write a session of 16 threads, with checksums; fresh pages, CPU time",
        "OTF2: an archive of the same events",
        1.0,
    );
    row.cpu()
        .each(count, "event")
        .compare(write, write_archive)?;
    let merge = checked(count, || {
        let mut count = 0;
        for event in SessionReader::open(session.path())?.merge().events() {
            event?;
            count += 1;
        }
        Ok::<u64, atf::Error>(count)
    });
    let read_archive = |watch: &mut Stopwatch| {
        let mut command = Command::new(&program);
        let numbers = [threads.len().to_string(), count.to_string()];
        watch.add(cpu_time(command.arg("read").arg(&archive).args(numbers))?);
        Ok(())
    };
    let row = context.row(
        "open a session of 16 threads and merge it, random arrivals, CPU time",
        "OTF2: its global reader, two callbacks",
        1.0,
    );
    row.cpu().each(count, "event").compare(merge, read_archive)
}

/// Compiles the OTF2 program; returns `None` if OTF2 is not installed.
fn compile(folder: &Path) -> Result<Option<PathBuf>> {
    fs::create_dir_all(folder)?;
    for (name, source) in OTF2 {
        fs::write(folder.join(name), source)?;
    }
    let flags = Command::new("pkg-config")
        .args(["--cflags", "--libs", "otf2"])
        .output();
    let Some(flags) = flags.ok().filter(|flags| flags.status.success()) else {
        return Ok(None);
    };
    let program = folder.join("otf2");
    let mut command = Command::new("cc");
    command
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(folder.join("otf2.c"));
    command.args(String::from_utf8(flags.stdout)?.split_whitespace());
    if command.status()?.success() {
        Ok(Some(program))
    } else {
        Err("the OTF2 program failed to compile".into())
    }
}

/// Runs the OTF2 program and returns the CPU time it prints.
fn cpu_time(command: &mut Command) -> Result<Duration> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let time_ns = text.split_whitespace().next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(time_ns))
}

/// Compares `atf dump` and `atf info --verify` with Babeltrace.
fn babeltrace(context: &mut Context) -> Result<()> {
    if !is_installed("babeltrace2") {
        skip("print and read events", "babeltrace2 is not installed");
        return Ok(());
    }
    let atf = build("cli", "atf")?;
    let session = Session::new(context, THREADS, FEWER_EVENTS, 0, Shape::Random)?;
    let folder = context.temporary()?;
    write_ctf(folder.path(), &events(session.path())?)?;
    let all: [(&str, &[&str], &str, &[&str]); 2] = [
        (
            "atf dump of a session of 16 threads, in time order",
            &["dump"],
            "babeltrace2: a CTF trace of the same events",
            &[],
        ),
        (
            "atf info --verify of the same session",
            &["info", "--verify"],
            "babeltrace2: the same trace, output discarded",
            &["--output-format=dummy"],
        ),
    ];
    for (work, arguments, baseline, theirs) in all {
        let row = context.row(work, baseline, 1.0);
        row.each(session.count, "event").compare(
            |watch| {
                let mut command = Command::new(&atf);
                time(watch, command.args(arguments).arg(session.path()))
            },
            |watch| {
                let mut command = Command::new("babeltrace2");
                time(watch, command.args(theirs).arg(folder.path()))
            },
        )?;
    }
    Ok(())
}

/// The layout of the CTF trace: 57 bytes before the events of each stream, 21 bytes per event.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := u64;
trace {
  major = 1; minor = 8; byte_order = le;
  packet.header := struct { u32 magic; u32 stream_id; };
};
clock { name = "boot"; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.boot.value; } := time;
stream {
  id = 0;
  packet.context := struct { u64 packet_size; u64 content_size; time timestamp_begin; time timestamp_end; u32 thread; };
  event.header := struct { u8 id; time timestamp; };
};
event { name = "call"; id = 1; stream_id = 0; fields := struct { u64 function; u32 depth; }; };
event { name = "return"; id = 2; stream_id = 0; fields := struct { u64 function; u32 depth; }; };
"#;

/// Writes the events of each thread as a CTF stream of one packet.
fn write_ctf(folder: &Path, threads: &[Vec<Event>]) -> Result<()> {
    fs::write(folder.join("metadata"), METADATA)?;
    for (id, events) in (0_u32..).zip(threads) {
        let mut out = BufWriter::new(File::create(folder.join(format!("thread_{id}")))?);
        let bits = (8 + 36 + 21 * events.len() as u64) * 8;
        let time = |event: Option<&Event>| event.map_or(0, |event| event.timestamp_ns);
        out.write_all(&0xc1fc_1fc1_u32.to_le_bytes())?;
        out.write_all(&0_u32.to_le_bytes())?;
        for field in [bits, bits, time(events.first()), time(events.last())] {
            out.write_all(&field.to_le_bytes())?;
        }
        out.write_all(&id.to_le_bytes())?;
        for event in events {
            let is_call = event.event_kind == EventKind::CALL;
            out.write_all(&[if is_call { 1 } else { 2 }])?;
            out.write_all(&event.timestamp_ns.to_le_bytes())?;
            out.write_all(&event.function_id.to_le_bytes())?;
            out.write_all(&event.call_depth.to_le_bytes())?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Compares recording spans of `tracing` with its other layers.
fn spans(context: &mut Context) -> Result<()> {
    let count = context.events(SPANS);
    let (ours, theirs) = (context.path("spans"), context.path("spans_other"));
    let run = |dispatch: &Dispatch| {
        tracing::dispatcher::with_default(dispatch, || {
            (0..count).for_each(|_| tracing::info_span!("span").in_scope(|| ()));
        });
    };
    let recorded = |watch: &mut Stopwatch| {
        watch.time(|| {
            let session = SessionWriter::create(&ours, &Default::default())?;
            let options = RecordOptions::default().overflow(Overflow::Block);
            let (layer, guard) = AtfLayer::new(session, &options)?;
            run(&tracing_subscriber::registry().with(layer).into());
            guard.stop()
        })?;
        Ok(fs::remove_dir_all(&ours)?)
    };
    let chrome = |watch: &mut Stopwatch| {
        watch.time(|| {
            let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new()
                .file(&theirs)
                .build();
            run(&tracing_subscriber::registry().with(layer).into());
            drop(guard);
        });
        Ok(fs::remove_file(&theirs)?)
    };
    let text = |watch: &mut Stopwatch| {
        watch.time(|| {
            let out = Mutex::new(BufWriter::new(File::create(&theirs)?));
            let layer = tracing_subscriber::fmt::layer().with_writer(out);
            let layer = layer.with_span_events(FmtSpan::ENTER | FmtSpan::EXIT);
            run(&tracing_subscriber::registry().with(layer).into());
            io::Result::Ok(())
        })?;
        Ok(fs::remove_file(&theirs)?)
    };
    let work = "record new `tracing` spans with atf-tracing, CPU time";
    let row = context.row(work, "tracing-chrome", 1.0).cpu();
    row.each(count, "span").compare(recorded, chrome)?;
    let row = context.row(work, "tracing-subscriber's fmt layer, to a file", 1.0);
    row.cpu().each(count, "span").compare(recorded, text)
}
