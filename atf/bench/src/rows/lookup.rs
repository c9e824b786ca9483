//! Looking up events at random places.

use atf::index::{IndexEvent, IndexReader};
use atf_samples::random::Random;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, checked};
use crate::input::{EVENT_SIZE, Events, Session, mapped};

/// Events in the file, 32 bytes each.
const EVENTS: u64 = 20_000_000;
/// Lookups per run.
const LOOKUPS: u64 = 1_000_000;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, EVENTS, 0, Shape::Random)?;
    let events = Events::map(&session.index())?;
    let reader = IndexReader::open_with(session.index(), mapped())?;
    let slice = reader.slice(..).ok_or("the mapped file is not in memory")?;
    let mut random = Random::new(1);
    let places: Vec<u64> = (0..LOOKUPS)
        .map(|_| random.number() % session.count)
        .collect();

    let records = events.records();
    let read = || {
        let fold = |sum, place: &u64| sum ^ fold_record(&records[*place as usize]);
        Ok::<_, atf::Error>(places.iter().fold(0, fold))
    };
    let by_reader = || {
        places.iter().try_fold(0_u64, |sum, place| {
            let event = reader.get(*place)?;
            Ok::<_, atf::Error>(event.map_or(sum, |event| sum ^ fold_event(&event)))
        })
    };
    let by_slice = || {
        let get = |place: &u64| slice.get(*place as usize);
        let fold = |sum, place| get(place).map_or(sum, |event| sum ^ fold_event(&event));
        Ok::<_, atf::Error>(places.iter().fold(0_u64, fold))
    };
    let (sum, baseline) = (read()?, "independent reads of 32 bytes of the same mapping");
    let row = context.row("IndexReader::get at random places, mapped", baseline, 0.8);
    row.each(LOOKUPS, "event")
        .compare(checked(sum, by_reader), checked(sum, read))?;
    let row = context.row("EventSlice::get at random places, mapped", baseline, 0.8);
    row.each(LOOKUPS, "event")
        .compare(checked(sum, by_slice), checked(sum, read))
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
