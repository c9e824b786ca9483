//! Repeats cases: with `--repeat` all of them, otherwise the failures and some of the passes of
//! persistent processes.

use std::io;

use sha2::{Digest, Sha256};

use super::pool::{Attempt, Pool, Work};
use crate::results::Role;

/// Of 256 passes of persistent processes, this many are repeated: 5 %.
const DRAWN: u8 = 13;

impl Pool<'_> {
    /// Runs a case as often as the options require, and returns the first of the worst results. If
    /// the results differ, they are counted in a note.
    pub(super) fn repeated(&self, work: &Work<'_>) -> io::Result<Attempt> {
        let count = self.options.repeat.get();
        let mut runs: Vec<Attempt> = Vec::new();
        for seq in 1..=count {
            // Readers receive the files of the last run, and only if all runs pass.
            let keeps = seq == count && !runs.iter().any(Attempt::has_failed);
            runs.push(self.decided(work, keeps)?);
        }
        let mut kinds: Vec<(&Attempt, u32)> = Vec::new();
        for run in &runs {
            match kinds.iter_mut().find(|(first, _)| run.is_like(first)) {
                Some((_, times)) => *times += 1,
                None => kinds.push((run, 1)),
            }
        }
        let words = kinds.iter().map(|(first, times)| {
            let words = first.describe();
            format!("{words} {times} of {count} times")
        });
        let words: Vec<_> = words.collect();
        let worst = runs.iter().position(Attempt::has_failed).unwrap_or(0);
        let mut run = runs.swap_remove(worst);
        if words.len() > 1 {
            run.differs(&words.join(", "));
        }
        Ok(run)
    }

    /// Runs a case. If a persistent process fails, or if its pass is drawn, a separate process
    /// decides.
    fn decided(&self, work: &Work<'_>, keeps: bool) -> io::Result<Attempt> {
        let role = work.task.about().role;
        let served = work.manifest.serve(role);
        let Some(command) = served.filter(|_| work.task.is_served()) else {
            return self.once(work, None, keeps);
        };
        let is_drawn = is_drawn(self.options.seed, role, work.task.about().name);
        let served = self.once(work, Some(command), keeps && !is_drawn)?;
        if !served.has_failed() && !is_drawn {
            return Ok(served);
        }
        let mut own = self.once(work, None, keeps)?;
        if !own.is_like(&served) {
            // The process may be out of step with its requests.
            self.servers.end(command);
            let (served, alone) = (served.describe(), own.describe());
            own.differs(&format!(
                "the persistent process {served}, a separate process {alone}"
            ));
        }
        Ok(own)
    }
}

/// Draws about 5 % of the cases.
#[must_use]
pub fn is_drawn(seed: u64, role: Role, case: &str) -> bool {
    let text = format!("{seed} {} {case}", role.name());
    Sha256::digest(text).first().is_some_and(|it| *it < DRAWN)
}
