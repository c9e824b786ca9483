//! Merging the events of several threads by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::thread::ScopedJoinHandle;

use atf::Wire;
use atf::index::IndexEvent;
use atf::merge::{Merge, Merged, MergedEvent};
use atf::session::SessionReader;
use atf_synth::{Shape, Synth};

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::{self, EVENT_SIZE, Events};
use crate::machine;
use crate::table::{Amount, Row};

/// The number of events per merge, in all threads together.
const EVENTS: u64 = 4_000_000;
const THREADS: [u32; 4] = [4, 16, 64, 256];

/// The baseline of a merge.
#[derive(Debug, Clone, Copy)]
enum Baseline {
    Heap,
    /// The cost of verifying the events and then visiting them in a known order, which is the
    /// minimum for a merge that verifies. It replaces the heap in rows where even this minimum
    /// could not reach a goal relative to the heap.
    Bound,
}

impl Baseline {
    fn name(self) -> &'static str {
        match self {
            Self::Heap => "BinaryHeap, pop and push per event",
            Self::Bound => "scan them, then visit them in an order known in advance",
        }
    }
}

/// Adds the rows for merging.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let runs = Shape::Runs { min: 10, max: 1000 };
    let heap = Baseline::Heap;
    let bound = Baseline::Bound;
    let shapes = [
        (Shape::Random, "random arrivals", heap, [2.6, 2.7, 3.5, 2.7]),
        (runs, "one thread at a time", bound, [0.8; 4]),
        (
            Shape::FewActive(4),
            "four threads at a time",
            heap,
            [2.3; 4],
        ),
        (Shape::Interleave, "perfect interleave", bound, [0.6; 4]),
    ];
    for (shape, name, baseline, goals) in shapes {
        for (threads, goal) in THREADS.into_iter().zip(goals) {
            let input = Input::new(context, threads, shape)?;
            let order = input.order()?;
            let amount = Amount::Each(input.count, "event");
            let comparison = compare(
                context.pairs,
                Time::Wall,
                |watch| input.ours(watch),
                |watch| match baseline {
                    Baseline::Heap => input.heap(watch),
                    Baseline::Bound => input.scan_and_visit(watch, &order),
                },
            )?;
            context.report.add(Row {
                work: format!("merge {threads} threads, {name}"),
                baseline: baseline.name(),
                goal: Some(goal),
                comparison,
                amount,
            });
            if threads == 16 {
                let comparison = compare(
                    context.pairs,
                    Time::Wall,
                    |watch| input.by_default(watch),
                    |watch| input.heap(watch),
                )?;
                context.report.add(Row {
                    work: format!("open and merge {threads} threads in a for loop, {name}"),
                    baseline: Baseline::Heap.name(),
                    goal: Some(1.0),
                    comparison,
                    amount,
                });
            }
            let comparison = compare(
                context.pairs,
                Time::Wall,
                |watch| input.visit(watch, &order),
                |watch| input.heap(watch),
            )?;
            context.report.add(Row {
                work: format!("visit {threads} threads, {name}, in an order known in advance"),
                baseline: Baseline::Heap.name(),
                goal: None,
                comparison,
                amount,
            });
            input.remove()?;
        }
    }
    partitions(context)
}

/// Adds the row for two cores. The measured time includes checking whether the files are in order.
fn partitions(context: &mut Context) -> Result<()> {
    let input = Input::new(context, 16, Shape::Random)?;
    let cores = machine::cores().min(2);
    let all = input.merge()?.events().fold(0, in_any_order);
    let check = |sum: u64| {
        if black_box(sum) == all {
            Ok(())
        } else {
            Err("two ways of merging gave different results".into())
        }
    };
    let ours = |watch: &mut Stopwatch| {
        let merge = input.merge()?;
        check(watch.time(|| {
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
                others.fold(first, u64::wrapping_add)
            })
        }))
    };
    let baseline = |watch: &mut Stopwatch| {
        let merge = input.merge()?;
        check(watch.time(|| merge.events().fold(0, in_any_order)))
    };
    let comparison = compare(context.pairs, Time::Wall, ours, baseline)?;
    context.report.add(Row {
        work: format!("merge 16 threads, random arrivals, by time on {cores} cores"),
        baseline: "the same on 1 core",
        goal: Some(1.8),
        comparison,
        amount: Amount::Each(input.count, "event"),
    });
    // Visits the same bytes on two cores at once, half of them on each, to measure the cores'
    // memory bandwidth.
    let order = input.order()?;
    let records: Vec<_> = input.maps.iter().map(Events::records).collect();
    let halves = Halves::new(&order, records.len());
    let on_all = |watch: &mut Stopwatch| {
        black_box(watch.time(|| halves.visit(&records, cores)));
        Ok(())
    };
    let on_one = |watch: &mut Stopwatch| {
        black_box(watch.time(|| halves.visit(&records, 1)));
        Ok(())
    };
    context.report.add(Row {
        work: format!(
            "visit 16 threads, random arrivals, in an order known in advance, {cores} cores"
        ),
        baseline: "the same on 1 core",
        goal: None,
        comparison: compare(context.pairs, Time::Wall, on_all, on_one)?,
        amount: Amount::Each(input.count, "event"),
    });
    input.remove()?;
    Ok(())
}

/// A thread, and how many of its events come next.
type Turn = (u16, u32);

