//! Merging the events of several threads by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::thread::ScopedJoinHandle;

use atf::Wire;
use atf::index::IndexEvent;
use atf::merge::{Merge, Merged, MergedEvent};
use atf::session::SessionReader;
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, checked, cores};
use crate::input::{EVENT_SIZE, Events, Session};

/// The total number of events per merge.
const EVENTS: u64 = 4_000_000;
const HEAP: &str = "BinaryHeap, pop and push per event";

pub(crate) fn run(context: &mut Context) -> Result<()> {
    for (threads, goal) in [(16, 2.7), (64, 3.5), (256, 2.7)] {
        let input = Input::new(context, threads, Shape::Random)?;
        let work = format!("merge {threads} threads, random arrivals");
        let row = context.row(work, HEAP, goal);
        row.each(input.session.count, "event")
            .compare(|watch| input.ours(watch), |watch| input.heap(watch))?;
    }
    for (shape, name) in [
        (Shape::Random, "random arrivals"),
        (Shape::Interleave, "perfect interleave"),
    ] {
        let input = Input::new(context, 16, shape)?;
        let work = format!("open and merge 16 threads in a for loop, {name}");
        let row = context.row(work, HEAP, 1.0);
        row.each(input.session.count, "event")
            .compare(|watch| input.by_default(watch), |watch| input.heap(watch))?;
    }
    partitions(context)
}

/// Adds the row for two cores. The measured time includes checking whether the files are in order.
fn partitions(context: &mut Context) -> Result<()> {
    let input = Input::new(context, 16, Shape::Random)?;
    let cores = cores().min(2);
    let all = input.merge()?.events().fold(0, in_any_order);
    let ours = |watch: &mut Stopwatch| {
        let merge = input.merge()?;
        checked(all, || {
            let partitions = merge.partitions(cores);
            std::thread::scope(|scope| {
                let work = |partition: Merged<'_>| partition.fold(0, in_any_order);
                let mut partitions = partitions.into_iter();
                let first = partitions.next();
                let others: Vec<_> = partitions
                    .map(|partition| scope.spawn(move || work(partition)))
                    .collect();
                let first = first.map_or(0, work);
                let others = others.into_iter().flat_map(ScopedJoinHandle::join);
                Ok::<_, atf::Error>(others.fold(first, u64::wrapping_add))
            })
        })(watch)
    };
    let baseline = |watch: &mut Stopwatch| {
        let merge = input.merge()?;
        let merged = || Ok::<_, atf::Error>(merge.events().fold(0, in_any_order));
        checked(all, merged)(watch)
    };
    let row = context.row(
        format!("merge 16 threads, random arrivals, by time on {cores} cores"),
        "the same on 1 core",
        1.8,
    );
    row.each(input.session.count, "event")
        .compare(ours, baseline)
}

/// Mapped files to merge, and the expected result.
pub(crate) struct Input {
    pub(crate) session: Session,
    maps: Vec<Events>,
    sum: u64,
}

impl Input {
    pub(crate) fn new(context: &Context, threads: u32, shape: Shape) -> Result<Self> {
        let session = Session::new(context, threads, EVENTS, 0, shape)?;
        let files = session.files("index.atf");
        let maps = files.iter().map(|file| Events::map(file));
        let maps = maps.collect::<Result<Vec<_>>>()?;
        let records: Vec<_> = maps.iter().map(Events::records).collect();
        let sum = heap(&records);
        Ok(Self { session, maps, sum })
    }

    fn merge(&self) -> Result<Merge> {
        let open = |(thread, events): (u32, &Events)| Ok((thread, events.reader()?));
        let files = (0..).zip(&self.maps).map(open);
        Ok(Merge::new(files.collect::<Result<Vec<_>>>()?))
    }

    pub(crate) fn ours(&self, watch: &mut Stopwatch) -> Result<()> {
        let merge = self.merge()?;
        let merged = || Ok::<_, atf::Error>(merge.events().fold(0, in_order));
        checked(self.sum, merged)(watch)
    }

    /// Merges with default options: positioned reads and verified events.
    fn by_default(&self, watch: &mut Stopwatch) -> Result<()> {
        let merged = || {
            let merge = SessionReader::open(self.session.path())?.merge();
            let mut sum = 0;
            for merged in merge.events() {
                sum = in_order(sum, merged);
            }
            Ok::<_, atf::Error>(sum)
        };
        checked(self.sum, merged)(watch)
    }

    fn heap(&self, watch: &mut Stopwatch) -> Result<()> {
        let records: Vec<_> = self.maps.iter().map(Events::records).collect();
        checked(self.sum, || Ok::<_, atf::Error>(heap(&records)))(watch)
    }
}

/// Merges the way existing readers do, with each thread's next event in a heap.
fn heap(threads: &[&[[u8; EVENT_SIZE]]]) -> u64 {
    let key = |thread: u32, seq: u64| {
        let record = threads[thread as usize].get(seq as usize)?;
        let (timestamp, _) = record.split_first_chunk()?;
        Some(Reverse((u64::from_le_bytes(*timestamp), thread, seq)))
    };
    let mut heap: BinaryHeap<_> = (0..threads.len() as u32)
        .filter_map(|thread| key(thread, 0))
        .collect();
    let mut sum = 0;
    while let Some(Reverse((_, thread, seq))) = heap.pop() {
        let record = &threads[thread as usize][seq as usize];
        let event = IndexEvent::decode(Wire::V1, thread, record);
        sum = in_order(sum, Ok(MergedEvent::new(0, thread, seq, event)));
        if let Some(next) = key(thread, seq + 1) {
            heap.push(next);
        }
    }
    sum
}

/// Combines every field of an event with its position in the order.
#[inline]
#[allow(clippy::needless_pass_by_value, reason = "folds take what they fold")]
fn in_order(sum: u64, merged: atf::Result<MergedEvent>) -> u64 {
    sum.rotate_left(1) ^ fold(&merged)
}

/// Combines every field of an event.
#[inline]
#[allow(clippy::needless_pass_by_value, reason = "folds take what they fold")]
fn in_any_order(sum: u64, merged: atf::Result<MergedEvent>) -> u64 {
    sum.wrapping_add(fold(&merged))
}

#[inline]
fn fold(merged: &atf::Result<MergedEvent>) -> u64 {
    match merged {
        Ok(merged) => fold_event(&merged.event) ^ merged.seq ^ u64::from(merged.thread),
        // An error changes the sum, so the comparison fails.
        Err(_) => u64::MAX,
    }
}

/// Combines every field of an event.
#[inline]
fn fold_event(event: &IndexEvent) -> u64 {
    let depth = u64::from(event.call_depth.unwrap_or_default());
    let kind = u64::from(event.thread_id) ^ u64::from(event.event_kind.0);
    event.timestamp_ns ^ event.function_id ^ depth ^ kind ^ event.detail_seq.unwrap_or_default()
}
