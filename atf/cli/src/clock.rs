//! The clock used for times: the trace's own, or that of the recording to which the sessions'
//! timing anchors refer.

use std::fmt::Display;
use std::path::Path;

use atf::clock::{MediaClock, MediaClockError, TimingAnchor};
use atf::session::SessionReader;

use crate::output::Failure;

/// The trace's own clock, or that of a sound or screen recording, which sessions of several machines
/// can share. Help on each variant would make each option's help several lines longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    Trace,
    Media,
}

/// Returns each trace's clock, derived from the anchors of all its sessions. Rejects traces without
/// anchors, and traces whose anchors refer to different recordings.
pub(crate) fn media_clocks<'a>(
    traces: impl IntoIterator<Item = (&'a Path, &'a [SessionReader])>,
) -> Result<Vec<MediaClock>, Failure> {
    let mut clocks: Vec<MediaClock> = Vec::new();
    let mut first_path = None;
    for (path, sessions) in traces {
        let manifests = sessions.iter().filter_map(SessionReader::manifest);
        let anchors = manifests.flat_map(|manifest| manifest.timing_anchors.iter().copied());
        let anchors: Vec<TimingAnchor> = anchors.collect();
        let clock = MediaClock::new(&anchors).map_err(|error| refusal(path, &error))?;
        let first_path = first_path.get_or_insert(path).display();
        if let Some(first) = clocks.first() {
            first.check_same(&clock).map_err(|error| {
                refusal(
                    path,
                    &format_args!("with the anchors of {first_path}: {error}"),
                )
            })?;
        }
        clocks.push(clock);
    }
    Ok(clocks)
}

/// Returns the failure for a trace without anchors.
pub(crate) fn no_anchors(path: &Path) -> Failure {
    refusal(path, &MediaClockError::NoAnchors)
}

/// Returns the times of a trace's first and last events on the recording's clock. Rejects events
/// before the recording's start, because no output can show them.
pub(crate) fn media_times(
    path: &Path,
    clock: &MediaClock,
    (start_ns, end_ns): (u64, u64),
) -> Result<(u64, u64), Failure> {
    let start_ns = clock.start_ns(start_ns);
    let start_ns = start_ns.map_err(|error| refusal(path, &error))?;
    Ok((start_ns, clock.to_media_ns_or_zero(end_ns)))
}

fn refusal(path: &Path, why: &dyn Display) -> Failure {
    Failure::Usage(format!("{}: --clock media: {why}", path.display()))
}
