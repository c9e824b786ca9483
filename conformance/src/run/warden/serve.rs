//! The warden's main loop.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitIdOptions, WaitIdStatus, getpid, getrlimit, kill_process,
    kill_process_group, setrlimit,
};

use super::streams::{Ends, Stream, bounded, ends};
use super::tree::{adopt_orphans, descendants, end_all, wait};
use super::{End, Job, Report, is_shortage};

/// The time that a process is given to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// The maximum interval between two memory checks.
const LOOK: Duration = Duration::from_millis(50);

/// An event that the warden's loop handles.
enum Event {
    Job(Job),
    /// There are no more jobs.
    Done,
    /// The kit is gone.
    Gone,
    /// This job's process ended and can be reaped.
    Ended(u64, End),
    /// This job's process wrote too much output.
    TooMuch(u64),
}

/// Takes jobs from standard input and reports to standard output until the input ends. Then removes
/// the run's folder `cases` and the folders of its cases, unless the kit announced that it continues.
pub fn serve(cases: &Path) -> ExitCode {
    adopt_orphans();
    let (sender, events) = channel();
    let warden = Warden { sender, events };
    let jobs = warden.sender.clone();
    if let Err(error) = thread::Builder::new().spawn(move || listen(&jobs)) {
        let _ = report_error(&error, Duration::ZERO);
        return ExitCode::FAILURE;
    }
    let mut number = 0_u64;
    loop {
        match warden.events.recv() {
            Ok(Event::Job(job)) => {
                number = number.saturating_add(1);
                if warden.run(number, &job).is_err() {
                    break;
                }
            }
            Ok(Event::Done) => return ExitCode::SUCCESS,
            Ok(Event::Ended(..) | Event::TooMuch(_)) => {}
            Ok(Event::Gone) | Err(_) => break,
        }
    }
    // The kit is gone, perhaps because it was killed while writing a case.
    let _ = crate::run::folder::remove_all(cases);
    ExitCode::FAILURE
}

fn listen(events: &Sender<Event>) {
    for line in io::stdin().lock().lines() {
        let event = match line {
            Ok(line) if line.is_empty() => Event::Done,
            Ok(line) => match serde_json::from_str(&line) {
                Ok(job) => Event::Job(job),
                Err(_) => break,
            },
            Err(_) => break,
        };
        if events.send(event).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Gone);
}

/// The standard output and standard error of a process.
type Streams = (Option<Stream<Vec<u8>>>, Option<Stream<Ends>>);

struct Warden {
    sender: Sender<Event>,
    events: Receiver<Event>,
}

/// The error that the kit is gone, returned once the warden has ended its own processes.
pub(super) struct Gone;

impl Warden {
    fn run(&self, number: u64, job: &Job) -> Result<(), Gone> {
        let start = Instant::now();
        let mut process = match spawn(job) {
            Ok(process) => process,
            Err(error) => return report_error(&error, start.elapsed()),
        };
        let leader = Pid::from_child(&process);
        let (output, stderr) = match self.attend(number, job, &mut process) {
            Ok(streams) => streams,
            Err(error) => {
                end_all(leader);
                return report_error(&error, start.elapsed());
            }
        };
        let end = self.watch(number, job, start);
        let elapsed = start.elapsed();
        if let Ok(End::Timeout) = end {
            self.ask_to_end(number, leader);
        }
        let left = end_all(leader);
        let end = end?;
        let ended = Instant::now();
        let output = output
            .map(|stream| stream.finish(ended))
            .unwrap_or_default();
        let mut stderr = stderr
            .map(|stream| stream.finish(ended).text())
            .unwrap_or_default();
        if left > 0 {
            stderr.push_str(&format!("[ended {left} leftover processes]\n"));
        }
        // A process may end before the warden has read its last output.
        if output.len() as u64 > job.output {
            return report(Ok(End::Output(job.output)), stderr, elapsed, &[]);
        }
        report(Ok(end), stderr, elapsed, &output)
    }

