//! Truncates every file in the corpus at every byte, and flips each of its bits.
//!
//! These guarantees hold for any file:
//!
//! - nothing panics, and all ways of reading a file return the same result;
//! - a truncated file yields exactly its complete events, unchanged;
//! - if a file has a checksum, a bit flip that changes an event is noticed: the reader rejects the
//!   file or reports a wrong checksum, footer or header;
//! - a checker notices every flip in a valid file, except for the bits in the committed
//!   [list](unnoticed::text), because no other part of the file repeats them;
//! - the C API agrees with the library;
//! - the recovered trace breaks no structural MUST and contains the events that were read, with
//!   their details.

mod explained;
mod files;
mod invariants;
mod manifests;
mod mutation;
mod recovered;
mod subject;
pub mod unnoticed;
mod workers;

use std::collections::BTreeMap;
use std::num::NonZero;

use atf::FileKind;

use crate::Shard;

pub use files::{File, files};
use invariants::{cut, flipped};
pub use manifests::{Session, run as run_manifests, sessions};
pub use mutation::Mutation;
use recovered::Scratch;
pub use subject::{Event, Events, LIBRARY, Names, Reading, Source, Subject};

/// Files larger than this contain long runs of zeros or a single long payload.
const LARGE: usize = 4 << 10;
/// In a quick run, bits are flipped in only one in this many bytes in the middle of a large file.
const STEP: usize = 64;
/// In a quick run, the file is also recovered after only one in this many flips, and after one in
/// this many truncations.
const RECOVERED: [usize; 2] = [512, 16];
/// The files for which every mutation is recovered.
const CLEAN: [&str; 4] = [
    "v1/clean-index/index.atf",
    "v1/clean-detail/detail.atf",
    "v2/clean-index/index.atf",
    "v2/clean-detail/detail.atf",
];
/// The number of mutations per job.
const CHUNK: usize = 2048;

/// How much to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For every CI run: every truncation, and every flip except in the middle of large files.
    /// Every mutation of a clean file, and some of other files, are recovered and read in all ways,
    /// including the C API.
    Quick,
    /// Everything, including flips of every pair of adjacent bits.
    All,
}

/// The counts and the broken guarantees.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of truncated files.
    pub cuts: u64,
    /// The number of files with one flipped bit.
    pub flips: u64,
    /// The number of files with two adjacent bits flipped.
    pub pairs: u64,
    /// The number of flips that were skipped because only [`Scope::All`] includes them.
    pub skipped_flips: u64,
    /// The number of recovered files.
    pub recovered: u64,
    /// For each file, the number of broken guarantees and the first of them.
    pub faults: BTreeMap<String, (u64, String)>,
    /// The number of faults that are explained, because no reader could avoid them.
    pub explained: u64,
    /// The bit flips in valid files that a checker did not notice. The key is kind, version and
    /// field; the value is a mask of the field's bits.
    pub unnoticed: BTreeMap<(String, u8, String), u64>,
}

impl Tally {
    fn fault(&mut self, file: &str, mutation: Mutation, fault: &str) {
        let first = || (0, format!("{mutation:?}: {fault}"));
        let faults = self.faults.entry(file.to_owned());
        faults.or_insert_with(first).0 += 1;
    }

    fn add(&mut self, other: Self) {
        self.cuts += other.cuts;
        self.flips += other.flips;
        self.pairs += other.pairs;
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

/// Attacks a shard of `files`, using `threads` threads.
pub fn run(
    subject: &Subject,
    files: &[File],
    scope: Scope,
    shard: Shard,
    threads: NonZero<usize>,
) -> Tally {
    let attack = Attack::new(subject, files, scope);
    let jobs: Vec<_> = files
        .iter()
        .zip(&attack.bases)
        .flat_map(|(file, base)| {
            let [quick, all] = Mutation::count(file.bytes.len());
            let count = match scope {
                Scope::Quick => quick,
                Scope::All => all,
            };
            let part = move |start| (file, base, start..count.min(start + CHUNK));
            (0..count).step_by(CHUNK).map(part)
        })
        .collect();
    workers::run(
        threads,
        &jobs[shard.range(jobs.len())],
        Scratch::new,
        |job, scratch, tally| {
            let (file, base, range) = job;
            for at in range.clone() {
                attack.one(file, base, at, scratch, tally);
            }
        },
    )
}

/// The results of reading and checking an unmodified file.
struct Base {
    reading: Option<Reading>,
    /// Whether a check of this file alone finds nothing.
    is_clean: bool,
}

struct Attack<'a> {
    subject: &'a Subject,
    bases: Vec<Base>,
    scope: Scope,
}

impl<'a> Attack<'a> {
    fn new(subject: &'a Subject, files: &[File], scope: Scope) -> Self {
        let base = |file: &File| Base {
            reading: (LIBRARY.read)(file.kind, Source::Bytes(&file.bytes)),
            is_clean: !(LIBRARY.notices)(file.kind, &file.bytes),
        };
        Self {
            subject,
            bases: files.iter().map(base).collect(),
            scope,
        }
    }

