//! Computes the ring size that would have been enough for a run's windows.

use std::time::Duration;

use atf::detail::FunctionPayload;
use atf::manifest::ManifestThread;
use atf::session::ThreadEntry;
use atf_record::settings::{FLIGHT, Settings};

/// The maximum number of events in a ring.
const MOST_EVENTS: u64 = 1 << 25;
/// The maximum number of payload bytes in a ring.
const MOST_PAYLOAD: u64 = 1 << 30;

/// The size of an event in a ring, in bytes.
const EVENT: u64 = 32;
/// The maximum number of discarded events whose times a ring keeps, and the size of each entry.
const MOST_TIMES: u64 = 1 << 16;
const TIME: u64 = 24;

/// A window that did not fit into its ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TooLarge {
    /// The number of events up to the trigger.
    events: u64,
    /// The number of events after the last loss, up to the end of the window. A full ring keeps at
    /// least half of its capacity. Some of these events may be after the trigger.
    kept: u64,
}

/// Returns a thread's window if the window did not fit into its ring. Otherwise returns `None`. If
/// several windows did not fit, the events of the last one are counted.
pub(super) fn too_large(
    thread: &ThreadEntry,
    listed: &ManifestThread,
    pre_roll: Duration,
    post_roll: Duration,
) -> atf::Result<Option<TooLarge>> {
    let Some((_, loss)) = listed.losses().iter().next() else {
        return Ok(None);
    };
    let thread = thread.open()?;
    let index = thread.index();
    let count = |from: u64, to: u64| -> atf::Result<u64> {
        let found = index.seq_range(from..=to)?;
        Ok(found.map_or(0, |seqs| seqs.end - seqs.start))
    };
    let [pre_roll, post_roll] =
        [pre_roll, post_roll].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    // The latest time at which the trigger of the last loss can have fired. The first loss cannot
    // be used: the times of discarded events are stored in groups, so it may precede the window.
    let latest = loss.last_ns.saturating_add(pre_roll);
    let end = latest.saturating_add(post_roll);
    if listed.lost_events.is_none() {
        let seqs = index.seq_range(loss.last_ns..=end)?;
        // The positions of the first and the last event with a detail, and the time of the first
        // event after them. Details may be limited to certain functions, so there may be events
        // without details in between.
        let (mut details, mut after) = (None, None);
        for (place, event) in (0_u64..).zip(index.events_in(seqs.unwrap_or_default())) {
            let event = event?;
            if event.detail_seq.is_some() {
                let (first, _) = *details.get_or_insert((place, place));
                (details, after) = (Some((first, place)), None);
            } else {
                after = after.or(Some(event.timestamp_ns));
            }
        }
        let trigger = after.map_or(latest, |after| latest.min(after.saturating_sub(post_roll)));
        return Ok(Some(TooLarge {
            events: count(trigger.saturating_sub(pre_roll), trigger)?,
            kept: details.map_or(0, |(first, last)| last - first + 1),
        }));
    }
    // A full ring loses everything at the start of its window and keeps what follows. Signal
    // handlers lose events in the middle. Everything after a certain time is lost if the thread had
    // ended, or if its files could not be written.
    let is_whole = count(loss.first_ns, loss.last_ns)? < loss.count;
    Ok(is_whole.then_some(TooLarge {
        events: count(loss.last_ns, latest)?.saturating_add(loss.count),
        kept: count(loss.last_ns, end)?,
    }))
}

/// Returns the capacity in events of a full-size ring in this run.
fn full_ring(recorder: &Settings) -> u64 {
    let most = MOST_PAYLOAD.checked_div(recorder.payload_size());
    recorder
        .ring()
        .unwrap_or(0)
        .min(most.unwrap_or(MOST_EVENTS))
}

