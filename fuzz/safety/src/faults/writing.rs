//! Tests writers of real files while calls fail, in-memory writers on a disk that is full after any
//! number of bytes, and writers on full real disks.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE, ThreadReader};
use atf::write::{
    Detail, Disk, Durability, Memory, SessionWriter, Storage, StorageFile, WriteOptions,
};
use atf::{Completeness, ErrorKind, Wire};
use atf_fuzz::scratch;
use tempfile::TempDir;

use super::{FAULTS, Fault, Layer, Plan, Tally, code};
use crate::crashes::plain_event as event;

/// The number of events in the thread. Every third event has a detail.
const COUNT: u64 = 200;
/// The approximate number of events, with their details, that fit on one page of the largest disk.
const OF_A_PAGE: u64 = 62;
const PAYLOAD: [u8; 40] = [7; 40];
const THREAD: &str = "session/thread_7";
/// Calls that every writer makes.
const CALLS: [&str; 7] = [
    "create", "fsync", "mkdir", "open", "pwrite64", "renameat", "statx",
];
/// Additional calls of a writer with a kill journal.
const JOURNAL_CALLS: [&str; 3] = ["fallocate64", "mmap64", "unlinkat"];

/// How far a writer got: the number of events that it accepted, the numbers of events and details
/// that it reported as flushed (`None` if it did not create the thread), and whether it finished.
struct Written {
    accepted: u64,
    flushed: Option<(u64, u64)>,
    result: atf::Result<()>,
}

/// Writes a session of one thread until the first error, and drops the writers.
fn write(storage: Arc<dyn Storage>, root: &Path, options: &WriteOptions, count: u64) -> Written {
    let (mut accepted, mut flushed) = (0, None);
    let run = || -> atf::Result<()> {
        let session = SessionWriter::create_on(storage, root.join("session"), options)?;
        session.write_manifest()?;
        let mut writer = session.thread(7)?;
        let mut events = || -> atf::Result<()> {
            for seq in 0..count {
                let event = event(seq);
                let detail = Detail::new(event.event_kind.detail_type(), &PAYLOAD);
                match seq % 3 {
                    0 => writer.write_with_detail(&event, &detail).map(drop)?,
                    _ => writer.write(&event).map(drop)?,
                }
                accepted = seq + 1;
                if seq == count / 2 {
                    writer.flush()?;
                }
            }
            writer.finalize().map(drop)
        };
        let result = events();
        flushed = Some((writer.flushed_events(), writer.flushed_details()));
        drop(writer);
        result?;
        session.finalize().map(drop)
    };
    let result = run();
    Written {
        accepted,
        flushed,
        result,
    }
}

/// Compares a thread's files with what its writer reported as flushed.
fn check(
    read: impl Fn(&str) -> Option<Vec<u8>>,
    flushed: (u64, u64),
    is_done: bool,
) -> Result<(), String> {
    let text = |error: atf::Error| error.to_string();
    let index = read(INDEX_FILE).ok_or("no index.atf")?;
    let index = IndexReader::from_bytes(index).map_err(text)?;
    let detail = read(DETAIL_FILE).map(|bytes| DetailReader::from_bytes(bytes).map_err(text));
    let detail = detail.transpose();
    let detail = match (detail, flushed.1) {
        (Ok(detail), _) => detail,
        // The writer failed before it wrote the first detail.
        (Err(_), 0) => None,
        (Err(error), _) => return Err(error),
    };
    let found = (
        index.event_count(),
        detail.as_ref().map_or(0, DetailReader::event_count),
    );
    if found != flushed {
        return Err(format!(
            "{flushed:?} events and details were flushed, found {found:?}"
        ));
    }
    if is_done && !matches!(index.completeness(), Completeness::Finalized) {
        return Err("succeeds, but the index is not finalized".to_owned());
    }
    check_events(&index, detail.as_ref())
}

/// Checks that all events and details match what was written, and that no link dangles.
fn check_events(index: &IndexReader, detail: Option<&DetailReader>) -> Result<(), String> {
    let text = |error: atf::Error| error.to_string();
    let details = detail.map_or(0, DetailReader::event_count);
    for (seq, found) in (0..).zip(index.events_in(..)) {
        let (found, expected) = (found.map_err(text)?, event(seq));
        let link = seq.is_multiple_of(3).then_some(seq / 3);
        let is_right = found.timestamp_ns == expected.timestamp_ns
            && found.function_id == expected.function_id
            && found.event_kind == expected.event_kind
            && found.detail_seq == link
            && link.is_none_or(|link| link < details);
        if !is_right {
            return Err(format!("event {seq} is {found:?}"));
        }
    }
    let Some(detail) = detail else {
        return Ok(());
    };
    for found in detail.events_in(..) {
        let found = found.map_err(text)?;
        let payload = detail.payload(&found, 1000).map_err(text)?;
        if found.header.index_seq != 3 * found.seq || payload != PAYLOAD {
            return Err(format!("detail {} is {found:?}", found.seq));
        }
    }
    Ok(())
}

