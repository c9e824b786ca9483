//! How costs grow with events, threads and file sizes.

use std::hint::black_box;
use std::time::Duration;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::write::{ThreadWriter, WriteOptions};
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Time, median_of};
use crate::input::{self, Tape};
use crate::rows::merge::Input;
use crate::table::{Amount, Fact, millions, three_digits};

/// Adds one figure for each kind of growth.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    write(context)?;
    merge(context)?;
    open(context)
}

/// Measures writing, whose cost per event does not depend on the number of events.
fn write(context: &mut Context) -> Result<()> {
    let tape = Tape::new();
    let folder = context.path("growth_write");
    let mut figures = Vec::new();
    for count in [100_000, 1_000_000, 10_000_000].map(|count| context.events(count)) {
        let time = median_of(context.pairs, Time::Cpu, |watch| {
            if folder.exists() {
                std::fs::remove_dir_all(&folder)?;
            }
            watch.time(|| {
                let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
                tape.play(count, |event| writer.write(event).map(drop))?;
                writer.finalize()?;
                Ok(())
            })
        })?;
        let cost = Amount::Each(count, "event").cost(time);
        figures.push(format!("{}: {cost}", millions(count)));
    }
    context.report.state_growth(Fact {
        what: "writing, by the number of events (fresh pages, CPU time)".to_owned(),
        figure: figures.join(", "),
    });
    Ok(())
}

/// Measures merging: twice as many threads cost one more comparison per event.
fn merge(context: &mut Context) -> Result<()> {
    let mut figures = Vec::new();
    for threads in [4, 16, 64, 256, 1024] {
        let input = Input::new(context, threads, Shape::Random)?;
        let time = median_of(context.pairs, Time::Wall, |watch| input.ours(watch))?;
        let cost = Amount::Each(input.count, "event").cost(time);
        figures.push(format!("{threads}: {cost}"));
        input.remove()?;
    }
    context.report.state_growth(Fact {
        what: "merging, by the number of threads (random arrivals)".to_owned(),
        figure: figures.join(", "),
    });
    Ok(())
}

/// Measures opening: an index file takes the same time at any size, while a detail file is read
/// once.
fn open(context: &mut Context) -> Result<()> {
    let (mut index, mut detail) = (Vec::new(), Vec::new());
    for count in [100_000, 1_000_000, 10_000_000].map(|count| context.events(count)) {
        let synth = Synth {
            threads: 1,
            events_per_thread: count,
            ..Synth::default()
        };
        let session = input::session(context, "growth_open", &synth)?;
        let path = input::index_file(&session);
        let time = median_of(context.pairs, Time::Wall, |watch| {
            black_box(watch.time(|| IndexReader::open(&path))?);
            Ok(())
        })?;
        index.push(size_and_time(&path, time)?);
        let path = path.with_file_name("detail.atf");
        let time = median_of(context.pairs, Time::Wall, |watch| {
            black_box(watch.time(|| DetailReader::open(&path))?);
            Ok(())
        })?;
        detail.push(size_and_time(&path, time)?);
        std::fs::remove_dir_all(session)?;
    }
    for (what, figures) in [("an index file", index), ("a detail file", detail)] {
        context.report.state_growth(Fact {
            what: format!("opening {what}, by its size"),
            figure: figures.join(", "),
        });
    }
    Ok(())
}

fn size_and_time(path: &std::path::Path, time: Duration) -> Result<String> {
    let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
    let micros = time.as_secs_f64() * 1e6;
    let time = match micros {
        1_000.0.. => format!("{} ms", three_digits(micros / 1e3)),
        _ => format!("{} µs", three_digits(micros)),
    };
    Ok(format!("{} MB: {time}", three_digits(megabytes)))
}