    /// Tests mutation number `at` of a file. Truncations come first, followed by flips.
    fn one(&self, file: &File, base: &Base, at: usize, scratch: &Scratch, tally: &mut Tally) {
        let size = file.bytes.len();
        let mutation = Mutation::nth(size, at);
        let place = mutation.place();
        match mutation {
            Mutation::Cut(at) if at < file.shared => return,
            Mutation::Cut(_) => tally.cuts += 1,
            _ if self.scope == Scope::Quick && is_in_the_middle(place, size) => {
                tally.skipped_flips += 1;
                return;
            }
            Mutation::Flip(_) => tally.flips += 1,
            Mutation::Pair(_) => tally.pairs += 1,
        }
        let bytes = mutation.apply(&file.bytes);
        // A checksum detects two adjacent flips as reliably as a single flip.
        let is_pair = matches!(mutation, Mutation::Pair(_));
        let is_full = !is_pair && (self.scope == Scope::All || CLEAN.contains(&file.name.as_str()));
        let recovers = is_full || is_recovered(mutation, size);
        let is_usual = is_full || !is_in_the_middle(place, size);
        tally.recovered += u64::from(recovers);
        let check = || -> Result<bool, String> {
            let read = |source| (self.subject.read)(file.kind, source);
            let reading = read(Source::Bytes(&bytes));
            for source in sources(mutation, &bytes, is_full, scratch)? {
                let other = read(source);
                if other != reading {
                    return Err(format!(
                        "{source:?} returns {other:?}, bytes return {reading:?}"
                    ));
                }
            }
            let notices = !is_usual || (self.subject.notices)(file.kind, &bytes);
            match mutation {
                Mutation::Cut(size) => cut(file, base, size, reading.as_ref(), notices)?,
                _ => flipped(file, base, mutation.bits(), reading.as_ref(), notices)?,
            }
            let is_turn = match mutation {
                Mutation::Cut(_) => true,
                _ => is_full || mutation.is_one_of_its_byte(),
            };
            if is_usual && is_turn {
                (self.subject.capi)(file.kind, &bytes);
            }
            if recovers {
                scratch.recover(self.subject, file, &bytes, reading.as_ref())?;
            }
            Ok(notices)
        };
        match (workers::caught(check), mutation) {
            (Ok(false), Mutation::Flip(bit)) if base.is_clean => {
                unnoticed::add(&mut tally.unnoticed, file, bit);
            }
            (Ok(_), _) => {}
            (Err(_), _) if explained::is_explained(&file.name, mutation) => tally.explained += 1,
            (Err(fault), _) => tally.fault(&file.name, mutation, &fault),
        }
    }
}

/// Returns the sources to read from, other than bytes in memory. For most files, these are a cheap
/// selection that varies between mutations.
fn sources<'a>(
    mutation: Mutation,
    bytes: &'a [u8],
    is_full: bool,
    scratch: &'a Scratch,
) -> Result<Vec<Source<'a>>, String> {
    let (is_turn, is_rare) = match mutation {
        Mutation::Flip(_) | Mutation::Pair(_) => (mutation.is_one_of_its_byte(), false),
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

/// Returns whether flips of this byte are skipped because it is in the middle of a large file.
fn is_in_the_middle(byte: usize, size: usize) -> bool {
    let ends = LARGE / 4;
    size > LARGE && (ends..size - ends).contains(&byte) && !byte.is_multiple_of(STEP)
}

/// Returns whether every CI run recovers this mutation.
fn is_recovered(mutation: Mutation, size: usize) -> bool {
    match mutation {
        // Each factor and its modulus are coprime, so the selected mutations cover all bits of a
        // byte and all parts of an event.
        Mutation::Flip(bit) => (bit * 37 + size).is_multiple_of(RECOVERED[0]),
        Mutation::Pair(bit) => (bit * 41 + size).is_multiple_of(RECOVERED[0]),
        Mutation::Cut(at) if size > LARGE => at.is_multiple_of(STEP),
        Mutation::Cut(at) => (at * 7 + size).is_multiple_of(RECOVERED[1]),
    }
}

fn name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Index => "index",
        FileKind::Detail => "detail",
    }
}