/// A merge order split into two halves, with each thread's position at the start of the second
/// half.
struct Halves<'o> {
    parts: [(Vec<usize>, &'o [Turn]); 2],
}

impl<'o> Halves<'o> {
    fn new(order: &'o [Turn], threads: usize) -> Self {
        let (first, second) = order.split_at(order.len() / 2);
        let mut places = vec![0; threads];
        for (thread, count) in first {
            places[usize::from(*thread)] += *count as usize;
        }
        Self {
            parts: [(vec![0; threads], first), (places, second)],
        }
    }

    fn visit(&self, threads: &[&[[u8; EVENT_SIZE]]], cores: usize) -> u64 {
        let work = |(places, order): &(Vec<usize>, &[Turn])| visit(threads, places.clone(), order);
        let [first, second] = &self.parts;
        if cores < 2 {
            return work(first) ^ work(second);
        }
        std::thread::scope(|scope| {
            let other = scope.spawn(|| work(second));
            work(first) ^ other.join().unwrap_or_default()
        })
    }
}

/// Mapped files to merge, and the expected result.
pub(crate) struct Input {
    session: std::path::PathBuf,
    maps: Vec<Events>,
    pub(crate) count: u64,
    sum: u64,
}

impl Input {
    pub(crate) fn new(context: &Context, threads: u32, shape: Shape) -> Result<Self> {
        let events_per_thread = context.events(EVENTS) / u64::from(threads);
        let synth = Synth {
            threads,
            events_per_thread,
            detail_per_mille: 0,
            shape,
            ..Synth::default()
        };
        let session = input::session(context, "merge", &synth)?;
        let map = |thread| Events::map(&session.join(format!("thread_{thread}/index.atf")));
        let maps = (0..threads).map(map).collect::<Result<Vec<_>>>()?;
        let records: Vec<_> = maps.iter().map(Events::records).collect();
        let sum = heap(&records);
        let count = events_per_thread * u64::from(threads);
        Ok(Self {
            session,
            maps,
            count,
            sum,
        })
    }

    fn merge(&self) -> Result<Merge> {
        let open = |(thread, events): (u32, &Events)| Ok((thread, events.reader()?));
        let files = (0..)
            .zip(&self.maps)
            .map(open)
            .collect::<Result<Vec<_>>>()?;
        Ok(Merge::new(files))
    }

    pub(crate) fn ours(&self, watch: &mut Stopwatch) -> Result<()> {
        let merge = self.merge()?;
        let sum = watch.time(|| merge.events().fold(0, in_order));
        self.check(sum)
    }

    /// Merges with default options: positioned reads and verified events.
    fn by_default(&self, watch: &mut Stopwatch) -> Result<()> {
        let sum = watch.time(|| {
            let merge = SessionReader::open(&self.session)?.merge();
            let mut sum = 0;
            for merged in merge.events() {
                sum = in_order(sum, merged);
            }
            Ok::<_, atf::Error>(sum)
        })?;
        self.check(sum)
    }

    /// Returns the merged order, as turns: a thread and its number of consecutive events.
    fn order(&self) -> Result<Vec<Turn>> {
        let mut order: Vec<Turn> = Vec::new();
        for merged in self.merge()?.events() {
            let thread = u16::try_from(merged?.thread)?;
            match order.last_mut() {
                Some(turn) if turn.0 == thread => turn.1 += 1,
                _ => order.push((thread, 1)),
            }
        }
        Ok(order)
    }

    /// Fetches, decodes and passes on each event in a known order.
    fn visit(&self, watch: &mut Stopwatch, order: &[Turn]) -> Result<()> {
        let records: Vec<_> = self.maps.iter().map(Events::records).collect();
        let sum = watch.time(|| visit(&records, vec![0; records.len()], order));
        self.check(sum)
    }

    /// Does everything that a merge does except choosing the next thread: verifies all events, then
    /// visits them.
    fn scan_and_visit(&self, watch: &mut Stopwatch, order: &[Turn]) -> Result<()> {
        let readers = self.maps.iter().map(Events::reader);
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let records: Vec<_> = self.maps.iter().map(Events::records).collect();
        let sum = watch.time(|| {
            for reader in &readers {
                reader.scan()?;
            }
            Ok::<_, atf::Error>(visit(&records, vec![0; records.len()], order))
        })?;
        self.check(sum)
    }

    fn heap(&self, watch: &mut Stopwatch) -> Result<()> {
        let records: Vec<_> = self.maps.iter().map(Events::records).collect();
        let sum = watch.time(|| heap(&records));
        self.check(sum)
    }

    pub(crate) fn remove(self) -> Result<()> {
        Ok(std::fs::remove_dir_all(self.session)?)
    }

    /// Checks a merge's sum, which depends on the events and their order.
    fn check(&self, sum: u64) -> Result<()> {
        if black_box(sum) == self.sum {
            Ok(())
        } else {
            Err("two ways of merging gave different results".into())
        }
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

/// How many events ahead records are prefetched, as in a merge of few threads.
const AHEAD: usize = 16;

#[allow(unsafe_code, reason = "prefetching is an instruction without effect")]
fn prefetch(record: &[u8; EVENT_SIZE]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction belongs to SSE, which every x86-64 processor has, and cannot fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(record.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = record;
}

fn visit(threads: &[&[[u8; EVENT_SIZE]]], mut next: Vec<usize>, order: &[Turn]) -> u64 {
    order.iter().fold(0, |sum, (thread, count)| {
        let place = usize::from(*thread);
        let start = next[place];
        let end = start + *count as usize;
        next[place] = end;
        if let Some(ahead) = threads[place].get(end + AHEAD) {
            prefetch(ahead);
        }
        let thread = u32::from(*thread);
        let records = (start as u64..).zip(&threads[place][start..end]);
        records.fold(sum, |sum, (seq, record)| {
            let event = IndexEvent::decode(Wire::V1, thread, record);
            in_order(sum, Ok(MergedEvent::new(0, thread, seq, event)))
        })
    })
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
