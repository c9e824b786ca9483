//! Tests resource limits of the process, and unusual files and folders.
//!
//! Each [`Case`] runs in a separate process, because limits apply to a whole process, and exceeding
//! one may kill it. In every case, the library returns a result or an error, leaves nothing
//! half-written, and uses no more resources than it needs.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::{SessionReader, ThreadEntry};
use atf::write::{Event, ThreadWriter, WriteOptions};
use atf::{ErrorKind, EventKind};
use atf_samples::files::{DetailFile, IndexFile};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of events in each thread.
const EVENTS: u64 = 1000;
/// The maximum number of bytes that may be read from sparse files.
const READ: u64 = 64 << 20;

/// An unusual limit, file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// More threads in a session than the number of files that may be open (`ulimit -n`).
    Files,
    /// Output larger than the allowed file size (`ulimit -f`).
    Size,
    /// Files that need more memory than allowed (`ulimit -v`).
    Memory,
    /// Sparse files of 1 TiB.
    Holes,
    /// A folder nested so deeply that its copy's path would be too long.
    Deep,
    /// Files and folders whose names have as many bytes as a file system allows.
    Names,
    /// Files that only their owner may read.
    Modes,
}

impl Case {
    /// Runs the case in a folder. With `has_bug`, a planted bug must make the case fail.
    ///
    /// # Errors
    ///
    /// Returns an error if a guarantee is broken, or if a folder cannot be created.
    pub fn run(self, folder: &Path, has_bug: bool) -> io::Result<()> {
        let (session, out) = (folder.join("in"), folder.join("out"));
        thread(&session, 0)?;
        match self {
            Self::Files => files(&session, &out, has_bug),
            Self::Size => size(&session, &out, has_bug),
            Self::Memory => memory(&session, &out, has_bug),
            Self::Holes => holes(&session, &out, has_bug),
            Self::Deep => deep(&session, &out, has_bug),
            Self::Names => names(&session, folder, has_bug),
            Self::Modes => modes(&session, &out, has_bug),
        }
    }
}

fn holds(is_so: bool, what: impl Into<String>) -> io::Result<()> {
    if is_so {
        Ok(())
    } else {
        Err(io::Error::other(what.into()))
    }
}

/// Checks the kind of an error.
fn fails(what: &str, error: Option<atf::Error>, expected: io::ErrorKind) -> io::Result<()> {
    let kind = error.map(|error| error.kind().clone());
    let is_so = kind == Some(ErrorKind::Io(expected));
    holds(is_so, format!("{what} {kind:?}"))
}

/// Writes an unfinalized thread.
fn thread(session: &Path, id: u32) -> io::Result<()> {
    let folder = session.join(format!("thread_{id}"));
    fs::create_dir_all(&folder)?;
    let index = IndexFile::finalized(1, EVENTS).placeholder();
    fs::write(folder.join("index.atf"), index.without_footer())
}

fn limit(resource: Resource, to: u64) -> io::Result<()> {
    let limits = Rlimit {
        current: Some(to),
        ..getrlimit(resource)
    };
    Ok(setrlimit(resource, limits)?)
}

/// Recovers a session, which must have this many events.
fn recovers(session: &Path, out: &Path, events: u64) -> io::Result<()> {
    recover(session, out, &RecoverOptions::default()).map_err(io::Error::other)?;
    let out = SessionReader::open(out).map_err(io::Error::other)?;
    let count = out.summary().index_events;
    holds(count == events, format!("{count} events are recovered"))
}

fn files(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    // Recovery has several files open per core.
    let cores = std::thread::available_parallelism()?.get();
    let most = u32::try_from(8 + 8 * cores).map_err(io::Error::other)?;
    let most = most.max(64);
    let threads = 5 * most;
    for id in 1..threads {
        thread(session, id)?;
    }
    limit(Resource::Nofile, most.into())?;
    let events = u64::from(threads) * EVENTS;
    let opened = SessionReader::open(session).map_err(io::Error::other)?;
    // The planted bug: a reader that leaves files open.
    let left_open = opened.threads().iter().filter(|_| has_bug);
    let left_open: Vec<_> = left_open.map(ThreadEntry::open).collect();
    let merge = opened.merge();
    let count = merge.events().filter(Result::is_ok).count() as u64;
    drop(left_open);
    holds(count == events, format!("{count} events are merged"))?;
    recovers(session, out, events)
}

