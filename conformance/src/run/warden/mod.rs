//! Processes that watch over testees.
//!
//! A warden starts one testee after the other, each in a process group of its own, and answers how
//! it ended. It is a subreaper: whatever a testee leaves behind becomes the warden's child, also
//! what has called `setsid`, so it can be found and ended, and once the warden has no child left
//! nothing is left. It is a process of the kit's own program, since one process cannot tell the
//! orphans of several testees apart. It ends with the kit, however that ends: its standard input
//! is closed then.

#[cfg(target_os = "linux")]
mod proc;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod streams;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(unix)]
pub use serve::serve;

use super::{Ended, Limits};

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
    process: Child,
    /// `None` once it is told to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Warden {
    /// Starts one: `kit warden CASES`. It removes the folder `cases` if the kit is gone before
    /// the warden is dropped.
    ///
    /// # Errors
    ///
    /// Where the program cannot be started.
    pub fn start(kit: &Path, cases: &Path) -> io::Result<Self> {
        let mut command = Command::new(kit);
        command.arg("warden").arg(cases);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An interrupt from the terminal ends the kit alone; the warden cleans up behind it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = Some(process.stdin.take().ok_or_else(missing)?);
        let output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        Ok(Self {
            process,
            input,
            output,
        })
    }

    /// Runs a command in a folder until it ends or breaks a limit. Nothing of it is left then.
    ///
    /// # Errors
    ///
    /// Where the warden itself is gone.
    pub fn run(&mut self, command: &[String], folder: &Path, limits: &Limits) -> io::Result<Ended> {
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
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if !line.ends_with('\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let report: Report = serde_json::from_str(&line)?;
        let mut output = Vec::new();
        let mut rest = self.output.by_ref().take(report.output_size);
        rest.read_to_end(&mut output)?;
        Ok(Ended {
            end: report.end,
            output,
            stderr: report.stderr,
            elapsed: report.elapsed,
            opened: Ok(Vec::new()),
        })
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // An empty line says that the kit goes on.
        let _ = self.input.take().map(|mut input| input.write_all(b"\n"));
        let _ = self.process.wait();
    }
}
