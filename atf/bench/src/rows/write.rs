//! Writing the events of one thread to new files. CPU time is counted, because the time spent
//! waiting for the file system is beyond the program's control.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use atf::write::{Event, WriteOptions};
use zerocopy::{FromZeros as _, Immutable, IntoBytes};

use crate::context::Context;
use crate::harness::{Result, Stopwatch};
use crate::input::{EVENT_SIZE, Tape};

/// Events per run, 32 bytes each.
const EVENTS: u64 = 4_000_000;
/// The buffer that is written repeatedly.
const BLOCK_SIZE: usize = 256 << 10;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let tape = Tape::new();
    let count = context.events(EVENTS);
    let (ours, theirs) = (context.path("ours"), context.path("theirs"));
    let write = |watch: &mut Stopwatch, survive_kill| {
        let options = WriteOptions::default().survive_kill(survive_kill);
        tape.write(watch, &ours, &options, count)
    };
    let plain = |watch: &mut Stopwatch| write(watch, false);
    let work = "write index events, CRC-32C, finalize; fresh pages, CPU time";
    let row = context.row(work, "libc fwrite per event", 2.3).cpu();
    row.each(count, "event")
        .compare(plain, |watch| fwrite(watch, &theirs, &tape, count))?;
    let blocks = "write(2) of the same number of bytes from one 256 KiB buffer";
    let row = context.row(work, blocks, 0.8).cpu();
    row.each(count, "event")
        .compare(plain, |watch| write_blocks(watch, &theirs, count))?;
    let row = context.row(
        "the same with survive_kill; fresh pages, CPU time",
        "the same without survive_kill",
        0.92,
    );
    let survives = |watch: &mut Stopwatch| write(watch, true);
    row.cpu().each(count, "event").compare(survives, plain)
}

/// The records of wire version 1.
mod v1 {
    /// The header.
    #[atf_derive::record(index_header, wire = 1)]
    pub(super) struct IndexHeader;

    /// An event.
    #[atf_derive::record(index_event, wire = 1)]
    pub(super) struct IndexEvent;

    /// The footer.
    #[atf_derive::record(index_footer, wire = 1)]
    pub(super) struct IndexFooter;
}

/// Writes the way existing tracers do: the header, each event as it arrives, the footer, and the
/// header again. There is no checksum.
#[allow(unsafe_code, reason = "C streams need it")]
fn fwrite(watch: &mut Stopwatch, path: &Path, tape: &Tape, count: u64) -> Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    watch.time(|| {
        // SAFETY: both strings end in 0 and live until the call returns.
        let stream = unsafe { libc::fopen(name.as_ptr(), c"wb".as_ptr()) };
        if stream.is_null() {
            return Err(io::Error::last_os_error());
        }
        let header = v1::IndexHeader::new_zeroed();
        put(stream, &header)?;
        tape.play(count, |event| put(stream, &record(event)))?;
        put(stream, &v1::IndexFooter::new_zeroed())?;
        // SAFETY: the stream is open.
        unsafe { libc::fseek(stream, 0, libc::SEEK_SET) };
        put(stream, &header)?;
        // SAFETY: the stream is open, and nothing uses it afterwards.
        unsafe { libc::fclose(stream) };
        Ok(())
    })?;
    Ok(fs::remove_file(path)?)
}

/// Writes a record to an open stream.
#[inline]
#[allow(unsafe_code, reason = "C streams need it")]
fn put<T: IntoBytes + Immutable>(stream: *mut libc::FILE, record: &T) -> io::Result<()> {
    let bytes = record.as_bytes();
    // SAFETY: the pointer and the length are those of `bytes`; the caller closes the stream last.
    match unsafe { libc::fwrite(bytes.as_ptr().cast(), bytes.len(), 1, stream) } {
        1 => Ok(()),
        _ => Err(io::Error::last_os_error()),
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

/// Does only the system's part of writing the same number of bytes: no events are created, and no
/// bytes are copied twice.
fn write_blocks(watch: &mut Stopwatch, path: &Path, count: u64) -> Result<()> {
    let block = vec![0x5A; BLOCK_SIZE];
    watch.time(|| {
        let mut file = File::create(path)?;
        let mut left = count as usize * EVENT_SIZE;
        while left > 0 {
            let size = left.min(BLOCK_SIZE);
            file.write_all(&block[..size])?;
            left -= size;
        }
        io::Result::Ok(())
    })?;
    Ok(fs::remove_file(path)?)
}
