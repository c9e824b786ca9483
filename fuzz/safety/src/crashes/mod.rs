//! Simulates power loss at every step of a writer, and reads every resulting state.
//!
//! A disk may write sectors in any order, so any unsynchronized sector may be missing. These
//! guarantees hold for every [state](States) of a file:
//! - every event is synchronized once a flush or a finalization whose [durability](Durability)
//!   guarantees it has returned;
//! - every event before the last synchronization is present and unchanged;
//! - every later event is unchanged or in a [hole](atf::index::IndexReader::holes);
//! - if a footer's checksum is good, everything is unchanged;
//! - a detail is unchanged, or its index event shows that it changed. Its payload may contain zeros
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
use atf_samples::files::DetailFile;

pub use journal::{Journal, Op, States};

/// The sector sizes in bytes. Writes are torn at sector boundaries.
pub const SECTORS: [usize; 2] = [512, 4096];
/// The number of events in each thread. Every other event has a detail. The footers of the first
/// and last index files cross a sector boundary.
const COUNTS: [u64; 3] = [93, 96, 125];
/// The number of pairs of events between flushes. Each pair has one detail.
const FLUSHED: usize = 4;
const THREAD: &str = "thread_7";

/// The kind of data that a thread records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Numbers and bytes of an ordinary program.
    Plain,
    /// Numbers and bytes that look like parts of a trace.
    Format,
}

/// The counts and broken guarantees of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of distinct states read.
    pub states: u64,
    /// The number of details whose payloads contained zeros that cannot be detected.
    pub zeroed_payloads: u64,
    /// The first few broken guarantees.
    pub faults: Vec<String>,
    /// The number of broken guarantees.
    pub fault_count: u64,
}

/// The reader under test: [`read_index`] or, in a test, a version with a planted bug.
pub type Reads<'a> = &'a dyn Fn(&[u8]) -> Option<IndexReading>;

