//! The owner of a recording.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use atf::record::RecordSummary;

use crate::shared::Shared;

/// Ends the recording when it is dropped, and then tells errors and losses in one line on standard
/// error. [`stop`](Self::stop) returns them instead.
///
/// [`std::process::exit`] and a panic that aborts do not drop it: then the files are as after a
/// kill, and `atf recover` finalizes them.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Guard {
    pub(crate) shared: Arc<Shared>,
}

impl Guard {
    /// Stops to record: writes what threads have recorded, finalizes their files and the manifest.
    /// Later events are lost and counted. A second call returns the same again.
    ///
    /// # Errors
    ///
    /// Those of [`Recording::stop`](atf::record::Recording::stop), including those of threads that
    /// could not be registered. The rest of the session is finalized all the same.
    pub fn stop(&self) -> atf::Result<RecordSummary> {
        self.shared.stop()
    }

    /// Returns the session's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Returns how many events could not be recorded so far, also after the end. Only those until
    /// then are in the summary and in the manifest.
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
        // If standard error is closed, nobody can be told.
        let _ = match self.stop() {
            Ok(summary) if summary.lost_events == 0 => Ok(()),
            Ok(summary) => writeln!(
                io::stderr(),
                "atf-tracing: {path}: {} events are recorded, {} are lost",
                summary.totals.event_count,
                summary.lost_events
            ),
            Err(error) => writeln!(io::stderr(), "atf-tracing: {path}: {error}"),
        };
    }
}
