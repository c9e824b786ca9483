//! Simulates power loss at every step of a writer, and reads every state that can result.
//!
//! A disk may write sectors in any order, and any unsynchronized sector may be missing. These
//! guarantees hold for every [state](States) of a file:
//!
//! - every event before the last synchronization is present and unchanged;
//! - every later event is unchanged or in a [hole](atf::index::IndexReader::holes);
//! - if a footer's checksum is good, everything is unchanged;
//! - a detail is unchanged, or its index event shows that it changed. The payload may contain zeros
//!   in place of a missing sector; only a footer's checksum can reveal these zeros.

mod journal;

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::sync::Arc;

use atf::detail::DetailReader;
use atf::index::{IndexEvent, IndexReader};
use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf::write::{Detail, Durability, Event, ThreadWriter, WriteOptions};
use atf::{Checksum, DetailEventType, EventKind, Wire};

pub use journal::{Journal, Op, States};

/// The sector sizes in bytes. Writes are torn at sector boundaries.
pub const SECTORS: [usize; 2] = [512, 4096];
/// The number of events in each thread. Every other event has a detail. The footers of the first
/// and last index files cross a sector boundary.
const COUNTS: [u64; 3] = [93, 96, 125];
/// The number of events to flush at a time.
const FLUSHED: u64 = 8;
const THREAD: &str = "thread_7";

/// The counts and broken guarantees of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of distinct states read.
    pub states: u64,
    /// The number of details whose payloads had undetectable zeros.
    pub zeroed_payloads: u64,
    /// The first few broken guarantees.
    pub faults: Vec<String>,
    /// The number of broken guarantees.
    pub fault_count: u64,
}

/// A reader under attack: the library or, in a test, a reader with a planted bug.
pub trait Reads {
    /// Reads the events of an index file, or returns `None` if the file is rejected. Positions in
    /// holes are returned separately.
    fn index(&self, bytes: &[u8]) -> Option<IndexReading> {
        let index = IndexReader::from_bytes(bytes).ok()?;
        let holes = index
            .holes()
            .map(|hole| hole.map(|hole| hole.seq..hole.seq + hole.count));
        Some(IndexReading {
            events: index.events_in(..).collect::<Result<_, _>>().ok()?,
            holes: holes.collect::<Result<_, _>>().ok()?,
            is_good: index.checksum().ok()? == Checksum::Good,
        })
    }
}

/// The unmodified library.
#[derive(Debug, Clone, Copy)]
pub struct Library;

impl Reads for Library {}

/// The result of reading an index file.
#[derive(Debug)]
pub struct IndexReading {
    /// All events.
    pub events: Vec<IndexEvent>,
    /// The positions of events that are zeros.
    pub holes: Vec<std::ops::Range<u64>>,
    /// Whether a footer's checksum matches the events.
    pub is_good: bool,
}

/// Reads every state of a writer's files, for each wire version and durability. If a file has more
/// than `limit` states at a step, reads a random sample of `limit` states.
pub fn run(reads: &dyn Reads, limit: u64) -> Tally {
    let mut tally = Tally::default();
    for &wire in Wire::ALL {
        let durabilities = [
            Durability::None,
            Durability::Finalize,
            Durability::EachFlush,
        ];
        let each = |durability| COUNTS.map(|count| (durability, count));
        for (durability, count) in durabilities.into_iter().flat_map(each) {
            let journal = write(wire, durability, count);
            for sector in SECTORS {
                for name in [INDEX_FILE, DETAIL_FILE] {
                    let ops = journal.ops(&Path::new(THREAD).join(name));
                    let case = format!("{wire}, {durability:?}, {count} events, {sector}, {name}");
                    let mut run = Run {
                        reads,
                        wire,
                        count,
                        limit,
                        seen: HashSet::new(),
                        tally: &mut tally,
                    };
                    run.file(name, &ops, sector, &case);
                }
            }
        }
    }
    tally
}

fn event(seq: u64) -> Event {
    Event::new(
        0x0004_62d5_3c8a_0000 + seq * 1000,
        0x0644_4fc1_0000_0001 + seq / 2,
        match seq % 2 {
            0 => EventKind::CALL,
            _ => EventKind::RETURN,
        },
        1,
    )
}

/// Returns a detail's payload, which varies in size and contains no zero bytes.
fn payload(seq: u64) -> Vec<u8> {
    let byte = u8::try_from(seq % 255).unwrap_or(0) + 1;
    vec![byte; usize::try_from(seq % 90).unwrap_or(0) + 8]
}

/// Writes a thread, flushing frequently, and records each step.
fn write(wire: Wire, durability: Durability, count: u64) -> Journal {
    let journal = Journal::default();
    let options = WriteOptions::default().wire(wire).durability(durability);
    let run = || -> atf::Result<()> {
        let mut writer = ThreadWriter::create_on(Arc::new(journal.clone()), THREAD, 7, &options)?;
        for seq in 0..count {
            let payload = payload(seq);
            let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload);
            match seq % 2 {
                0 => writer.write_with_detail(&event(seq), &detail).map(drop)?,
                _ => writer.write(&event(seq)).map(drop)?,
            }
            if seq % FLUSHED == FLUSHED - 1 {
                writer.flush()?;
            }
        }
        writer.finalize().map(drop)
    };
    #[allow(clippy::expect_used, reason = "memory never fails")]
    run().expect("files in memory");
    journal
}

