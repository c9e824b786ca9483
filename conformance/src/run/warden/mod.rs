//! Supervises implementations under test.
//!
//! A warden runs one implementation at a time, each in its own process group, and reports how the
//! implementation ended, or what a persistent process answered. The warden is a subreaper: orphans
//! become its children, even after `setsid`, so the warden can find and end them. When the warden
//! has no children, no processes are left. Each warden is a separate process that runs the kit's
//! program, because one process could not distinguish different implementations' orphans. When the
//! kit ends, for whatever reason, the warden's standard input is closed, and the warden ends too.
//!
//! An implementation may stop or kill its warden. Each warden therefore has a keeper, which is also
//! a subreaper and then ends the remaining processes. The kit stops waiting when an answer is
//! overdue. If an implementation kills the keeper too, [`contained`] ends what remains after the
//! run.

#[cfg(unix)]
pub mod proc;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
pub mod streams;
#[cfg(unix)]
mod tree;

use std::error::Error as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

#[cfg(unix)]
pub use serve::{keep, serve};

use super::Limits;
use super::outside::Opened;

/// How often to check whether a warden is still running.
const LOOK: Duration = Duration::from_millis(20);
/// How long to wait for a warden to end after it has been told to.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process to start, or a request to a persistent process.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    /// The program and its arguments.
    command: Vec<String>,
    /// The working folder, which is also `TMPDIR`.
    folder: PathBuf,
    #[serde(flatten)]
    limits: Limits,
    /// The request to a persistent process, a line. The process is started only if this warden has
    /// none yet.
    request: Option<String>,
}

/// The end of a process, or its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The process exited with this code.
    Exited(i32),
    /// A persistent process answered its request with a line, and is still running.
    Answered,
    /// A persistent process wrote a line that was not requested.
    Unrequested,
    /// The process was killed by a signal that did not come from the kit.
    Killed(i32),
    /// The process was still running at the time limit.
    Timeout,
    /// The process's resident memory, in bytes, exceeded the limit.
    Memory(u64),
    /// The process wrote more than this many bytes to standard output.
    Output(u64),
    /// The process could not be started, for this reason.
    NotStarted(String),
    /// The process was not started, or how it ended is unknown, because the kit or the warden failed
    /// for this reason.
    Unwatched(String),
}

/// A process that has ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How the process ended.
    pub end: End,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error. If it is long, its middle is omitted.
    pub stderr: String,
    /// How long the process ran.
    pub elapsed: Duration,
    /// The [`decoys`](super::task::Task::decoys) that the process opened.
    pub opened: Opened,
}

/// A warden's answer, followed by the output of the process.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// How the process ended, or the system's error number if it was not run because of a
    /// [shortage](is_shortage).
    end: Result<End, i32>,
    stderr: String,
    elapsed: Duration,
    output_size: u64,
}

/// The kit's handle to a warden.
#[derive(Debug)]
pub struct Warden {
    /// The warden's keeper.
    process: Child,
    /// The pipe to the warden's input; `None` once the warden has been told to end.
    input: Option<ChildStdin>,
    /// The warden's answers. The channel closes when the keeper ends.
    answers: Receiver<io::Result<Ended>>,
}

impl Warden {
    /// Starts a warden with `kit warden --keep CASES`. The warden removes the run's folder `cases`
    /// and the folders of its cases if the kit ends before the warden is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the program or a thread cannot be started.
    pub fn start(kit: &Path, cases: &Path) -> io::Result<Self> {
        let mut command = Command::new(kit);
        command.args(["warden", "--keep"]).arg(cases);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal must not reach the warden, which cleans up after the kit.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = Some(process.stdin.take().ok_or_else(missing)?);
        let mut output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let (sender, answers) = channel();
        let warden = Self {
            process,
            input,
            answers,
        };
        thread::Builder::new().spawn(move || {
            while let Ok(ended) = answer(&mut output)
                && sender.send(ended).is_ok()
            {}
        })?;
        Ok(warden)
    }

    /// Runs a command in a folder until it ends or exceeds a limit. Leaves no processes running.
    ///
    /// With a request, sends it to this warden's persistent process, which is started first if
    /// necessary. The limits apply to this request. Unless the end is [`End::Answered`], the process
    /// has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the command was not run because a system resource is exhausted, if the
    /// warden is gone or does not answer, or once `interrupt` is not 0. In these cases, drop the
    /// warden, which ends its remaining processes.
    pub fn run(
        &mut self,
        command: &[String],
        folder: &Path,
        request: Option<String>,
        limits: &Limits,
        interrupt: &AtomicUsize,
    ) -> io::Result<Ended> {
        let mut line = serde_json::to_vec(&Job {
            command: command.to_vec(),
            folder: folder.to_owned(),
            limits: *limits,
            request,
        })?;
        line.push(b'\n');
        let input = self.input.as_mut();
        // A warden that could not be started has already answered and no longer reads.
        let _ = input.ok_or(io::ErrorKind::BrokenPipe)?.write_all(&line);
        let mut left = limits.time.saturating_add(limits.margin);
        while !left.is_zero() {
            match self.answers.recv_timeout(LOOK) {
                Ok(ended) => return ended,
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "it stopped or killed its supervising process";
                    return Err(io::Error::other(message));
                }
                // Count polls instead of measuring time, so that a stopped and resumed kit does not
                // report a timeout.
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(LOOK),
            }
            if interrupt.load(Ordering::Relaxed) != 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        self.kill_descendants();
        let message = "its supervising process does not answer";
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    /// Kills all descendants except the keeper, which then ends any that remain.
    fn kill_descendants(&self) {
        #[cfg(unix)]
        tree::kill_descendants(rustix::process::Pid::from_child(&self.process));
    }

    /// Returns whether the warden is running, that is, neither ended nor stopped.
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

/// Runs implementations and then ends every process that they left behind. Spares the processes
/// that are already running, such as those that a shell started before this program replaced it.
pub fn contained<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    tree::adopt_orphans();
    #[cfg(unix)]
    tree::handle_sigchld();
    #[cfg(unix)]
    let spared = tree::Spared::descendants();
    let value = run();
    #[cfg(unix)]
    tree::end_children(&spared);
    value
}

/// Returns whether a system resource, such as disk space or processes, is exhausted. An
/// implementation may have exhausted it, and loses it when its case ends.
#[must_use]
pub fn is_shortage(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    // The error inside a wrapper with a path.
    let cause = error.source().and_then(|inner| inner.downcast_ref());
    let cause: &io::Error = cause.unwrap_or(error);
    #[cfg(unix)]
    if let Some(Errno::MFILE | Errno::NFILE) = Errno::from_io_error(cause) {
        return true;
    }
    matches!(
        cause.kind(),
        Kind::StorageFull | Kind::QuotaExceeded | Kind::WouldBlock | Kind::OutOfMemory
    )
}

/// Reads a warden's next answer.
fn answer(from: &mut BufReader<ChildStdout>) -> io::Result<io::Result<Ended>> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let report: Report = serde_json::from_str(&line)?;
    let mut output = Vec::new();
    let size = from.take(report.output_size).read_to_end(&mut output)?;
    if size as u64 != report.output_size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let ended = report.end.map(|end| Ended {
        end,
        output,
        stderr: report.stderr,
        elapsed: report.elapsed,
        opened: Ok(Vec::new()),
    });
    Ok(ended.map_err(io::Error::from_raw_os_error))
}

impl Drop for Warden {
    fn drop(&mut self) {
        // An empty line tells the warden that the kit is still running.
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
