//! Analyses, compared with reading and verifying the same events.

use std::hint::black_box;
use std::num::NonZero;

use atf::analyze::{self, Options};
use atf::index::IndexReader;
use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input;
use crate::table::{Amount, Row};

/// Events in the file, 32 bytes each: more than any cache holds.
const EVENTS: u64 = 5_000_000;

/// Adds the rows for analyses.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: 1,
        events_per_thread: context.events(EVENTS),
        detail_per_mille: 0,
        ..Synth::default()
    };
    let session = input::session(context, "analyze", &synth)?;
    let index = IndexReader::open(input::index_file(&session))?;
    let options = Options::default().jobs(Some(NonZero::<usize>::MIN));
    let read = |watch: &mut Stopwatch| {
        let events = watch.time(|| {
            let mut events = index.events();
            events.try_fold(0_u64, |sum, event| {
                event.map(|event| sum.wrapping_add(event.timestamp_ns))
            })
        });
        black_box(events?);
        Ok(())
    };
    let functions = |watch: &mut Stopwatch| {
        let found = watch.time(|| analyze::functions(&index, &options))?;
        check(found.totals().events, &synth)
    };
    let tree = |watch: &mut Stopwatch| {
        let found = watch.time(|| analyze::tree(&index, &options))?;
        check(found.totals().events, &synth)
    };
    let pairs = context.pairs;
    for (work, comparison) in [
        (
            "analyze::functions of a thread, 1 core",
            compare(pairs, Time::Wall, functions, read)?,
        ),
        (
            "analyze::tree of a thread, 1 core",
            compare(pairs, Time::Wall, tree, read)?,
        ),
    ] {
        context.report.add(Row {
            work: work.to_owned(),
            baseline: "iterate over the same events, verified",
            goal: None,
            comparison,
            amount: Amount::Each(synth.events_per_thread, "event"),
        });
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

fn check(events: u64, synth: &Synth) -> Result<()> {
    if events == synth.events_per_thread {
        Ok(())
    } else {
        Err("the analysis lacks events".into())
    }
}
