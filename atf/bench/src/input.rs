//! Inputs of the benchmarks.

use std::fs::{self, File};
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atf::ReadAt;
use atf::index::{IndexEvent, IndexReader};
use atf::write::{Event, ThreadWriter, WriteOptions};
use atf_synth::{Shape, Synth};
use memmap2::Mmap;
use tempfile::TempDir;

use crate::context::Context;
use crate::harness::{Result, Stopwatch};

pub(crate) const EVENT_SIZE: usize = IndexEvent::SIZE;
/// The size in bytes of the header before the events.
pub(crate) const HEADER_SIZE: usize = 64;

/// A synthetic session, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Session {
    folder: TempDir,
    threads: u32,
    /// The total number of events in all threads.
    pub(crate) count: u64,
}

impl Session {
    /// Writes a session with `events` events in total. `details` of 1000 events have a detail.
    pub(crate) fn new(
        context: &Context,
        threads: u32,
        events: u64,
        details: u32,
        shape: Shape,
    ) -> Result<Self> {
        let folder = context.temporary()?;
        let events_per_thread = context.events(events) / u64::from(threads);
        let synth = Synth {
            threads,
            events_per_thread,
            detail_per_mille: details,
            shape,
            ..Synth::default()
        };
        synth.write(folder.path())?;
        let count = events_per_thread * u64::from(threads);
        Ok(Self {
            folder,
            threads,
            count,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of the first thread.
    pub(crate) fn thread(&self) -> PathBuf {
        self.path().join("thread_0")
    }

    /// Returns the index file of the first thread.
    pub(crate) fn index(&self) -> PathBuf {
        self.thread().join("index.atf")
    }

    /// Returns each thread's file of this name.
    pub(crate) fn files(&self, name: &str) -> Vec<PathBuf> {
        let folders = (0..self.threads).map(|thread| self.path().join(format!("thread_{thread}")));
        folders.map(|folder| folder.join(name)).collect()
    }
}

/// A mapped file whose pages are already in this process's page table. Both sides of a comparison
/// use the same mapping, so page faults affect neither.
#[derive(Debug, Clone)]
pub(crate) struct Warm(Arc<Mmap>);

impl Warm {
    /// Maps a file that this program wrote, and touches each page.
    pub(crate) fn map(path: &Path) -> Result<Self> {
        let map = map(path)?;
        black_box(map.iter().step_by(4096).fold(0, |sum, byte| sum ^ byte));
        Ok(Self(Arc::new(map)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl ReadAt for Warm {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0[..]).read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// The events of a mapped file.
#[derive(Debug)]
pub(crate) struct Events {
    map: Warm,
    count: usize,
}

impl Events {
    /// Maps a finalized `index.atf`.
    pub(crate) fn map(path: &Path) -> Result<Self> {
        let count = usize::try_from(IndexReader::open(path)?.event_count())?;
        let map = Warm::map(path)?;
        Ok(Self { map, count })
    }

    /// Opens a separate reader for the file.
    pub(crate) fn reader(&self) -> Result<IndexReader> {
        Ok(IndexReader::from_source(self.map.clone())?)
    }

    /// Returns each event's bytes.
    pub(crate) fn records(&self) -> &[[u8; EVENT_SIZE]] {
        let (records, _) = self.map.bytes()[HEADER_SIZE..].as_chunks();
        &records[..self.count]
    }
}

#[allow(unsafe_code, reason = "a mapping is a promise about the file")]
fn map(path: &Path) -> Result<Mmap> {
    // SAFETY: the file is in this program's own temporary folder, is finalized, and is removed (not
    // shortened) at the end.
    Ok(unsafe { Mmap::map(&File::open(path)?) }?)
}

/// Returns options that map files.
#[allow(unsafe_code, reason = "a mapping is a promise about the file")]
pub(crate) fn mapped() -> atf::OpenOptions {
    // SAFETY: as above; these options are used only for this program's own files.
    unsafe { atf::OpenOptions::new().mapped() }
}

/// Events of a call tree to replay. A tracer has its event in registers, so a write benchmark
/// should not read a long input from memory.
#[derive(Debug)]
pub(crate) struct Tape {
    events: Vec<Event>,
    lap_ns: u64,
}

impl Tape {
    pub(crate) fn new() -> Self {
        let synth = Synth::default();
        let events: Vec<Event> = synth.thread(0).take(2_048).map(|made| made.event).collect();
        let first = events.first().map_or(0, |event| event.timestamp_ns);
        let last = events.last().map_or(0, |event| event.timestamp_ns);
        let lap_ns = last - first + 1;
        Self { events, lap_ns }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn lap_ns(&self) -> u64 {
        self.lap_ns
    }

    /// Replays `count` events; each lap's timestamps are later than the previous lap's.
    #[inline]
    pub(crate) fn play<E>(
        &self,
        count: u64,
        mut event: impl FnMut(&Event) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (mut left, mut later_ns) = (count, 0);
        while left > 0 {
            for recorded in &self.events {
                if left == 0 {
                    break;
                }
                left -= 1;
                event(&recorded.timestamp_ns(recorded.timestamp_ns + later_ns))?;
            }
            later_ns += self.lap_ns;
        }
        Ok(())
    }

    /// Replays `count` events into a thread's new folder, and adds the time to the stopwatch. Removes
    /// the folder of an earlier run first.
    pub(crate) fn write(
        &self,
        watch: &mut Stopwatch,
        folder: &Path,
        options: &WriteOptions,
        count: u64,
    ) -> Result<()> {
        remove(folder)?;
        watch.time(|| {
            let mut writer = ThreadWriter::create(folder, 0, options)?;
            self.play(count, |event| writer.write(event).map(drop))?;
            writer.finalize()?;
            Ok(())
        })
    }
}

/// Removes a folder, if it exists.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
