//! Looking up events at random places.

use std::hint::black_box;

use atf::index::{IndexEvent, IndexReader};
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events, mapped};
use crate::random::Random;
use crate::table::{Amount, Row};

/// Events in the file, 32 bytes each.
const EVENTS: u64 = 20_000_000;
/// Lookups per run.
const LOOKUPS: usize = 1_000_000;

/// Adds the row for `get`.
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

    let baseline = |watch: &mut Stopwatch| {
        let records = events.records();
        let fold = |sum, place: &u64| sum ^ fold_record(&records[*place as usize]);
        black_box(watch.time(|| places.iter().fold(0, fold)));
        Ok(())
    };
    let by_reader = |watch: &mut Stopwatch| {
        let sum = watch.time(|| {
            places.iter().try_fold(0_u64, |sum, place| {
                let event = reader.get(*place)?;
                Ok::<_, atf::Error>(event.map_or(sum, |event| sum ^ fold_event(&event)))
            })
        });
        black_box(sum?);
        Ok(())
    };
    let by_slice = |watch: &mut Stopwatch| {
        let events = reader.slice(..).ok_or("the mapped file is not in memory")?;
        let get = |place: &u64| events.get(*place as usize);
        let fold = |sum, place| get(place).map_or(sum, |event| sum ^ fold_event(&event));
        black_box(watch.time(|| places.iter().fold(0_u64, fold)));
        Ok(())
    };
    let of_reader = compare(context.pairs, Time::Wall, by_reader, baseline)?;
    let of_slice = compare(context.pairs, Time::Wall, by_slice, baseline)?;
    for (work, comparison) in [
        ("IndexReader::get at random places, mapped", of_reader),
        ("EventSlice::get at random places, mapped", of_slice),
    ] {
        context.report.add(Row {
            work: work.to_owned(),
            baseline: "independent reads of 32 bytes of the same mapping",
            goal: Some(0.8),
            comparison,
            amount: Amount::Each(LOOKUPS as u64, "event"),
        });
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

/// Combines the timestamp and the function, which is all that most lookups need.
#[inline]
fn fold_event(event: &IndexEvent) -> u64 {
    event.timestamp_ns ^ event.function_id
}

/// Does the same with an event's bytes.
#[inline]
fn fold_record(record: &[u8; EVENT_SIZE]) -> u64 {
    let (words, _) = record.as_chunks();
    let word = |at: usize| u64::from_le_bytes(words[at]);
    word(0) ^ word(1)
}
