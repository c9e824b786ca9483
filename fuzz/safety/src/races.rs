//! Truncates, overwrites or replaces a file while it is being read.
//!
//! The default reader uses positioned reads, so a change by another process may cause an error or
//! different bytes, but no panic, signal or extra event. If the file is only truncated or replaced,
//! every returned event and payload was written.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile};
use atf_samples::random::Random;
use tempfile::TempDir;

/// The number of index events, which is also the number of details.
const COUNT: u64 = 4000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Cut,
    Overwrite,
    Zeros,
    Replace,
}

/// The counts and broken guarantees of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of races.
    pub races: u64,
    /// The number of complete reads of a file before, during or after changes.
    pub passes: u64,
    /// The number of reads that failed because of a change.
    pub errors: u64,
    /// Broken guarantees.
    pub faults: Vec<String>,
}

/// Receives the results of the reader under test. In tests, this plants a bug.
#[derive(Clone, Copy)]
pub struct Reads {
    /// Receives an event or an error.
    pub event: fn(&atf::Result<IndexEvent>),
    /// Returns a payload.
    pub payload: fn(Vec<u8>) -> Vec<u8>,
}

/// The unmodified library.
pub const LIBRARY: Reads = Reads {
    event: |_| (),
    payload: |payload| payload,
};

/// The files of a race, and what was written to them.
struct Thread {
    index: PathBuf,
    detail: PathBuf,
    events: Vec<IndexEvent>,
    details: Vec<DetailRecord>,
}

impl Thread {
    /// Writes the files of a race. Its number determines their wire version, and whether they are
    /// finalized.
    fn write(folder: &Path, race: usize) -> io::Result<Self> {
        let version = if (race / 4).is_multiple_of(2) { 1 } else { 2 };
        let (index, detail) = (
            IndexFile::finalized(version, COUNT),
            DetailFile::finalized(version, COUNT),
        );
        let whole = IndexReader::from_bytes(index.bytes()).map_err(io::Error::other)?;
        let events: Result<Vec<_>, _> = whole.events().collect();
        let this = Self {
            index: folder.join(INDEX_FILE),
            detail: folder.join(DETAIL_FILE),
            events: events.map_err(io::Error::other)?,
            details: detail.events.clone(),
        };
        let [index, detail] = if (race / 8).is_multiple_of(2) {
            [index.bytes(), detail.bytes()]
        } else {
            let (index, detail) = (index.placeholder(), detail.placeholder());
            [index.without_footer(), detail.without_footer()]
        };
        fs::write(&this.index, index)?;
        fs::write(&this.detail, detail)?;
        Ok(this)
    }
}

/// Runs races, each on a new file. The race's number determines the files, the changes and their
/// offsets.
///
/// # Errors
///
/// Returns an error if the temporary folder cannot be created.
pub fn run(races: Range<usize>, reads: Reads) -> io::Result<Tally> {
    let folder = TempDir::new()?;
    let mut tally = Tally::default();
    for race in races {
        let written = Thread::write(folder.path(), race)?;
        let changes = [
            Change::Cut,
            Change::Overwrite,
            Change::Zeros,
            Change::Replace,
        ];
        let change = changes[race % 4];
        let (is_done, is_open) = (AtomicBool::new(false), Barrier::new(2));
        tally.races += 1;
        let outcome = thread::scope(|scope| {
            let reading = scope.spawn(|| {
                // This reader was opened before the first change, and is still used after the last
                // change.
                let first = IndexReader::open(&written.index).ok();
                is_open.wait();
                let read = || read(first.as_ref(), &written, change, &is_done, reads);
                panic::catch_unwind(AssertUnwindSafe(read))
            });
            is_open.wait();
            let changed =
                [&written.index, &written.detail].map(|path| make(change, path, race as u64));
            is_done.store(true, Ordering::Release);
            (reading.join(), changed)
        });
        match outcome.0 {
            Ok(Ok(Ok((passes, errors)))) => {
                tally.passes += passes;
                tally.errors += errors;
            }
            Ok(Ok(Err(fault))) => tally
                .faults
                .push(format!("race {race}, {change:?}: {fault}")),
            _ => tally
                .faults
                .push(format!("race {race}, {change:?}: panics")),
        }
        for changed in outcome.1 {
            changed?;
        }
    }
    Ok(tally)
}

/// Changes a file several times.
fn make(change: Change, path: &Path, seed: u64) -> io::Result<()> {
    let mut random = Random::new(seed);
    let mut size = fs::metadata(path)?.len();
    for _ in 0..8 {
        let place = random.number() % size.max(1);
        thread::yield_now();
        let open = || File::options().write(true).open(path);
        match change {
            Change::Cut => {
                open()?.set_len(place)?;
                size = place;
            }
            Change::Overwrite => open()?.write_all_at(&[0xff; 100], place)?,
            Change::Zeros => open()?.write_all_at(&[0; 3000], place)?,
            Change::Replace => {
                let other = path.with_extension("new");
                fs::write(&other, b"ATI2 and nothing else")?;
                fs::rename(&other, path)?;
            }
        }
    }
    Ok(())
}

/// Reads both files repeatedly until they stop changing, and then once more. Returns the numbers of
/// passes and errors.
fn read(
    first: Option<&IndexReader>,
    written: &Thread,
    change: Change,
    is_done: &AtomicBool,
    reads: Reads,
) -> Result<(u64, u64), String> {
    let is_kept = matches!(change, Change::Cut | Change::Replace);
    let (mut passes, mut errors) = (0, 0);
    let mut was_done = false;
    while !was_done {
        was_done = is_done.load(Ordering::Acquire);
        passes += 1;
        let fresh = IndexReader::open(&written.index);
        errors += u64::from(fresh.is_err());
        // Read with the first reader, and with a newly opened one.
        for index in first.into_iter().chain(fresh.as_ref().ok()) {
            let mut count = 0;
            for (seq, event) in (0..).zip(index.events_in(..)) {
                (reads.event)(&event);
                let Ok(event) = event else {
                    errors += 1;
                    break;
                };
                count += 1;
                if is_kept && written.events.get(seq) != Some(&event) {
                    return Err(format!("event {seq} is {event:?}"));
                }
            }
            if count > index.event_count() {
                return Err(format!("{count} events of {}", index.event_count()));
            }
            errors += u64::from(index.scan().is_err()) + u64::from(index.get(COUNT / 2).is_err());
        }
        let Ok(detail) = DetailReader::open(&written.detail) else {
            errors += 1;
            continue;
        };
        errors += u64::from(detail.checksum().is_err());
        for (seq, event) in (0..).zip(detail.events_in(..)) {
            let read = event.and_then(|event| Ok((event, detail.payload(&event, 1 << 20)?)));
            let Ok((event, payload)) = read else {
                errors += 1;
                continue;
            };
            let found = DetailRecord {
                event_type: event.header.event_type.into(),
                index_seq: event.header.index_seq,
                timestamp: event.header.timestamp,
                payload: (reads.payload)(payload),
            };
            if is_kept && written.details.get(seq) != Some(&found) {
                return Err(format!("detail {seq} is {found:?}"));
            }
        }
    }
    Ok((passes, errors))
}
