//! Turns scripts into tasks for writers.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Graded;
use super::task::{About, Smoke, Task};
use super::warden::{End, Ended};
use crate::protocol::{Broken, Feature, Manifest, beginning, exit};
use crate::results::{Difference, Files, Outcome, Role};
use crate::scripts::{self, Operation, Scripted};
use crate::written;

const SIGKILL: i32 = 9;
const SCRIPT: &str = "script.txt";

/// The number of nested folders in a long path, and the length of their names.
const DEPTH: usize = 5;
const FOLDER: usize = 210;

/// Files of longer scripts are not passed to readers: they would take each reader as long as
/// hundreds of cases and test nothing new.
const MOST_READ: usize = 50_000;

/// A task to write the files of a script.
#[derive(Debug)]
pub struct Writing {
    scripted: Arc<Scripted>,
    needs: Vec<Feature>,
}

/// Returns each script of both wire versions as a task.
#[must_use]
pub fn writings() -> Vec<Box<dyn Smoke>> {
    let all = scripts::all().into_iter();
    // Other systems allow no path of this length.
    let all = all.filter(|scripted| !scripted.is_deep || cfg!(target_os = "linux"));
    all.map(|scripted| Box::new(Writing::new(scripted)) as Box<dyn Smoke>)
        .collect()
}

impl Writing {
    /// Makes a task from a script.
    #[must_use]
    pub fn new(scripted: Scripted) -> Self {
        let asks = |operation: &Operation| match operation {
            Operation::Detail(_) => Some(Feature::Detail),
            Operation::Flush(_) | Operation::Kill => Some(Feature::Kill),
            Operation::Close(_) => Some(Feature::Close),
            Operation::Space => Some(Feature::Space),
            _ => None,
        };
        let needs = scripted.script.operations().iter().filter_map(asks);
        let late = scripted.script.is_late().then_some(Feature::Late);
        let needs: BTreeSet<_> = needs.chain(late).chain([Feature::Index]).collect();
        Self {
            needs: needs.into_iter().collect(),
            scripted: Arc::new(scripted),
        }
    }

    /// Returns the folder that the writer writes to.
    fn out(&self, place: &Path) -> PathBuf {
        let mut out = place.join("out");
        if self.scripted.is_deep {
            out.extend(iter::repeat_n("d".repeat(FOLDER), DEPTH));
        }
        out
    }

    /// Makes a failure that shows the script instead of the missing files.
    fn unwritten(&self, Broken { class, message }: Broken) -> Outcome {
        let script = self.scripted.to_string();
        Outcome::Failed {
            class,
            // Nothing shows which part of the script is at fault, so the failure names no rule.
            differences: vec![Difference {
                hexdump: Some(beginning(SCRIPT, script.as_bytes())),
                ..Difference::in_data("script", "the whole script is written", &message)
            }],
            message,
        }
    }

    /// Returns whether a writer ended as its script requires. Returns `Ok(false)` if the writer
    /// does not support the script.
    fn is_done(&self, ended: &Ended) -> Result<bool, Broken> {
        let Scripted { limit, script, .. } = &*self.scripted;
        if script.is_killed() && ended.end == End::Killed(SIGKILL) {
            return Ok(true);
        }
        let code = ended.exit_code()?;
        let broken = |what: &str| Err(Broken::crash(format!("exit code {code}, {what}")));
        match u8::try_from(code) {
            Ok(exit::UNSUPPORTED) => Ok(false),
            _ if script.is_killed() => broken("the script ends with SIGKILL"),
            // On a full disk, a writer may give up or continue.
            Ok(_) if limit.is_some() => Ok(true),
            Ok(exit::DONE) => Ok(true),
            _ => broken("the script was not fully written"),
        }
    }
}

impl Task for Writing {
    fn about(&self) -> About<'_> {
        About {
            role: Role::Write,
            name: &self.scripted.name,
            wire: self.scripted.wire,
            needs: &self.needs,
            rules: &self.scripted.rules,
            note: self.scripted.note,
        }
    }

    fn writes(&self, place: &Path) -> Option<(Arc<Scripted>, PathBuf)> {
        let Scripted { limit, script, .. } = &*self.scripted;
        // The script does not determine how much is written, so readers have no expected result.
        if limit.is_some() || script.is_killed() || script.operations().len() > MOST_READ {
            return None;
        }
        let out = self.out(place);
        let script = written::settled(script, &out);
        let scripted = if script == self.scripted.script {
            Arc::clone(&self.scripted)
        } else {
            Arc::new(Scripted {
                script,
                ..Scripted::clone(&self.scripted)
            })
        };
        Some((scripted, out))
    }

    fn file_size(&self) -> Option<u64> {
        self.scripted.limit
    }

    fn files(&self) -> Files {
        let Scripted { limit, script, .. } = &*self.scripted;
        let mut threads = script.threads().into_values();
        Files {
            is_clean: limit.is_none() && threads.all(|thread| thread.is_finalized),
            ..Files::default()
        }
    }

    fn is_served(&self) -> bool {
        let Scripted { limit, script, .. } = &*self.scripted;
        limit.is_none() && !script.is_killed()
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let (script, out) = (place.join(SCRIPT), self.out(place));
        fs::write(&script, self.scripted.to_string())?;
        fs::create_dir_all(&out)?;
        Ok(vec![("script", script), ("out", out)])
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        match self.is_done(ended) {
            Err(broken) => self.unwritten(broken).into(),
            Ok(false) => Outcome::unsupported().into(),
            Ok(true) => written::grade(&self.scripted, &manifest.feature_names(), &self.out(place)),
        }
    }
}

impl Smoke for Writing {
    fn is_smoke(&self) -> bool {
        let Scripted { limit, script, .. } = &*self.scripted;
        limit.is_none() && !script.aborts()
    }

    fn check_form(&self, _manifest: &Manifest, ended: &Ended) -> Result<bool, Broken> {
        self.is_done(ended)
    }
}
