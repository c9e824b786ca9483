//! The time of a recording as the common clock of sessions.

use std::path::Path;

use atf::clock::MediaClock;

use crate::output::Failure;
use crate::parts::Part;
use crate::text::Counted;

/// Returns the clock of each part. Refuses parts without anchors, and those with anchors to different recordings.
pub(super) fn clocks(parts: &[Part]) -> Result<Vec<MediaClock>, Failure> {
    let mut clocks = Vec::new();
    let mut first: Option<(i32, &Path)> = None;
    for part in parts {
        let anchors = part.manifest().map(|manifest| &*manifest.timing_anchors);
        let anchors = anchors.unwrap_or_default();
        let Some(anchor) = anchors.first() else {
            return refuse(part, "--clock media: the manifest has no timing anchors");
        };
        let scale = anchor.media_time.timescale;
        let (expected, path) = *first.get_or_insert((scale, &part.path));
        let mut scales = anchors.iter().map(|anchor| anchor.media_time.timescale);
        if let Some(other) = scales.find(|scale| *scale != expected) {
            let path = path.display();
            let message = format!(
                "--clock media: anchors have a timescale of {other}, those of {path} have {expected}: not one recording"
            );
            return refuse(part, &message);
        }
        match MediaClock::new(anchors) {
            Some(clock) => clocks.push(clock),
            None => {
                let count = Counted(anchors.len() as u64, "timing anchor");
                let message = format!("--clock media: the {count} are not those of one recording");
                return refuse(part, &message);
            }
        }
    }
    Ok(clocks)
}

/// Returns the recording's time of the first event. Refuses events before its time 0, which the forms cannot show.
pub(super) fn start_ns(parts: &[Part], clocks: &[MediaClock]) -> Result<Option<u64>, Failure> {
    let mut first = None;
    for (part, clock) in parts.iter().zip(clocks) {
        let Some(start_ns) = part.start_ns else {
            continue;
        };
        let Some(media_ns) = clock.to_media_ns(start_ns) else {
            let zero_ns = clock.to_host_ns(0);
            let message = format!(
                "--clock media: events begin before the recording, which is at {zero_ns} ns of the trace's clock: \
                 cut them off with `atf cut --from {zero_ns}`"
            );
            return refuse(part, &message);
        };
        first = Some(first.map_or(media_ns, |first: u64| first.min(media_ns)));
    }
    Ok(first)
}

fn refuse<T>(part: &Part, message: &str) -> Result<T, Failure> {
    Err(Failure::Usage(format!(
        "{}: {message}",
        part.path.display()
    )))
}
