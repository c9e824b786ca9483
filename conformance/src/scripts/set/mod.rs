//! The scripts used to grade writers.

mod details;
mod ends;
mod events;
mod fire;
mod threads;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use super::{Detail, Index, Open, Operation, Script};
use crate::rules;

/// A script with its name and purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    /// The script's permanent name, such as `v1/write-no-event`.
    pub name: String,
    /// The wire version of the script's files.
    pub wire: u8,
    /// The rules that the script tests.
    pub rules: Vec<&'static str>,
    /// A description of the script and of the mistake it reveals.
    pub note: &'static str,
    /// Whether `arch` and `os` must match the script. Otherwise, a tracer may write the values of
    /// its own machine.
    pub is_platform_exact: bool,
    /// The size limit in bytes that the kit imposes on each file to simulate a full disk.
    pub limit: Option<u64>,
    /// Whether the path of the folder is longer than 1,023 bytes.
    pub is_deep: bool,
    /// The operations.
    pub script: Script,
}

/// Returns a wire version's scripts on events, details, threads and ends.
#[must_use]
pub fn scripts(wire: u8) -> Vec<Scripted> {
    let recipes = [
        events::RECIPES,
        details::RECIPES,
        threads::RECIPES,
        ends::RECIPES,
    ];
    let recipes = recipes.into_iter().flatten();
    recipes.map(|recipe| recipe.scripted(wire)).collect()
}

/// Returns a wire version's scripts in which the writer is killed, closes a thread without
/// finalizing it, or fills the disk.
#[must_use]
pub fn under_fire(wire: u8) -> Vec<Scripted> {
    let recipes = fire::RECIPES.iter();
    recipes.map(|recipe| recipe.scripted(wire)).collect()
}

/// Returns all scripts of both wire versions.
#[must_use]
pub fn all() -> Vec<Scripted> {
    let of = |wire| scripts(wire).into_iter().chain(under_fire(wire));
    atf::Wire::VERSIONS.iter().copied().flat_map(of).collect()
}

/// A function that adds a script's operations.
type Make = fn(&mut Builder) -> &mut Builder;

/// A script and the function that builds it.
struct Recipe {
    name: &'static str,
    rules: &'static [&'static str],
    note: &'static str,
    is_platform_exact: bool,
    limit: Option<u64>,
    is_deep: bool,
    make: Make,
}

impl Recipe {
    const fn new(
        name: &'static str,
        rules: &'static [&'static str],
        note: &'static str,
        make: Make,
    ) -> Self {
        Self {
            name,
            rules,
            note,
            is_platform_exact: false,
            limit: None,
            is_deep: false,
            make,
        }
    }

    fn scripted(&self, wire: u8) -> Scripted {
        let holds = |id: &&str| {
            let rule = rules::ALL.iter().find(|rule| rule.id == *id);
            rule.is_some_and(|rule| rule.wires.contains(&wire))
        };
        let mut script = Builder::new(wire);
        (self.make)(&mut script);
        let script = Script::new(script.operations);
        Scripted {
            name: format!("v{wire}/write-{}", self.name),
            wire,
            rules: self.rules.iter().copied().filter(holds).collect(),
            note: self.note,
            is_platform_exact: self.is_platform_exact,
            limit: self.limit,
            is_deep: self.is_deep,
            // The recipes are constants, and a test builds all of their scripts.
            script: script.unwrap_or_else(|error| unreachable!("{}: {error}", self.name)),
        }
    }
}

impl Scripted {
    /// Returns the script's operations, preceded by a comment with the limit that the kit sets.
    #[must_use]
    pub fn operations(&self) -> String {
        match self.limit {
            Some(bytes) => format!(
                "# The kit limits every file to {bytes} bytes.\n{}",
                self.script
            ),
            None => self.script.to_string(),
        }
    }
}

/// Prints the script, preceded by its name and purpose in comments.
impl Display for Scripted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, note, .. } = self;
        write!(f, "# {name}\n# {note}\n\n{}", self.operations())
    }
}

/// Assembles a script operation by operation, and assigns positions and links.
struct Builder {
    session: Open,
    operations: Vec<Operation>,
    /// The next positions in the index and the details of each thread.
    next: BTreeMap<u32, (u64, u64)>,
}

impl Builder {
    /// Starts a session of this wire version, for Linux on x86-64.
    fn new(wire: u8) -> Self {
        Self {
            session: Open {
                thread_id: 0,
                wire,
                clock_type: 3,
                arch: 1,
                os: 4,
            },
            operations: Vec::new(),
            next: BTreeMap::new(),
        }
    }

    /// Sets the header values of the threads to open.
    fn platform(&mut self, arch: u8, os: u8, clock_type: u8) -> &mut Self {
        self.session = Open {
            arch,
            os,
            clock_type,
            ..self.session
        };
        self
    }

