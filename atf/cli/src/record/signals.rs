//! Handles signals to this program while the recorded program runs.

use std::io;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::thread;

use rustix::process::{Pid, Signal, getpgid, getpgrp, getpid, kill_process};
use signal_hook::consts::{
    SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGURG, SIGUSR1, SIGUSR2, SIGWINCH,
};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::proc::{field, stat, text};

/// Starts catching the signals that must not end this program before it has finished the recording,
/// except those that this program ignores, for example because of `nohup`. The recorded program
/// ignores the same signals, except SIGCHLD: while that is ignored, the system does not keep the
/// exit status of a child.
pub(super) fn listen() -> io::Result<Signals> {
    let ignored = ignored()?;
    if ignored >> (SIGCHLD - 1) & 1 == 1 {
        flag::register(SIGCHLD, Arc::default())?;
    }
    let all = [
        SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGURG, SIGWINCH, SIGTSTP, SIGCONT,
    ];
    let held = all
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0);
    Signals::new(held)
}

/// Returns the ignored signals as a bit set; signal 1 is the lowest bit.
fn ignored() -> io::Result<u64> {
    let status = text(Path::new("/proc/self/status"))?;
    let mask = field(&status, "SigIgn:");
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Passes signals on to the child. A terminal sends some signals to all processes in its
/// foreground, so the child has already received these unless it has changed its process group.
/// Both processes stop and continue together.
pub(super) fn pass_to(child: &Child, mut signals: Signals) {
    let child = Pid::from_child(child);
    thread::spawn(move || {
        for number in signals.forever() {
            let signal = Signal::from_named_raw(number);
            let is_sent_to_both = matches!(number, SIGINT | SIGQUIT | SIGWINCH | SIGTSTP)
                && is_in_foreground()
                && getpgid(Some(child)) == Ok(getpgrp());
            if let Some(signal) = signal.filter(|_| !is_sent_to_both) {
                // The child may have ended in the meantime.
                let _ = kill_process(child, signal);
            }
            if number == SIGTSTP {
                let _ = kill_process(getpid(), Signal::STOP);
            }
        }
    });
}

/// Returns whether this process is in the foreground of a terminal.
fn is_in_foreground() -> bool {
    let fields = stat(Path::new("/proc/self")).unwrap_or_default();
    // The state, the parent, the process group, the session, the terminal, and the terminal's
    // foreground group.
    matches!(&fields[..], [_, _, group, _, _, foreground, ..] if group == foreground)
}
