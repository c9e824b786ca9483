//! Tests the clock, its arithmetic and the anchors. All numbers were computed by hand.

mod anchor;
mod timebase;

use atf::clock;

#[test]
fn time_never_goes_back_within_or_across_threads() {
    clock::init();
    let start = clock::now_ns();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let mut last = clock::now_ns();
                for _ in 0..10_000 {
                    let now = clock::now_ns();
                    assert!(now >= last);
                    last = now;
                }
                last
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap() >= start);
    }
}

#[test]
fn a_sleep_takes_as_long_as_on_the_standard_clock() {
    let (start, std_start) = (clock::now_ns(), std::time::Instant::now());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let (end, std_elapsed) = (clock::now_ns(), std_start.elapsed());
    let elapsed = end - start;
    assert!(elapsed >= 20_000_000, "{elapsed} ns");
    // The measured interval encloses the standard library's, so it is at least as long. Both are in
    // nanoseconds.
    assert!(u128::from(elapsed) < std_elapsed.as_nanos() + 1_000_000_000);
}

/// A clock with a resolution of only a millisecond or microsecond would stand still or jump by at
/// least 1000 ns.
#[test]
fn consecutive_readings_differ_by_less_than_a_microsecond() {
    let readings: Vec<u64> = (0..10_000).map(|_| clock::now_ns()).collect();
    let steps = readings.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(steps.filter(|step| (1..1000).contains(step)).count() > 100);
}

#[cfg(target_os = "linux")]
#[test]
fn the_clock_on_linux_is_the_time_since_boot() {
    assert_eq!(clock::CLOCK, atf::Clock(3));
    // Read the seconds since boot, with two decimals, from another kernel interface.
    let uptime = || {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let (seconds, hundredths) = text.split(' ').next().unwrap().split_once('.').unwrap();
        let number = |digits: &str| digits.parse::<u64>().unwrap();
        number(seconds) * 1_000_000_000 + number(hundredths) * 10_000_000
    };
    let before = uptime();
    let now = clock::now_ns();
    let after = uptime();
    assert!(
        before <= now && now <= after + 10_000_000,
        "{before} {now} {after}"
    );
}
