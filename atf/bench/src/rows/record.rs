//! Times recording events in a ring and draining it.

use std::hint::black_box;
use std::path::Path;
use std::thread;

use atf::EventKind;
use atf::write::{Event, SessionWriter, ThreadWriter, WriteOptions};
use atf_record::{Capacity, Overflow, RecordOptions, Recording, channel};
use rtrb::RingBuffer;
use rustix::time::{ClockId, clock_gettime};

use crate::context::Context;
use crate::harness::{Result, Stopwatch};
use crate::input::remove;

/// Events per run, 32 bytes each.
const EVENTS: u64 = 4_000_000;
/// The ring's capacity in events: 512 KiB, filled and drained alternately.
const CAPACITY: u64 = 1 << 14;
/// Threads of an entire session.
const THREADS: u32 = 2;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let count = context.events(EVENTS);
    let row = context.row("read the clock", "clock_gettime(CLOCK_BOOTTIME)", 0.9);
    row.each(count, "reading").compare(
        |watch| readings(watch, count, atf::clock::now_ns),
        |watch| readings(watch, count, || clock_gettime(ClockId::Boottime).tv_nsec),
    )?;
    let rounds = count.div_ceil(CAPACITY);
    let count = rounds * CAPACITY;
    let folder = context.path("record");
    type Bare = fn(&mut Stopwatch, u64) -> Result<()>;
    let bare: [(&str, f64, Bare); 2] = [
        ("rtrb push of 32 bytes", 0.8, bare_push),
        ("a plain store of 32 bytes into an array", 0.5, bare_store),
    ];
    for (baseline, goal, bare) in bare {
        let work = "record an event in process, without the clock";
        let row = context.row(work, baseline, goal);
        row.each(count, "event").compare(
            |watch| ring(Timed::Push, watch, rounds, &folder),
            |watch| bare(watch, rounds),
        )?;
    }
    let row = context.row(
        "drain a ring into a thread's writer; fresh pages, CPU time",
        "write the same events from an array",
        0.8,
    );
    row.cpu().each(count, "event").compare(
        |watch| ring(Timed::Drain, watch, rounds, &folder),
        |watch| write(watch, rounds, &folder),
    )?;
    let row = context.row(
        format!("record a session of {THREADS} threads through rings, start to stop"),
        "the same without rings, each thread writing its files",
        0.8,
    );
    row.each(u64::from(THREADS) * count, "event").compare(
        |watch| whole(watch, rounds, &folder, false),
        |watch| whole(watch, rounds, &folder, true),
    )
}

/// Times a recording from its start until everything is finalized.
fn whole(watch: &mut Stopwatch, rounds: u64, folder: &Path, survive_kill: bool) -> Result<()> {
    remove(folder)?;
    let write = WriteOptions::default().survive_kill(survive_kill);
    let session = SessionWriter::create(folder, &write)?;
    let options = RecordOptions::default().overflow(Overflow::Block);
    let summary = watch.time(|| {
        let recording = Recording::start(session, &options)?;
        let record = || {
            let mut recorder = recording.thread(None).ok()?;
            (0..rounds)
                .try_for_each(|round| play(round, |event| recorder.record(event).map(drop)).ok())
        };
        thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(record))));
        recording.stop()
    })?;
    if summary.totals.event_count == u64::from(THREADS) * rounds * CAPACITY {
        Ok(())
    } else {
        Err("events were lost".into())
    }
}

/// Times reading the clock, the part of each event's cost that precedes recording.
fn readings<T>(watch: &mut Stopwatch, count: u64, read: impl Fn() -> T) -> Result<()> {
    watch.time(|| {
        for _ in 0..count {
            black_box(read());
        }
    });
    Ok(())
}

/// Which end of the ring is timed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Timed {
    Push,
    Drain,
}

/// Fills and drains the ring repeatedly.
fn ring(timed: Timed, watch: &mut Stopwatch, rounds: u64, folder: &Path) -> Result<()> {
    let capacity = Capacity::default().events(CAPACITY as usize);
    let (mut recorder, mut drain) = channel(capacity.payload_size(0), Overflow::DropDetail)?;
    let mut writer = writer(folder)?;
    for round in 0..rounds {
        let mut push = || play(round, |event| recorder.record(event).map(drop));
        match timed {
            Timed::Push => watch.time(push)?,
            Timed::Drain => push()?,
        }
        let mut take = || drain.drain_into(&mut writer);
        match timed {
            Timed::Push => take()?,
            Timed::Drain => watch.time(take)?,
        };
    }
    if drain.totals().events == rounds * CAPACITY {
        Ok(())
    } else {
        Err("events were lost".into())
    }
}

/// Times the simplest possible push, which copies an event's 32 bytes into the ring. Draining is
/// not timed.
fn bare_push(watch: &mut Stopwatch, rounds: u64) -> Result<()> {
    let (mut producer, mut consumer) = RingBuffer::<[u64; 4]>::new(CAPACITY as usize);
    // Load the ring's pages into memory before timing.
    while producer.push([0; 4]).is_ok() {}
    consumer.read_chunk(CAPACITY as usize)?.commit_all();
    for round in 0..rounds {
        watch.time(|| play(round, |event| producer.push(words(event))))?;
        let chunk = consumer.read_chunk(CAPACITY as usize)?;
        chunk.into_iter().map(black_box).for_each(drop);
    }
    Ok(())
}

/// Times what every recorder must do: storing an event's 32 bytes.
fn bare_store(watch: &mut Stopwatch, rounds: u64) -> Result<()> {
    let mut events = vec![[1; 4]; CAPACITY as usize];
    for round in 0..rounds {
        let mut places = black_box(&mut events).iter_mut();
        let store = |event: &Event| {
            *places.next().ok_or("the array is full")? = words(event);
            Ok::<_, &str>(())
        };
        watch.time(|| play(round, store))?;
        black_box(&events);
    }
    Ok(())
}

#[inline]
fn words(event: &Event) -> [u64; 4] {
    let kind = u64::from(event.event_kind.0);
    [
        event.timestamp_ns,
        event.function_id,
        kind | u64::from(event.call_depth) << 32,
        u64::MAX,
    ]
}

/// Writes the same number of events without a ring.
fn write(watch: &mut Stopwatch, rounds: u64, folder: &Path) -> Result<()> {
    let mut events = Vec::with_capacity(CAPACITY as usize);
    let mut writer = writer(folder)?;
    for round in 0..rounds {
        events.clear();
        play(round, |event| {
            events.push(*event);
            Ok::<_, atf::Error>(())
        })?;
        let mut events = black_box(&events).iter();
        watch.time(|| events.try_for_each(|event| writer.write(event).map(drop)))?;
    }
    Ok(())
}

/// Generates the events of a round in registers, like a tracer, because reading prepared events
/// from memory would cost more than the ring.
#[inline]
fn play<E>(
    round: u64,
    mut event: impl FnMut(&Event) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let start = round * CAPACITY;
    for n in start..start + CAPACITY {
        event(&Event::new(
            n * 3,
            n % 1024,
            EventKind(1 + (n % 2) as u32),
            (n % 8) as u32,
        ))?;
    }
    Ok(())
}

/// Opens a writer in a new folder.
fn writer(folder: &Path) -> Result<ThreadWriter> {
    remove(folder)?;
    Ok(ThreadWriter::create(folder, 0, &WriteOptions::default())?)
}
