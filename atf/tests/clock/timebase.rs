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
fn other_ticks_are_exact_and_rounded_down() {
    const MAX: u64 = u64::MAX;
    for (timebase, ticks, ns) in [
        // 10 MHz. Five centuries are 1.57788e17 ticks. In 64 bits, ticks * 10⁹ would wrap after
        // half an hour.
        (qpc(10_000_000), 1, 100),
        (qpc(10_000_000), 123_456_789, 12_345_678_900),
        (
            qpc(10_000_000),
            157_788_000_000_000_000,
            15_778_800_000_000_000_000,
        ),
        // 3 GHz: each tick is a third of a nanosecond. 2⁶⁴ - 1 is divisible by 3.
        (qpc(3_000_000_000), 1, 0),
        (qpc(3_000_000_000), 2, 0),
        (qpc(3_000_000_000), 3, 1),
        (qpc(3_000_000_000), 5, 1),
        (qpc(3_000_000_000), 6, 2),
        (qpc(3_000_000_000), 3_000_000_000, 1_000_000_000),
        (qpc(3_000_000_000), MAX, 6_148_914_691_236_517_205),
        // The PC's PIT: 1 193 182 Hz. 1 tick: 838.09534…, a second minus a tick: 999 999 161.904….
        (qpc(1_193_182), 1, 838),
        (qpc(1_193_182), 1_193_181, 999_999_161),
        (qpc(1_193_182), 1_193_182, 1_000_000_000),
        // The PC's ACPI timer runs at 3 579 545 Hz. The ticks are 100 years, or 3 155 760 000 s,
        // plus half a second rounded down: 1 789 772 ticks, which are 499 999 860.317… ns.
        (
            qpc(3_579_545),
            3_579_545 * 3_155_760_000 + 1_789_772,
            3_155_760_000_499_999_860,
        ),
        (qpc(1), 7, 7_000_000_000),
        // rest = 2⁶³ - 1 of 2⁶³ ticks: (2⁶³ - 1) * 10⁹ / 2⁶³ = 10⁹ - 10⁹ / 2⁶³.
        (qpc(1 << 63), (1 << 63) - 1, 999_999_999),
        // (2⁶⁴ - 2) * (2⁶⁴ - 1) / (2⁶⁴ - 1)
        (mach(MAX, MAX), MAX - 1, MAX - 1),
        // (2⁶⁴ - 2) * (2⁶³) / (2⁶⁴ - 1) = 2⁶³ - 2⁶³ / (2⁶⁴ - 1), so 2⁶³ - 1.
        (mach(1 << 63, MAX), MAX - 1, (1 << 63) - 1),
        // Results beyond 64 bits saturate. 2⁶⁴ - 1 = 184 467 440 737 095 516 * 100 + 15
        (mach(125, 3), MAX, MAX),
        (qpc(10_000_000), MAX, MAX),
        (qpc(10_000_000), 184_467_440_737_095_516, MAX - 15),
        (qpc(10_000_000), 184_467_440_737_095_517, MAX),
        // Two ticks are 2⁶⁴ - 1 ns, which still fits; a third exceeds the range.
        (mach(MAX, 2), 3, MAX),
    ] {
        assert_eq!(timebase.to_ns(ticks), ns, "{timebase:?}, {ticks} ticks");
    }
}

#[test]
fn a_clock_without_ticks_is_rejected() {
    assert_eq!(Timebase::new(0, 3), None);
    assert_eq!(Timebase::new(125, 0), None);
    assert_eq!(Timebase::from_frequency(0), None);
}
