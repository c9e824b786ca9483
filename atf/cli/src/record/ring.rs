//! The ring that would have been large enough for a run's windows.

use std::time::Duration;

use atf::detail::FunctionPayload;
use atf::manifest::ManifestThread;
use atf::session::ThreadEntry;

use super::Settings;

/// The maximum number of events in a ring, and of bytes of their details.
const MOST_EVENTS: u64 = 1 << 25;
const MOST_PAYLOAD: u64 = 1 << 30;

/// The maximum size of the stack in a detail, in bytes.
const MOST_STACK: u64 = 256;

/// Returns the number of events in a thread's window if the window did not fit into its ring,
/// otherwise `None`.
pub(super) fn too_large(
    thread: &ThreadEntry,
    listed: &ManifestThread,
    pre_roll: Duration,
) -> atf::Result<Option<u64>> {
    let Some(loss) = listed.lost_events.or(listed.lost_details) else {
        return Ok(None);
    };
    let index = thread.open()?;
    let kept = |to: u64| -> atf::Result<u64> {
        let found = index.index().seq_range(loss.first_ns..=to)?;
        Ok(found.map_or(0, |seqs| seqs.end - seqs.start))
    };
    let pre_roll = u64::try_from(pre_roll.as_nanos()).unwrap_or(u64::MAX);
    let in_window = kept(loss.first_ns.saturating_add(pre_roll))?;
    if listed.lost_events.is_none() {
        return Ok(Some(in_window));
    }
    // A full ring loses the whole beginning of its window. Signal handlers lose events in between.
    let is_whole = kept(loss.last_ns)? < loss.count;
    Ok(is_whole.then_some(in_window.saturating_add(loss.count)))
}

/// Returns advice on how to record windows of this many events without losses.
pub(super) fn advice(window: u64, settings: &Settings<'_>) -> String {
    // Windows get half of a ring and may be a little larger in another run.
    let events = window.saturating_mul(5) / 2;
    let most = if settings.has_details() {
        MOST_EVENTS.min(MOST_PAYLOAD / (FunctionPayload::SIZE as u64 + MOST_STACK))
    } else {
        MOST_EVENTS
    };
    match events.checked_next_power_of_two() {
        Some(ring) if ring <= most => {
            format!("a window did not fit into its ring: --ring {ring} would have been enough")
        }
        _ => "a window did not fit into its ring, and would not fit into the largest one: record fewer functions, or a shorter time"
            .to_owned(),
    }
}