fn size(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    limit(Resource::Fsize, 10_000)?;
    let error = recover(session, out, &RecoverOptions::default()).err();
    if has_bug {
        fs::create_dir(out)?;
    }
    fails("recover returns", error, io::ErrorKind::FileTooLarge)?;
    holds(!out.exists(), "output is left")?;
    // Creating the thread fails if its kill journal is too large; otherwise, a later write fails.
    for (survive_kill, buffer_size) in [(false, 8 << 10), (true, 2 << 10), (true, 64 << 10)] {
        let options = WriteOptions::default()
            .survive_kill(survive_kill)
            .buffer_size(buffer_size);
        let folder = out.with_file_name(format!("thread_{survive_kill}_{buffer_size}"));
        let written = ThreadWriter::create(folder, 1, &options).and_then(|mut writer| {
            (0..2000).try_for_each(|_| {
                writer
                    .write(&Event::new(1, 2, EventKind::CALL, 1))
                    .map(drop)
            })
        });
        fails(
            "a writer returns",
            written.err(),
            io::ErrorKind::FileTooLarge,
        )?;
    }
    Ok(())
}

fn memory(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    limit(Resource::As, 256 << 20)?;
    let manifest = session.join("manifest.json");
    // Write 12 million values. If kept, each takes at least 16 bytes.
    for key in ["threads", "unknown"] {
        let mut file = io::BufWriter::new(File::create(&manifest)?);
        write!(file, "{{\"{key}\": [{}0]}}", "0,".repeat(12_000_000))?;
        file.flush()?;
        drop(file);
        let opened = SessionReader::open(session).map_err(io::Error::other)?;
        let problem = opened
            .manifest()
            .and_then(|manifest| manifest.problems.first().cloned());
        let problem = problem.filter(|_| !has_bug);
        let what = format!("the error of a manifest with {key} is");
        fails(&what, problem, io::ErrorKind::OutOfMemory)?;
        recovers(session, out, EVENTS)?;
        fs::remove_dir_all(out)?;
    }
    // Write a detail with a sparse payload of almost 4 GiB.
    let detail = DetailFile::finalized(1, 1).placeholder().without_footer();
    let mut file = File::create(session.join("thread_0/detail.atf"))?;
    file.write_all(detail.get(..64).unwrap_or_default())?;
    file.write_all(&u32::MAX.to_le_bytes())?;
    file.set_len(64 + u64::from(u32::MAX))?;
    drop(file);
    let opened = SessionReader::open(session).map_err(io::Error::other)?;
    let count = opened.summary().index_events;
    holds(count == EVENTS, format!("{count} events"))?;
    let detail = DetailReader::open(session.join("thread_0/detail.atf"));
    let detail = detail.map_err(io::Error::other)?;
    let event = detail.get(0).map_err(io::Error::other)?;
    let event = event.ok_or_else(|| io::Error::other("the detail is not found"))?;
    let error = detail.payload(&event, usize::MAX).err();
    fails("the payload's error is", error, io::ErrorKind::OutOfMemory)
}

/// Returns the number of bytes that this process has read so far.
fn read_so_far() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.and_then(|number| number.parse().ok())
        .ok_or_else(|| io::Error::other("the system does not count bytes read"))
}

