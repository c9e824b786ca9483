//! Each file of the corpus cut at every byte, and with each of its bits flipped.
//!
//! What must hold, whatever the file is:
//!
//! - nothing panics, and each way to read gives the same;
//! - a cut file has the events that are whole in it, as they were, and none besides;
//! - a flipped bit changes no event of a file whose checksum stands without being noticed: the reader
//!   refuses the file, or its checksum, its footer or its header is wrong;
//! - a checker notices each flip in a file that is without fault alone, but for the bits in the
//!   [list](unnoticed::text) that is committed: nothing else in the file repeats what they say;
//! - the C API says what the library says;
//! - what is recovered breaks no structural MUST and has the events that were read.

mod explained;
mod files;
mod recovered;
mod subject;
pub mod unnoticed;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use atf::FileKind;

pub use explained::EXPLAINED;
pub use files::{File, files};
use recovered::Scratch;
pub use subject::{Event, Library, Reading, Source, Subject};

/// Files larger than this have long runs of zeros or of one payload.
const LARGE: usize = 4 << 10;
/// In the midst of these, of so many bytes in a row the bits of one are flipped, unless all are asked for.
const STEP: usize = 64;
/// Of so many flips and of so many cuts one is recovered as well, unless all are asked for.
const RECOVERED: [usize; 2] = [512, 16];
/// The files of which every cut and every flip is recovered.
const CLEAN: [&str; 4] = [
    "v1/clean-index/index.atf",
    "v1/clean-detail/detail.atf",
    "v2/clean-index/index.atf",
    "v2/clean-detail/detail.atf",
];
/// How many mutations a worker takes at a time.
const CHUNK: usize = 2048;

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// What fits each run of CI: every cut, every flip but in the midst of large files. Clean files are
    /// read in each way, through the C API and recovered each time, the others for a part.
    Quick,
    /// Everything.
    All,
}

/// One change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// Cut to this many bytes.
    Cut(usize),
    /// This bit flipped, counted from the lowest of the first byte.
    Flip(usize),
}

/// What was done, and what did not hold.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files that were cut.
    pub cuts: u64,
    /// Files with a flipped bit.
    pub flips: u64,
    /// Flips that were left to [`Scope::All`].
    pub skipped_flips: u64,
    /// Files that were recovered.
    pub recovered: u64,
    /// What did not hold: of each file the first, and how many there are.
    pub faults: BTreeMap<String, (u64, String)>,
    /// How often an [explained](EXPLAINED) fault was seen.
    pub explained: u64,
    /// The bits of files without fault that a checker did not notice, by kind, version and field: the
    /// value of the field with only these bits.
    pub unnoticed: BTreeMap<(String, u8, String), u64>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.cuts += other.cuts;
        self.flips += other.flips;
        self.skipped_flips += other.skipped_flips;
        self.recovered += other.recovered;
        self.explained += other.explained;
        for (file, (count, fault)) in other.faults {
            self.faults.entry(file).or_insert((0, fault)).0 += count;
        }
        for (key, bits) in other.unnoticed {
            *self.unnoticed.entry(key).or_default() |= bits;
        }
    }
}

/// Does it all to `files`, on that many threads.
pub fn run(subject: &dyn Subject, files: &[File], scope: Scope, threads: NonZero<usize>) -> Tally {
    let attack = Attack::new(subject, files, scope);
    let jobs: Vec<_> = files.iter().zip(&attack.bases).flat_map(jobs).collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Tally::default());
    let work = || {
        let mut tally = Tally::default();
        let scratch = Scratch::new();
        while let Some((file, base, range)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            for at in range.clone() {
                attack.one(file, base, at, &scratch, &mut tally);
            }
        }
        total
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(tally);
    };
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        LAST_PANIC.with(|last| *last.borrow_mut() = info.to_string());
    }));
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(work);
        }
        work();
    });
    panic::set_hook(hook);
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The words of a panic, for the report.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The mutations of a file in pieces: first the cuts, then the flips.
fn jobs<'a>(
    (file, base): (&'a File, &'a Base),
) -> impl Iterator<Item = (&'a File, &'a Base, Range<usize>)> {
    let end = file.bytes.len() * 9;
    (0..end)
        .step_by(CHUNK)
        .map(move |start| (file, base, start..end.min(start + CHUNK)))
}

/// What is known of a file before anything happens to it.
struct Base {
    reading: Option<Reading>,
    /// Whether a check by itself finds nothing.
    is_clean: bool,
}

struct Attack<'a> {
    subject: &'a dyn Subject,
    bases: Vec<Base>,
    scope: Scope,
}

