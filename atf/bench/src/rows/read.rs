//! Reading in the default mode: positioned reads of verified events.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;

use atf::detail::DetailEvent;
use atf::index::{EventSlice, IndexEvent, IndexReader};
use atf::thread::{Linked, ThreadReader};
use atf::{OpenOptions, Wire};
use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Comparison, Result, Stopwatch, Time, compare};
use crate::input::{self, Events, HEADER_SIZE, mapped};
use crate::random::Random;
use crate::table::{Amount, Row};

/// Events in the file without details, 32 bytes each: more than any cache holds.
const EVENTS: u64 = 20_000_000;
/// Events in the file with details. Every third event has one.
const LINKED: u64 = 1_000_000;
/// The size in bytes of a detail event's header.
const DETAIL_HEADER: usize = 24;

/// Adds the rows for reading.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    iterate(context)?;
    links(context)
}

/// Adds the rows for iterating over all events of a file.
fn iterate(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: 1,
        events_per_thread: context.events(EVENTS),
        detail_per_mille: 0,
        ..Synth::default()
    };
    let session = input::session(context, "read", &synth)?;
    let path = input::index_file(&session);
    let open = |watch: &mut Stopwatch, options: OpenOptions| {
        watch.time(|| {
            let reader = IndexReader::open_with(&path, options)?;
            match reader.slice(..) {
                Some(events) => black_box(events.iter().fold(0, fold)),
                None => black_box(sum(&reader)?),
            };
            Ok(())
        })
    };
    let opened = compare(
        context.pairs,
        Time::Wall,
        |watch| open(watch, OpenOptions::new()),
        |watch| open(watch, mapped()),
    )?;
    let (reader, warm) = (IndexReader::open(&path)?, Events::map(&path)?.reader()?);
    sum(&reader)?;
    let again = |watch: &mut Stopwatch| {
        black_box(watch.time(|| sum(&reader))?);
        Ok(())
    };
    let in_blocks = |watch: &mut Stopwatch| {
        let sum = watch.time(|| {
            let (mut blocks, mut sum) = (reader.blocks(..), 0);
            while let Some(block) = blocks.next_block()? {
                sum = block.iter().fold(sum, fold);
            }
            Ok::<_, atf::Error>(sum)
        });
        black_box(sum?);
        Ok(())
    };
    let of_mapping = |watch: &mut Stopwatch| {
        let events = warm.slice(..).ok_or("the mapped file is not in memory")?;
        black_box(watch.time(|| events.iter().fold(0, fold)));
        Ok(())
    };
    let copied = |watch: &mut Stopwatch| {
        black_box(watch.time(|| sum_of_copies(&path))?);
        Ok(())
    };
    let pairs = context.pairs;
    let wall = Time::Wall;
    let new = "the same loop over a new mapping, not verified";
    let copies = "read(2) into 64 KiB and the same loop over them";
    for (work, baseline, goal, comparison) in [
        (
            "open a file, iterate over its events, verify them",
            new,
            Some(0.9),
            opened,
        ),
        (
            "iterate over the events of an open file",
            copies,
            Some(0.9),
            compare(pairs, wall, again, copied)?,
        ),
        (
            "iterate over the blocks of an open file",
            copies,
            Some(0.9),
            compare(pairs, wall, in_blocks, copied)?,
        ),
        (
            "read(2) of a file into 64 KiB and a loop over its events",
            "the same loop over a mapping whose pages are present",
            None,
            compare(pairs, wall, copied, of_mapping)?,
        ),
    ] {
        add(
            context,
            (work, baseline),
            goal,
            comparison,
            synth.events_per_thread,
        );
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

/// Adds the rows for following links between events and details.
fn links(context: &mut Context) -> Result<()> {
    let synth = Synth {
        threads: 1,
        events_per_thread: context.events(LINKED),
        detail_per_mille: 333,
        ..Synth::default()
    };
    let session = input::session(context, "links", &synth)?;
    let folder = session.join("thread_0");
    let thread = ThreadReader::open(&folder)?;
    let in_memory = ThreadReader::open_with(&folder, mapped())?;
    let events: std::result::Result<Vec<_>, _> = thread.index().events().collect();
    let linked = events?
        .into_iter()
        .filter(|event| event.detail_seq.is_some());
    let linked: Vec<IndexEvent> = linked.collect();
    let detail = thread.detail().ok_or("the session has no details")?;
    let details: std::result::Result<Vec<DetailEvent>, _> = detail.events().collect();
    let details = details?;
    let count = linked.len() as u64;
    let mut random = Random::new(1);
    let mut shuffle = |count: usize| -> Vec<usize> {
        (0..count)
            .map(|_| random.below(count as u64) as usize)
            .collect()
    };
    let shuffled = shuffle(linked.len());
    let at_random: Vec<IndexEvent> = shuffled.iter().map(|at| linked[*at]).collect();
    let offset = |event: &IndexEvent| {
        let seq = event.detail_seq.unwrap_or_default();
        detail.event_offset(seq).unwrap_or_default()
    };
    let offsets: Vec<u64> = linked.iter().map(offset).collect();
    let random_offsets: Vec<u64> = at_random.iter().map(offset).collect();
    let file = File::open(folder.join("detail.atf"))?;

    let forward = |thread: &ThreadReader, events: &[IndexEvent], watch: &mut Stopwatch| {
        let found = watch.time(|| {
            events.iter().try_fold(0, |found, event| {
                Ok::<_, atf::Error>(
                    found + u64::from(matches!(thread.detail_of(event)?, Linked::To(_))),
                )
            })
        })?;
        if found == count {
            Ok(())
        } else {
            Err("a link leads nowhere".into())
        }
    };
    let backward = |watch: &mut Stopwatch| {
        let found = watch.time(|| {
            details.iter().try_fold(0, |found, event| {
                Ok::<_, atf::Error>(
                    found + u64::from(matches!(thread.event_of(event)?, Linked::To(_))),
                )
            })
        })?;
        if found == count {
            Ok(())
        } else {
            Err("a link leads nowhere".into())
        }
    };
    let read_each = |offsets: &[u64], watch: &mut Stopwatch| {
        let sum = watch.time(|| {
            offsets.iter().try_fold(0_u8, |sum, offset| {
                let mut bytes = [0; DETAIL_HEADER];
                file.read_exact_at(&mut bytes, *offset)?;
                Ok::<_, std::io::Error>(sum ^ bytes[0])
            })
        });
        black_box(sum?);
        Ok(())
    };
    let example = |watch: &mut Stopwatch| {
        let sum = watch.time(|| {
            let mut sum = 0;
            for event in thread.index().events() {
                let event = event?;
                if let (Some(detail), Linked::To(found)) =
                    (thread.detail(), thread.detail_of(&event)?)
                    && let Some(payload) = detail.function_payload(&found)?
                {
                    sum ^= payload.sp ^ payload.stack.len() as u64;
                }
            }
            Ok::<_, atf::Error>(sum)
        });
        black_box(sum?);
        Ok(())
    };
    let in_windows = |watch: &mut Stopwatch| {
        black_box(watch.time(|| headers_of_copies(&file, &offsets))?);
        Ok(())
    };
    let positioned = "a positioned read of 24 bytes per link";
    let pairs = context.pairs;
    let wall = Time::Wall;
    let in_order = |watch: &mut Stopwatch| read_each(&offsets, watch);
    let anywhere = |watch: &mut Stopwatch| read_each(&random_offsets, watch);
    let copies = "read(2) of the details into 64 KiB and a loop over their headers";
    for (work, baseline, goal, comparison) in [
        (
            copies,
            positioned,
            None,
            compare(pairs, wall, in_windows, in_order)?,
        ),
        (
            "follow links from events to details, in order",
            copies,
            Some(0.8),
            compare(
                pairs,
                wall,
                |watch| forward(&thread, &linked, watch),
                in_windows,
            )?,
        ),
        (
            "follow links from details to events, in order",
            positioned,
            Some(20.0),
            compare(pairs, wall, backward, in_order)?,
        ),
        (
            "follow links from events to details, at random",
            positioned,
            Some(0.9),
            compare(
                pairs,
                wall,
                |watch| forward(&thread, &at_random, watch),
                anywhere,
            )?,
        ),
        (
            "follow links from events to details, at random, mapped",
            positioned,
            Some(5.0),
            compare(
                pairs,
                wall,
                |watch| forward(&in_memory, &at_random, watch),
                anywhere,
            )?,
        ),
        (
            "README's reading example without printing: each event, its detail, its payload",
            positioned,
            Some(5.0),
            compare(pairs, wall, example, in_order)?,
        ),
    ] {
        add(context, (work, baseline), goal, comparison, count);
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

fn add(
    context: &mut Context,
    (work, baseline): (&str, &'static str),
    goal: Option<f64>,
    comparison: Comparison,
    count: u64,
) {
    context.report.add(Row {
        work: work.to_owned(),
        baseline,
        goal,
        comparison,
        amount: Amount::Each(count, "event"),
    });
}

fn sum(reader: &IndexReader) -> atf::Result<u64> {
    reader
        .events()
        .try_fold(0, |sum, event| Ok(fold(sum, event?)))
}

/// Uses every field of an event.
#[inline]
fn fold(sum: u64, event: IndexEvent) -> u64 {
    let small = u64::from(event.event_kind.0) ^ u64::from(event.call_depth.unwrap_or_default());
    sum ^ event.timestamp_ns ^ event.function_id ^ event.detail_seq.unwrap_or_default() ^ small
}

/// Does the same with copies of the file's bytes and without verification. This is the minimum cost
/// of positioned reads.
fn sum_of_copies(path: &Path) -> Result<u64> {
    let (file, mut buffer) = (File::open(path)?, vec![0; 64 << 10]);
    let (mut sum, mut offset) = (0, HEADER_SIZE as u64);
    let end = file.metadata()?.len() - HEADER_SIZE as u64;
    while offset < end {
        let size = buffer.len().min(usize::try_from(end - offset)?);
        file.read_exact_at(&mut buffer[..size], offset)?;
        sum = EventSlice::new(Wire::V1, 0, &buffer[..size])
            .iter()
            .fold(sum, fold);
        offset += size as u64;
    }
    Ok(sum)
}

/// Finds the headers of details in copies of the file's bytes. This is the minimum cost of
/// following links in order with positioned reads.
fn headers_of_copies(file: &File, offsets: &[u64]) -> std::io::Result<u8> {
    let mut buffer = vec![0; 64 << 10];
    let (mut sum, mut start, mut size) = (0, 0, 0);
    for offset in offsets {
        if offset + DETAIL_HEADER as u64 > start + size as u64 {
            start = *offset;
            size = file.read_at(&mut buffer, start)?;
        }
        sum ^= buffer[(offset - start) as usize];
    }
    Ok(sum)
}