struct Run<'a> {
    reads: &'a dyn Reads,
    wire: Wire,
    count: u64,
    limit: u64,
    seen: HashSet<u64>,
    tally: &'a mut Tally,
}

impl Run<'_> {
    fn file(&mut self, name: &str, ops: &[Op], sector: usize, case: &str) {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for step in 0..=ops.len() {
            let states = States::after(&ops[..step], sector);
            let count = states.count();
            for number in 0..count.min(self.limit) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let number = if count > self.limit {
                    random % count
                } else {
                    number
                };
                let state = states.state(number);
                let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&state);
                if !self.seen.insert(hash) {
                    continue;
                }
                self.tally.states += 1;
                let outcome = if name == INDEX_FILE {
                    self.index(&state, states.lasting())
                } else {
                    self.detail(&state, states.lasting())
                };
                if let Err(fault) = outcome {
                    self.tally.fault_count += 1;
                    if self.tally.faults.len() < 20 {
                        let fault = format!("{case}, step {step}, state {number}: {fault}");
                        self.tally.faults.push(fault);
                    }
                }
            }
        }
    }

    fn index(&self, bytes: &[u8], lasting: usize) -> Result<(), String> {
        let lasting = (lasting.saturating_sub(64) as u64 / 32).min(self.count);
        let Some(reading) = self.reads.index(bytes) else {
            return match lasting {
                0 => Ok(()),
                _ => Err(format!(
                    "is refused, but {lasting} events were synchronized"
                )),
            };
        };
        let found = reading.events.len() as u64;
        if found < lasting || (reading.is_good && found != self.count) {
            return Err(format!("{found} events, but {lasting} were synchronized"));
        }
        for (seq, found) in (0..).zip(&reading.events) {
            let expected = event(seq);
            let is_right = seq < self.count
                && found.timestamp_ns == expected.timestamp_ns
                && found.function_id == expected.function_id
                && found.event_kind == expected.event_kind
                && found.call_depth == (self.wire == Wire::V1).then_some(expected.call_depth)
                && found.detail_seq == (seq % 2 == 0).then_some(seq / 2);
            let is_hole = reading.holes.iter().any(|hole| hole.contains(&seq));
            let may_be_missing = is_hole && seq >= lasting && !reading.is_good;
            if !is_right && !may_be_missing {
                return Err(format!("event {seq} is {found:?}"));
            }
        }
        Ok(())
    }

    fn detail(&mut self, bytes: &[u8], lasting: usize) -> Result<(), String> {
        let text = |error: atf::Error| error.to_string();
        let details = self.count.div_ceil(2);
        let mut end = 64;
        let ends = (0..details).map(|seq| {
            end += 24 + payload(2 * seq).len();
            end
        });
        let lasting = ends.take_while(|end| *end <= lasting).count() as u64;
        let Ok(detail) = DetailReader::from_bytes(bytes) else {
            return match lasting {
                0 => Ok(()),
                _ => Err(format!(
                    "is refused, but {lasting} details were synchronized"
                )),
            };
        };
        if detail.event_count() < lasting {
            let found = detail.event_count();
            return Err(format!("{found} details, but {lasting} were synchronized"));
        }
        let is_good = detail.checksum().map_err(text)? == Checksum::Good;
        if is_good && detail.event_count() != details {
            return Err(format!(
                "{} details, but the checksum is good",
                detail.event_count()
            ));
        }
        for found in detail.events_in(..) {
            let found = found.map_err(text)?;
            let (seq, header) = (2 * found.seq, found.header);
            let payload = payload(seq);
            let is_right = found.seq < details
                && header.index_seq == seq
                && header.timestamp == event(seq).timestamp_ns
                && header.thread_id == 7
                && header.event_type == DetailEventType::FUNCTION_CALL
                && found.payload_size() == payload.len() as u64;
            // The index shows the change, because the event links to another detail or has another
            // time.
            let is_told = !is_good
                && found.seq >= lasting
                && (header.index_seq != seq || header.timestamp != event(seq).timestamp_ns);
            if !is_right && !is_told {
                return Err(format!("detail {} is {found:?}", found.seq));
            }
            let given = detail.payload(&found, 1 << 20).map_err(text)?;
            if is_right && given != payload {
                let is_zeroed = given.iter().zip(&payload).all(|(a, b)| a == b || *a == 0);
                if is_good || found.seq < lasting || !is_zeroed {
                    return Err(format!("the payload of detail {} is {given:?}", found.seq));
                }
                self.tally.zeroed_payloads += 1;
            }
        }
        Ok(())
    }
}
