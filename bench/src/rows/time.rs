//! Finding the events of a time range.

use std::hint::black_box;

use atf::index::IndexReader;
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events};
use crate::random::Random;
use crate::table::{Amount, Row, millions};

/// Events of the file, 32 bytes each.
const EVENTS: u64 = 100_000_000;
/// Queries of one run.
const QUERIES: usize = 20_000;

/// The rows on time ranges. The scan that shows, once, that the file is in order is not timed.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let shapes = [
        (Shape::Random, "arriving at random"),
        (Shape::Independent, "of call trees with stalls"),
    ];
    for (shape, name) in shapes {
        let synth = Synth {
            threads: 1,
            events_per_thread: context.events(EVENTS),
            detail_per_mille: 0,
            shape,
            ..Synth::default()
        };
        let session = input::session(context, "time", &synth)?;
        let events = Events::map(&input::index_file(&session))?;
        let reader = events.reader()?;
        let queries = queries(&reader)?;
        let ours = |watch: &mut Stopwatch| {
            let find = |sum: u64, (from, to): &(u64, u64)| {
                let range = reader.seq_range(*from..*to)?.unwrap_or_default();
                Ok::<_, atf::Error>(sum.wrapping_add(range.start).rotate_left(1) ^ range.end)
            };
            check(
                &events,
                &queries,
                watch.time(|| queries.iter().try_fold(0, find))?,
            )
        };
        let baseline = |watch: &mut Stopwatch| {
            let records = events.records();
            black_box(watch.time(|| bisect(records, &queries)));
            Ok(())
        };
        let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
        context.report.add(Row {
            work: format!(
                "time range in {} events {name}",
                millions(synth.events_per_thread)
            ),
            baseline: "partition_point over the mapping, twice",
            goal: Some(4.0),
            comparison,
            amount: Amount::Each(queries.len() as u64, "query"),
        });
        std::fs::remove_dir_all(session)?;
    }
    Ok(())
}

/// Ranges of up to a hundredth of the time, anywhere in it.
fn queries(reader: &IndexReader) -> Result<Vec<(u64, u64)>> {
    let (first, last) = reader.time_range()?.ok_or("the file has no events")?;
    let mut random = Random::new(2);
    let query = |_| {
        let from = first + random.below(last - first);
        (from, from + random.below((last - first) / 100))
    };
    Ok((0..QUERIES).map(query).collect())
}

fn bisect(records: &[[u8; EVENT_SIZE]], queries: &[(u64, u64)]) -> u64 {
    let time = |record: &[u8; EVENT_SIZE]| {
        let time = record.first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(time)
    };
    queries.iter().fold(0_u64, |sum, (from, to)| {
        let start = records.partition_point(|record| time(record) < *from) as u64;
        let end = records.partition_point(|record| time(record) < *to) as u64;
        sum.wrapping_add(start).rotate_left(1) ^ end
    })
}

/// Both ways must find the same.
fn check(events: &Events, queries: &[(u64, u64)], sum: u64) -> Result<()> {
    match sum == bisect(events.records(), queries) {
        true => Ok(()),
        false => Err("two ways of finding a time range gave two results".into()),
    }
}
