//! The warden's main loop, and its keeper.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitIdOptions, getpid, getrlimit, kill_process,
    kill_process_group, setrlimit,
};

use super::process::{Change, Notify, Process};
use super::tree::{adopt_orphans, descendants, end_all, wait};
use super::{End, Job, Report, is_shortage};

/// The time that a process is given to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// The number of files that a program may have open: the default of macOS.
const OPEN_FILES: u64 = 256;
/// The maximum interval between two memory checks.
const LOOK: Duration = Duration::from_millis(50);

/// An event that the warden's loop handles.
enum Event {
    Job(Job),
    /// There are no more jobs.
    Done,
    /// The kit is gone.
    Gone,
    /// An event of the process that this job started.
    Process(u64, Change),
}

/// Runs a warden from the program `kit` and supervises it, because an implementation may stop or
/// kill its parent process. The warden inherits this process's input and output. When the warden
/// ends or is stopped, this function ends all remaining processes.
pub fn keep(kit: &Path, cases: &Path) -> ExitCode {
    adopt_orphans();
    let mut command = Command::new(kit);
    // A signal to the warden's group must not reach the keeper.
    command.arg("warden").arg(cases).process_group(0);
    let warden = match command.spawn() {
        Ok(warden) => Pid::from_child(&warden),
        Err(error) if is_shortage(&error) => {
            let _ = report_error(&error, Duration::ZERO);
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("atf-conformance: cannot start the supervising process: {error}");
            return ExitCode::FAILURE;
        }
    };
    let _ = wait(warden, WaitIdOptions::EXITED | WaitIdOptions::STOPPED);
    end_all(warden);
    ExitCode::SUCCESS
}

/// Takes jobs from standard input and reports to standard output until the input ends. Then removes
/// the run's folder `cases` and the folders of its cases, unless the kit announced that it continues.
pub fn serve(cases: &Path) -> ExitCode {
    adopt_orphans();
    limit_open_files();
    let (sender, events) = channel();
    let mut warden = Warden {
        sender,
        events,
        persistent: None,
    };
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
            Ok(Event::Done) => {
                warden.close();
                return ExitCode::SUCCESS;
            }
            Ok(Event::Process(which, Change::Ended(end))) => {
                let persistent = warden.persistent.as_mut();
                if let Some(process) = persistent.filter(|process| process.number == which) {
                    process.ended = Some(end);
                }
            }
            Ok(Event::Process(..)) => {}
            Ok(Event::Gone) | Err(_) => break,
        }
    }
    warden.close();
    // The kit is gone, perhaps because it was killed while writing a case.
    let _ = crate::run::folder::remove_all(cases);
    ExitCode::FAILURE
}

/// Limits how many files the started programs may open at once, as some systems do by default.
fn limit_open_files() {
    let own = getrlimit(Resource::Nofile);
    let current = own.current.map_or(OPEN_FILES, |own| own.min(OPEN_FILES));
    let lowered = Rlimit {
        current: Some(current),
        ..own
    };
    // Lowering a soft limit cannot fail.
    let _ = setrlimit(Resource::Nofile, lowered);
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
        let is_done = matches!(event, Event::Done);
        if events.send(event).is_err() || is_done {
            return;
        }
    }
    let _ = events.send(Event::Gone);
}

struct Warden {
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// The process that waits for the next request.
    persistent: Option<Process>,
}

/// The error for a kit that is gone, returned once the warden has ended its processes.
struct Gone;

impl Warden {
    fn run(&mut self, number: u64, job: &Job) -> Result<(), Gone> {
        let start = Instant::now();
        let process = match self.persistent.take() {
            Some(process) => Ok(process),
            None => {
                let events = self.sender.clone();
                let notify: Notify = Arc::new(move |change| {
                    let _ = events.send(Event::Process(number, change));
                });
                Process::start(number, job, &notify)
            }
        };
        let mut process = match process {
            Ok(process) => process,
            Err(error) => return report_error(&error, start.elapsed()),
        };
        let requested = job.request.as_deref();
        let end = match requested.map(|request| process.ask(request, job.limits.output)) {
            Some(Err(end)) => Ok(end),
            _ => self.watch(process.number, job, start),
        };
        let elapsed = start.elapsed();
        let end = match end {
            Ok(End::Answered) => match process.answer() {
                Ok((answer, stderr)) => match memory_above(job.limits.memory) {
                    None => {
                        self.persistent = Some(process);
                        return report(Ok(End::Answered), stderr, elapsed, &answer);
                    }
                    Some(bytes) => Ok(End::Memory(bytes)),
                },
                Err(end) => Ok(end),
            },
            end => end,
        };
        if let Ok(End::Timeout) = end {
            self.ask_to_end(process.number, process.leader);
        }
        let left = end_all(process.leader);
        let end = end?;
        let (output, mut stderr) = process.finish();
        if left > 0 {
            stderr.push_str(&format!("[ended {left} leftover processes]\n"));
        }
        // A process may end before the warden has read its last output.
        let limit = job.limits.output;
        if output.len() as u64 > limit {
            return report(Ok(End::Output(limit)), stderr, elapsed, &[]);
        }
        report(Ok(end), stderr, elapsed, &output)
    }

    /// Ends the persistent process, after giving it time to end by itself.
    fn close(&mut self) {
        if let Some(mut process) = self.persistent.take() {
            process.end_input();
            if process.ended.is_none() {
                self.await_end(process.number);
            }
            end_all(process.leader);
        }
    }

    /// Waits until a process ends or exceeds a limit.
    fn watch(&self, number: u64, job: &Job, start: Instant) -> Result<End, Gone> {
        let mut pause = Duration::from_millis(5);
        loop {
            let left = job.limits.time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(End::Timeout);
            }
            match self.events.recv_timeout(pause.min(left)) {
                Ok(Event::Process(which, change)) if which == number => match change {
                    Change::Ended(end) => return Ok(end),
                    Change::Line => return Ok(End::Answered),
                    Change::TooMuch => return Ok(End::Output(job.limits.output)),
                },
                // Ignore late events of earlier jobs. The kit sends a job only after the previous
                // answer.
                Ok(Event::Process(..) | Event::Job(_)) => {}
                Ok(Event::Gone | Event::Done) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Gone);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(bytes) = memory_above(job.limits.memory) {
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
        self.await_end(number);
    }

    /// Waits until a process ends, but only for a short time.
    fn await_end(&self, number: u64) {
        let start = Instant::now();
        loop {
            let left = GRACE.saturating_sub(start.elapsed());
            match self.events.recv_timeout(left) {
                Ok(Event::Process(which, Change::Ended(_))) if which == number => return,
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

/// Returns the number of resident bytes of the implementation and its descendants, if it exceeds
/// `limit`. Only Linux reports resident bytes.
fn memory_above(limit: u64) -> Option<u64> {
    #[cfg(target_os = "linux")]
    return super::proc::memory_above(limit, &descendants(getpid()));
    #[cfg(not(target_os = "linux"))]
    return (limit == 0).then_some(0);
}

/// Reports why a process was not run.
fn report_error(error: &io::Error, elapsed: Duration) -> Result<(), Gone> {
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
