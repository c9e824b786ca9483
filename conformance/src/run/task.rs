//! A task for an implementation, and how its process ended.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::outside::Opened;
use super::warden::End;
use crate::protocol::{Broken, Feature, Lack, Manifest};
use crate::results::{Failure, Role};
use crate::scripts::Scripted;
use crate::written::Graded;

/// A task for an implementation: a case to read or a script to write.
pub trait Task: Send + Sync {
    /// Returns the role whose program is started.
    fn role(&self) -> Role;

    /// Returns the name of the case or script.
    fn name(&self) -> &str;

    /// Returns the wire version of the files.
    fn wire(&self) -> u8;

    /// Returns the required features.
    fn needs(&self) -> &[Feature];

    /// Returns the rules that the task is about.
    fn rules(&self) -> &[String];

    /// Returns a note on its purpose.
    fn note(&self) -> &str;

    /// For writers, returns the script and the written folder. If the task passes, the folder is
    /// kept for readers.
    fn writes(&self, _place: &Path) -> Option<(Arc<Scripted>, PathBuf)> {
        None
    }

    /// Creates its files in the empty folder `place` and returns the values of the command's placeholders:
    /// `("path", …)`.
    ///
    /// # Errors
    ///
    /// If files cannot be created.
    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>>;

    /// Returns the size limit on the task's files in bytes, which simulates a full disk.
    fn file_size(&self) -> Option<u64> {
        None
    }

    /// Returns the limit on standard output, in bytes, if the output is parsed.
    fn output(&self) -> Option<u64> {
        None
    }

    /// Returns the files that must not be opened, in the folder that [`prepare`](Self::prepare)
    /// filled.
    fn decoys(&self, _place: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the parts that are not graded because the manifest says that the implementation
    /// lacks them.
    fn not_graded(&self, _manifest: &Manifest) -> Vec<Lack> {
        Vec::new()
    }

    /// Grades the result. `place` is the folder that [`prepare`](Self::prepare) filled.
    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded;
}

/// A task of the corpus or the scripts; some of them serve as smoke tests.
pub trait Smoke: Task {
    /// Returns whether every implementation should pass it.
    fn is_smoke(&self) -> bool;

    /// Checks the form of an answer, not its content. Returns `Ok(false)` if the implementation skips the
    /// task.
    ///
    /// # Errors
    ///
    /// If the answer does not have the protocol's form.
    fn check_form(&self, manifest: &Manifest, ended: &Ended) -> Result<bool, Broken>;
}

/// An ended process.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error; if it is long, without its middle.
    pub stderr: String,
    /// The run time.
    pub elapsed: Duration,
    /// The [`decoys`](Task::decoys) it opened.
    pub opened: Opened,
}

impl Ended {
    /// Returns the exit code of a process that exited.
    ///
    /// # Errors
    ///
    /// If the process ended in another way, which is always a failure.
    pub fn exit_code(&self) -> Result<i32, Broken> {
        let broken = |class, message: String| Err(Broken { class, message });
        match &self.end {
            End::Exited(code) => Ok(*code),
            End::Killed(signal) => broken(
                Failure::Crash,
                format!("killed by {}", signal_name(*signal)),
            ),
            End::Timeout => {
                let limit = self.elapsed.as_secs_f64();
                broken(
                    Failure::Timeout,
                    format!("still running after {limit:.1} s"),
                )
            }
            End::Memory(bytes) => {
                let mebibytes = bytes >> 20;
                broken(Failure::Memory, format!("{mebibytes} MiB resident"))
            }
            End::Output(limit) => {
                let mebibytes = limit >> 20;
                let message = format!("too much on standard output: more than {mebibytes} MiB");
                broken(Failure::Garbage, message)
            }
            End::NotStarted(why) => broken(Failure::Crash, format!("cannot be started: {why}")),
            End::Unwatched(why) => broken(Failure::Crash, why.clone()),
        }
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
