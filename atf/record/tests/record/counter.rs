//! Compares the processor's counter with the system's clock.

use std::thread;
use std::time::Duration;

use atf::clock::now_ns;
use atf_record::CounterClock;

/// How far apart the two clocks' readings may be, in nanoseconds. After the first millisecond, the
/// rate is known to within about 50 ppm. A wrong conversion would cause a much larger difference.
const LIMIT: u64 = 100_000;

/// Reads the counter between two readings of the system's clock, and returns how far the counter's
/// time is outside the interval between them.
fn difference(clock: &CounterClock) -> u64 {
    let (before, counted, after) = (now_ns(), clock.now_ns(), now_ns());
    before
        .saturating_sub(counted)
        .max(counted.saturating_sub(after))
}

#[test]
fn the_counter_agrees_with_the_system_clock_on_every_core_while_it_is_adjusted() {
    let Some(clock) = CounterClock::start() else {
        atf_samples::tools::skip("no constant-rate counter");
        return;
    };
    let end = now_ns() + 300_000_000;
    let cores = thread::available_parallelism().unwrap().get();
    let largest = thread::scope(|scope| {
        let measure = || {
            let (mut largest, mut last) = (0, 0);
            while now_ns() < end {
                for _ in 0..100 {
                    largest = difference(&clock).max(largest);
                    let now = clock.now_ns();
                    assert!(now >= last, "{now} after {last}");
                    last = now;
                }
                thread::sleep(Duration::from_micros(100));
            }
            largest
        };
        let threads: Vec<_> = (0..2 * cores).map(|_| scope.spawn(measure)).collect();
        while now_ns() < end {
            clock.adjust();
            thread::sleep(Duration::from_millis(1));
        }
        let found = threads.into_iter().map(|thread| thread.join().unwrap());
        found.max().unwrap()
    });
    assert!(largest < LIMIT, "{largest}");
    let error = clock.error_ns();
    assert!(0 < error && error < LIMIT, "{error}");
    println!("off by {largest} ns at most, {error} ns by its own measure");
}

#[test]
fn a_clock_that_is_not_adjusted_keeps_its_first_rate() {
    let Some(clock) = CounterClock::start() else {
        return;
    };
    thread::sleep(Duration::from_millis(20));
    let before = difference(&clock);
    assert!(before < 10 * LIMIT, "{before}");
    clock.adjust();
    // The clock's own error estimate must cover the difference measured above.
    assert!(clock.error_ns() + LIMIT >= before);
}
