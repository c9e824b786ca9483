//! Collects the functions that occur in events.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use atf::ErrorKind;
use atf::index::IndexReader;
use atf::session::{SessionReader, ThreadEntry};
use atf_analyze::in_parallel;

/// The number of events that one processor reads at a time.
const PART: u64 = 1 << 19;

/// The number of recently seen functions that need no lookup in the set: a power of two.
const RECENT: usize = 1 << 10;

/// Returns the ids of the functions in the events of a session, and for each thread whose events
/// could not all be read, the first error. `atf check` reports other problems.
pub(super) fn functions(session: &SessionReader) -> (HashSet<u64>, Vec<atf::Error>) {
    in_parts(session, PART)
}

fn in_parts(session: &SessionReader, size: u64) -> (HashSet<u64>, Vec<atf::Error>) {
    let opened = session.threads().iter().map(ThreadEntry::open_index);
    let opened: Vec<_> = opened.collect();
    let parts = opened.iter().enumerate().flat_map(|(thread, index)| {
        let index = index.as_ref().ok().into_iter();
        index.flat_map(move |index| {
            let parts = 0..index.event_count().div_ceil(size);
            parts.map(move |part| (thread, index, part * size))
        })
    });
    let parts: Vec<_> = parts.collect();
    let all = Mutex::new(HashSet::new());
    let found = in_parallel(&parts, None, |(_, index, start)| {
        let (ids, error) = read(index, *start, start.saturating_add(size));
        all.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(ids);
        error
    });
    let mut errors = vec![None; opened.len()];
    for ((thread, ..), error) in parts.iter().zip(found) {
        errors[*thread] = errors[*thread].take().or(error);
    }
    let errors = errors.into_iter().zip(opened);
    let errors = errors.filter_map(|(error, index)| match index {
        Ok(index) if index.missing_events() > 0 => {
            error.or_else(|| index.problems().into_iter().next())
        }
        Ok(_) => error,
        Err(error) => Some(error),
    });
    let ids = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    (ids, errors.collect())
}

/// Returns the slot of a recently seen function. The lowest bits of offsets are often zero.
#[allow(clippy::cast_possible_truncation, reason = "the remainder is small")]
fn place(id: u64) -> usize {
    ((id ^ id >> 4 ^ id >> 14) % RECENT as u64) as usize
}

/// Reads a part of a thread's events.
fn read(index: &IndexReader, start: u64, end: u64) -> (HashSet<u64>, Option<atf::Error>) {
    let mut ids = HashSet::new();
    let mut recent = [None; RECENT];
    let mut blocks = index.blocks(start..end);
    loop {
        let block = match blocks.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => return (ids, None),
            Err(error) => {
                let error = Some(error);
                let is_io = |error: &atf::Error| matches!(error.kind(), ErrorKind::Io(_));
                return (ids, error.filter(is_io));
            }
        };
        for event in block.iter() {
            let id = event.function_id;
            let place = &mut recent[place(id)];
            if *place != Some(id) {
                *place = Some(id);
                ids.insert(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use atf::EventKind;
    use atf::write::{Event, SessionWriter, WriteOptions};

    use super::*;

    #[test]
    fn the_functions_of_all_parts_of_all_threads_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let session = SessionWriter::create(folder.path(), &WriteOptions::default()).unwrap();
        // The last thread has no events; 0x10 and 0x5100 share a slot among the recent ones.
        for (thread, ids) in [
            (0, &[0x10, 0x5100, 0x10, 0x30, 0x5100][..]),
            (1, &[0x40, 0x40, 0x10]),
            (2, &[]),
        ] {
            let mut writer = session.thread(thread).unwrap();
            for (time, id) in (0..).zip(ids) {
                let event = Event::new(time, *id, EventKind::CALL, 1);
                writer.write(&event).unwrap();
            }
            writer.finalize().unwrap();
        }
        session.finalize().unwrap();
        let session = SessionReader::open(folder.path()).unwrap();
        for size in [1, 2, 5, PART] {
            let (mut ids, errors) = in_parts(&session, size);
            assert!(errors.is_empty(), "{errors:?}");
            for id in [0x10, 0x5100, 0x30, 0x40] {
                assert!(ids.remove(&id), "{id:#x} in parts of {size}");
            }
            assert!(ids.is_empty(), "{ids:?}");
        }
    }
}
