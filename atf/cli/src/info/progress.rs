//! Displays progress on stderr if it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar that counts the threads read so far.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a display that is drawn only if `is_long`.
    pub(crate) fn new(is_long: bool) -> Self {
        let target = if is_long {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {pos} threads read, {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self(bar)
    }

    /// Counts one more thread.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Removes the display from the screen.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
