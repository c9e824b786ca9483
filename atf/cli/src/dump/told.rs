//! Reports each problem of a trace once.

use std::collections::BTreeSet;

use atf::Error;

use crate::output::{State, complain};
use crate::text::Counted;

/// Reports problems on standard error and remembers them.
#[derive(Debug, Default)]
pub(crate) struct Told {
    said: BTreeSet<String>,
}

impl Told {
    /// Reports a problem, unless it was reported before.
    pub(crate) fn tell(&mut self, problem: &Error) {
        let message = problem.to_string();
        if !self.said.contains(&message) {
            complain(&message);
            self.said.insert(message);
        }
    }

    /// The state for the exit status: damaged if any problem was reported.
    pub(crate) fn state(&self) -> State {
        State::of(!self.said.is_empty())
    }
}

/// Reports how many threads were read only partly, so their checksums were not compared.
pub(crate) fn tell_unverified(threads: usize) {
    if threads > 0 {
        let threads = Counted(threads as u64, "thread");
        complain(format_args!(
            "{threads} read partly, so no checksum was compared; to compare: `atf info --verify`"
        ));
    }
}