fn holes(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    let before = read_so_far()?;
    let index = session.join("thread_0/index.atf");
    File::options().write(true).open(&index)?.set_len(1 << 40)?;
    let detail = DetailFile::finalized(1, 3).placeholder().without_footer();
    fs::write(session.join("thread_0/detail.atf"), detail)?;
    let detail = File::options()
        .write(true)
        .open(session.join("thread_0/detail.atf"));
    detail?.set_len(1 << 40)?;
    File::create(session.join("manifest.json"))?.set_len(1 << 40)?;
    // Write a file without a valid header, with a single byte at its end.
    fs::create_dir(session.join("thread_1"))?;
    let mut other = File::create(session.join("thread_1/index.atf"))?;
    other.seek(SeekFrom::Start((1 << 40) - 1))?;
    other.write_all(b"x")?;
    // Write files whose holes are followed by a torn event and a torn detail.
    thread(session, 2)?;
    let detail = DetailFile::finalized(1, 3).placeholder().without_footer();
    fs::write(session.join("thread_2/detail.atf"), detail)?;
    for name in ["thread_2/index.atf", "thread_2/detail.atf"] {
        let file = File::options().write(true).open(session.join(name))?;
        file.write_all_at(b"x", 1 << 40)?;
    }
    // Reading a hole of 1 TiB would take hours.
    limit(Resource::Cpu, 30)?;
    if has_bug {
        let file = File::open(&index)?;
        io::copy(&mut file.take(2 * READ), &mut io::sink())?;
    }
    let reader = IndexReader::open(&index).map_err(io::Error::other)?;
    let count = reader.event_count();
    holds(count == EVENTS, format!("{count} events"))?;
    let opened = SessionReader::open(session).map_err(io::Error::other)?;
    let count = opened.summary().index_events;
    holds(
        count == 2 * EVENTS,
        format!("{count} events of the session"),
    )?;
    recovers(session, out, 2 * EVENTS)?;
    let options = RecoverOptions::default().salvage(true);
    let report = recover(session, out.with_extension("salvaged"), &options);
    let count = report.map_err(io::Error::other)?.events();
    holds(count == 2 * EVENTS, format!("{count} events are salvaged"))?;
    let read = read_so_far()?.saturating_sub(before);
    holds(read <= READ, format!("{read} bytes are read"))?;
    let copy = fs::metadata(out.join("unreadable/thread_1/index.atf"))?;
    holds(copy.len() == 1 << 40, "the copy's size is different")?;
    holds(copy.blocks() * 512 <= READ, "the copy is not sparse")
}

fn deep(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    const LONGEST: usize = 4090;
    fs::create_dir(session.join("thread_1"))?;
    fs::write(session.join("thread_1/index.atf"), "what cannot be read")?;
    let mut deep = session.join("thread_1");
    while deep.as_os_str().len() + 2 < LONGEST {
        let left = LONGEST - deep.as_os_str().len() - 1;
        deep.push("d".repeat(left.min(200)));
        fs::create_dir(&deep)?;
    }
    if has_bug {
        // The planted bug: a recovery that loses the thread next to the deep folder.
        fs::remove_dir_all(session.join("thread_0"))?;
    }
    recovers(session, out, EVENTS)
}

fn names(session: &Path, folder: &Path, has_bug: bool) -> io::Result<()> {
    const LONGEST: usize = 255;
    let padded = |start: &str, end: &str| {
        let zeros = "0".repeat(LONGEST - start.len() - end.len());
        format!("{start}{zeros}{end}")
    };
    let (out, long) = (folder.join(padded("out", "")), padded("", "x"));
    // Create a thread that can be read, one that cannot, and files that belong to no thread.
    fs::rename(
        session.join("thread_0"),
        session.join(padded("thread_", "1")),
    )?;
    let unreadable = padded("thread_", "2");
    fs::create_dir(session.join(&unreadable))?;
    fs::write(session.join(&unreadable).join("index.atf"), "unreadable")?;
    fs::write(session.join(&unreadable).join(&long), "kept")?;
    fs::write(session.join(&long), "kept")?;
    let opened = SessionReader::open(session).map_err(io::Error::other)?;
    let count = opened.merge().events().filter(Result::is_ok).count() as u64;
    holds(count == EVENTS, format!("{count} events are merged"))?;
    recovers(session, &out, EVENTS)?;
    let kept = out.join("unreadable").join(unreadable).join(long);
    if has_bug {
        fs::write(&kept, "lost")?;
    }
    let kept = fs::read(kept)?;
    holds(
        kept == b"kept",
        "a file of the unreadable thread is changed",
    )
}

fn modes(session: &Path, out: &Path, has_bug: bool) -> io::Result<()> {
    let index = Path::new("thread_0/index.atf");
    fs::set_permissions(session.join(index), PermissionsExt::from_mode(0o600))?;
    recovers(session, out, EVENTS)?;
    if has_bug {
        fs::set_permissions(out.join(index), PermissionsExt::from_mode(0o644))?;
    }
    for name in [
        index,
        Path::new("manifest.json"),
        Path::new("recovery.json"),
    ] {
        let mode = fs::metadata(out.join(name))?.mode() & 0o777;
        holds(
            mode == 0o600,
            format!("{} has mode {mode:o}", name.display()),
        )?;
    }
    Ok(())
}
