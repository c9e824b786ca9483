//! Asks an implementation for the sign of a reading.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::signs::{Shows, Sign};
use crate::protocol::{Answer, Manifest};
use crate::results::{Failure, Outcome};
use crate::run::{About, Ended, Graded, Task};

/// A case or script, used to look for one sign. The task passes if it finds the sign.
pub(super) struct Asked<'a> {
    pub(super) sign: &'a Sign,
    /// The case to read or the script to write.
    pub(super) task: &'a dyn Task,
}

impl Task for Asked<'_> {
    fn about(&self) -> About<'_> {
        self.task.about()
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        self.task.prepare(place)
    }

    fn file_size(&self) -> Option<u64> {
        self.task.file_size()
    }

    fn is_served(&self) -> bool {
        self.task.is_served()
    }

    fn output(&self) -> Option<u64> {
        self.task.output()
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        let graded = self.task.grade(manifest, ended, place);
        let shows = match self.sign.shows {
            Shows::Answer { at, value, .. } => has_value(ended, at, value),
            Shows::Files { rule, breaks, .. } => files_break(&graded, rule) == Some(breaks),
        };
        let outcome = match graded.outcome {
            skipped @ Outcome::Skipped { .. } => skipped,
            _ if shows => Outcome::Passed,
            _ => Outcome::failed(Failure::WrongDecode, ""),
        };
        Graded { outcome, ..graded }
    }
}

/// Returns whether an answer has a value at a JSON pointer or, if `value` is empty, whether it has
/// none there.
fn has_value(ended: &Ended, at: &str, value: &str) -> bool {
    let Ok(Answer::Document(_, document)) = ended.answer() else {
        return false;
    };
    let expected: Option<Value> = serde_json::from_str(value).ok();
    // A field can be missing only from a record that the answer contains.
    let record = at.rsplit_once('/').map_or("", |(record, _)| record);
    document.pointer(at) == expected.as_ref() && document.pointer(record).is_some()
}

/// Returns whether a writer's files break a rule, or `None` if there are no files.
fn files_break(graded: &Graded, rule: &str) -> Option<bool> {
    let differences = match &graded.outcome {
        Outcome::Passed => &[][..],
        Outcome::Failed {
            class, differences, ..
        } if !class.is_broken() => differences,
        _ => return None,
    };
    let musts = differences.iter().map(|it| it.rule.as_deref());
    let shoulds = graded.notes.iter().map(|it| it.rule.as_deref());
    Some(musts.chain(shoulds).any(|broken| broken == Some(rule)))
}
