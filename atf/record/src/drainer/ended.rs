//! The rings of threads that have ended, kept for later triggers.

use std::collections::VecDeque;

use atf::Result;

use super::ring::{Ring, Step};
use super::{Drainer, Requests};

/// The memory limit for the events of finished threads, in bytes. A single thread may exceed it.
const MOST_ENDED: usize = 512 << 20;

/// The maximum number of finished threads whose files stay open: many systems limit a process to
/// 1024 open files.
const MOST_OPEN: usize = 128;

/// The rings of finished threads, in the order in which the threads finished.
#[derive(Debug)]
pub(super) struct Ended {
    rings: VecDeque<Kept>,
    /// The memory size of all rings together, in bytes.
    size: usize,
    /// The size above which the oldest events are discarded.
    most: usize,
    /// How many rings have open files.
    open: usize,
}

#[derive(Debug)]
struct Kept {
    ring: Ring,
    /// When the drain found that the thread had ended.
    ended_ns: u64,
}

impl Kept {
    fn is_open(&self) -> bool {
        self.ring.output.existing().is_some()
    }
}

impl Ended {
    pub(super) fn new() -> Self {
        Self {
            rings: VecDeque::new(),
            size: 0,
            most: MOST_ENDED,
            open: 0,
        }
    }

    pub(super) fn rings(&self) -> impl Iterator<Item = &Ring> {
        self.rings.iter().map(|kept| &kept.ring)
    }

    pub(super) fn rings_mut(&mut self) -> impl Iterator<Item = &mut Ring> {
        self.rings.iter_mut().map(|kept| &mut kept.ring)
    }

    /// Counts a ring that is about to be added.
    fn count(&mut self, kept: &Kept) {
        self.size = self.size.saturating_add(kept.ring.size());
        self.open = self.open.saturating_add(kept.is_open().into());
    }

    /// Recounts all rings, because their files were replaced.
    pub(super) fn recount(&mut self) {
        self.size = self.rings().map(Ring::size).fold(0, usize::saturating_add);
        self.open = self.rings.iter().filter(|kept| kept.is_open()).count();
    }

    fn take(&mut self, at: usize) -> Option<Kept> {
        let kept = self.rings.remove(at)?;
        self.size = self.size.saturating_sub(kept.ring.size());
        self.open = self.open.saturating_sub(kept.is_open().into());
        Some(kept)
    }

    /// Removes and returns a ring to discard, if the rings use too much memory or too many open
    /// files.
    fn take_excess(&mut self) -> Option<Kept> {
        if self.open > MOST_OPEN {
            let at = self.rings.iter().position(Kept::is_open)?;
            return self.take(at);
        }
        let is_over = self.size > self.most && self.rings.len() > 1;
        is_over.then(|| self.take(0)).flatten()
    }
}

impl Drainer {
    /// Keeps the ring of a finished thread, in as little memory as its events need.
    pub(super) fn keep_ended(&mut self, mut ring: Ring, ended_ns: u64) {
        ring.end(&self.shared);
        let kept = Kept { ring, ended_ns };
        self.ended.count(&kept);
        self.ended.rings.push_back(kept);
    }

    /// Drains the rings of finished threads once a trigger has requested their events, or once no
    /// trigger can request them any more.
    pub(super) fn drain_ended(&mut self, requests: &Requests) {
        let windows = self.windows.as_ref();
        let has_news = windows.is_some_and(|windows| !windows.added.is_empty());
        let is_due = requests.is_last || requests.is_flush || has_news;
        // A ring is also due once no trigger can request events up to its thread's end.
        let is_decided = |kept: &&Kept| {
            is_due || windows.is_some_and(|windows| windows.is_decided(kept.ended_ns))
        };
        let due = self.ended.rings.iter().take_while(is_decided).count();
        let mut held = Vec::new();
        for _ in 0..due {
            let Some(mut kept) = self.ended.take(0) else {
                break;
            };
            match kept.ring.step(requests, self.windows.as_ref()) {
                Ok(Step::Ended) => held.push(kept),
                outcome => self.close(kept.ring, outcome, false),
            }
        }
        for kept in held.into_iter().rev() {
            self.ended.count(&kept);
            self.ended.rings.push_front(kept);
        }
    }

    /// Discards the events of the threads that ended first if all ended threads together use too
    /// much memory or too many open files. Without this limit, a program that starts a thread for
    /// each piece of work would use more and more of both.
    pub(super) fn release_ended(&mut self) {
        while let Some(windows) = &self.windows
            && let Some(mut kept) = self.ended.take_excess()
        {
            let ring = &mut kept.ring;
            let released = ring.drain.release(&mut ring.output, windows);
            self.close(kept.ring, released.map(|()| Step::Finished), false);
        }
    }

