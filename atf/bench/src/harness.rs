//! Times two ways of doing the same work, in alternating runs.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Time {
    Wall,
    /// CPU time of the process and of the commands that it ran, including kernel time. Used for
    /// writes, because the time a file system spends on pages varies and is beyond the program's
    /// control.
    Cpu,
}

impl Time {
    fn now(self) -> Duration {
        match self {
            Self::Wall => since_start(ClockId::Monotonic),
            Self::Cpu => since_start(ClockId::ProcessCPUTime) + commands(),
        }
    }
}

fn since_start(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    // Both clocks start at zero, so they are never negative.
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

/// Returns the CPU time of the commands that have exited and of their child processes.
#[allow(unsafe_code, reason = "no package offers the call safely")]
fn commands() -> Duration {
    // SAFETY: zeros are valid for its integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer refers to the variable, which the call writes.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let duration = |time: libc::timeval| {
        let micros = time.tv_usec.try_into().unwrap_or_default();
        Duration::from_secs(time.tv_sec.try_into().unwrap_or_default())
            + Duration::from_micros(micros)
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

/// The total time of the timed parts of a run. The rest of the run is preparation.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    time: Time,
    total: Duration,
}

impl Stopwatch {
    /// Adds time that another program measured.
    pub(crate) fn add(&mut self, time: Duration) {
        self.total += time;
    }

    /// Runs `work` and adds its time.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = self.time.now();
        let done = work();
        self.total += self.time.now().saturating_sub(start);
        done
    }
}

/// Returns a run that times the entire work.
pub(crate) fn timed<T, E: Into<Box<dyn std::error::Error>>>(
    mut work: impl FnMut() -> std::result::Result<T, E>,
) -> impl FnMut(&mut Stopwatch) -> Result<()> {
    move |watch| {
        black_box(watch.time(&mut work).map_err(Into::into)?);
        Ok(())
    }
}

/// Returns a run that times the entire work, whose result must be the expected one.
pub(crate) fn checked<T: PartialEq, E: Into<Box<dyn std::error::Error>>>(
    expected: T,
    mut work: impl FnMut() -> std::result::Result<T, E>,
) -> impl FnMut(&mut Stopwatch) -> Result<()> {
    move |watch| match watch.time(&mut work) {
        Ok(result) if black_box(&result) == &expected => Ok(()),
        Ok(_) => Err("the two ways of working gave different results".into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns how many threads can run at once.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn once(time: Time, mut work: impl FnMut(&mut Stopwatch) -> Result<()>) -> Result<Duration> {
    let mut stopwatch = Stopwatch {
        time,
        total: Duration::ZERO,
    };
    work(&mut stopwatch)?;
    Ok(stopwatch.total)
}

/// Returns the median time of several runs after one warm-up run.
pub(crate) fn median_of(
    runs: usize,
    time: Time,
    mut work: impl FnMut(&mut Stopwatch) -> Result<()>,
) -> Result<Duration> {
    once(time, &mut work)?;
    let runs: Result<Vec<_>> = (0..runs.max(1)).map(|_| once(time, &mut work)).collect();
    Ok(median(runs?))
}

/// Alternates runs of `ours` and `baseline`, so that other load on the machine affects both. Which
/// of the two runs first alternates from pair to pair. The first pair is a warm-up and is not
/// counted. Until the ratio's interval is narrow, more pairs are added, up to three times `pairs`
/// in total.
pub(crate) fn compare(
    pairs: usize,
    time: Time,
    mut ours: impl FnMut(&mut Stopwatch) -> Result<()>,
    mut baseline: impl FnMut(&mut Stopwatch) -> Result<()>,
) -> Result<Comparison> {
    once(time, &mut baseline)?;
    once(time, &mut ours)?;
    let mut comparison = Comparison::default();
    let least = pairs.max(1);
    for pair in 0..3 * least {
        if pair >= least && comparison.ratio().is_narrow() {
            break;
        }
        if pair % 2 == 0 {
            comparison.baseline.push(once(time, &mut baseline)?);
            comparison.ours.push(once(time, &mut ours)?);
        } else {
            comparison.ours.push(once(time, &mut ours)?);
            comparison.baseline.push(once(time, &mut baseline)?);
        }
    }
    Ok(comparison)
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Comparison {
    ours: Vec<Duration>,
    baseline: Vec<Duration>,
}

/// The speed of our code as a multiple of the baseline's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    /// The ends of an interval that contains the true median with 95 % confidence for any
    /// distribution. With fewer than six pairs, they are the worst and the best ratio.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Ratio {
    /// Returns whether the interval is so narrow that more pairs would hardly change the result.
    fn is_narrow(self) -> bool {
        self.high - self.low <= self.median / 10.0
    }
}

impl Comparison {
    /// Returns the median of the pairs' ratios, and its interval.
    pub(crate) fn ratio(&self) -> Ratio {
        let pairs = self.baseline.iter().zip(&self.ours);
        let ratio = |(baseline, ours): (&Duration, &Duration)| {
            baseline.as_secs_f64() / ours.as_secs_f64().max(1e-9)
        };
        let mut ratios: Vec<f64> = pairs.map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let beyond = beyond(ratios.len());
        let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
        Ratio {
            median: at(ratios.len() / 2),
            low: at(beyond),
            high: at(ratios.len().wrapping_sub(1 + beyond)),
        }
    }

    /// Returns the median of our times.
    pub(crate) fn ours(&self) -> Duration {
        median(self.ours.clone())
    }
}

/// Returns how many of `count` sorted samples lie beyond either end of the median's 95 % interval.
/// Each sample is below the true median with probability one half, so the number of samples below
/// it is binomial.
fn beyond(count: usize) -> usize {
    let (mut probability, mut sum, mut beyond) = (0.5_f64.powi(count as i32), 0.0, 0_usize);
    loop {
        sum += probability;
        if sum > 0.025 {
            return beyond.saturating_sub(1);
        }
        probability *= (count - beyond) as f64 / (beyond + 1) as f64;
        beyond += 1;
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Duration, Ratio, beyond};

    #[test]
    fn intervals_match_the_sign_test() {
        // These sizes are from tables of the sign test: with 6 samples, the interval spans all of
        // them, and with 9, all but one at each end.
        let beyond = [1, 5, 6, 8, 9, 12, 15, 21].map(beyond);
        assert_eq!(beyond, [0, 0, 0, 0, 1, 2, 3, 5]);
    }

    #[test]
    fn a_ratio_is_the_median_over_pairs_not_over_times() {
        let times = |seconds: [u64; 3]| seconds.map(Duration::from_secs).to_vec();
        let comparison = Comparison {
            ours: times([1, 10, 2]),
            baseline: times([3, 20, 12]),
        };
        let expected = Ratio {
            median: 3.0,
            low: 2.0,
            high: 6.0,
        };
        assert_eq!(comparison.ratio(), expected);
        assert_eq!(comparison.ours(), Duration::from_secs(2));
    }
}
