//! How far long work has come, drawn on stderr where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Threads that were looked at.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Drawn only where the work may take a while.
    pub(crate) fn new(is_long: bool) -> Self {
        let target = match is_long {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {pos} threads read, {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        if is_long {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self(bar)
    }

    /// One more thread.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Takes it from the screen.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