/// Checks that the files and the kill journal in a thread's folder contain every accepted event.
fn check_journal(folder: &Path, accepted: u64) -> Result<(), String> {
    let thread = ThreadReader::open(folder).map_err(|error| error.to_string())?;
    let found = thread.index().event_count();
    if found < accepted {
        return Err(format!("{accepted} events were accepted, found {found}"));
    }
    check_events(thread.index(), thread.detail())
}

/// Makes each call of a writer of real files fail in turn, with each kind of fault, in both wire
/// versions, with and without a kill journal.
///
/// # Errors
///
/// Returns an error if the temporary folders cannot be created.
pub fn writing(layer: Layer) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let wires = Wire::ALL.iter();
    for (&wire, survive_kill) in wires.flat_map(|wire| [(wire, false), (wire, true)]) {
        let options = WriteOptions::default()
            .wire(wire)
            .durability(Durability::EachFlush)
            .survive_kill(survive_kill)
            .buffer_size(4 << 10);
        let mut calls = 0;
        let mut plans = vec![Plan::Count];
        while let Some(plan) = plans.pop() {
            let folder = scratch();
            layer.plan(plan);
            let written = panic::catch_unwind(AssertUnwindSafe(|| {
                write(Arc::new(Disk), folder.path(), &options, COUNT)
            }));
            let log = layer.log()?;
            if plan == Plan::Count {
                calls = log.len() as u64;
                tally.must_call(&log, &CALLS);
                if survive_kill {
                    tally.must_call(&log, &JOURNAL_CALLS);
                }
                let all = (0..calls)
                    .flat_map(|call| FAULTS.map(|(fault, extent)| Plan::Call(call, fault, extent)));
                plans.extend(all);
            }
            tally.runs += 1;
            let outcome = match written {
                Ok(written) => outcome(&written, folder.path(), plan).and_then(|()| {
                    let thread = folder.path().join(THREAD);
                    match written.flushed {
                        Some(_) if survive_kill => check_journal(&thread, written.accepted),
                        None if thread.join(RING_FILE).exists() && !plan.is_for_ever() => {
                            Err("leaves a kill journal".to_owned())
                        }
                        _ => Ok(()),
                    }
                }),
                Err(_) => Err("panics".to_owned()),
            };
            if let Err(fault) = outcome {
                let at = plan.call(&log);
                let journal = if survive_kill { ", kill journal" } else { "" };
                let fault = format!("{wire}{journal}, {plan}, {at}: {fault}");
                tally.faults.push(fault);
            }
        }
        tally.calls += calls;
    }
    Ok(tally)
}

fn outcome(written: &Written, root: &Path, plan: Plan) -> Result<(), String> {
    let is_done = written.result.is_ok();
    if let (Err(error), Plan::Call(_, fault, _)) = (&written.result, plan) {
        match fault {
            Fault::Short => return Err(format!("gives up: {error}")),
            Fault::Error(expected) if code(error) != Some(expected) => {
                return Err(format!("the system's error is not reported: {error}"));
            }
            Fault::Error(_) => {}
        }
    }
    let manifest = fs::read(root.join("session").join(MANIFEST_FILE)).ok();
    if let Some(manifest) = &manifest
        && !Manifest::parse(manifest).problems.is_empty()
    {
        return Err("leaves a truncated manifest".to_owned());
    }
    match written.flushed {
        Some(flushed) => {
            let read = |name: &str| fs::read(root.join(THREAD).join(name)).ok();
            check(read, flushed, is_done)
        }
        None if is_done => Err("succeeds without a thread".to_owned()),
        None => Ok(()),
    }
}

/// Fills the disk after each byte of a writer's output in turn, in both wire versions.
#[must_use]
pub fn disk_full_in_memory() -> Tally {
    let mut tally = Tally::default();
    for &wire in Wire::ALL {
        let options = WriteOptions::default().wire(wire).buffer_size(4 << 10);
        // Increase the space byte by byte until everything fits.
        for space in 0.. {
            tally.runs += 1;
            let small = small_disk(space);
            let written = write(Arc::new(small.clone()), Path::new(""), &options, COUNT);
            let read = |name: &str| small.bytes(Path::new(THREAD).join(name));
            if let Err(fault) = check_on_full_disk(&written, read) {
                let case = format!("{wire}, full after {space} bytes");
                tally.faults.push(format!("{case}: {fault}"));
            }
            if written.result.is_ok() {
                break;
            }
        }
    }
    tally
}

