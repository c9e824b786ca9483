//! Repeats cases: with `--repeat` all of them, otherwise the failures and some of the passes of
//! persistent processes.

use std::io;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Graded;
use super::pool::{Pool, Work};
use crate::protocol::{Answer, differences};
use crate::results::{Note, Outcome, Role, UNSTABLE};
use crate::rules::Severity;

/// Of 256 passes of persistent processes, this many are repeated: 5 %.
const DRAWN: u8 = 13;

/// The result of running a case.
pub(super) struct Run {
    pub(super) graded: Graded,
    pub(super) elapsed: Duration,
    pub(super) stderr: String,
    /// A reader's or validator's exit code and output.
    pub(super) answer: Option<(i32, Vec<u8>)>,
}

impl Run {
    pub(super) fn skipped(why: String) -> Self {
        Self {
            graded: Graded {
                outcome: Outcome::Skipped { why },
                notes: Vec::new(),
            },
            elapsed: Duration::ZERO,
            stderr: String::new(),
            answer: None,
        }
    }

    fn has_failed(&self) -> bool {
        matches!(self.graded.outcome, Outcome::Failed { .. })
    }

    /// Returns whether another run of the same case has the same result.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.graded.outcome, &other.graded.outcome) {
            // Messages on missing answers contain measured times and sizes.
            (Outcome::Failed { class: one, .. }, Outcome::Failed { class: other, .. })
                if one.is_broken() =>
            {
                one == other
            }
            (one, other) if one != other => false,
            _ => self.answer == other.answer || self.says_the_same(other),
        }
    }

    /// Returns whether two answers are equal as documents.
    fn says_the_same(&self, other: &Self) -> bool {
        let document = |run: &Self| {
            let (code, output) = run.answer.as_ref()?;
            Answer::of(*code, output).ok()
        };
        match (document(self), document(other)) {
            (Some(Answer::Document(one, own)), Some(Answer::Document(other, others))) => {
                one == other && differences(&own, &others, &[]).is_empty()
            }
            (one, other) => one == other,
        }
    }

    /// Adds a note that the results of a case differ.
    fn differs(&mut self, text: &str) {
        self.graded.notes.push(Note {
            severity: Severity::Advice,
            rule: None,
            text: format!("{UNSTABLE}{text}"),
        });
    }

    fn describe(&self) -> String {
        match &self.graded.outcome {
            Outcome::Passed => "passes".to_owned(),
            Outcome::Skipped { .. } => "skips the case".to_owned(),
            Outcome::Failed { class, message, .. } => {
                format!("fails ({}: {message})", class.name())
            }
        }
    }
}

impl Pool<'_> {
    /// Runs a case as often as the options require, and returns the first of the worst results. If
    /// the results differ, they are counted in a note.
    pub(super) fn repeated(&self, work: &Work<'_>) -> io::Result<Run> {
        let count = self.options.repeat.get();
        let mut runs: Vec<Run> = Vec::new();
        for seq in 1..=count {
            // Readers get the files of the last run, and only if all runs pass.
            let keeps = seq == count && !runs.iter().any(Run::has_failed);
            runs.push(self.decided(work, keeps)?);
        }
        let mut kinds: Vec<(usize, u32)> = Vec::new();
        for (seq, run) in runs.iter().enumerate() {
            let mut known = kinds.iter_mut();
            match known.find(|(first, _)| runs.get(*first).is_some_and(|it| run.is_like(it))) {
                Some((_, times)) => *times += 1,
                None => kinds.push((seq, 1)),
            }
        }
        let words = kinds.iter().filter_map(|(first, times)| {
            let words = runs.get(*first)?.describe();
            Some(format!("{words} {times} of {count} times"))
        });
        let words: Vec<_> = words.collect();
        let worst = runs.iter().position(Run::has_failed).unwrap_or(0);
        let mut run = runs.swap_remove(worst);
        if kinds.len() > 1 {
            run.differs(&words.join(", "));
        }
        Ok(run)
    }

    /// Runs a case. If a persistent process fails, or if its pass is drawn, a process of its own
    /// decides.
    fn decided(&self, work: &Work<'_>, keeps: bool) -> io::Result<Run> {
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
                "the persistent process {served}, a process of its own {alone}"
            ));
        }
        Ok(own)
    }
}

/// Draws about 5 % of the cases.
fn is_drawn(seed: u64, role: Role, case: &str) -> bool {
    let text = format!("{seed} {} {case}", role.name());
    Sha256::digest(text).first().is_some_and(|it| *it < DRAWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_about_5_percent() {
        let drawn = |seed| {
            let names = (0..2000).map(|seq| format!("v1/case-{seq}"));
            let drawn = names.filter(|name| is_drawn(seed, Role::Read, name));
            drawn.collect::<Vec<_>>()
        };
        assert!((60..140).contains(&drawn(1).len()), "{}", drawn(1).len());
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}
