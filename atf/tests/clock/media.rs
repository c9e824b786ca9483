//! Tests conversions of time ranges from a recording's clock to the trace's.

use std::ops::RangeInclusive;

use atf::clock::{MediaClock, MediaTime, TimingAnchor};

#[test]
fn a_range_contains_exactly_the_timestamps_that_convert_to_its_times() {
    let anchors = |points: &[(u64, i64)]| {
        let anchor = |(host, media): &(u64, i64)| {
            TimingAnchor::new(*host, MediaTime::new(*media, 1_000_000_000))
        };
        points.iter().map(anchor).collect::<Vec<_>>()
    };
    for points in [
        &[(50, 0)][..],
        &[(0, 30)],
        &[(50, 7), (80, 16)],
        &[(50, 7), (59, 107), (100, 110), (103, 160)],
        &[(40, -20), (47, 3), (90, 31)],
    ] {
        let clock = MediaClock::new(&anchors(points)).unwrap();
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
