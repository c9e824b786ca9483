//! Generates the events of a trace and writes them as a session.

use std::path::Path;
use std::sync::Arc;

use atf::write::{Detail, SessionWriter, WriteOptions};
use atf::{Arch, Clock, Os, Result};

use crate::program::Program;
use crate::random::Random;
use crate::synth::Synth;
use crate::walk::ThreadEvents;

/// The number of events between two progress reports.
const PROGRESS: u64 = 1 << 16;

/// The numbers of threads and events written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of threads.
    pub threads: u64,
    /// The number of events in all `index.atf` files.
    pub index_events: u64,
    /// The number of events in all `detail.atf` files.
    pub detail_events: u64,
}

impl Synth {
    /// Returns the events of one thread in order.
    #[must_use]
    pub fn thread(&self, thread: u32) -> ThreadEvents {
        ThreadEvents::new(self, Arc::new(self.program()), thread)
    }

    /// Writes a session to `folder`, which must not contain one yet.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionWriter`] and [`ThreadWriter`](atf::write::ThreadWriter). Files written
    /// before the error remain.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<Written> {
        self.write_observed(folder, |_| {})
    }

    /// Like [`write`](Self::write), but also passes the number of index events written so far to
    /// `progress` from time to time.
    ///
    /// # Errors
    ///
    /// The errors of [`write`](Self::write).
    pub fn write_observed(
        &self,
        folder: impl AsRef<Path>,
        mut progress: impl FnMut(u64),
    ) -> Result<Written> {
        let program = Arc::new(self.program());
        // The trace does not depend on the machine that generates it.
        let options = WriteOptions::default()
            .wire(self.wire)
            .arch(Arch::ARM64)
            .os(Os::LINUX)
            .clock_type(Clock::BOOTTIME);
        let session = SessionWriter::create(folder, &options)?;
        session.set_modules(program.modules());
        session.set_symbols(program.symbols());
        let mut written = Written::default();
        let mut payload = Vec::new();
        for thread in 0..self.threads {
            let mut writer = session.thread(thread)?;
            for made in ThreadEvents::new(self, Arc::clone(&program), thread) {
                match made.detail {
                    Some(registers) => {
                        registers.write_payload(&mut payload);
                        let detail = Detail::new(registers.event_type, &payload);
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
