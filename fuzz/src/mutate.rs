//! A fallback fuzzer that mutates seeds at random and does not need a nightly compiler.
//!
//! Without coverage feedback, this fuzzer finds less than libFuzzer in the same time. Its findings
//! are reproducible, because all randomness comes from a seed.

use std::collections::BTreeMap;
use std::panic;
use std::time::{Duration, Instant};

use atf_samples::random::Random;

use crate::Target;

/// The result of fuzzing one target.
#[derive(Debug)]
pub struct Outcome {
    /// The number of inputs tried.
    pub inputs: u64,
    /// The input that made the target panic.
    pub found: Option<Vec<u8>>,
}

/// Runs a target on mutated seeds until it panics or the time is up.
#[must_use]
pub fn mutate(
    target: Target,
    seeds: &BTreeMap<String, Vec<u8>>,
    time: Duration,
    seed: u64,
) -> Outcome {
    let seeds: Vec<&[u8]> = seeds.values().map(Vec::as_slice).collect();
    let mut chance = Chance::new(seed);
    let start = Instant::now();
    let (mut inputs, mut found) = (0, None);
    while found.is_none() && start.elapsed() < time {
        let mut input = chance.0.pick(&seeds).to_vec();
        let changes = 1 + chance.0.below(4);
        for _ in 0..changes {
            chance.change(&mut input, &seeds);
        }
        inputs += 1;
        let panics = panic::catch_unwind(|| (target.body)(&input)).is_err();
        found = panics.then_some(input);
    }
    Outcome { inputs, found }
}

/// Finds a smaller input that also makes the target panic, by removing halves, quarters and so on,
/// and then setting bytes to 0.
#[must_use]
pub fn minimize(target: Target, input: &[u8]) -> Vec<u8> {
    let panics = |input: &[u8]| panic::catch_unwind(|| (target.body)(input)).is_err();
    let mut least = input.to_vec();
    let mut size = least.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < least.len() {
            let end = (at + size).min(least.len());
            let shorter = [&least[..at], &least[end..]].concat();
            if panics(&shorter) {
                least = shorter;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    for at in 0..least.len() {
        let before = std::mem::replace(&mut least[at], 0);
        if before != 0 && !panics(&least) {
            least[at] = before;
        }
    }
    least
}

/// Random changes of inputs.
#[derive(Debug)]
pub struct Chance(Random);

const EDGES: [u64; 12] = [
    0,
    1,
    31,
    32,
    63,
    64,
    65,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 32,
    i64::MAX as u64,
    u64::MAX,
];

impl Chance {
    /// Creates changes from a random seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// Truncates an input, flips a bit, or changes a piece, which may come from one of the `seeds`.
    pub fn change(&mut self, input: &mut Vec<u8>, seeds: &[&[u8]]) {
        if input.is_empty() {
            input.push(0);
        }
        let at = self.0.below(input.len());
        match self.0.below(7) {
            0 => input[at] ^= 1 << self.0.below(8),
            1 => input[at] = self.0.number().to_le_bytes()[0],
            2 => input.truncate(at),
            3 => {
                let (number, size) = (self.0.pick(&EDGES), self.0.pick(&[1, 2, 4, 8]));
                let bytes = number.to_le_bytes();
                let places = input[at..].iter_mut().zip(&bytes[..size]);
                places.for_each(|(place, byte)| *place = *byte);
            }
            4 => {
                let end = (at + 1 + self.0.below(64)).min(input.len());
                input.drain(at..end);
            }
            5 => {
                let end = (at + 1 + self.0.below(96)).min(input.len());
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            _ => {
                let other = self.0.pick(seeds);
                let from = self.0.below(other.len());
                let end = (from + 1 + self.0.below(128)).min(other.len());
                let piece = &other[from.min(end)..end];
                let until = (at + piece.len()).min(input.len());
                input.splice(at..until, piece.iter().copied());
            }
        }
    }
}
