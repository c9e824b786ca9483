//! Tests conversions of times and time ranges between the trace's timeline and a recording's.

use std::ops::RangeInclusive;

use atf::clock::{MediaClock, MediaTime, TimingAnchor};

fn media(value: i64, timescale: i32) -> MediaTime {
    MediaTime::new(value, timescale)
}

fn anchor(host_time_ns: u64, value: i64, timescale: i32) -> TimingAnchor {
    TimingAnchor::new(host_time_ns, media(value, timescale))
}

#[test]
fn both_conversions_agree_before_at_and_after_the_anchor() {
    // 44.1 kHz, at 10 s of the trace's clock; 10 ms are 441 samples.
    let anchor = anchor(10_000_000_000, 44_100, 44_100);
    let pairs = [
        (10_000_000_000, 44_100),
        (10_010_000_000, 44_541),
        (9_990_000_000, 43_659),
        (0, 44_100 - 441_000),
    ];
    for (host, value) in pairs {
        assert_eq!(anchor.to_media(host), Some(media(value, 44_100)));
        assert_eq!(anchor.to_host_ns(media(value, 44_100)), Some(host));
    }
}

#[test]
fn results_are_rounded_to_the_nearest_and_halves_away_from_the_anchor() {
    let two = anchor(1_000_000_000, 0, 2);
    // In a timescale of 2, a quarter of a second is half a unit.
    let to_media = [
        (1_249_999_999, 0),
        (1_250_000_000, 1),
        (750_000_001, 0),
        (750_000_000, -1),
    ];
    for (host, value) in to_media {
        assert_eq!(two.to_media(host), Some(media(value, 2)));
    }
    // 1/3 s and 2/3 s.
    let three = anchor(1_000_000_000, 0, 3);
    let to_host = [
        (1, 1_333_333_333),
        (2, 1_666_666_667),
        (-1, 666_666_667),
        (-2, 333_333_333),
    ];
    for (value, host) in to_host {
        assert_eq!(three.to_host_ns(media(value, 3)), Some(host));
    }
    // 1 / (2 * 10⁹) s is half a nanosecond.
    let half = anchor(100, 0, 2_000_000_000);
    assert_eq!(half.to_host_ns(media(1, 2_000_000_000)), Some(101));
    assert_eq!(half.to_host_ns(media(-1, 2_000_000_000)), Some(99));
}

#[test]
fn a_time_in_another_timescale_is_exact() {
    // The anchor is at 1/600 s and the query at 1/48000 s: -79/48000 s = -1 645 833.3 ns.
    let anchor = anchor(5_000_000_000, 1, 600);
    assert_eq!(anchor.to_host_ns(media(1, 48_000)), Some(4_998_354_167));
    // 80/48000 s is 1/600 s.
    assert_eq!(anchor.to_host_ns(media(80, 48_000)), Some(5_000_000_000));
}

#[test]
fn intermediate_results_of_the_largest_numbers_do_not_overflow() {
    let far = anchor(u64::MAX, i64::MAX, i32::MAX);
    assert_eq!(far.to_host_ns(far.media_time), Some(u64::MAX));
    assert_eq!(far.to_media(u64::MAX), Some(far.media_time));
    // (2⁶³ - 1) / 10⁹ s in a timescale of 10⁹ is 2⁶³ - 1 ns.
    let zero = anchor(0, 0, 1_000_000_000);
    let (last, ns) = (media(i64::MAX, 1_000_000_000), (1 << 63) - 1);
    assert_eq!(zero.to_host_ns(last), Some(ns));
    assert_eq!(zero.to_media(ns), Some(last));
}

#[test]
fn a_result_that_does_not_fit_is_none() {
    let zero = anchor(0, 0, 1_000_000_000);
    assert_eq!(zero.to_media(1 << 63), None);
    assert_eq!(zero.to_host_ns(media(-1, 1_000_000_000)), None);
    assert_eq!(zero.to_host_ns(media(i64::MAX, 1)), None);
    // Cross products of 2⁶³ * 2³¹ do not overflow either.
    let low = anchor(0, i64::MIN, i32::MAX);
    assert_eq!(low.to_host_ns(media(i64::MAX, 1)), None);
    assert_eq!(anchor(1 << 63, i64::MIN, 1).to_media(0), None);
}

#[test]
fn an_invalid_timescale_converts_to_nothing() {
    for timescale in [0, -1, i32::MIN] {
        let invalid = anchor(0, 0, timescale);
        assert_eq!(invalid.to_media(1), None);
        assert_eq!(invalid.to_host_ns(media(1, 600)), None);
        assert_eq!(anchor(0, 0, 600).to_host_ns(media(1, timescale)), None);
        assert_eq!(invalid.drift_ppb(&anchor(1, 1, 600)), None);
    }
}

#[test]
fn two_anchors_determine_the_drift_of_the_clocks() {
    // The trace covers 1000 s, in which the recording counts 480 samples more than 48 000 000:
    // 10 ppm.
    let start = anchor(7_000_000_000, 480, 48_000);
    let faster = anchor(1_007_000_000_000, 480 + 48_000_480, 48_000);
    assert_eq!(start.drift_ppb(&faster), Some(10_000));
    assert_eq!(faster.drift_ppb(&start), Some(10_000));
    let slower = anchor(1_007_000_000_000, 480 + 47_999_520, 48_000);
    assert_eq!(start.drift_ppb(&slower), Some(-10_000));
    assert_eq!(start.drift_ppb(&start), None);
    // The same, with the second anchor in a timescale of 10⁹: 0.01 s + 1000.01 s.
    let other = anchor(1_007_000_000_000, 1_000_020_000_000, 1_000_000_000);
    assert_eq!(start.drift_ppb(&other), Some(10_000));
}

#[test]
fn a_range_contains_exactly_the_timestamps_that_convert_to_its_times() {
    let at = |(host, media): &(u64, i64)| anchor(*host, *media, 1_000_000_000);
    for points in [
        &[(50, 0)][..],
        &[(0, 30)],
        &[(50, 7), (80, 16)],
        &[(50, 7), (59, 107), (100, 110), (103, 160)],
        &[(40, -20), (47, 3), (90, 31)],
    ] {
        let anchors: Vec<_> = points.iter().map(at).collect();
        let clock = MediaClock::new(&anchors).unwrap();
        let timestamps: Vec<u64> = (0..300).collect();
        for from in 0..140 {
            for to in from..140 {
                let is_in = |ns: &u64| {
                    let media = clock.to_media_ns(*ns);
                    media.is_some_and(|media| (from..=to).contains(&media))
                };
                let mut expected = timestamps.iter().copied().filter(is_in);
                let first = expected.next();
                let ends = first.map(|first| (first, expected.next_back().unwrap_or(first)));
                let found = clock.to_host_range(from..=to);
                let found = found.map(RangeInclusive::into_inner);
                assert_eq!(found, ends, "{points:?} {from} {to}");
            }
        }
        let all = clock.to_host_range(0..=u64::MAX).unwrap();
        assert_eq!(*all.end(), u64::MAX);
        assert!(clock.to_media_ns(*all.start()).is_some());
    }
}