/// Returns in-memory files with limited total size. Existing bytes can always be overwritten.
fn small_disk(space: u64) -> Memory {
    let memory = Memory::new();
    let left = Arc::new(Mutex::new(space));
    memory.wrap(move |_, file| {
        let (size, left) = (0, Arc::clone(&left));
        Box::new(SmallFile { file, size, left })
    });
    memory
}

#[derive(Debug)]
struct SmallFile {
    file: Box<dyn StorageFile>,
    size: u64,
    left: Arc<Mutex<u64>>,
}

impl StorageFile for SmallFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.size.saturating_sub(offset) + *left;
        let fits = usize::try_from(free).unwrap_or(usize::MAX).min(bytes.len());
        if fits == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.file.write_at(offset, &bytes[..fits])?;
        let end = offset + written as u64;
        *left -= end.saturating_sub(self.size);
        self.size = self.size.max(end);
        Ok(written)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.file.set_size(size)?;
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left += self.size.saturating_sub(size);
        self.size = size;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

/// Writes and recovers a session on disks of 1 to `sizes` pages. Returns `None` if no disk can be
/// mounted.
///
/// # Errors
///
/// Returns an error if the temporary folders cannot be created.
pub fn disk_full_on_tmpfs(sizes: u64) -> io::Result<Option<Tally>> {
    let mut tally = Tally::default();
    let options = WriteOptions::default().buffer_size(4 << 10);
    let folder = scratch();
    let count = sizes.saturating_mul(OF_A_PAGE);
    let whole = write(Arc::new(Disk), folder.path(), &options, count);
    whole.result.map_err(io::Error::other)?;
    for pages in 1..=sizes {
        for recovers in [false, true] {
            let Some(disk) = Mounted::new(4 * pages)? else {
                return Ok(None);
            };
            tally.runs += 1;
            let outcome = if recovers {
                recover_to(&folder.path().join("session"), &disk.0.path().join("out"))
            } else {
                write_to(disk.0.path(), &options, count)
            };
            if let Err(fault) = outcome {
                let what = if recovers { "recovers" } else { "writes" };
                let fault = format!("{what} to {pages} pages: {fault}");
                tally.faults.push(fault);
            }
        }
    }
    Ok(Some(tally))
}

fn write_to(disk: &Path, options: &WriteOptions, count: u64) -> Result<(), String> {
    let written = write(Arc::new(Disk), disk, options, count);
    check_on_full_disk(&written, |name| fs::read(disk.join(THREAD).join(name)).ok())
}

/// Checks that only a full disk stopped a writer, and compares its files with what it reported.
fn check_on_full_disk(
    written: &Written,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<(), String> {
    match (&written.result, written.flushed) {
        (Err(error), _) if !is_full(error) => Err(error.to_string()),
        (result, Some(flushed)) => check(read, flushed, result.is_ok()),
        (_, None) => Ok(()),
    }
}

fn recover_to(session: &Path, out: &Path) -> Result<(), String> {
    let result = recover(session, out, &RecoverOptions::default());
    let parent = out.parent().unwrap_or(out);
    let left = fs::read_dir(parent).map_or(usize::MAX, Iterator::count);
    match result {
        Ok(_) => Ok(()),
        Err(error) if !is_full(&error) => Err(error.to_string()),
        Err(_) if left > 0 => Err("leaves files after an error".to_owned()),
        Err(_) => Ok(()),
    }
}

/// A small in-memory disk, unmounted on drop.
struct Mounted(TempDir);

impl Mounted {
    /// Mounts a disk of `kib` KiB. Returns `None` if mounting is not permitted.
    fn new(kib: u64) -> io::Result<Option<Self>> {
        let folder = TempDir::new()?;
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={kib}k"));
        let mounted = mount.arg("none").arg(folder.path()).output();
        let is_mounted = mounted.is_ok_and(|output| output.status.success());
        Ok(is_mounted.then_some(Self(folder)))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // If unmounting fails, removing the folder fails too.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn is_full(error: &atf::Error) -> bool {
    *error.kind() == ErrorKind::Io(io::ErrorKind::StorageFull)
}