/// Reads the events of an index file, or returns `None` if the file is rejected. The positions of
/// holes are returned separately.
#[must_use]
pub fn read_index(bytes: &[u8]) -> Option<IndexReading> {
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

/// Reads every state of a writer's files, for each wire version, content and durability. If a file
/// can be in more than `limit` states at a step, reads `limit` random states.
pub fn run(reads: Reads<'_>, limit: u64) -> Tally {
    let mut tally = Tally::default();
    let files = |sector| [INDEX_FILE, DETAIL_FILE].map(|name| (sector, name));
    let durabilities = [
        Durability::None,
        Durability::Finalize,
        Durability::EachFlush,
    ];
    for &wire in Wire::ALL {
        for content in [Content::Plain, Content::Format] {
            for count in COUNTS {
                let thread = Thread::new(wire, content, count);
                for durability in durabilities {
                    let journal = thread.write(durability);
                    for (sector, name) in SECTORS.into_iter().flat_map(files) {
                        let ops = journal.ops(&Path::new(THREAD).join(name));
                        let case = format!(
                            "{wire}, {content:?}, {count} events, {durability:?}, {sector}, {name}"
                        );
                        let mut run = Run {
                            reads,
                            thread: &thread,
                            limit,
                            seen: HashSet::new(),
                            tally: &mut tally,
                        };
                        run.file(name, &ops, sector, &case);
                    }
                }
            }
        }
    }
    tally
}

/// A writer's input: events, and a payload for every other event.
struct Thread {
    wire: Wire,
    events: Vec<Event>,
    payloads: Vec<Vec<u8>>,
}

impl Thread {
    fn new(wire: Wire, content: Content, count: u64) -> Self {
        let payload = |detail| match content {
            Content::Plain => plain_payload(detail),
            Content::Format => format_payload(wire, detail),
        };
        let event = match content {
            Content::Plain => plain_event,
            Content::Format => format_event,
        };
        Self {
            wire,
            events: (0..count).map(event).collect(),
            payloads: (0..count.div_ceil(2)).map(payload).collect(),
        }
    }

    fn count(&self) -> u64 {
        self.events.len() as u64
    }

    /// Returns how many complete events are in the first `size` bytes of a file.
    fn events_in(&self, name: &str, size: usize) -> u64 {
        if name == INDEX_FILE {
            return (size.saturating_sub(64) as u64 / 32).min(self.count());
        }
        let mut end = 64;
        let ends = self.payloads.iter().map(|payload| {
            end += 24 + payload.len();
            end
        });
        ends.take_while(|end| *end <= size).count() as u64
    }

    /// Writes the thread, flushing frequently, and records each step.
    fn write(&self, durability: Durability) -> Journal {
        let journal = Journal::default();
        let options = WriteOptions::default()
            .wire(self.wire)
            .durability(durability);
        let promise = |events, details| {
            for (name, count) in [(INDEX_FILE, events), (DETAIL_FILE, details)] {
                journal.promise(&Path::new(THREAD).join(name), count);
            }
        };
        let run = || -> atf::Result<()> {
            let storage = Arc::new(journal.memory());
            let mut writer = ThreadWriter::create_on(storage, THREAD, 7, &options)?;
            for (at, pair) in self.events.chunks(2).enumerate() {
                let detail = Detail::new(DetailEventType::FUNCTION_CALL, &self.payloads[at]);
                writer.write_with_detail(&pair[0], &detail)?;
                if let Some(event) = pair.get(1) {
                    writer.write(event)?;
                }
                if at % FLUSHED == FLUSHED - 1 {
                    writer.flush()?;
                    if durability == Durability::EachFlush {
                        promise(writer.flushed_events(), writer.flushed_details());
                    }
                }
            }
            writer.finalize()?;
            if durability != Durability::None {
                promise(self.count(), self.payloads.len() as u64);
            }
            Ok(())
        };
        #[allow(clippy::expect_used, reason = "memory never fails")]
        run().expect("files in memory");
        journal
    }
}

/// Returns an event of an ordinary program.
pub(crate) fn plain_event(seq: u64) -> Event {
    let kind = match seq % 2 {
        0 => EventKind::CALL,
        _ => EventKind::RETURN,
    };
    let (time, function) = (0x0004_62d5_3c8a_0000, 0x0644_4fc1_0000_0001);
    Event::new(time + seq * 1000, function + seq / 2, kind, 1)
}

/// Returns an event whose first four bytes are a footer's magic.
fn format_event(seq: u64) -> Event {
    let magic = u64::from(u32::from_le_bytes(*b"2ITA"));
    let kind = plain_event(seq).event_kind;
    Event::new(magic | (seq + 1) << 32, seq << 32, kind, 1)
}

/// Returns a payload of varying length without zeros, so that a zero in the file reveals a missing
/// sector.
fn plain_payload(detail: u64) -> Vec<u8> {
    let seq = 2 * detail;
    let byte = u8::try_from(seq % 255).unwrap_or(0) + 1;
    vec![byte; usize::try_from(seq % 90).unwrap_or(0) + 8]
}

/// Returns a payload that looks like the part of the detail file before this detail.
fn format_payload(wire: Wire, detail: u64) -> Vec<u8> {
    let file = DetailFile::finalized(wire.version(), detail);
    match detail % 4 {
        0 => file.footer(),
        1 => [b"2DTA".to_vec(), vec![0; 60]].concat(),
        2 => file.header(),
        _ => [vec![0; 40], file.footer()].concat(),
    }
}

struct Run<'a> {
    reads: Reads<'a>,
    thread: &'a Thread,
    limit: u64,
    seen: HashSet<u64>,
    tally: &'a mut Tally,
}