impl<'a> Attack<'a> {
    fn new(subject: &'a dyn Subject, files: &[File], scope: Scope) -> Self {
        let base = |file: &File| Base {
            reading: subject::Subject::read(&Library, file.kind, Source::Bytes(&file.bytes)),
            is_clean: !Library.notices(file.kind, &file.bytes),
        };
        Self {
            subject,
            bases: files.iter().map(base).collect(),
            scope,
        }
    }

    /// Does mutation `at` to a file: one of its cuts, or one of its flips behind these.
    fn one(&self, file: &File, base: &Base, at: usize, scratch: &Scratch, tally: &mut Tally) {
        let size = file.bytes.len();
        let (mutation, bytes) = match at.checked_sub(size) {
            None if at < file.shared => return,
            None => {
                tally.cuts += 1;
                (Mutation::Cut(at), file.bytes[..at].to_vec())
            }
            Some(bit) => {
                if self.scope == Scope::Quick && is_in_the_midst(bit / 8, size) {
                    tally.skipped_flips += 1;
                    return;
                }
                tally.flips += 1;
                let mut bytes = file.bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                (Mutation::Flip(bit), bytes)
            }
        };
        let place = match mutation {
            Mutation::Cut(size) => size,
            Mutation::Flip(bit) => bit / 8,
        };
        let is_full = self.scope == Scope::All || CLEAN.contains(&file.name.as_str());
        let recovers = is_full || is_recovered(mutation, size);
        let is_usual = is_full || !is_in_the_midst(place, size);
        tally.recovered += u64::from(recovers);
        let check = || -> Result<bool, String> {
            let sources = sources(mutation, &bytes, is_full, scratch)?;
            let reading = self.same_everywhere(file, &bytes, &sources)?;
            let notices = !is_usual || self.subject.notices(file.kind, &bytes);
            match mutation {
                Mutation::Cut(size) => cut(file, base, size, reading.as_ref(), notices)?,
                Mutation::Flip(bit) => flipped(file, base, bit, reading.as_ref(), notices)?,
            }
            let is_turn = match mutation {
                Mutation::Flip(bit) => is_full || is_one_of_its_byte(bit),
                Mutation::Cut(_) => true,
            };
            if is_usual && is_turn {
                self.subject.capi(file.kind, &bytes);
            }
            if recovers {
                scratch.recover(self.subject, file, &bytes, reading.as_ref())?;
            }
            Ok(notices)
        };
        let fault = match panic::catch_unwind(AssertUnwindSafe(check)) {
            Ok(Ok(notices)) => {
                if let Mutation::Flip(bit) = mutation
                    && base.is_clean
                    && !notices
                {
                    unnoticed::add(&mut tally.unnoticed, file, bit);
                }
                return;
            }
            Ok(Err(fault)) => fault,
            Err(_) => LAST_PANIC.with(|last| format!("panics: {}", last.borrow())),
        };
        if explained::is_explained(&file.name, mutation) {
            tally.explained += 1;
            return;
        }
        let first = || (0, format!("{mutation:?}: {fault}"));
        let faults = tally.faults.entry(file.name.clone());
        faults.or_insert_with(first).0 += 1;
    }

    /// Reads in each way; all must give the same.
    fn same_everywhere(
        &self,
        file: &File,
        bytes: &[u8],
        sources: &[Source<'_>],
    ) -> Result<Option<Reading>, String> {
        let read = |source| self.subject.read(file.kind, source);
        let reading = read(Source::Bytes(bytes));
        for source in sources {
            let other = read(*source);
            if other != reading {
                return Err(format!(
                    "{source:?} gives {other:?}, bytes give {reading:?}"
                ));
            }
        }
        Ok(reading)
    }
}

/// The ways to read that are tried besides bytes: all of them, or for most files the cheap ones where it
/// is the turn of this mutation.
fn sources<'a>(
    mutation: Mutation,
    bytes: &'a [u8],
    is_full: bool,
    scratch: &'a Scratch,
) -> Result<Vec<Source<'a>>, String> {
    let (is_turn, is_rare) = match mutation {
        Mutation::Flip(bit) => (is_one_of_its_byte(bit), false),
        Mutation::Cut(size) if bytes.len() > LARGE => {
            (size.is_multiple_of(STEP), size.is_multiple_of(STEP))
        }
        Mutation::Cut(size) => (true, size.is_multiple_of(8)),
    };
    let mut sources = Vec::new();
    if is_full || is_turn {
        sources.push(Source::Positioned(bytes));
    }
    if is_full || is_rare {
        sources.push(Source::Seekable(bytes));
        sources.push(Source::Path(scratch.put(bytes)?));
    }
    Ok(sources)
}

