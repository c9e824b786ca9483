//! The names of session folders.

use std::time::SystemTime;

/// Returns the name of a folder, `session_<YYYYMMDD>_<HHMMSS>`, for a time in UTC (S0, S1). A time
/// before 1970 or after 9999 is clamped: a wrong clock must not prevent tracing.
#[must_use]
pub fn session_name(moment: SystemTime) -> String {
    /// The last second of the year 9999.
    const LAST: u64 = 253_402_300_799;
    let since_1970 = moment.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since_1970.map_or(0, |time| time.as_secs()).min(LAST);
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("session_{year}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
}

/// Returns the year, month and day of a day counted from 1970-01-01.
fn date(mut day: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while let Some(rest) = day.checked_sub(if is_leap(year) { 366 } else { 365 }) {
        (year, day) = (year.saturating_add(1), rest);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter();
    let mut month = 1;
    while let Some(rest) = months.next().and_then(|days| day.checked_sub(days)) {
        (month, day) = (u64::saturating_add(month, 1), rest);
    }
    (year, month, day.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_session_is_named_after_its_start_in_utc() {
        // 2026-01-05T10:15:00Z, as printed by `date -u +%s`.
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_608_100_999);
        assert_eq!(session_name(moment), "session_20260105_101500");
    }

    #[test]
    fn the_name_of_a_session_respects_leap_years() {
        // As printed by `date -u -d "2024-02-29 23:59:59" +%s`, and so on.
        for (seconds, name) in [
            (951_782_400, "session_20000229_000000"),
            (1_709_251_199, "session_20240229_235959"),
            (1_709_251_200, "session_20240301_000000"),
            (1_735_689_599, "session_20241231_235959"),
            (1_735_689_600, "session_20250101_000000"),
            (4_107_542_399, "session_21000228_235959"),
            (4_107_542_400, "session_21000301_000000"),
        ] {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(session_name(moment), name);
        }
    }

    #[test]
    fn a_clock_out_of_range_for_a_name_is_clamped() {
        let second = Duration::from_secs(1);
        let before = SystemTime::UNIX_EPOCH - second;
        assert_eq!(session_name(before), "session_19700101_000000");
        let year_10000 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800);
        assert_eq!(session_name(year_10000), "session_99991231_235959");
        assert_eq!(session_name(year_10000 - second), "session_99991231_235959");
    }
}
