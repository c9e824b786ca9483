//! Writing the events of one thread.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atf::wire::v1;
use atf::write::{Disk, Event, Storage, ThreadWriter, WriteOptions};
use tempfile::TempDir;
use zerocopy::FromZeros as _;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{EVENT_SIZE, Tape};
use crate::machine;
use crate::stdio::Stream;
use crate::storage::{Nowhere, OverOld};
use crate::table::{Amount, Row};

/// Events per run, 32 bytes each.
const EVENTS: u64 = 4_000_000;
/// The buffer that is written repeatedly.
const BLOCK_SIZE: usize = 256 << 10;

/// Where the file's pages come from. Writing to fresh pages takes several times as long, because of
/// work in the operating system.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pages {
    /// The file exists, and its pages are in memory.
    Reused,
    /// The file is new.
    Fresh,
}

/// Adds the rows for writing.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let tape = Tape::new();
    let count = context.events(EVENTS);
    let in_memory = Places::new(&context.path("write"))?;
    let reused = (Pages::Reused, "pages reused");
    add(context, &tape, &in_memory, reused, (5.0, 0.45))?;
    let fresh = (Pages::Fresh, "fresh pages");
    add(context, &tape, &in_memory, fresh, (2.3, 0.8))?;
    if let Some((folder, kind)) = machine::disk_folder() {
        let folder = TempDir::new_in(folder)?;
        let on_disk = Places::new(folder.path())?;
        let name = format!("fresh pages on {kind}");
        add(context, &tape, &on_disk, (Pages::Fresh, &name), (2.3, 0.8))?;
    } else {
        let why = "the folder for temporary files is not known to be on a disk";
        context.report.skip("write to a disk", why);
    }
    let nowhere = |watch: &mut Stopwatch| in_memory.nowhere(watch, &tape, count);
    let amount = Amount::Each(count, "event");
    context.report.add(Row {
        work: "write index events, CRC-32C, finalize, to a storage that drops them".into(),
        baseline: "libc fwrite per event",
        goal: None,
        comparison: compare(context.pairs, Time::Cpu, nowhere, |watch| {
            in_memory.fwrite(watch, Pages::Reused, &tape, count)
        })?,
        amount,
    });
    Ok(())
}

/// Adds the rows for writing to files with such pages. The goals are relative to `fwrite` and to
/// `write(2)`.
fn add(
    context: &mut Context,
    tape: &Tape,
    places: &Places,
    (pages, name): (Pages, &str),
    (fwrite, limit): (f64, f64),
) -> Result<()> {
    let count = context.events(EVENTS);
    let amount = Amount::Each(count, "event");
    let work = format!("write index events, CRC-32C, finalize; {name}, CPU time");
    let ours = |watch: &mut Stopwatch| places.ours(watch, pages, tape, count, false);
    let comparison = compare(context.pairs, Time::Cpu, ours, |watch| {
        places.fwrite(watch, pages, tape, count)
    })?;
    context.report.add(Row {
        work: work.clone(),
        baseline: "libc fwrite per event",
        goal: Some(fwrite),
        comparison,
        amount,
    });
    let comparison = compare(context.pairs, Time::Cpu, ours, |watch| {
        places.blocks(watch, pages, count)
    })?;
    context.report.add(Row {
        work,
        baseline: "write(2) of the same number of bytes from one 256 KiB buffer",
        goal: Some(limit),
        comparison,
        amount,
    });
    context.report.add(Row {
        work: format!("write(2) of the same number of bytes from one 256 KiB buffer; {name}"),
        baseline: "libc fwrite per event",
        goal: None,
        comparison: compare(
            context.pairs,
            Time::Cpu,
            |watch| places.blocks(watch, pages, count),
            |watch| places.fwrite(watch, pages, tape, count),
        )?,
        amount,
    });
    let survives = |watch: &mut Stopwatch| places.ours(watch, pages, tape, count, true);
    let comparison = compare(context.pairs, Time::Cpu, survives, ours)?;
    context.report.add(Row {
        work: format!("the same, with nothing lost on SIGKILL; {name}, CPU time"),
        baseline: "the same without that",
        goal: Some(0.92),
        comparison,
        amount,
    });
    Ok(())
}

/// The files that are written.
struct Places {
    ours: PathBuf,
    fwrite: PathBuf,
    blocks: PathBuf,
}

impl Places {
    fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            ours: folder.join("ours"),
            fwrite: folder.join("fwrite"),
            blocks: folder.join("blocks"),
        })
    }

    fn ours(
        &self,
        watch: &mut Stopwatch,
        pages: Pages,
        tape: &Tape,
        count: u64,
        survive_kill: bool,
    ) -> Result<()> {
        let options = WriteOptions::default().survive_kill(survive_kill);
        let storage: Arc<dyn Storage> = match pages {
            Pages::Reused => Arc::new(OverOld),
            Pages::Fresh => {
                remove(&self.ours.join("index.atf"))?;
                Arc::new(Disk)
            }
        };
        watch.time(|| {
            let mut writer = ThreadWriter::create_on(storage, &self.ours, 0, &options)?;
            tape.play(count, |event| writer.write(event).map(drop))?;
            writer.finalize()?;
            Ok(())
        })
    }

    /// Times only the program's own work (encoding, checks and the checksum), not the system's.
    fn nowhere(&self, watch: &mut Stopwatch, tape: &Tape, count: u64) -> Result<()> {
        let storage = Arc::new(Nowhere);
        let options = WriteOptions::default();
        watch.time(|| {
            let mut writer = ThreadWriter::create_on(storage, &self.ours, 0, &options)?;
            tape.play(count, |event| writer.write(event).map(drop))?;
            writer.finalize()?;
            Ok(())
        })
    }

    /// Writes the way existing tracers do: the header, each event as it arrives, the footer, and
    /// the header again. There is no checksum.
    fn fwrite(&self, watch: &mut Stopwatch, pages: Pages, tape: &Tape, count: u64) -> Result<()> {
        let over_old = pages == Pages::Reused && self.fwrite.exists();
        if !over_old {
            remove(&self.fwrite)?;
        }
        watch.time(|| {
            let mut stream = Stream::open(&self.fwrite, over_old)?;
            let header = v1::IndexHeader::new_zeroed();
            stream.write(&header)?;
            tape.play(count, |event| stream.write(&record(event)))?;
            stream.write(&v1::IndexFooter::new_zeroed())?;
            stream.rewind()?;
            stream.write(&header)?;
            Ok(())
        })
    }

    /// Times the system's part of writing the same number of bytes: no events are created, and no
    /// bytes are copied twice.
    fn blocks(&self, watch: &mut Stopwatch, pages: Pages, count: u64) -> Result<()> {
        if pages == Pages::Fresh {
            remove(&self.blocks)?;
        }
        let block = vec![0x5A; BLOCK_SIZE];
        watch.time(|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&self.blocks)?;
            let mut left = count as usize * EVENT_SIZE;
            while left > 0 {
                let size = left.min(BLOCK_SIZE);
                file.write_all(&block[..size])?;
                left -= size;
            }
            Ok(())
        })
    }
}

/// Converts the event to the struct that existing tracers use.
#[inline]
fn record(event: &Event) -> v1::IndexEvent {
    v1::IndexEvent {
        timestamp_ns: event.timestamp_ns.into(),
        function_id: event.function_id.into(),
        thread_id: 0.into(),
        event_kind: event.event_kind.0.into(),
        call_depth: event.call_depth.into(),
        detail_seq: v1::IndexEvent::DETAIL_SEQ_NONE.into(),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