/// True for one bit of each byte, for another one in the next.
fn is_one_of_its_byte(bit: usize) -> bool {
    bit % 8 == (bit / 8) % 8
}

/// Whether a byte stands where flips are left out: in the midst of a large file.
fn is_in_the_midst(byte: usize, size: usize) -> bool {
    let ends = LARGE / 4;
    size > LARGE && (ends..size - ends).contains(&byte) && !byte.is_multiple_of(STEP)
}

/// Whether this one is recovered in each run of CI.
fn is_recovered(mutation: Mutation, size: usize) -> bool {
    match mutation {
        // Numbers without a common divisor go through all bits of a byte, and all parts of an event.
        Mutation::Flip(bit) => (bit * 37 + size).is_multiple_of(RECOVERED[0]),
        Mutation::Cut(at) if size > LARGE => at.is_multiple_of(STEP),
        Mutation::Cut(at) => (at * 7 + size).is_multiple_of(RECOVERED[1]),
    }
}

/// What must hold of a file that was cut.
fn cut(
    file: &File,
    base: &Base,
    size: usize,
    reading: Option<&Reading>,
    notices: bool,
) -> Result<(), String> {
    if base.is_clean && !notices && size < file.bytes.len() {
        return Err("a checker does not notice it".to_owned());
    }
    let Some(reading) = reading else {
        let may_be_refused = base.reading.is_none() || size < 64 || !begins_behind_header(file);
        return match may_be_refused {
            true => Ok(()),
            false => Err("is refused".to_owned()),
        };
    };
    let Some(whole) = &base.reading else {
        return Err("is read, though the whole file is not".to_owned());
    };
    let intact = whole
        .events
        .iter()
        .take_while(|event| event.end <= size as u64)
        .count();
    let intact = &whole.events[..intact];
    let is_prefix = intact.starts_with(&reading.events);
    // Zeros at the end of a file are no events, whatever they were before it was cut.
    let missing = reading.events.len()..intact.len();
    if !is_prefix || !is_zeros(file, whole, missing) {
        let intact = intact.len();
        return Err(format!(
            "{intact} events are whole, it gives {}: {:?}",
            reading.events.len(),
            reading.events.last()
        ));
    }
    Ok(())
}

/// Whether the events of an index file at these positions are zeros.
fn is_zeros(file: &File, reading: &Reading, mut seqs: Range<usize>) -> bool {
    seqs.all(|seq| {
        let end = reading.events.get(seq).map(|event| event.end);
        let end = end.and_then(|end| usize::try_from(end).ok()).unwrap_or(0);
        let bytes = file.bytes.get(end.saturating_sub(32)..end);
        file.kind == FileKind::Index
            && bytes.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
    })
}

/// Where events begin elsewhere, only a footer proves that they do.
fn begins_behind_header(file: &File) -> bool {
    let offset = file
        .bytes
        .get(32..40)
        .and_then(|bytes| bytes.try_into().ok());
    offset.is_some_and(|bytes| u64::from_le_bytes(bytes) == 64)
}

/// What must hold of a file with a flipped bit.
fn flipped(
    file: &File,
    base: &Base,
    bit: usize,
    reading: Option<&Reading>,
    notices: bool,
) -> Result<(), String> {
    let (Some(reading), Some(whole)) = (reading, &base.reading) else {
        return Ok(());
    };
    if reading.is_proven && whole.is_proven && reading.events != whole.events {
        // In version 2 each event takes its thread from the header, which no checksum covers.
        let of = |event: &Event| Event {
            thread_id: 0,
            ..*event
        };
        let is_thread = file.wire == 2 && (12..16).contains(&(bit / 8));
        let same = reading
            .events
            .iter()
            .map(of)
            .eq(whole.events.iter().map(of));
        if !is_thread || !same {
            return Err("changes an event, and the checksum is said to be good".to_owned());
        }
    }
    if whole.is_proven && reading.events != whole.events && !notices && bit / 8 >= 64 {
        return Err("changes an event, and a checker does not notice".to_owned());
    }
    // Events in front of the change stay as they are. Zeros at the end become a hole in front of it.
    if bit / 8 >= 64 {
        let before = |reading: &Reading| {
            let is_before = |event: &&Event| event.end <= (bit / 8) as u64;
            reading.events.iter().take_while(is_before).count()
        };
        let (now, once) = (before(reading), before(whole));
        let is_same = reading.events[..now].starts_with(&whole.events[..once]);
        if !is_same || !is_zeros(file, reading, once..now) {
            return Err("changes an event in front of it".to_owned());
        }
    }
    Ok(())
}

/// The word for a kind of file.
fn name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Index => "index",
        FileKind::Detail => "detail",
    }
}
