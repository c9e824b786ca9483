//! What to make, and writing it as a session.

use std::path::Path;
use std::sync::Arc;

use atf::manifest::{Module, Symbol};
use atf::write::{Detail, SessionWriter, ThreadWriter, WriteOptions};
use atf::{Arch, Clock, Os, Result, Wire};

use crate::program::Program;
use crate::random::Random;
use crate::walk::ThreadEvents;

/// Progress is told after so many events.
const PROGRESS: u64 = 1 << 16;

/// A trace to make: the same values give the same bytes, on every machine.
///
/// Threads are numbered from 0, and each can be had without the others: [`thread`](Self::thread).
///
/// ```
/// use atf_synth::{Shape, Synth};
///
/// let synth = Synth { seed: 7, events_per_thread: 1_000, ..Synth::default() };
/// let events: Vec<_> = synth.thread(0).collect();
/// assert_eq!(events.len(), 1_000);
/// assert!(events.is_sorted_by_key(|event| event.event.timestamp_ns));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synth {
    /// Where all random numbers come from.
    pub seed: u64,
    /// The number of threads.
    pub threads: u32,
    /// The number of index events of each thread.
    pub events_per_thread: u64,
    /// How many of a thousand events have a detail event; 0 makes no `detail.atf`.
    pub detail_per_mille: u32,
    /// The number of functions in the program, 1 at least.
    pub functions: u32,
    /// How the threads share time.
    pub shape: Shape,
    /// The wire version to write.
    pub wire: Wire,
}

/// How the events of several threads lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Each thread goes its own way, as fast as its functions are.
    Independent,
    /// As if a die were thrown for each event: the next one is any thread's, whichever the last
    /// one's was. The functions' costs do not count.
    Random,
    /// One thread at a time, for `min` to `max` events.
    Runs {
        /// Events of the shortest run.
        min: u32,
        /// Events of the longest run.
        max: u32,
    },
    /// So many threads at a time, for 100 to 1,000 events each.
    FewActive(u32),
    /// One event of each thread after the other, in the threads' order.
    Interleave,
}

impl Default for Synth {
    /// Four threads of 10,000 events in wire version 1, each tenth event with a detail event.
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 4,
            events_per_thread: 10_000,
            detail_per_mille: 100,
            functions: 2_000,
            shape: Shape::Independent,
            wire: Wire::V1,
        }
    }
}

/// How much was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Threads.
    pub threads: u64,
    /// Events of all `index.atf`.
    pub index_events: u64,
    /// Events of all `detail.atf`.
    pub detail_events: u64,
}

impl Synth {
    /// The events of one thread, in their order.
    #[must_use]
    pub fn thread(&self, thread: u32) -> ThreadEvents {
        ThreadEvents::new(self, Arc::new(self.program()), thread)
    }

    /// The program's modules, as the manifest lists them.
    #[must_use]
    pub fn modules(&self) -> Vec<Module> {
        self.program().modules()
    }

    /// The names of the program's functions, as the manifest lists them.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        self.program().symbols()
    }

    /// How the trace is written: as on Linux on arm64, whatever machine makes it.
    #[must_use]
    pub fn write_options(&self) -> WriteOptions {
        WriteOptions {
            wire: self.wire,
            arch: Arch::ARM64,
            os: Os::LINUX,
            clock_type: Clock::BOOTTIME,
            ..WriteOptions::default()
        }
    }

    /// Writes a session: `folder` must not hold one yet.
    ///
    /// # Errors
    ///
    /// Those of [`SessionWriter`] and [`ThreadWriter`]; what was written until then stays.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<Written> {
        self.write_observed(folder, |_| {})
    }

    /// As [`write`](Self::write), and tells `progress` from time to time how many index events are
    /// written.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn write_observed(
        &self,
        folder: impl AsRef<Path>,
        mut progress: impl FnMut(u64),
    ) -> Result<Written> {
        let program = Arc::new(self.program());
        let session = SessionWriter::create(folder, &self.write_options())?;
        session.set_modules(program.modules());
        session.set_symbols(program.symbols());
        let mut written = Written::default();
        for thread in 0..self.threads {
            let mut writer = session.thread(thread)?;
            let events = ThreadEvents::new(self, Arc::clone(&program), thread);
            write_events(events, &mut writer, &mut written, &mut progress)?;
            writer.finalize()?;
            written.threads += 1;
        }
        progress(written.index_events);
        session.finalize()?;
        Ok(written)
    }

    fn program(&self) -> Program {
        Program::new(Random::new(self.seed, 0), self.functions)
    }
}

fn write_events(
    events: ThreadEvents,
    writer: &mut ThreadWriter,
    written: &mut Written,
    progress: &mut impl FnMut(u64),
) -> Result<()> {
    let mut payload = Vec::new();
    for made in events {
        match made.detail {
            Some(registers) => {
                registers.write_payload(&mut payload);
                let detail = Detail {
                    event_type: registers.event_type,
                    flags: 0,
                    payload: &payload,
                };
                writer.write_with_detail(&made.event, &detail)?;
                written.detail_events += 1;
            }
            None => {
                writer.write(&made.event)?;
            }
        }
        written.index_events += 1;
        if written.index_events.is_multiple_of(PROGRESS) {
            progress(written.index_events);
        }
    }
    Ok(())
}
