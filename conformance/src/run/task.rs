//! What a testee is asked for, and what came of it.

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

/// One thing that a testee is asked for: a case to read, a script to write.
pub trait Task: Send + Sync {
    /// Which of its programs is started.
    fn role(&self) -> Role;

    /// The case's or script's name.
    fn name(&self) -> &str;

    /// The wire version of the files.
    fn wire(&self) -> u8;

    /// The features without which it is not asked.
    fn needs(&self) -> &[Feature];

    /// The rules that it is about.
    fn rules(&self) -> &[String];

    /// What is special about it.
    fn note(&self) -> &str;

    /// For writers: the script, and the folder that is filled. What passes is kept for readers.
    fn writes(&self, _place: &Path) -> Option<(Arc<Scripted>, PathBuf)> {
        None
    }

    /// Makes its files in the empty folder `place`, and says what the placeholders of the
    /// command stand for: `("path", …)`.
    ///
    /// # Errors
    ///
    /// Where files cannot be made.
    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>>;

    /// How many bytes each of its files may have, where its disk is full.
    fn file_size(&self) -> Option<u64> {
        None
    }

    /// How many bytes it may write to standard output, where that is parsed.
    fn output(&self) -> Option<u64> {
        None
    }

    /// Files beside what is to be read, in the folder that [`prepare`](Self::prepare) filled, which
    /// nobody may open.
    fn decoys(&self, _place: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What of it is not graded, since the testee says that it does not do it.
    fn not_graded(&self, _manifest: &Manifest) -> Vec<Lack> {
        Vec::new()
    }

    /// What a testee made of it. `place` is the folder that [`prepare`](Self::prepare) filled.
    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded;
}

/// A task of the corpus or of the scripts, of which some serve to see if a testee speaks the protocol at all.
pub trait Smoke: Task {
    /// Whether every implementation should manage it.
    fn is_smoke(&self) -> bool;

    /// Whether an answer has the form that the protocol gives it, whatever it says. `Ok(false)`
    /// for a task that the testee leaves out.
    ///
    /// # Errors
    ///
    /// Where it has not.
    fn check_form(&self, manifest: &Manifest, ended: &Ended) -> Result<bool, Broken>;
}

/// A process that ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How.
    pub end: End,
    /// What it wrote to standard output.
    pub output: Vec<u8>,
    /// What it wrote to standard error, cut off in the middle.
    pub stderr: String,
    /// How long it took.
    pub elapsed: Duration,
    /// Which of the task's [`decoys`](Task::decoys) it opened.
    pub opened: Opened,
}

impl Ended {
    /// The exit code of a process that ended by itself.
    ///
    /// # Errors
    ///
    /// What it was otherwise, none of which satisfies any expectation.
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

/// A signal's name and number.
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
