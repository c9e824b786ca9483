//! Signals to this program while the recorded one runs.

use std::io;
use std::process::Child;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// Signals that no longer end this program: it still has to finish what was recorded.
pub(super) struct Held(Signals);

/// Holds the signals. A terminal sends SIGINT and SIGQUIT to the recorded program too.
pub(super) fn listen() -> io::Result<Held> {
    Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]).map(Held)
}

impl Held {
    /// Passes the signals that a terminal does not send to the child.
    pub(super) fn pass_to(self, child: &Child) {
        let child = Pid::from_child(child);
        let Self(mut signals) = self;
        thread::spawn(move || {
            for number in signals.forever() {
                let signal = Signal::from_named_raw(number);
                if let Some(signal) = signal.filter(|_| number != SIGINT && number != SIGQUIT) {
                    // It may have ended meanwhile.
                    let _ = kill_process(child, signal);
                }
            }
        });
    }
}
