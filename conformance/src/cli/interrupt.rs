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
    /// Whether the next signal ends this process at once.
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
            // Register the conditional handler first, because it must still find the flag unset
            // when the first signal arrives.
            flag::register_conditional_default(number, Arc::clone(&this.is_last))?;
            flag::register(number, Arc::clone(&this.is_last))?;
            let code = usize::try_from(number).unwrap_or_default();
            flag::register_usize(number, Arc::clone(&this.signal), code)?;
        }
        Ok(this)
    }

    /// If a signal arrived during the run, ends this process the way the signal would have. After
    /// this call, the next signal ends the process at once.
    pub(super) fn settle(&self) {
        self.is_last.store(true, Ordering::Relaxed);
        #[cfg(unix)]
        if let number @ 1.. = self.signal.load(Ordering::Relaxed) {
            // If this fails, the run's own error is still printed.
            let _ = signal_hook::low_level::emulate_default_handler(
                i32::try_from(number).unwrap_or_default(),
            );
        }
    }
}
