//! Looking up events at random places.

use std::hint::black_box;

use atf::index::{IndexEvent, IndexReader};
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events, mapped};
use crate::random::Random;
use crate::table::{Amount, Row};

/// Events of the file that single events are looked up in, 32 bytes each.
const EVENTS: u64 = 20_000_000;
/// Lookups of one run.
const LOOKUPS: usize = 1_000_000;

/// The row on `get`.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: 1,
        events_per_thread: context.events(EVENTS),
        detail_per_mille: 0,
        shape: Shape::Random,
        ..Synth::default()
    };
    let session = input::session(context, "lookup", &synth)?;
    let path = input::index_file(&session);
    let events = Events::map(&path)?;
    let reader = IndexReader::open_with(&path, mapped())?;
    let mut random = Random::new(1);
    let place = |_| random.below(synth.events_per_thread);
    let places: Vec<u64> = (0..LOOKUPS).map(place).collect();

    let ours = |watch: &mut Stopwatch| {
        let sum = watch.time(|| {
            places.iter().try_fold(0_u64, |sum, place| {
                let event = reader.get(*place)?;
                Ok::<_, atf::Error>(event.map_or(sum, |event| sum ^ fold_event(&event)))
            })
        });
        black_box(sum?);
        Ok(())
    };
    let baseline = |watch: &mut Stopwatch| {
        let records = events.records();
        let fold = |sum, place: &u64| sum ^ fold_record(&records[*place as usize]);
        black_box(watch.time(|| places.iter().fold(0, fold)));
        Ok(())
    };
    let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
    context.report.add(Row {
        work: "get(seq) at random places, mapped".to_owned(),
        baseline: "independent reads of 32 bytes of the same mapping",
        goal: 0.8,
        comparison,
        amount: Amount::Each(LOOKUPS as u64, "event"),
    });
    std::fs::remove_dir_all(session)?;
    Ok(())
}

/// Needs every field of an event.
#[inline]
pub(crate) fn fold_event(event: &IndexEvent) -> u64 {
    let depth = u64::from(event.call_depth.unwrap_or_default());
    let kind = u64::from(event.thread_id) ^ u64::from(event.event_kind.0);
    event.timestamp_ns ^ event.function_id ^ depth ^ kind ^ event.detail_seq.unwrap_or_default()
}

/// Needs every byte of an event.
#[inline]
pub(crate) fn fold_record(record: &[u8; EVENT_SIZE]) -> u64 {
    let (words, _) = record.as_chunks();
    words
        .iter()
        .fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
}