    fn open(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Open(Open {
            thread_id,
            ..self.session
        }))
    }

    /// Adds an event without details.
    fn event(&mut self, thread_id: u32, event: Index) -> &mut Self {
        self.index(thread_id, event, None)
    }

    /// Adds an event with details.
    fn detailed(
        &mut self,
        thread_id: u32,
        event: Index,
        event_type: u16,
        payload: impl Into<Vec<u8>>,
    ) -> &mut Self {
        let (index_seq, detail_seq) = self.next.get(&thread_id).copied().unwrap_or_default();
        self.index(thread_id, event, Some(detail_seq));
        self.next.entry(thread_id).or_default().1 += 1;
        self.push(Operation::Detail(Detail {
            thread_id,
            index_seq,
            timestamp: event.timestamp_ns,
            event_type,
            flags: 0,
            payload: payload.into(),
        }))
    }

    fn finalize(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Finalize(thread_id))
    }

    fn flush(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Flush(thread_id))
    }

    fn close(&mut self, thread_id: u32) -> &mut Self {
        self.push(Operation::Close(thread_id))
    }

    fn space(&mut self) -> &mut Self {
        self.push(Operation::Space)
    }

    fn kill(&mut self) -> &mut Self {
        self.push(Operation::Kill)
    }

    fn abort(&mut self) -> &mut Self {
        self.push(Operation::Abort)
    }

    fn index(&mut self, thread_id: u32, event: Index, detail_seq: Option<u64>) -> &mut Self {
        self.next.entry(thread_id).or_default().0 += 1;
        self.push(Operation::Index(Index {
            thread_id,
            detail_seq,
            ..event
        }))
    }

    fn push(&mut self, operation: Operation) -> &mut Self {
        self.operations.push(operation);
        self
    }
}

/// The first timestamp of most scripts.
const T: u64 = 1_234_567_000_000_000;

/// The module of most functions.
const MODULE: u64 = 0x0644_4fc1 << 32;

const CALL: u8 = 1;
const RETURN: u8 = 2;
const EXCEPTION: u8 = 3;

/// Returns an event of the function with this symbol, `after` nanoseconds after the first timestamp.
/// The builder sets its thread and its link.
const fn event(event_kind: u8, after: u64, symbol: u64, call_depth: u32) -> Index {
    Index {
        thread_id: 0,
        timestamp_ns: T + after,
        function_id: MODULE + symbol,
        event_kind,
        call_depth,
        detail_seq: None,
    }
}

/// Returns event `seq` of a series of calls and returns, nested three deep.
const fn nested(seq: u64) -> Index {
    match seq % 6 {
        0 => event(CALL, 100 * seq, 1, 1),
        1 => event(CALL, 100 * seq, 2, 2),
        2 => event(CALL, 100 * seq, 3, 3),
        3 => event(RETURN, 100 * seq, 3, 3),
        4 => event(RETURN, 100 * seq, 2, 2),
        _ => event(RETURN, 100 * seq, 1, 1),
    }
}

/// Adds the events of a series to thread 0.
fn events(script: &mut Builder, seqs: std::ops::Range<u64>) -> &mut Builder {
    for seq in seqs {
        script.event(0, nested(seq));
    }
    script
}

/// Adds these events and payloads to thread 0 and finalizes the thread.
fn details(
    script: &mut Builder,
    events: impl IntoIterator<Item = (Index, Vec<u8>)>,
) -> &mut Builder {
    script.open(0);
    for (event, payload) in events {
        script.detailed(0, event, type_of(event), payload);
    }
    script.finalize(0)
}

/// Returns the `event_type` for the details of a call or return.
const fn type_of(event: Index) -> u16 {
    match event.event_kind {
        RETURN => 4,
        _ => 3,
    }
}

/// Returns pseudo-random bytes, which reveal a shifted or repeated buffer.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[7]
    };
    (0..size).map(|_| next()).collect()
}

/// Returns the payload of a call or return, laid out as in S4: the function, x0 to x7, lr, fp, sp,
/// the size of the stack snapshot, two reserved bytes, and the snapshot.
fn registers(function_id: u64, x0: u64, stack_size: u16) -> Vec<u8> {
    let mut payload = function_id.to_le_bytes().to_vec();
    for register in 0..8 {
        payload.extend(x0.wrapping_add(register).to_le_bytes());
    }
    for pointer in [0x5555_5555_1234_u64, 0x7fff_ffff_e000, 0x7fff_ffff_df00] {
        payload.extend(pointer.to_le_bytes());
    }
    payload.extend(stack_size.to_le_bytes());
    payload.extend([0, 0]);
    payload.extend(noise(stack_size.into()));
    payload
}
