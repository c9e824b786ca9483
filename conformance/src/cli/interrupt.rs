//! Handles SIGINT and SIGTERM. The first signal ends the run cleanly and removes its folders. The
//! second signal ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals received since the run began.
#[derive(Default)]
pub(super) struct Interrupt {
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has these signals"))]
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends this process immediately.
    is_last: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for signals and stores them in `signal`, which the run polls.
    pub(super) fn listen(signal: &Arc<AtomicUsize>) -> io::Result<Self> {
        let this = Self {
            signal: Arc::clone(signal),
            ..Self::default()
        };
        #[cfg(unix)]
        for number in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            use signal_hook::flag;
            // Handlers run in the order of registration. The conditional one comes first, so that
            // it still finds the flag unset when the first signal arrives.
            flag::register_conditional_default(number, Arc::clone(&this.is_last))?;
            flag::register(number, Arc::clone(&this.is_last))?;
            let code = usize::try_from(number).unwrap_or_default();
            flag::register_usize(number, Arc::clone(&this.signal), code)?;
        }
        Ok(this)
    }

    /// Ends this process with the signal that arrived during the run. If none arrived, a signal
    /// ends the process immediately from now on.
    pub(super) fn settle(&self) {
        self.is_last.store(true, Ordering::Relaxed);
        #[cfg(unix)]
        if let number @ 1.. = self.signal.load(Ordering::Relaxed) {
            // If this fails, the run still prints its own error.
            let _ = signal_hook::low_level::emulate_default_handler(
                i32::try_from(number).unwrap_or_default(),
            );
        }
    }
}
