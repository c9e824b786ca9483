//! What is wrong with a trace, each thing said once.

use std::collections::BTreeSet;

use atf::Error;

use crate::output::{State, complain};
use crate::text::Counted;

/// Says what is wrong on standard error, and remembers that it did.
#[derive(Debug, Default)]
pub(crate) struct Told {
    said: BTreeSet<String>,
}

impl Told {
    /// Says it, unless it was said.
    pub(crate) fn tell(&mut self, problem: &Error) {
        let message = problem.to_string();
        if !self.said.contains(&message) {
            complain(&message);
            self.said.insert(message);
        }
    }

    /// What is wrong decides the exit status.
    pub(crate) fn state(&self) -> State {
        State::of(!self.said.is_empty())
    }
}

/// Says of how many threads only a part was read, so that their checksums prove nothing of it.
pub(crate) fn tell_unverified(threads: usize) {
    if threads > 0 {
        let threads = Counted(threads as u64, "thread");
        complain(format_args!(
            "{threads} read in part, so no checksum was compared; `atf info --verify` reads all"
        ));
    }
}
