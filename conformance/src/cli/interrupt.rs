//! SIGINT and SIGTERM: the first ends a run in order, its folders removed, the second at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that came since a run began.
#[derive(Default)]
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends this process at once.
    is_last: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for signals, which `signal` tells a run.
    pub(super) fn listen(signal: &Arc<AtomicUsize>) -> io::Result<Self> {
        let this = Self {
            signal: Arc::clone(signal),
            ..Self::default()
        };
        #[cfg(unix)]
        for number in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            use signal_hook::flag;
            // In this order: the first signal finds the flag as it was before.
            flag::register_conditional_default(number, Arc::clone(&this.is_last))?;
            flag::register(number, Arc::clone(&this.is_last))?;
            let code = usize::try_from(number).unwrap_or_default();
            flag::register_usize(number, Arc::clone(&this.signal), code)?;
        }
        Ok(this)
    }

    /// After the run: ends this process as the signal would have done that came meanwhile. From
    /// here on the next one does.
    pub(super) fn settle(&self) {
        self.is_last.store(true, Ordering::Relaxed);
        #[cfg(unix)]
        if let number @ 1.. = self.signal.load(Ordering::Relaxed) {
            // If it fails, the error of the run is printed instead.
            let _ = signal_hook::low_level::emulate_default_handler(
                i32::try_from(number).unwrap_or_default(),
            );
        }
    }
}
