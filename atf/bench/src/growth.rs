//! How costs grow with events, threads and file sizes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::write::WriteOptions;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, Time, median_of, timed};
use crate::input::{Session, Tape};
use crate::rows::merge::Input;
use crate::table::{Amount, millions, three_digits};

const COUNTS: [u64; 3] = [100_000, 1_000_000, 10_000_000];

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let (tape, folder) = (Tape::new(), context.path("growth"));
    let mut written = Vec::new();
    for count in COUNTS.map(|count| context.events(count)) {
        let time = median_of(context.pairs, Time::Cpu, |watch| {
            tape.write(watch, &folder, &WriteOptions::default(), count)
        })?;
        let cost = Amount::Each(count, "event").cost(time);
        written.push(format!("{}: {cost}", millions(count)));
    }
    let mut merged = Vec::new();
    for threads in [4, 16, 64, 256, 1024] {
        let input = Input::new(context, threads, Shape::Random)?;
        let time = median_of(context.pairs, Time::Wall, |watch| input.ours(watch))?;
        let cost = Amount::Each(input.session.count, "event").cost(time);
        merged.push(format!("{threads}: {cost}"));
    }
    let (mut index, mut detail) = (Vec::new(), Vec::new());
    for count in COUNTS {
        let session = Session::new(context, 1, count, 100, Shape::Independent)?;
        let path = session.index();
        let time = timed(|| IndexReader::open(&path));
        let time = median_of(context.pairs, Time::Wall, time)?;
        index.push(size_and_time(&path, time)?);
        let path = session.thread().join("detail.atf");
        let time = timed(|| DetailReader::open(&path));
        let time = median_of(context.pairs, Time::Wall, time)?;
        detail.push(size_and_time(&path, time)?);
    }
    for (what, figures) in [
        (
            "writing, by the number of events (fresh pages, CPU time)",
            written,
        ),
        (
            "merging, by the number of threads (random arrivals)",
            merged,
        ),
        ("opening an index file, by its size", index),
        ("opening a detail file, by its size", detail),
    ] {
        context.report.state_growth(what, &figures);
    }
    Ok(())
}

fn size_and_time(path: &Path, time: Duration) -> Result<String> {
    let megabytes = fs::metadata(path)?.len() as f64 / 1e6;
    let micros = time.as_secs_f64() * 1e6;
    let time = match micros {
        1_000.0.. => format!("{} ms", three_digits(micros / 1e3)),
        _ => format!("{} µs", three_digits(micros)),
    };
    Ok(format!("{} MB: {time}", three_digits(megabytes)))
}