    /// Starts threads that read a process's output and wait for its end.
    fn attend(&self, number: u64, job: &Job, process: &mut Child) -> io::Result<Streams> {
        let leader = Pid::from_child(process);
        let sender = self.sender.clone();
        let too_much = move || {
            let _ = sender.send(Event::TooMuch(number));
        };
        let output = process.stdout.take();
        let output = output.map(|from| bounded(from, job.output, too_much));
        let stderr = process.stderr.take().map(ends);
        let streams = (output.transpose()?, stderr.transpose()?);
        let sender = self.sender.clone();
        thread::Builder::new().spawn(move || {
            let _ = sender.send(Event::Ended(number, ended(leader)));
        })?;
        Ok(streams)
    }

    /// Waits until a process ends or exceeds a limit.
    fn watch(&self, number: u64, job: &Job, start: Instant) -> Result<End, Gone> {
        let mut pause = Duration::from_millis(5);
        loop {
            let left = job.time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(End::Timeout);
            }
            match self.events.recv_timeout(pause.min(left)) {
                Ok(Event::Ended(which, end)) if which == number => return Ok(end),
                Ok(Event::TooMuch(which)) if which == number => return Ok(End::Output(job.output)),
                // Ignore late events of earlier jobs. The kit sends a job only after the previous
                // answer.
                Ok(Event::Ended(..) | Event::TooMuch(_) | Event::Job(_)) => {}
                Ok(Event::Gone | Event::Done) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Gone);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(bytes) = memory_above(job.memory) {
                        return Ok(End::Memory(bytes));
                    }
                    pause = pause.saturating_mul(2).min(LOOK);
                }
            }
        }
    }

    /// Sends SIGTERM to a process and its descendants, and gives them time to end.
    fn ask_to_end(&self, number: u64, leader: Pid) {
        let _ = kill_process_group(leader, Signal::TERM);
        for process in descendants(getpid()) {
            let _ = kill_process(process, Signal::TERM);
        }
        let start = Instant::now();
        loop {
            let left = GRACE.saturating_sub(start.elapsed());
            match self.events.recv_timeout(left) {
                Ok(Event::Ended(which, _)) if which == number => return,
                Ok(Event::Gone) => {
                    // Requeue the event for the main loop.
                    let _ = self.sender.send(Event::Gone);
                    return;
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

fn spawn(job: &Job) -> io::Result<Child> {
    let (program, arguments) = job
        .command
        .split_first()
        .ok_or_else(|| io::Error::other("no program"))?;
    let mut command = match job.file_size {
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
    let _limit = job.file_size.map(FileSize::limit).transpose()?;
    command
        .args(arguments)
        .current_dir(&job.folder)
        .env("TMPDIR", &job.folder)
        .stdin(Stdio::null())
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

/// Returns the number of resident bytes of the implementation and its descendants, if it exceeds
/// `limit`. Only Linux reports resident bytes.
fn memory_above(limit: u64) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return super::proc::memory_above(limit, &descendants(getpid()));
    #[cfg(not(target_os = "linux"))]
    return (limit == 0).then_some(0);
}

/// Reports why a process was not run.
pub(super) fn report_error(error: &io::Error, elapsed: Duration) -> Result<(), Gone> {
    let end = match error.raw_os_error() {
        Some(number) if is_shortage(error) => Err(number),
        _ => Ok(End::NotStarted(error.to_string())),
    };
    report(end, String::new(), elapsed, &[])
}

fn report(
    end: Result<End, i32>,
    stderr: String,
    elapsed: Duration,
    output: &[u8],
) -> Result<(), Gone> {
    let report = Report {
        end,
        stderr,
        elapsed,
        output_size: output.len() as u64,
    };
    let mut out = io::stdout().lock();
    let mut send = || {
        serde_json::to_writer(&mut out, &report)?;
        out.write_all(b"\n")?;
        out.write_all(output)?;
        out.flush()
    };
    send().map_err(|_| Gone)
}
