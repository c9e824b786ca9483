//! Finding the events of a time range.

use atf::index::IndexReader;
use atf::merge::Merge;
use atf::session::SessionReader;
use atf_samples::random::Random;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, checked};
use crate::input::{EVENT_SIZE, Events, Session};
use crate::table::millions;

/// Events in the file, 32 bytes each.
const EVENTS: u64 = 100_000_000;
/// The total number of events in the session's threads.
const SESSION_EVENTS: u64 = 20_000_000;
/// Queries per run.
const QUERIES: u64 = 20_000;

/// Adds the rows for time ranges. The single scan that checks the file's order is not timed.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, EVENTS, 0, Shape::Random)?;
    let events = Events::map(&session.index())?;
    let reader = events.reader()?;
    let queries = queries(&reader)?;
    let ours = || {
        queries.iter().try_fold(0_u64, |sum, (from, to)| {
            let range = reader.seq_range(*from..*to)?.unwrap_or_default();
            Ok::<_, atf::Error>(sum.wrapping_add(range.start).rotate_left(1) ^ range.end)
        })
    };
    let search = || Ok::<_, atf::Error>(bisect(events.records(), &queries));
    let sum = search()?;
    let row = context.row(
        format!(
            "time range in {} events arriving at random",
            millions(session.count)
        ),
        "partition_point over the mapping, twice",
        4.0,
    );
    row.each(QUERIES, "query")
        .compare(checked(sum, ours), checked(sum, search))?;
    of_session(context)
}

/// Adds the row for a time range of a session. The session is reopened for each query, as in a
/// program that makes only one.
fn of_session(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 16, SESSION_EVENTS, 0, Shape::Random)?;
    let open = || SessionReader::open(session.path());
    let range = open()?.summary().time_range;
    let (first, last) = range.ok_or("the session has no events")?;
    // A thousandth of the session's time range, starting in the middle.
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
    let seek = || Ok::<_, atf::Error>(count(open()?.merge().time_range(range.clone())));
    let filter = || Ok::<_, atf::Error>(count(open()?.merge()));
    let expected = filter()?;
    let row = context.row(
        format!(
            "open a session of {} events and read a thousandth of its time range",
            millions(session.count)
        ),
        "merge the entire session and filter",
        50.0,
    );
    row.each(1, "query")
        .compare(checked(expected, seek), checked(expected, filter))
}

/// Returns random ranges of up to a hundredth of the file's time range.
fn queries(reader: &IndexReader) -> Result<Vec<(u64, u64)>> {
    let (first, last) = reader.time_range()?.ok_or("the file has no events")?;
    let mut random = Random::new(2);
    let query = |_| {
        let from = first + random.number() % (last - first);
        (from, from + random.number() % ((last - first) / 100))
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