impl Run<'_> {
    fn file(&mut self, name: &str, ops: &[Op], sector: usize, case: &str) {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut promised = 0;
        for step in 0..=ops.len() {
            if let Some(Op::Promise(count)) = ops[..step].last() {
                promised = *count;
            }
            let states = States::after(&ops[..step], sector);
            let lasting = self.thread.events_in(name, states.lasting());
            if lasting < promised {
                self.fault(format!(
                    "{case}, step {step}: {promised} events are guaranteed, {lasting} synchronized"
                ));
            }
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
                let hash =
                    BuildHasherDefault::<DefaultHasher>::default().hash_one((&state, lasting));
                if !self.seen.insert(hash) {
                    continue;
                }
                self.tally.states += 1;
                let outcome = if name == INDEX_FILE {
                    self.index(&state, lasting)
                } else {
                    self.detail(&state, lasting)
                };
                if let Err(fault) = outcome {
                    self.fault(format!("{case}, step {step}, state {number}: {fault}"));
                }
            }
        }
    }

    fn fault(&mut self, fault: String) {
        self.tally.fault_count += 1;
        if self.tally.faults.len() < 20 {
            self.tally.faults.push(fault);
        }
    }

    fn index(&self, bytes: &[u8], lasting: u64) -> Result<(), String> {
        let Some(reading) = (self.reads)(bytes) else {
            return match lasting {
                0 => Ok(()),
                _ => Err(format!(
                    "is refused, but {lasting} events were synchronized"
                )),
            };
        };
        let found = reading.events.len() as u64;
        if found < lasting || (reading.is_good && found != self.thread.count()) {
            return Err(format!("{found} events, but {lasting} were synchronized"));
        }
        for (seq, found) in (0..).zip(&reading.events) {
            let written = usize::try_from(seq)
                .ok()
                .and_then(|seq| self.thread.events.get(seq));
            let depth = |event: &Event| (self.thread.wire == Wire::V1).then_some(event.call_depth);
            let is_right = written.is_some_and(|written| {
                found.timestamp_ns == written.timestamp_ns
                    && found.function_id == written.function_id
                    && found.event_kind == written.event_kind
                    && found.call_depth == depth(written)
                    && found.detail_seq == (seq % 2 == 0).then_some(seq / 2)
            });
            let is_hole = reading.holes.iter().any(|hole| hole.contains(&seq));
            let may_be_missing = is_hole && seq >= lasting && !reading.is_good;
            if !is_right && !may_be_missing {
                return Err(format!("event {seq} is {found:?}"));
            }
        }
        Ok(())
    }

    fn detail(&mut self, bytes: &[u8], lasting: u64) -> Result<(), String> {
        let text = |error: atf::Error| error.to_string();
        let details = self.thread.payloads.len() as u64;
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
            let at = usize::try_from(found.seq).unwrap_or(usize::MAX);
            let Some(payload) = self.thread.payloads.get(at) else {
                return Err(format!("detail {} is {found:?}", found.seq));
            };
            let (seq, header) = (2 * found.seq, found.header);
            let time = self.thread.events[2 * at].timestamp_ns;
            let is_right = header.index_seq == seq
                && header.timestamp == time
                && header.thread_id == 7
                && header.event_type == DetailEventType::FUNCTION_CALL
                && found.payload_size() == payload.len() as u64;
            // The index reveals the change, because its event links to a different detail or has a
            // different time.
            let is_revealed = !is_good
                && found.seq >= lasting
                && (header.index_seq != seq || header.timestamp != time);
            if !is_right && !is_revealed {
                return Err(format!("detail {} is {found:?}", found.seq));
            }
            let given = detail.payload(&found, 1 << 20).map_err(text)?;
            if is_right && given != *payload {
                let is_zeroed = given.iter().zip(payload).all(|(a, b)| a == b || *a == 0);
                if is_good || found.seq < lasting || !is_zeroed {
                    return Err(format!("the payload of detail {} is {given:?}", found.seq));
                }
                self.tally.zeroed_payloads += 1;
            }
        }
        Ok(())
    }
}
