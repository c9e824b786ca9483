//! Truncates, overwrites or replaces a file while it is read.
//!
//! The default reader uses positioned reads, so a change by another process may cause an error or
//! different bytes, but no panic, signal or extra event. If the file is only truncated or replaced,
//! every returned event is an event that was written.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf_samples::files::{DetailFile, IndexFile};
use tempfile::TempDir;

/// The number of index events, and also of details.
const COUNT: u64 = 4000;

/// A change to a file.
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

/// A function that receives each event or error. In a test, it contains a planted bug.
pub type Sees<'a> = &'a (dyn Fn(u64, &atf::Result<IndexEvent>) + Sync);

/// Runs races, each on a new file. The number of a race determines what is changed and where.
///
/// # Errors
///
/// Returns an error if the temporary folder cannot be created.
pub fn run(races: Range<usize>, sees: Sees<'_>) -> io::Result<Tally> {
    let folder = TempDir::new()?;
    let path = folder.path().join("index.atf");
    let detail = folder.path().join("detail.atf");
    let index_bytes = IndexFile::finalized(1, COUNT).bytes();
    let detail_bytes = DetailFile::finalized(1, COUNT).bytes();
    let expected = IndexReader::from_bytes(index_bytes.clone()).map_err(io::Error::other)?;
    let expected: Result<Vec<_>, _> = expected.events().collect();
    let expected = expected.map_err(io::Error::other)?;
    let mut tally = Tally::default();
    for race in races {
        fs::write(&path, &index_bytes)?;
        fs::write(&detail, &detail_bytes)?;
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
                let first = IndexReader::open(&path).ok();
                is_open.wait();
                let read = || {
                    read(
                        first.as_ref(),
                        &path,
                        &detail,
                        &expected,
                        change,
                        &is_done,
                        sees,
                    )
                };
                panic::catch_unwind(AssertUnwindSafe(read))
            });
            is_open.wait();
            let changed = [&path, &detail].map(|path| make(change, path, race as u64));
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
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut size = fs::metadata(path)?.len();
    for _ in 0..8 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let place = random % size.max(1);
        thread::yield_now();
        match change {
            Change::Cut => {
                File::options().write(true).open(path)?.set_len(place)?;
                size = place;
            }
            Change::Overwrite => put(path, place, &[0xff; 100])?,
            Change::Zeros => put(path, place, &[0; 3000])?,
            Change::Replace => {
                let other = path.with_extension("new");
                fs::write(&other, b"ATI2 and nothing else")?;
                fs::rename(&other, path)?;
            }
        }
    }
    Ok(())
}

fn put(path: &Path, place: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)
}

/// Reads both files repeatedly until they stop changing, and then once more. Returns the numbers of
/// passes and errors.
fn read(
    first: Option<&IndexReader>,
    path: &Path,
    detail: &Path,
    expected: &[IndexEvent],
    change: Change,
    is_done: &AtomicBool,
    sees: Sees<'_>,
) -> Result<(u64, u64), String> {
    let (mut passes, mut errors) = (0, 0);
    let mut was_done = false;
    while !was_done {
        was_done = is_done.load(Ordering::Acquire);
        passes += 1;
        let fresh = IndexReader::open(path);
        errors += u64::from(fresh.is_err());
        // Read with the first reader, and with a newly opened one.
        for index in first.into_iter().chain(fresh.as_ref().ok()) {
            let mut count = 0;
            for (seq, event) in (0..).zip(index.events_in(..)) {
                sees(seq, &event);
                let Ok(event) = event else {
                    errors += 1;
                    break;
                };
                count += 1;
                let is_kept = matches!(change, Change::Cut | Change::Replace);
                let written = usize::try_from(seq).ok().and_then(|seq| expected.get(seq));
                if is_kept && written != Some(&event) {
                    return Err(format!("event {seq} is {event:?}"));
                }
            }
            if count > index.event_count() {
                return Err(format!("{count} events of {}", index.event_count()));
            }
            errors += u64::from(index.scan().is_err()) + u64::from(index.get(COUNT / 2).is_err());
        }
        match DetailReader::open(detail) {
            Ok(detail) => {
                errors += u64::from(detail.checksum().is_err());
                for event in detail.events_in(..) {
                    let read = event.and_then(|event| detail.payload(&event, 1 << 20));
                    errors += u64::from(read.is_err());
                }
            }
            Err(_) => errors += 1,
        }
    }
    Ok((passes, errors))
}
