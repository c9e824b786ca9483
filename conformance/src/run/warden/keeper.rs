//! Supervises a warden, because an implementation may stop or kill its parent process.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, WaitIdOptions};

use super::is_shortage;
use super::serve::report_error;
use super::tree::{adopt_orphans, end_all, wait};

/// Runs a warden from the program `kit`. The warden inherits this process's input and output. When
/// the warden ends or is stopped, this function ends all remaining processes.
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
