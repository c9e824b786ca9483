//! Reads values from environment variables.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use atf_symbolize::Filter;

pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
}

pub(crate) fn text(variable: &str) -> Result<Option<String>, String> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let value = value.map(OsString::into_string).transpose();
    value.map_err(|found| wrong(variable, "text in UTF-8", &found.to_string_lossy()))
}

pub(crate) fn number<T: std::str::FromStr>(variable: &str) -> Result<Option<T>, String> {
    let parse = |value: String| {
        value
            .parse()
            .map_err(|_| wrong(variable, "a number", &value))
    };
    text(variable)?.map(parse).transpose()
}

pub(crate) fn filter(variable: &str) -> Result<Filter, String> {
    let globs = text(variable)?.unwrap_or_default();
    Filter::parse(&globs).map_err(|error| format!("{variable}: {error}"))
}

pub(crate) fn wrong(variable: &str, expected: &str, found: &str) -> String {
    format!("{variable}: expected {expected}, found \"{found}\"")
}

pub(crate) fn milliseconds(variable: &str) -> Result<Option<Duration>, String> {
    let Some(found) = text(variable)? else {
        return Ok(None);
    };
    let time = parse_time(&found, 1e-3).ok_or_else(|| wrong(variable, "a number", &found));
    time.map(Some)
}

/// Parses a number in a unit of this many seconds.
pub(crate) fn parse_time(number: &str, unit: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// Reads a size in bytes with a unit.
pub(crate) fn size(variable: &str) -> Result<Option<usize>, String> {
    let Some(found) = text(variable)? else {
        return Ok(None);
    };
    let size = parse_size(&found).and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| *size > 0);
    let size = size.ok_or_else(|| wrong(variable, "a size such as 64M", &found));
    size.map(Some)
}

pub(crate) fn parse_size(length: &str) -> Option<u64> {
    let units = [('K', 1_u64 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    units.iter().find_map(|(unit, size)| {
        let count: u64 = length.strip_suffix(*unit)?.parse().ok()?;
        count.checked_mul(*size)
    })
}
