//! Reads what the system reports about processes, in `/proc`.

use std::fs;
use std::io;
use std::path::Path;

/// Reads a file. Names in it may contain any bytes.
pub(super) fn text(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a field of a process's `status`, such as `Uid:`.
pub(super) fn field<'s>(status: &'s str, key: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(key))
}

/// Returns the fields of a process's `stat`, from its state on. The program's name, in brackets
/// before the state, may contain anything.
pub(super) fn stat(process: &Path) -> Option<Vec<String>> {
    let stat = text(&process.join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}
