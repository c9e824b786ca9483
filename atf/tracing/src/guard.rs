//! The owner of a recording.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use atf_record::RecordSummary;

use crate::shared::Shared;

/// A guard that ends the recording when dropped, and reports errors and losses in one line on
/// standard error. [`stop`](Self::stop) returns them instead.
///
/// [`std::process::exit`] does not drop the guard, but it also ends the recording on Unix, without
/// reporting anything. A panic that aborts leaves the files as a kill would: `atf recover` finalizes
/// them, but without [`survive_kill`](atf::write::WriteOptions::survive_kill) the most recent events
/// of each thread, or all events of a short run, are lost.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Guard {
    pub(crate) shared: Arc<Shared>,
}

impl Guard {
    /// Stops recording: writes the threads' events, and finalizes their files and the manifest.
    /// Later events are lost and counted. A second call returns the same result.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Recording::stop`](atf_record::Recording::stop), and those of threads
    /// that could not be registered. The rest of the session is still finalized. In a forked child,
    /// returns [`ErrorKind::Forked`](atf::ErrorKind::Forked).
    pub fn stop(&self) -> atf::Result<RecordSummary> {
        self.shared.stop()
    }

    /// Returns the session's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Returns the number of events that could not be recorded so far, including events after the
    /// recording ended, but not counting details. The summary and the manifest include only losses
    /// before the recording ended.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.shared.lost_events()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.shared.is_stopped() {
            return;
        }
        let path = self.path().display();
        let message = match self.stop() {
            Ok(summary) => {
                let recorded = summary.totals.event_count;
                match (summary.lost_events, summary.lost_details) {
                    (0, 0) => return,
                    (lost, 0) => format!("{recorded} events are recorded, {lost} are lost"),
                    (lost, details) => format!(
                        "{recorded} events are recorded, {details} of them without their fields; \
                         {lost} are lost"
                    ),
                }
            }
            Err(error) => error.to_string(),
        };
        // If standard error is closed, the message is lost.
        let _ = writeln!(io::stderr(), "atf-tracing: {path}: {message}");
    }
}
