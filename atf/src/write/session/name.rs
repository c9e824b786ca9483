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