    /// Finalizes a ring's files, after creating them if `needs_files` is true.
    pub(super) fn close(&mut self, mut ring: Ring, outcome: Result<Step>, needs_files: bool) {
        ring.close(&self.shared, outcome.map(drop), needs_files);
        if let (Some(segments), Some(writer)) = (&mut self.segments, ring.output.existing()) {
            segments.end_thread(writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::drainer::tests::{drainer_with, manifest, new_thread, pass, trigger};
    use crate::segments::Segments;
    use crate::{Lanes, Segment, Window};
    use atf::clock::now_ns;
    use atf::manifest::Loss;
    use atf::write::{Detail, Event, Memory};
    use atf::{DetailEventType, EventKind};

    const HOUR: Duration = Duration::from_secs(3600);

    /// Runs a pass after a thread has recorded events with details of one byte, and ended.
    fn short_thread(drainer: &mut Drainer, thread_id: u32, events: u64) -> Result<()> {
        let mut recorder = new_thread(drainer, thread_id)?;
        for _ in 0..events {
            let event = Event::new(now_ns(), 7, EventKind::CALL, 1);
            let detail = Detail::new(DetailEventType(0), b"x");
            assert!(recorder.record_with_detail(&event, &detail).is_ok());
        }
        drop(recorder);
        pass(drainer);
        Ok(())
    }

    #[test]
    fn ended_threads_use_only_the_memory_of_their_events_and_the_oldest_are_discarded() -> Result<()>
    {
        for lanes in [Lanes::Both, Lanes::Details] {
            let window = Window::default().lanes(lanes).pre_roll(HOUR);
            let mut drainer = drainer_with(&Memory::new(), window)?;
            for thread_id in 0..5 {
                short_thread(&mut drainer, thread_id, 1000)?;
                if thread_id == 0 {
                    drainer.ended.most = 3 * drainer.ended.size;
                }
            }
            let kept: Vec<_> = drainer.ended.rings().map(Ring::thread_id).collect();
            assert_eq!(kept, [2, 3, 4]);
            let buffers = drainer.ended.rings().map(|ring| ring.output.buffer_size());
            let size = drainer.ended.size - buffers.sum::<usize>();
            // Each ring holds 1000 events of 32 bytes, each with a 1-byte payload.
            assert!((3 * 33_000..4 * 33_000).contains(&size), "{size}");
            let expected = match lanes {
                Lanes::Both => (2000, 0),
                Lanes::Details => (0, 2000),
            };
            drainer.shared.pass_losses(false);
            assert_eq!(drainer.shared.lock().losses.lost, expected);
        }
        Ok(())
    }

    #[test]
    fn few_threads_that_have_ended_keep_their_files_open() -> Result<()> {
        let window = Window::default().lanes(Lanes::Details).pre_roll(HOUR);
        let mut drainer = drainer_with(&Memory::new(), window)?;
        for thread_id in 0..131 {
            short_thread(&mut drainer, thread_id, 1)?;
        }
        let first = drainer.ended.rings().next().map(Ring::thread_id);
        assert_eq!((drainer.ended.open, first), (MOST_OPEN, Some(3)));
        drainer.shared.pass_losses(false);
        assert_eq!(drainer.shared.lock().losses.lost, (0, 3));
        Ok(())
    }

    #[test]
    fn a_new_segment_closes_the_files_of_threads_that_have_ended() -> Result<()> {
        let window = Window::default().lanes(Lanes::Both).pre_roll(HOUR);
        let mut drainer = drainer_with(&Memory::new(), window)?;
        let mut recorder = new_thread(&mut drainer, 0)?;
        let event = || Event::new(now_ns(), 7, EventKind::CALL, 1);
        assert!(recorder.record(&event()).is_ok());
        trigger(&drainer).fire();
        pass(&mut drainer);
        assert!(recorder.record(&event()).is_ok());
        drop(recorder);
        pass(&mut drainer);
        let size = |drainer: &Drainer| drainer.ended.rings().map(Ring::size).sum::<usize>();
        let counted = |drainer: &Drainer| (drainer.ended.size, drainer.ended.open);
        assert_eq!(counted(&drainer), (size(&drainer), 1));
        let before = size(&drainer);
        let mut segments = Segments::new(Segment::default(), &drainer.session);
        let next = drainer.create_segment(&mut segments)?;
        drainer.begin_segment(&mut segments, next);
        assert!(size(&drainer) < before);
        assert_eq!(counted(&drainer), (size(&drainer), 0));
        // Taking a ring subtracts exactly the size that was added for it.
        assert!(drainer.ended.take(0).is_some());
        assert_eq!(counted(&drainer), (0, 0));
        Ok(())
    }

    #[test]
    fn the_manifest_lists_the_losses_of_threads_without_files() -> Result<()> {
        let memory = Memory::new();
        let window = Window::default().lanes(Lanes::Both);
        let mut drainer = drainer_with(&memory, window)?;
        let recorder = new_thread(&mut drainer, 0)?;
        recorder.loss_counter().lose_event(7);
        let listed = |drainer: &mut Drainer| -> Result<_> {
            drainer.store_manifest()?;
            let manifest = manifest(&memory);
            let threads = manifest.threads.iter().map(|thread| thread.lost_events);
            Ok((manifest.lost_events, threads.collect::<Vec<_>>()))
        };
        let one = Some(Loss::new(1, 7, 7));
        assert_eq!(listed(&mut drainer)?, (one, vec![]));
        // When the thread ends, it gets files that the manifest can list.
        drop(recorder);
        pass(&mut drainer);
        assert_eq!(listed(&mut drainer)?, (None, vec![one]));
        // Thread 1 loses nothing, so it gets no files.
        drainer.session.set_thread_name(1, "gone");
        drop(new_thread(&mut drainer, 1)?);
        pass(&mut drainer);
        assert_eq!(listed(&mut drainer)?, (None, vec![one]));
        assert_eq!(drainer.shared.lock().live, 0);
        // The session does not keep the thread's name either.
        drainer.session.thread(1)?;
        drainer.store_manifest()?;
        let names = manifest(&memory).threads.into_iter();
        let names: Vec<_> = names.map(|thread| thread.name).collect();
        assert_eq!(names, [None, None]);
        Ok(())
    }
}
