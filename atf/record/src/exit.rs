//! Stops recordings at the end of the process.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::thread;

use atf::internal::uncancelled;

use super::shared::Shared;
use crate::sys;

static RUNNING: Mutex<Running> = Mutex::new(Running {
    recordings: Vec::new(),
    is_registered: false,
});

/// The recordings to stop.
struct Running {
    recordings: Vec<Weak<Shared>>,
    /// Whether the function that stops them is registered with the system.
    is_registered: bool,
}

/// Stops a recording at the end of the process if it is still running.
pub(super) fn stop(recording: &Arc<Shared>) {
    let Some(mut running) = lock() else { return };
    running.recordings.retain(|it| it.strong_count() > 0);
    running.recordings.push(Arc::downgrade(recording));
    if !running.is_registered {
        running.is_registered = sys::at_exit(stop_all);
    }
}

extern "C" fn stop_all() {
    let recordings = lock().map(|mut running| std::mem::take(&mut running.recordings));
    for recording in recordings.iter().flatten().filter_map(Weak::upgrade) {
        uncancelled(|| recording.stop_at_exit());
    }
}

/// Returns `None` if the lock is still held after a while: in a forked child, the thread that holds
/// it may not exist.
fn lock() -> Option<MutexGuard<'static, Running>> {
    for _ in 0..1000 {
        match RUNNING.try_lock() {
            Ok(running) => return Some(running),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{RecordOptions, Recording};
    use atf::write::{Fate, Memory, SessionWriter, WriteOptions};

    fn recording_in(memory: &Memory) -> Recording {
        let storage = Arc::new(memory.clone());
        let session = SessionWriter::create_on(storage, "s", &WriteOptions::default()).unwrap();
        Recording::start(session, &RecordOptions::default()).unwrap()
    }

    #[test]
    fn a_handler_that_interrupted_a_lock_s_holder_does_not_wait_for_it() {
        let recording = recording_in(&Memory::new());
        let shared = Arc::clone(&recording.shared);
        let state = shared.lock();
        shared.stop_at_exit();
        assert!(!state.is_stopping);
        drop(state);
        shared.stop_at_exit();
        // The caller receives the outcome once.
        assert_eq!(recording.stop().unwrap().segments, 1);
        assert!(recording.stop().is_err());
    }

    #[test]
    fn the_end_of_the_process_waits_for_a_stop_on_another_thread() {
        let memory = Memory::new();
        let recording = recording_in(&memory);
        let (is_held, hold) = mpsc::channel();
        let (release, held) = mpsc::channel::<()>();
        memory.decide(move |_, _| {
            // Later calls find the channels closed.
            let _ = is_held.send(());
            let _ = held.recv();
            Fate::Done
        });
        thread::scope(|scope| {
            scope.spawn(|| recording.stop().unwrap());
            hold.recv().unwrap();
            let exit = scope.spawn(|| recording.shared.stop_at_exit());
            thread::sleep(Duration::from_millis(50));
            let has_waited = !exit.is_finished();
            drop((release, hold));
            exit.join().unwrap();
            assert!(has_waited && recording.shared.lock().is_stopped);
        });
    }

    #[test]
    fn the_end_of_the_process_does_not_wait_for_a_stop_on_its_own_thread() {
        let recording = recording_in(&Memory::new());
        let shared = Arc::clone(&recording.shared);
        let (send, receive) = mpsc::channel();
        recording.on_update(move |_| {
            let start = Instant::now();
            shared.stop_at_exit();
            send.send((start.elapsed(), shared.lock().is_stopped))
                .unwrap();
        });
        recording.stop().unwrap();
        let (waited, is_stopped) = receive.recv().unwrap();
        assert!(waited < Duration::from_secs(5) && !is_stopped);
    }
}
