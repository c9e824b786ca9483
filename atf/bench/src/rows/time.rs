//! Finding the events of a time range.

use std::hint::black_box;

use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::SessionReader;
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events};
use crate::random::Random;
use crate::table::{Amount, Row, millions};

/// Events in the file, 32 bytes each.
const EVENTS: u64 = 100_000_000;
/// The number of events in the session, in all threads together.
const SESSION_EVENTS: u64 = 20_000_000;
/// Queries per run.
const QUERIES: usize = 20_000;

/// Adds the rows for time ranges. The single scan that checks the file's order is not timed.
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
    of_session(context)
}

/// Adds the row for a time range of a session. The session is reopened for each query, as in a
/// program that makes only one.
fn of_session(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: 16,
        events_per_thread: context.events(SESSION_EVENTS / 16),
        detail_per_mille: 0,
        shape: Shape::Random,
        ..Synth::default()
    };
    let folder = input::session(context, "seek", &synth)?;
    let summary = SessionReader::open(&folder)?.summary();
    let (first, last) = summary.time_range.ok_or("the session has no events")?;
    // A thousandth of the session's time, starting in the middle.
    let from = first + (last - first) / 2;
    let range = from..from + (last - first) / 1000;
    let count = |merge: Merge| {
        let mut count = 0_u64;
        merge.events().for_each(|event| {
            let is_in = event.is_ok_and(|event| range.contains(&event.event.timestamp_ns));
            count += u64::from(is_in);
        });
        count
    };
    let expected = count(SessionReader::open(&folder)?.merge());
    let check = |found| {
        if found == expected {
            Ok(())
        } else {
            Err("two ways of finding a time range gave different results".into())
        }
    };
    let ours = |watch: &mut Stopwatch| {
        let seek = || {
            Ok(count(
                SessionReader::open(&folder)?
                    .merge()
                    .time_range(range.clone()),
            ))
        };
        check(watch.time(seek).map_err(|error: atf::Error| error)?)
    };
    let baseline = |watch: &mut Stopwatch| {
        let filter = || Ok(count(SessionReader::open(&folder)?.merge()));
        check(watch.time(filter).map_err(|error: atf::Error| error)?)
    };
    let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
    context.report.add(Row {
        work: format!(
            "a thousandth of the time of a session of {} events, opened for it",
            millions(16 * synth.events_per_thread)
        ),
        baseline: "merging the whole session and filtering",
        goal: Some(50.0),
        comparison,
        amount: Amount::Each(1, "query"),
    });
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Returns random ranges of up to a hundredth of the file's time.
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

/// Checks that a plain binary search finds the same events.
fn check(events: &Events, queries: &[(u64, u64)], sum: u64) -> Result<()> {
    if sum == bisect(events.records(), queries) {
        Ok(())
    } else {
        Err("two ways of finding a time range gave different results".into())
    }
}
