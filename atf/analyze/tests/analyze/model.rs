//! A naive model of the analyses, which examines every combination of a call and a point in time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use atf::EventKind;
use atf::wire::CallEffect;

use crate::Short;

/// A call, from its call event to the event that ends it.
struct Call {
    function_id: u64,
    start_seq: usize,
    /// The position of the return, or the number of events if the call is open at the end.
    end_seq: usize,
}

/// The totals of all calls with the same function, caller and callee, or call path.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbers {
    pub(crate) calls: u64,
    pub(crate) open: u64,
    pub(crate) self_ns: u64,
    pub(crate) total_ns: u64,
}

/// The expected numbers of a trace.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) functions: BTreeMap<u64, Numbers>,
    pub(crate) pairs: BTreeMap<(Option<u64>, u64), Numbers>,
    pub(crate) paths: BTreeMap<Vec<u64>, Numbers>,
    pub(crate) durations: BTreeMap<u64, Vec<u64>>,
    pub(crate) unmatched: BTreeMap<u64, u64>,
    pub(crate) events: u64,
    pub(crate) busy_ns: u64,
    /// The open calls of each thread, innermost first.
    pub(crate) open: Vec<Vec<u64>>,
}

impl Expected {
    pub(crate) fn new(threads: &[Vec<Short>], range: &RangeInclusive<u64>) -> Self {
        let mut this = Self::default();
        threads.iter().for_each(|events| this.add(events, range));
        // Rows without calls in the range are omitted.
        let is_there = |numbers: &Numbers| numbers.calls > 0;
        this.functions.retain(|_, numbers| is_there(numbers));
        this.pairs.retain(|_, numbers| is_there(numbers));
        this.paths.retain(|_, numbers| is_there(numbers));
        this
    }

    fn add(&mut self, events: &[Short], range: &RangeInclusive<u64>) {
        let mut clock: Vec<u64> = Vec::new();
        for (seq, event) in events.iter().enumerate() {
            let before = clock.last().copied().unwrap_or_default();
            let next = events.get(seq + 1).map(|event| event.0);
            let time = match next {
                Some(next) if 0 < next && before <= next && next < event.0 => next,
                _ => event.0.max(before),
            };
            clock.push(time);
        }
        let clip = |ns: u64| ns.max(*range.start()).min(*range.end());
        let at = |seq: usize| clock[seq.min(events.len() - 1)];
        self.events += clock.iter().filter(|ns| range.contains(ns)).count() as u64;
        let (calls, unmatched) = pair(events);
        for seq in unmatched
            .into_iter()
            .filter(|seq| range.contains(&clock[*seq]))
        {
            *self.unmatched.entry(events[seq].2).or_default() += 1;
        }
        let is_open = |call: &&Call, seq: usize| call.start_seq <= seq && call.end_seq > seq;
        let open_at = |seq: usize| -> Vec<u64> {
            let open = calls.iter().filter(|call| is_open(call, seq));
            open.map(|call| call.function_id).collect()
        };
        for call in &calls {
            let (start_ns, end_ns) = (at(call.start_seq), at(call.end_seq));
            if start_ns > *range.end() || end_ns < *range.start() {
                continue;
            }
            let path = open_at(call.start_seq);
            let caller = path.iter().rev().nth(1).copied();
            let is_at_end = call.end_seq == events.len();
            for numbers in [
                self.functions.entry(call.function_id).or_default(),
                self.pairs.entry((caller, call.function_id)).or_default(),
                self.paths.entry(path).or_default(),
            ] {
                numbers.calls += 1;
                numbers.open += u64::from(is_at_end);
            }
            if !is_at_end {
                let durations = self.durations.entry(call.function_id).or_default();
                durations.push(clip(end_ns) - clip(start_ns));
            }
        }
        for seq in 1..events.len() {
            let ns = clip(clock[seq]) - clip(clock[seq - 1]);
            let path = open_at(seq - 1);
            let Some(innermost) = path.last() else {
                continue;
            };
            if ns == 0 {
                continue;
            }
            self.busy_ns += ns;
            let pairs: Vec<_> = (0..path.len())
                .map(|depth| (depth.checked_sub(1).map(|above| path[above]), path[depth]))
                .collect();
            self.functions.entry(*innermost).or_default().self_ns += ns;
            let last = pairs[pairs.len() - 1];
            self.pairs.entry(last).or_default().self_ns += ns;
            self.paths.entry(path.clone()).or_default().self_ns += ns;
            for (place, function_id) in path.iter().enumerate() {
                if !path[..place].contains(function_id) {
                    self.functions.entry(*function_id).or_default().total_ns += ns;
                }
                if !pairs[..place].contains(&pairs[place]) {
                    self.pairs.entry(pairs[place]).or_default().total_ns += ns;
                }
                let prefix = path[..=place].to_vec();
                self.paths.entry(prefix).or_default().total_ns += ns;
            }
        }
        let mut open = open_at(events.len().saturating_sub(1));
        open.reverse();
        self.open.push(open);
    }
}

/// Returns the calls in the order of their starts, and the positions of returns without a call.
fn pair(events: &[Short]) -> (Vec<Call>, Vec<usize>) {
    let (mut calls, mut stack, mut unmatched) = (Vec::<Call>::new(), Vec::new(), Vec::new());
    for (seq, (_, kind, function_id)) in events.iter().enumerate() {
        match EventKind(*kind).effect() {
            CallEffect::Opens => {
                stack.push(calls.len());
                calls.push(Call {
                    function_id: *function_id,
                    start_seq: seq,
                    end_seq: events.len(),
                });
            }
            CallEffect::Returns | CallEffect::Throws => {
                let ends = |call: &usize| calls[*call].function_id == *function_id;
                match stack.iter().rposition(ends) {
                    None => unmatched.push(seq),
                    Some(place) => stack.split_off(place).into_iter().for_each(|call| {
                        calls[call].end_seq = seq;
                    }),
                }
            }
            CallEffect::None => {}
        }
    }
    (calls, unmatched)
}
