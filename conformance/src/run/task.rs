//! Tasks for implementations, and how their processes ended.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::warden::{End, Ended};
use crate::lacks::Lack;
use crate::protocol::{Answer, Broken, Feature, Manifest};
use crate::results::{Failure, Files, Role};
use crate::scripts::Scripted;
use crate::written::Graded;

/// The description of a task.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The role whose program is started.
    pub role: Role,
    /// The name of the case or script.
    pub name: &'a str,
    /// The wire version of the files.
    pub wire: u8,
    /// The required features.
    pub needs: &'a [Feature],
    /// The rules that the task tests.
    pub rules: &'a [&'static str],
    /// A note on the task's purpose.
    pub note: &'a str,
}

/// A task for an implementation, such as a case to read or a script to write.
pub trait Task: Send + Sync {
    /// Describes the task.
    fn about(&self) -> About<'_>;

    /// Returns a writer's script and the folder to write to. If the task passes, the folder is kept
    /// for readers.
    fn writes(&self, _place: &Path) -> Option<(Arc<Scripted>, PathBuf)> {
        None
    }

    /// Creates the task's files in the empty folder `place` and returns the values of the command's
    /// placeholders, such as `("path", …)`.
    ///
    /// # Errors
    ///
    /// Returns an error if the files cannot be created.
    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>>;

    /// Returns the limit in bytes on the size of each file, which simulates a full disk.
    fn file_size(&self) -> Option<u64> {
        None
    }

    /// Returns whether a persistent process can perform the task. It cannot if the task ends the
    /// process or needs a different limit on files.
    fn is_served(&self) -> bool {
        true
    }

    /// Returns the limit in bytes on the size of standard output, if the output is parsed.
    fn output(&self) -> Option<u64> {
        None
    }

    /// Returns the files that must not be opened, in the folder filled by
    /// [`prepare`](Self::prepare).
    fn decoys(&self, _place: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the parts that are not graded because the manifest declares that the implementation
    /// lacks them.
    fn not_graded(&self, _manifest: &Manifest) -> Vec<Lack> {
        Vec::new()
    }

    /// Returns the share of the expected values that the manifest lets the kit compare, from 0 to 1.
    fn share(&self, _manifest: &Manifest) -> f64 {
        1.0
    }

    /// Returns the properties of the task's files.
    fn files(&self) -> Files {
        Files::default()
    }

    /// Grades the result. `place` is the folder filled by [`prepare`](Self::prepare).
    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded;
}

/// A task from the corpus or the scripts, which may also serve as a smoke test.
pub trait Smoke: Task {
    /// Returns whether every implementation should pass the task.
    fn is_smoke(&self) -> bool;

    /// Checks the form of an answer, but not its content. Returns `Ok(false)` if the implementation
    /// skips the task.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer violates the protocol.
    fn check_form(&self, manifest: &Manifest, ended: &Ended) -> Result<bool, Broken>;
}

impl Ended {
    /// Returns the exit code of a process that exited.
    ///
    /// # Errors
    ///
    /// Returns a failure if the process ended in any other way.
    pub fn exit_code(&self) -> Result<i32, Broken> {
        use Failure::{Crash, Garbage, Memory, Timeout};
        let elapsed = self.elapsed.as_secs_f64();
        let mebibytes = |bytes: &u64| bytes >> 20;
        let (class, message) = match &self.end {
            End::Exited(code) => return Ok(*code),
            End::Answered => return Ok(0),
            End::Unrequested => (Garbage, "output that was not requested".to_owned()),
            End::Killed(signal) => (Crash, format!("killed by {}", signal_name(*signal))),
            End::Timeout => (Timeout, format!("still running after {elapsed:.1} s")),
            End::Memory(bytes) => (Memory, format!("{} MiB resident", mebibytes(bytes))),
            End::Output(limit) => {
                let limit = mebibytes(limit);
                let message = format!("too much on standard output: more than {limit} MiB");
                (Garbage, message)
            }
            End::NotStarted(why) => (Crash, format!("cannot be started: {why}")),
            End::Unwatched(why) => (Crash, why.clone()),
        };
        Err(Broken { class, message })
    }

    /// Interprets the exit code and the output of a reader or validator. Fails if the process did
    /// not exit, or if its answer violates the protocol.
    pub(crate) fn answer(&self) -> Result<Answer, Broken> {
        Answer::parse(self.exit_code()?, &self.output)
    }
}

/// Formats a signal's number and name.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        25 => "SIGXFSZ",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
