//! An implementation's process: starts it, sends it requests, and collects its output.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, WaitIdOptions, WaitIdStatus, getrlimit, setrlimit};

use super::streams::{Ends, Stream, bounded, ends};
use super::tree::{end_all, wait};
use super::{End, Job};

/// A change of a process's state.
pub(super) enum Change {
    /// The process ended and can be reaped.
    Ended(End),
    /// The process wrote the end of a line.
    Line,
    /// The process wrote too much output.
    TooMuch,
}

/// A function that is called with each change of a process, on any thread.
pub(super) type Notify = Arc<dyn Fn(Change) + Send + Sync>;

pub(super) struct Process {
    /// The number of the job that started the process.
    pub(super) number: u64,
    pub(super) leader: Pid,
    /// Standard input of a persistent process.
    input: Option<ChildStdin>,
    /// The maximum size in bytes of its output, or of the next answer.
    limit: Arc<AtomicU64>,
    /// How it ended after its last answer, if it did.
    pub(super) ended: Option<End>,
    output: Stream<Vec<u8>>,
    stderr: Stream<Ends>,
}

impl Process {
    /// Starts a job's process, and threads that read its output and wait for its end.
    pub(super) fn start(number: u64, job: &Job, notify: &Notify) -> io::Result<Self> {
        let mut process = spawn(job)?;
        let leader = Pid::from_child(&process);
        let started = Self::attend(number, job, &mut process, notify);
        if started.is_err() {
            end_all(leader);
        }
        started
    }

    fn attend(number: u64, job: &Job, process: &mut Child, notify: &Notify) -> io::Result<Self> {
        let leader = Pid::from_child(process);
        let missing = || io::Error::other("a pipe is missing");
        let notifies = |change: fn() -> Change| {
            let notify = Arc::clone(notify);
            move || notify(change())
        };
        let line = job.request.is_some().then(|| notifies(|| Change::Line));
        let output = process.stdout.take().ok_or_else(missing)?;
        let limit = Arc::new(AtomicU64::new(job.limits.output));
        let current = Arc::clone(&limit);
        let current = move || current.load(Ordering::Relaxed);
        let output = bounded(output, current, line, notifies(|| Change::TooMuch))?;
        let stderr = ends(process.stderr.take().ok_or_else(missing)?)?;
        let input = process.stdin.take();
        if let Some(input) = &input {
            // A process that does not read must not block the warden.
            rustix::io::ioctl_fionbio(input, true)?;
        }
        let notify = Arc::clone(notify);
        thread::Builder::new().spawn(move || {
            notify(Change::Ended(ended(leader)));
        })?;
        Ok(Self {
            number,
            leader,
            input,
            limit,
            ended: None,
            output,
            stderr,
        })
    }

    /// Writes a request to a persistent process, whose answer may have `limit` bytes. Fails if the
    /// process ended or wrote something since its last answer.
    pub(super) fn ask(&mut self, request: &str, limit: u64) -> Result<(), End> {
        self.limit.store(limit, Ordering::Relaxed);
        if let Some(end) = &self.ended {
            return Err(end.clone());
        }
        if !self.output.with(|kept| kept.is_empty()) {
            return Err(End::Unrequested);
        }
        if let Some(input) = &mut self.input {
            // If the process is gone or does not read, its end or the time limit reveals this.
            let _ = input.write_all(format!("{request}\n").as_bytes());
        }
        Ok(())
    }

    /// Closes the standard input of a persistent process, which should then end.
    pub(super) fn end_input(&mut self) {
        self.input = None;
    }

    /// Takes the line that a persistent process answered, and what it wrote to standard error since
    /// its last answer. Fails if the line is too long, or if more output follows it.
    pub(super) fn answer(&self) -> Result<(Vec<u8>, String), End> {
        let mut line = self.output.with(std::mem::take);
        let end = line.iter().position(|byte| *byte == b'\n');
        let size = end.map_or(line.len(), |end| end + 1);
        if line.len() > size {
            return Err(End::Unrequested);
        }
        let limit = self.limit.load(Ordering::Relaxed);
        if size as u64 > limit {
            return Err(End::Output(limit));
        }
        line.truncate(size);
        Ok((line, self.stderr.with(std::mem::take).text()))
    }

    /// Returns the last output of a process that has ended, and of standard error.
    pub(super) fn finish(self) -> (Vec<u8>, String) {
        let ended = Instant::now();
        (self.output.finish(ended), self.stderr.finish(ended).text())
    }
}

fn spawn(job: &Job) -> io::Result<Child> {
    let (program, arguments) = job
        .command
        .split_first()
        .ok_or_else(|| io::Error::other("no program"))?;
    let mut command = match job.limits.file_size {
        None => Command::new(program),
        // Signals that the shell ignores stay ignored after its `exec`.
        Some(_) => {
            let mut shell = Command::new("sh");
            // In the shell, `/proc/self/exe` would refer to the shell itself.
            let own = format!("/proc/{}/exe", std::process::id());
            let program = match program.as_str() {
                "/proc/self/exe" => &own,
                _ => program,
            };
            shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh", program]);
            shell
        }
    };
    let _limit = job.limits.file_size.map(FileSize::limit).transpose()?;
    command
        .args(arguments)
        .current_dir(&job.folder)
        .env("TMPDIR", &job.folder)
        .stdin(match job.request {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // Executing a newly built program fails as long as another process still has it open for
    // writing, so try again.
    let mut tries = 0_u32;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < 100 => {
                tries = tries.saturating_add(1);
                thread::sleep(Duration::from_millis(20));
            }
            result => return result,
        }
    }
}

/// The file size limit that the next process inherits. The previous limit is restored on drop.
struct FileSize(Rlimit);

impl FileSize {
    fn limit(bytes: u64) -> io::Result<Self> {
        let before = getrlimit(Resource::Fsize);
        let now = Rlimit {
            current: Some(bytes),
            ..before
        };
        setrlimit(Resource::Fsize, now)?;
        Ok(Self(before))
    }
}

impl Drop for FileSize {
    fn drop(&mut self) {
        // Only the soft limit was lowered, so this process can raise it again.
        let _ = setrlimit(Resource::Fsize, self.0);
    }
}

/// Waits for a process to end, without reaping it.
fn ended(process: Pid) -> End {
    match wait(process, WaitIdOptions::EXITED) {
        Err(error) => End::NotStarted(error.to_string()),
        Ok(status) => {
            let code = status.as_ref().and_then(WaitIdStatus::exit_status);
            let signal = status.as_ref().and_then(WaitIdStatus::terminating_signal);
            code.map_or(End::Killed(signal.unwrap_or_default()), End::Exited)
        }
    }
}
