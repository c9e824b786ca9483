//! Computes the ring size that would have held a run's windows.

use std::time::Duration;

use atf::detail::FunctionPayload;
use atf::manifest::ManifestThread;
use atf::session::ThreadEntry;

use super::Settings;

/// The maximum number of events in a ring.
const MOST_EVENTS: u64 = 1 << 25;
/// The maximum number of payload bytes in a ring.
const MOST_PAYLOAD: u64 = 1 << 30;

/// The maximum stack size in a detail, in bytes.
const MOST_STACK: u64 = 256;

/// A window that did not fit into its ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TooLarge {
    /// The number of events in the window.
    events: u64,
    /// How many of them, or of their details, were kept. A full ring keeps at least half of its
    /// capacity.
    kept: u64,
}

/// Returns a thread's window if the window did not fit into its ring. Otherwise returns `None`.
pub(super) fn too_large(
    thread: &ThreadEntry,
    listed: &ManifestThread,
    pre_roll: Duration,
) -> atf::Result<Option<TooLarge>> {
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
        return Ok(Some(TooLarge {
            events: in_window,
            kept: in_window.saturating_sub(loss.count),
        }));
    }
    // A full ring loses everything at the start of its window and keeps what follows. Signal
    // handlers lose events in the middle. Everything after a certain time is lost if the thread had
    // ended, or if its files could not be written.
    let is_whole = kept(loss.last_ns)? < loss.count;
    let goes_on = kept(u64::MAX)? > 0;
    Ok(is_whole.then_some(TooLarge {
        events: in_window.saturating_add(loss.count),
        kept: if goes_on { in_window } else { 0 },
    }))
}

/// Returns how many events half of a ring holds in this run.
fn half_of_a_ring(settings: &Settings<'_>) -> u64 {
    let number = |variable| settings.value(variable)?.parse::<u64>().ok();
    let has_details = settings.has_details();
    // The library's defaults.
    let default = if has_details { 1 << 17 } else { 1 << 20 };
    let events = number("ATF_RING").unwrap_or(default);
    let stack = number("ATF_STACK").unwrap_or(128);
    let most = if has_details {
        MOST_PAYLOAD / (FunctionPayload::SIZE as u64 + stack)
    } else {
        MOST_EVENTS
    };
    events.min(most) / 2
}

/// Returns advice on how to record such windows without losses.
pub(super) fn advice(window: TooLarge, settings: &Settings<'_>) -> String {
    // A flight recorder that keeps a number of bytes never requests more than its rings hold.
    let is_size = settings.is_flight_size();
    let half = half_of_a_ring(settings);
    if is_size || window.events <= half || window.kept < half {
        // No larger ring would have helped.
        let less = if is_size {
            "a smaller size"
        } else {
            "a shorter time"
        };
        return format!(
            "the last events of threads that had ended may have exceeded 512 MiB, or 128 threads with open files, or there was no memory for full rings, or a file could not be written: record fewer functions, or {less}"
        );
    }
    // A window gets half of a ring. Allow for slightly larger windows in the next run.
    let events = window.events.saturating_mul(5) / 2;
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use atf::EventKind;
    use atf::manifest::Loss;
    use atf::session::SessionReader;
    use atf::write::{Event, SessionWriter, WriteOptions};

    use super::*;

    #[test]
    fn a_full_ring_loses_all_events_of_some_time() {
        let found = |loss: Loss| {
            let folder = tempfile::tempdir().unwrap();
            let session = SessionWriter::create(folder.path(), &WriteOptions::default()).unwrap();
            let mut thread = session.thread(0).unwrap();
            for time in 100..200 {
                let event = Event::new(time, 7, EventKind::CALL, 1);
                thread.write(&event).unwrap();
            }
            thread.finalize().unwrap();
            session.set_losses(0, Some(loss), None);
            session.finalize().unwrap();
            let session = SessionReader::open(folder.path()).unwrap();
            let listed = &session.manifest().unwrap().threads[0];
            too_large(&session.threads()[0], listed, Duration::from_secs(1)).unwrap()
        };
        let (events, kept) = (150, 100);
        assert_eq!(
            found(Loss::new(50, 50, 99)),
            Some(TooLarge { events, kept })
        );
        // A signal handler lost a few of many events.
        assert_eq!(found(Loss::new(2, 110, 120)), None);
        // The file could no longer be written.
        let (events, kept) = (50, 0);
        assert_eq!(
            found(Loss::new(50, 200, 299)),
            Some(TooLarge { events, kept })
        );
    }

    #[test]
    fn a_larger_ring_is_suggested_only_if_the_ring_was_too_small() {
        let given = |window: u64, variables: &[(&'static str, &str)]| {
            let variables = variables.iter();
            let variables = variables.map(|(name, value)| (*name, (*value).to_owned()));
            let settings = Settings {
                out: Path::new(""),
                variables: variables.collect(),
                debug_dirs: &[],
                library: None,
                program: &[],
            };
            let full = TooLarge {
                events: window,
                kept: window.min(half_of_a_ring(&settings)),
            };
            // There was no memory for a full ring.
            let kept = full.kept / 2;
            let smaller = advice(TooLarge { kept, ..full }, &settings);
            assert!(smaller.contains("no memory"), "{smaller}");
            advice(full, &settings)
        };
        let flight = ("ATF_FLIGHT", "10");
        let (ring, details) = (("ATF_RING", "1024"), ("ATF_DETAILS", "all"));
        let stack = ("ATF_STACK", "256");
        // Half of the default ring, of a ring of a chosen size, and of the largest ring with
        // details.
        for (half, variables) in [
            (1 << 19, &[flight][..]),
            (1 << 16, &[flight, details]),
            (512, &[flight, ring]),
            (512, &[flight, ring, details]),
            (
                1_508_064,
                &[flight, details, stack, ("ATF_RING", "33554432")],
            ),
        ] {
            let fits = given(half, variables);
            assert!(
                fits.contains("512 MiB") && !fits.contains("--ring"),
                "{fits}"
            );
            let excess = given(half + 1, variables);
            assert!(
                excess.starts_with("a window did not fit into its ring"),
                "{excess}"
            );
        }
        let size = given(1 << 40, &[("ATF_FLIGHT", "64M")]);
        assert!(size.ends_with("or a smaller size"), "{size}");
    }
}
