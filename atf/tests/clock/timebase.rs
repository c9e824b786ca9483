//! Tests the conversion of ticks to nanoseconds.

use atf::clock::Timebase;

fn mach(numer: u64, denom: u64) -> Timebase {
    Timebase::new(numer, denom).unwrap()
}

fn qpc(frequency: u64) -> Timebase {
    Timebase::from_frequency(frequency).unwrap()
}

#[test]
fn a_tick_of_one_nanosecond_changes_nothing() {
    for ticks in [0, 1, 1 << 63, u64::MAX] {
        assert_eq!(mach(1, 1).to_ns(ticks), ticks);
        assert_eq!(Timebase::NANOSECONDS.to_ns(ticks), ticks);
        // 10⁹ / 10⁹
        assert_eq!(qpc(1_000_000_000).to_ns(ticks), ticks);
    }
}

#[test]
fn apple_silicon_has_125_nanoseconds_for_3_ticks() {
    // 41.67, 83.33, 125
    let expected = [(0, 0), (1, 41), (2, 83), (3, 125), (4, 166)];
    for (ticks, ns) in expected {
        assert_eq!(mach(125, 3).to_ns(ticks), ns);
    }
    // A century at 24 MHz: 36 525 days * 86 400 s = 3 155 760 000 s.
    let century = 3_155_760_000 * 24_000_000;
    assert_eq!(mach(125, 3).to_ns(century), 3_155_760_000_000_000_000);
    assert_eq!(mach(125, 3).to_ns(century + 1), 3_155_760_000_000_000_041);
}

#[test]
fn a_counter_of_10_mhz_has_ticks_of_100_nanoseconds() {
    assert_eq!(qpc(10_000_000).to_ns(1), 100);
    assert_eq!(qpc(10_000_000).to_ns(123_456_789), 12_345_678_900);
    // Five centuries are 1.57788e17 ticks. In 64 bits, ticks * 10⁹ would wrap after half an hour.
    assert_eq!(
        qpc(10_000_000).to_ns(157_788_000_000_000_000),
        15_778_800_000_000_000_000
    );
}

#[test]
fn a_counter_of_3_ghz_rounds_down() {
    // Each tick is a third of a nanosecond.
    let expected = [
        (1, 0),
        (2, 0),
        (3, 1),
        (5, 1),
        (6, 2),
        (3_000_000_000, 1_000_000_000),
    ];
    for (ticks, ns) in expected {
        assert_eq!(qpc(3_000_000_000).to_ns(ticks), ns);
    }
    // 2⁶⁴ - 1 is divisible by 3: 6 148 914 691 236 517 205.
    assert_eq!(
        qpc(3_000_000_000).to_ns(u64::MAX),
        6_148_914_691_236_517_205
    );
}

#[test]
fn odd_frequencies_are_exact() {
    // The PC's PIT: 1 193 182 Hz. 1 tick: 838.09534…, a second minus a tick: 999 999 161.904….
    assert_eq!(qpc(1_193_182).to_ns(1), 838);
    assert_eq!(qpc(1_193_182).to_ns(1_193_181), 999_999_161);
    assert_eq!(qpc(1_193_182).to_ns(1_193_182), 1_000_000_000);
    // The PC's ACPI timer runs at 3 579 545 Hz. The ticks are 100 years, or 3 155 760 000 s, plus
    // half a second rounded down: 1 789 772 ticks, which are 499 999 860.317… ns.
    let ticks = 3_579_545 * 3_155_760_000 + 1_789_772;
    assert_eq!(qpc(3_579_545).to_ns(ticks), 3_155_760_000_499_999_860);
    assert_eq!(qpc(1).to_ns(7), 7_000_000_000);
}

#[test]
fn products_past_64_bits_are_exact() {
    // rest = 2⁶³ - 1 of 2⁶³ ticks: (2⁶³ - 1) * 10⁹ / 2⁶³ = 10⁹ - 10⁹ / 2⁶³.
    assert_eq!(qpc(1 << 63).to_ns((1 << 63) - 1), 999_999_999);
    // (2⁶⁴ - 2) * (2⁶⁴ - 1) / (2⁶⁴ - 1)
    assert_eq!(mach(u64::MAX, u64::MAX).to_ns(u64::MAX - 1), u64::MAX - 1);
    // (2⁶⁴ - 2) * (2⁶³) / (2⁶⁴ - 1) = 2⁶³ - 2⁶³ / (2⁶⁴ - 1), so 2⁶³ - 1.
    assert_eq!(mach(1 << 63, u64::MAX).to_ns(u64::MAX - 1), (1 << 63) - 1);
}

#[test]
fn a_result_beyond_64_bits_saturates() {
    assert_eq!(mach(125, 3).to_ns(u64::MAX), u64::MAX);
    assert_eq!(qpc(10_000_000).to_ns(u64::MAX), u64::MAX);
    // 2⁶⁴ - 1 = 184 467 440 737 095 516 * 100 + 15
    assert_eq!(
        qpc(10_000_000).to_ns(184_467_440_737_095_516),
        u64::MAX - 15
    );
    assert_eq!(qpc(10_000_000).to_ns(184_467_440_737_095_517), u64::MAX);
    // Two ticks are 2⁶⁴ - 1 ns, which still fits; a third exceeds the range, so the result
    // saturates.
    assert_eq!(mach(u64::MAX, 2).to_ns(3), u64::MAX);
}

#[test]
fn a_clock_without_ticks_is_rejected() {
    assert_eq!(Timebase::new(0, 3), None);
    assert_eq!(Timebase::new(125, 0), None);
    assert_eq!(Timebase::from_frequency(0), None);
}