/// Returns the `--ring-memory` that is enough for full rings of all these threads, if this run had
/// less.
fn more_memory(ring: u64, threads: u64, recorder: &Settings) -> Option<String> {
    let events = ring.saturating_mul(EVENT);
    let payloads = ring.saturating_mul(recorder.payload_size());
    let times = ring.min(MOST_TIMES).saturating_mul(TIME);
    let each = events + payloads.min(MOST_PAYLOAD) + times;
    // Full-size rings use up to half of the memory.
    let needed = each.saturating_mul(threads).saturating_mul(2);
    let is_more = needed > recorder.ring_memory();
    // The next power of two after a larger number could overflow.
    let needed = needed.min(1 << 62).next_power_of_two();
    is_more.then(|| match needed >> 30 {
        0 => format!("--ring-memory {}M", needed >> 20),
        size => format!("--ring-memory {size}G"),
    })
}

/// Returns advice on how to record such windows without losses, for a process with this number of
/// threads.
pub(super) fn advice(window: TooLarge, threads: u64, recorder: &Settings) -> String {
    // A flight recorder that keeps a number of bytes never requests more than its rings hold.
    let is_size = recorder.number(&FLIGHT).is_some();
    let ring = full_ring(recorder);
    let half = ring / 2;
    if is_size
        && window.kept > 0
        && let Some(memory) = more_memory(ring, threads, recorder)
    {
        return format!("a thread had a smaller ring: {memory} would have been enough");
    }
    if is_size || window.kept == 0 {
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
    // A full-size ring keeps more than this thread's ring did.
    let is_smaller = window.kept < half;
    let least = if is_smaller { 0 } else { half + 1 };
    // Half of a ring is available for a window, minus the events recorded before the trigger was
    // detected. Allow for slightly larger windows in the next run.
    let events = window.events.max(least).saturating_mul(5) / 2;
    let most = if recorder.stack_size().is_some() {
        let detail = FunctionPayload::SIZE + usize::from(FunctionPayload::MAX_STACK);
        MOST_EVENTS.min(MOST_PAYLOAD / detail as u64)
    } else {
        MOST_EVENTS
    };
    match events.checked_next_power_of_two() {
        Some(ring) if ring <= most => {
            let memory = more_memory(ring, threads, recorder);
            let unless = if is_smaller && memory.is_none() {
                ", unless there was no memory for full rings"
            } else {
                ""
            };
            let memory = memory.map_or_else(String::new, |memory| format!(" with {memory}"));
            format!("a window did not fit into its ring: --ring {ring}{memory} would have been enough{unless}")
        }
        _ => "a window did not fit into its ring, and would not fit into the largest one: record fewer functions, or a shorter time"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use atf::DetailEventType;
    use atf::EventKind;
    use atf::manifest::{Loss, LossKind, Losses};
    use atf::session::SessionReader;
    use atf::write::{Detail, Event, SessionWriter, WriteOptions};
    use atf_record::settings::SettingNames;

    use super::*;

    fn lost(kind: LossKind, loss: Loss) -> Losses {
        Losses::default().with(kind, Some(loss))
    }

    /// Writes a thread with an event at each of these times, some with details. Returns the window
    /// that was too large for its ring.
    fn found(
        events: impl Iterator<Item = (u64, bool)>,
        losses: Losses,
        [pre_roll, post_roll]: [u64; 2],
    ) -> Option<TooLarge> {
        let folder = tempfile::tempdir().unwrap();
        let session = SessionWriter::create(folder.path(), &WriteOptions::default()).unwrap();
        let mut thread = session.thread(0).unwrap();
        for (time, has_detail) in events {
            let event = Event::new(time, 7, EventKind::CALL, 1);
            let detail = Detail::new(DetailEventType(9), &[1; 8]);
            if has_detail {
                thread.write_with_detail(&event, &detail).unwrap();
            } else {
                thread.write(&event).unwrap();
            }
        }
        thread.finalize().unwrap();
        session.set_losses(0, losses);
        session.finalize().unwrap();
        let session = SessionReader::open(folder.path()).unwrap();
        let listed = &session.manifest().unwrap().threads[0];
        let [pre_roll, post_roll] = [pre_roll, post_roll].map(Duration::from_nanos);
        too_large(&session.threads()[0], listed, pre_roll, post_roll).unwrap()
    }

    #[test]
    fn a_full_ring_loses_all_events_of_a_time_range() {
        let found = |loss: Loss| {
            let events = (100..200).map(|time| (time, false));
            found(events, lost(LossKind::Events, loss), [1_000_000_000, 0])
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
    fn a_loss_that_begins_before_the_window_does_not_change_the_window() {
        // The trigger is at 1000, and its window begins at 500. The thread paused until then.
        let times = || [100].into_iter().chain(500..1400);
        let pre_and_post = [500, 200];
        let windows = [
            Loss::new(301, 500, 800),
            Loss::new(302, 100, 800),
            // There was an earlier window.
            Loss::new(900, 10, 800),
        ];
        for loss in windows {
            // Details may be limited to certain functions.
            for every in [1, 3] {
                let events = times().map(|time| {
                    let is_kept = (801..=1200).contains(&time) && time % every == 0;
                    (time, is_kept)
                });
                let found = found(events, lost(LossKind::Details, loss), pre_and_post).unwrap();
                let (events, kept) = (501, 400);
                assert_eq!(found, TooLarge { events, kept }, "{loss:?} {every}");
            }
            // A flight recorder.
            let events = times().filter(|time| (801..=1000).contains(time));
            let events = events.map(|time| (time, false));
            let found = found(events, lost(LossKind::Events, loss), [500, 0]).unwrap();
            assert_eq!((found.events, found.kept), (200 + loss.count, 200));
        }
        // No details follow, because the thread had ended or its file could not be written.
        let events = times().map(|time| (time, false));
        let found = found(events, lost(LossKind::Details, windows[0]), pre_and_post).unwrap();
        assert_eq!(found.kept, 0);
    }

    #[test]
    fn a_larger_ring_is_suggested_only_if_the_ring_was_too_small() {
        let given = |window: u64, threads: u64, variables: &[(&'static str, &str)]| {
            let settings = Settings::read(SettingNames::Variables, |setting| {
                let mut given = variables.iter();
                let given = given.find(|(name, _)| *name == setting.variable);
                Ok(given.map(|(_, value)| (*value).to_owned()))
            });
            let settings = settings.unwrap();
            let half = full_ring(&settings) / 2;
            let [none, some, full] = [0, half / 2, half].map(|kept| {
                let events = window;
                advice(TooLarge { events, kept }, threads, &settings)
            });
            assert!(
                none.contains("512 MiB") && !none.contains("--ring"),
                "{none}"
            );
            (some, full)
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
            // The drain may detect a trigger so late that even a smaller window does not fit.
            for window in [half - 1, half, half + 1] {
                let (some, full) = given(window, 1, variables);
                let ring = (5 * (half + 1) / 2).next_power_of_two();
                let expected = match variables.len() {
                    4 => "and would not fit into the largest one".to_owned(),
                    _ => format!("--ring {ring} would have been enough"),
                };
                assert!(full.contains(&expected), "{full}");
                assert!(!full.contains("no memory"), "{full}");
                // A ring that was smaller for lack of memory keeps less.
                let is_reported =
                    some == format!("{full}, unless there was no memory for full rings");
                assert!(is_reported || variables.len() == 4, "{some}");
            }
        }
        let size = ("ATF_FLIGHT", "64M");
        let (_, one) = given(1 << 40, 1, &[size]);
        assert!(one.ends_with("or a smaller size"), "{one}");
        // Each ring takes 128 MiB, and the times of discarded events 1.5 MiB.
        let (_, ten) = given(1 << 40, 10, &[size]);
        assert!(
            ten.ends_with("--ring-memory 4G would have been enough"),
            "{ten}"
        );
        let (_, ten) = given(1 << 40, 10, &[size, ("ATF_RING_MEMORY", "4G")]);
        assert!(ten.ends_with("or a smaller size"), "{ten}");
        // A ring of 512 MiB for each of three threads.
        let (some, full) = given(6 << 20, 3, &[flight]);
        let expected = "--ring 16777216 with --ring-memory 4G would have been enough";
        assert!(
            some.ends_with(expected) && full.ends_with(expected),
            "{some}"
        );
    }
}
