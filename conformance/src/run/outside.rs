//! Detects reads outside the session under test.
//!
//! Some cases have decoys next to the session. The kit detects that a decoy was read in two ways:
//! either the decoy's events, with functions of [`CANARY`], appear in
//! the answer, or the system reports that the decoy was opened, whether or not it was read or
//! mapped. Only Linux reports opened files, and the kit watches only the decoys. An implementation
//! that merely checks whether a decoy exists is not detected.

use std::path::PathBuf;

use serde_json::Value;

use crate::corpus::trace::CANARY;

/// The decoys that an implementation opened, or an error if the decoys could not be watched.
pub type Opened = Result<Vec<PathBuf>, String>;

/// Watches these files. The returned function says which of them have been opened since.
#[cfg(target_os = "linux")]
pub fn watch(decoys: Vec<PathBuf>) -> impl FnOnce() -> Opened {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    let add = || -> rustix::io::Result<_> {
        let queue = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let one = |path: PathBuf| Ok((add_watch(&queue, &path, WatchFlags::OPEN)?, path));
        let all = decoys.into_iter().map(one);
        let all = all.collect::<rustix::io::Result<Vec<_>>>()?;
        Ok((queue, all))
    };
    let added = add();
    || {
        let (queue, watched) = added.map_err(|error| error.to_string())?;
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(queue, &mut buffer);
        let mut opened = Vec::new();
        // The iterator returns an error once there are no more events.
        while let Ok(event) = events.next() {
            let found = watched.iter().find(|(watch, _)| *watch == event.wd());
            opened.extend(found.map(|(_, path)| path.clone()));
        }
        opened.sort_unstable();
        opened.dedup();
        Ok(opened)
    }
}

/// Watches these files, which is not possible on this system.
#[cfg(not(target_os = "linux"))]
pub fn watch(_decoys: Vec<PathBuf>) -> impl FnOnce() -> Opened {
    || Err("not supported on this system".to_owned())
}

/// Returns whether a document contains an event or a detail of a decoy.
#[must_use]
pub fn has_canary(document: &Value) -> bool {
    match document {
        Value::Object(members) => members.iter().any(|(key, value)| match value {
            Value::String(text) => match key.as_str() {
                "function_id" => is_canary(text),
                "payload" => begins_with_canary(text),
                _ => false,
            },
            _ => has_canary(value),
        }),
        Value::Array(values) => values.iter().any(has_canary),
        _ => false,
    }
}

fn is_canary(function_id: &str) -> bool {
    function_id
        .parse()
        .is_ok_and(|id: u64| id >> 32 == CANARY >> 32)
}

/// Returns whether a payload starts with a canary. A payload starts with the function in
/// little-endian order, so the module is in the second half of these bytes.
fn begins_with_canary(payload: &str) -> bool {
    let module = u32::try_from(CANARY >> 32).map(u32::swap_bytes);
    payload.get(8..16) == module.ok().map(|it| format!("{it:08x}")).as_deref()
}
