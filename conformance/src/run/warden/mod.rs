//! Processes that watch over testees.
//!
//! A warden starts one testee after the other, each in a process group of its own, and answers how
//! it ended. It is a subreaper: whatever a testee leaves behind becomes the warden's child, also
//! what has called `setsid`, so it can be found and ended, and once the warden has no child left
//! nothing is left. It is a process of the kit's own program, since one process cannot tell the
//! orphans of several testees apart. It ends with the kit, however that ends: its standard input
//! is closed then.
//!
//! A testee may stop its warden, or kill it. So each warden has a keeper, which is a subreaper as
//! well: it ends the remaining processes then. The kit waits no longer than an answer can take.

#[cfg(unix)]
mod keeper;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod streams;
#[cfg(unix)]
mod tree;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(unix)]
pub use keeper::keep;
#[cfg(unix)]
pub use serve::serve;

use super::{Ended, Limits};

/// The longest time between two looks at a warden.
const LOOK: Duration = Duration::from_millis(20);
/// How long a warden may take to end once it is told to.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    /// The program and its arguments.
    command: Vec<String>,
    /// Its working folder, which is its `TMPDIR`, too.
    folder: PathBuf,
    time: Duration,
    memory: u64,
    output: u64,
    file_size: Option<u64>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that the kit did not send.
    Killed(i32),
    /// It did not, up to the time limit.
    Timeout,
    /// It had more bytes resident than the limit allows, these.
    Memory(u64),
    /// It wrote more than this many bytes to standard output.
    Output(u64),
    /// It was never there.
    NotStarted(String),
    /// Nobody knows: this became of its warden.
    Unwatched(String),
}

/// A warden's answer; the output follows.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    end: End,
    stderr: String,
    elapsed: Duration,
    output_size: u64,
}

/// A warden, seen from the kit.
#[derive(Debug)]
pub struct Warden {
    /// Its keeper.
    process: Child,
    /// `None` once it is told to end.
    input: Option<ChildStdin>,
    /// Its answers; they end when the keeper has ended.
    answers: Receiver<Ended>,
}

impl Warden {
    /// Starts one: `kit warden --keep CASES`. It removes the folder `cases` if the kit is gone
    /// before the warden is dropped.
    ///
    /// # Errors
    ///
    /// Where the program cannot be started.
    pub fn start(kit: &Path, cases: &Path) -> io::Result<Self> {
        let mut command = Command::new(kit);
        command.args(["warden", "--keep"]).arg(cases);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal ends the kit alone; the warden cleans up after it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = Some(process.stdin.take().ok_or_else(missing)?);
        let mut output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let (sender, answers) = channel();
        thread::spawn(move || {
            while let Ok(ended) = answer(&mut output)
                && sender.send(ended).is_ok()
            {}
        });
        Ok(Self {
            process,
            input,
            answers,
        })
    }

    /// Runs a command in a folder until it ends or breaks a limit. Nothing of it is left then.
    ///
    /// # Errors
    ///
    /// Where the warden is gone or does not answer, and once `interrupt` is not 0. Drop it: then
    /// nothing is left either.
    pub fn run(
        &mut self,
        command: &[String],
        folder: &Path,
        limits: &Limits,
        interrupt: &AtomicUsize,
    ) -> io::Result<Ended> {
        let job = Job {
            command: command.to_vec(),
            folder: folder.to_owned(),
            time: limits.time,
            memory: limits.memory,
            output: limits.output,
            file_size: limits.file_size,
        };
        let mut line = serde_json::to_vec(&job)?;
        line.push(b'\n');
        let input = self.input.as_mut();
        input.ok_or(io::ErrorKind::BrokenPipe)?.write_all(&line)?;
        let mut left = limits.time.saturating_add(limits.margin);
        while !left.is_zero() {
            match self.answers.recv_timeout(LOOK) {
                Ok(ended) => return Ok(ended),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "it stopped or killed the process that watches over it";
                    return Err(io::Error::other(message));
                }
                // Looks are counted, not the clock: while the kit itself is stopped, none is due.
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(LOOK),
            }
            if interrupt.load(Ordering::Relaxed) != 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        self.kill_descendants();
        let message = "the process that watches over it does not answer";
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    /// Kills all but the keeper, which ends what they leave.
    fn kill_descendants(&self) {
        #[cfg(unix)]
        tree::kill_descendants(rustix::process::Pid::from_child(&self.process));
    }

    /// Whether it runs, neither ended nor stopped.
    fn runs(&self) -> bool {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, WaitIdOptions as Change};
            let change = Change::EXITED | Change::STOPPED | Change::NOHANG;
            matches!(tree::wait(Pid::from_child(&self.process), change), Ok(None))
        }
        #[cfg(not(unix))]
        false
    }
}

/// Reads a warden's next answer.
fn answer(from: &mut BufReader<ChildStdout>) -> io::Result<Ended> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let report: Report = serde_json::from_str(&line)?;
    let mut output = Vec::new();
    let size = from.take(report.output_size).read_to_end(&mut output)?;
    if size as u64 != report.output_size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Ended {
        end: report.end,
        output,
        stderr: report.stderr,
        elapsed: report.elapsed,
        opened: Ok(Vec::new()),
    })
}

impl Drop for Warden {
    fn drop(&mut self) {
        // An empty line says that the kit goes on.
        let _ = self.input.take().map(|mut input| input.write_all(b"\n"));
        let mut left = PATIENCE;
        while !left.is_zero() && self.runs() {
            thread::sleep(LOOK);
            left = left.saturating_sub(LOOK);
        }
        if left.is_zero() {
            self.kill_descendants();
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
