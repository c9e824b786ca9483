//! How much memory reading takes, whatever the size of the files.

use atf::session::SessionReader;
use atf_synth::Synth;

use crate::context::Context;
use crate::harness::Result;
use crate::machine;
use crate::table::{Fact, three_digits};

/// Events of all threads, 32 bytes each.
const EVENTS: u64 = 20_000_000;
const THREADS: u32 = 16;

/// The most memory that was used in addition to what was there before.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: THREADS,
        events_per_thread: context.events(EVENTS) / u64::from(THREADS),
        detail_per_mille: 100,
        ..Synth::default()
    };
    let session = context.path("memory");
    let ((), peak) = peak_of(|| synth.write(&session).map(drop))?;
    state(context, "write", &synth, peak);

    let reader = SessionReader::open(&session)?;
    let (details, peak) = peak_of(|| {
        let mut details = 0;
        for entry in reader.threads() {
            let thread = entry.open()?;
            thread
                .index()
                .events()
                .try_for_each(|event| event.map(drop))?;
            let Some(detail) = thread.detail() else {
                continue;
            };
            detail.events().try_for_each(|event| event.map(drop))?;
            details = detail.event_count().max(details);
        }
        Ok(details)
    })?;
    let what = format!("read, up to {details} detail events in one thread,");
    state(context, &what, &synth, peak);

    let (problems, peak) = peak_of(|| {
        Ok(reader
            .merge()
            .into_events()
            .filter(atf::Result::is_err)
            .count())
    })?;
    if problems != 0 {
        return Err("a thread could not be merged".into());
    }
    state(context, "merge", &synth, peak);
    std::fs::remove_dir_all(session)?;
    Ok(())
}

fn peak_of<T>(work: impl FnOnce() -> atf::Result<T>) -> Result<(T, u64)> {
    machine::reset_peak_memory();
    let before =
        machine::memory_in_use().ok_or("this system does not say how much memory is used")?;
    let done = work()?;
    let peak = machine::peak_memory().unwrap_or_default();
    Ok((done, peak.saturating_sub(before)))
}

fn state(context: &mut Context, what: &str, synth: &Synth, peak: u64) {
    let events = synth.events_per_thread * u64::from(synth.threads);
    let gigabytes = three_digits(events as f64 * 32.0 / 1e9);
    context.report.state_memory(Fact {
        what: format!(
            "{what} a session of {} threads, {gigabytes} GB of index events",
            synth.threads
        ),
        figure: format!("{} MB", three_digits(peak as f64 / 1e6)),
    });
}
