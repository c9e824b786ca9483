//! The clock used for times: the trace's own, or a recording's, which the sessions' timing anchors
//! convert to.

use std::path::Path;

use atf::clock::{MediaClock, TimingAnchor};
use atf::session::SessionReader;

use crate::output::Failure;
use crate::text::Counted;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    /// The trace's own.
    Trace,
    /// That of a sound or screen recording, which sessions of several machines can share.
    Media,
}

/// Returns each trace's clock, derived from the anchors of all its sessions. Rejects traces without
/// anchors, and traces whose anchors refer to different recordings.
pub(crate) fn media_clocks<'a>(
    traces: impl IntoIterator<Item = (&'a Path, &'a [SessionReader])>,
) -> Result<Vec<MediaClock>, Failure> {
    let mut clocks = Vec::new();
    let mut first: Option<(i32, &Path)> = None;
    for (path, sessions) in traces {
        let manifests = sessions.iter().filter_map(SessionReader::manifest);
        let anchors = manifests.flat_map(|manifest| manifest.timing_anchors.iter().copied());
        let anchors: Vec<TimingAnchor> = anchors.collect();
        let Some(anchor) = anchors.first() else {
            return Err(no_anchors(path));
        };
        let scale = anchor.media_time.timescale;
        let (expected, first_path) = *first.get_or_insert((scale, path));
        let mut scales = anchors.iter().map(|anchor| anchor.media_time.timescale);
        if let Some(other) = scales.find(|scale| *scale != expected) {
            let first_path = first_path.display();
            let message = format!(
                "anchors have a timescale of {other}, those of {first_path} have {expected}: not one recording"
            );
            return Err(refusal(path, &message));
        }
        match MediaClock::new(&anchors) {
            Some(clock) => clocks.push(clock),
            None => {
                let count = Counted(anchors.len() as u64, "timing anchor");
                let message = format!("the {count} are not those of one recording");
                return Err(refusal(path, &message));
            }
        }
    }
    Ok(clocks)
}

/// Returns the failure for a trace without anchors.
pub(crate) fn no_anchors(path: &Path) -> Failure {
    refusal(path, "the manifest has no timing anchors")
}

/// Returns the times of a trace's first and last events on the recording's clock. Rejects events
/// before the recording's start, because no output can show them.
pub(crate) fn media_times(
    path: &Path,
    clock: &MediaClock,
    (start_ns, end_ns): (u64, u64),
) -> Result<(u64, u64), Failure> {
    match clock.to_media_ns(start_ns) {
        Some(start_ns) => Ok((start_ns, clock.to_media_ns_or_zero(end_ns))),
        None => {
            let zero_ns = clock.to_host_ns(0);
            let message = format!(
                "events begin before the recording, which is at {zero_ns} ns of the trace's clock: cut them off with \
                 `atf cut --from {zero_ns}`"
            );
            Err(refusal(path, &message))
        }
    }
}

fn refusal(path: &Path, message: &str) -> Failure {
    Failure::Usage(format!("{}: --clock media: {message}", path.display()))
}
