//! The thread that drains the rings of a recording.

mod ended;
mod register;
mod ring;
mod updates;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atf::Result;
use atf::clock::now_ns;
use atf::write::SessionWriter;
use ended::Ended;
use register::MOST_LISTED_AT_ONCE;
use ring::{Output, Ring, Step};
use updates::Updates;

use super::Lanes;
use super::drain::Target as _;
use super::requests::Requests;
use super::segments::Segments;
use super::shared::{Shared, State};
use super::trigger::Calls;
use super::window::Windows;

/// The interval between manifest writes while the manifest changes.
const MANIFEST_INTERVAL: Duration = Duration::from_secs(1);

/// The pause after a manifest write, as a multiple of the write's duration. With very many threads,
/// the manifest is large and takes a long time to write.
const MANIFEST_REST: u32 = 50;

/// The drainer, which drains all rings into the threads' files and keeps the manifest up to date.
#[derive(Debug)]
pub(super) struct Drainer {
    shared: Arc<Shared>,
    /// The session that is being written.
    session: Arc<SessionWriter>,
    segments: Option<Segments>,
    rings: Vec<Ring>,
    ended: Ended,
    windows: Option<Windows>,
    calls: Calls,
    /// When the manifest was last written.
    manifest_time: Instant,
    /// How long to wait before the next manifest write.
    manifest_interval: Duration,
    /// The manifest's size in bytes.
    manifest_size: usize,
    /// Whether the last manifest write succeeded.
    is_manifest_stored: bool,
    /// How many threads had files at the last manifest write.
    listed_threads: usize,
    updates: Updates,
}

/// A newly created segment, with an output for each ring.
struct NextSegment {
    session: Arc<SessionWriter>,
    manifest_size: usize,
    outputs: Vec<Output>,
}

impl Drainer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            session: Arc::clone(&shared.session),
            segments: shared
                .options
                .segment
                .map(|options| Segments::new(options, &shared.session)),
            rings: Vec::new(),
            ended: Ended::new(),
            windows: shared.options.window.map(Windows::new),
            calls: Calls::default(),
            shared,
            manifest_time: Instant::now(),
            manifest_interval: MANIFEST_INTERVAL,
            manifest_size: 0,
            is_manifest_stored: true,
            listed_threads: 0,
            updates: Updates::new(),
        }
    }

    /// Drains until the recording stops. Returns the earlier segments.
    pub(super) fn run(mut self) -> Option<Segments> {
        loop {
            let mut requests = self.take_requests();
            if requests.is_last {
                self.shared.declare_end();
            }
            self.look_at_triggers(&mut requests);
            for thread_id in &requests.ended {
                self.shared.close_direct(*thread_id);
            }
            if !requests.wanted.is_empty() {
                self.add_threads(&requests.wanted);
            }
            let is_behind = self.drain(&requests);
            self.prepare_end(&requests);
            self.list_new_threads();
            self.update();
            if let Some(look) = self.shared.pass.get() {
                look();
            }
            let served = if requests.is_last {
                u64::MAX
            } else {
                requests.triggers
            };
            self.shared.triggers.serve(served);
            if let Some(clock) = self.shared.clock.get() {
                clock.adjust();
            }
            self.write_manifest(&requests);
            if requests.is_last {
                if let Some(error) = self.segments.as_mut().and_then(Segments::take_error) {
                    self.shared.fail(error);
                }
            } else if !self.shared.triggers.is_ending() {
                self.change_segment();
            }
            let mut state = self.shared.lock();
            if state.pending.finish(requests.ticket) {
                self.shared.changed.notify_all();
            }
            if requests.is_last {
                drop(state);
                return self.segments;
            }
            if !is_behind {
                let interval = self.shared.options.interval;
                // Ignore the result: the drain checks the rings whether it was woken or timed out.
                let changed = &self.shared.changed;
                let _ = changed.wait_timeout_while(state, interval, State::is_idle);
            }
        }
    }

    fn take_requests(&self) -> Requests {
        // Read this before the pass's time, so that the events that these triggers request are
        // earlier than that time and the pass does not hold them.
        let triggers = self.shared.triggers.fired();
        let mut state = self.shared.lock();
        Requests {
            is_last: state.is_stopping,
            now_ns: now_ns(),
            triggers,
            ..state.pending.take()
        }
    }

    /// Updates the windows before any event is kept or discarded.
    fn look_at_triggers(&mut self, requests: &mut Requests) {
        let triggers = &self.shared.triggers;
        if let Some(windows) = &mut self.windows {
            windows.added.clear();
            for (is_open, now_ns) in &requests.windows {
                windows.set_open(*is_open, *now_ns);
            }
            // A trigger that begins later requests nothing before the time of this pass.
            let is_busy = self.calls.are_busy(triggers.begun(), Instant::now());
            triggers.take(|first, last| windows.trigger(first, last));
            match (requests.is_last, is_busy) {
                (true, _) => {
                    windows.decide_all(requests.now_ns);
                    if windows.lanes() == Lanes::Both {
                        self.shared.want_until(requests.now_ns);
                    }
                }
                (false, false) => windows.decide_at(requests.now_ns),
                // A trigger that is currently being fired may request held events.
                (false, true) => requests.triggers = triggers.served(),
            }
        }
        requests.is_flush |= requests.triggers > triggers.served();
    }

    /// Drains each ring once and closes finished rings. Returns whether the next pass should follow
    /// immediately.
    fn drain(&mut self, requests: &Requests) -> bool {
        let (mut is_behind, mut steps) = (false, Vec::new());
        let triggers = &self.shared.triggers;
        let is_first = |ring: &Ring| triggers.is_first(ring.thread_id());
        if triggers.is_ending()
            && let Some(first) = self.rings.iter().position(is_first)
        {
            self.rings.swap(0, first);
        }
        let windows = self.windows.as_ref();
        let gone = self.rings.extract_if(.., |ring| {
            let step = ring.step(requests, windows);
            is_behind |= matches!(step, Ok(Step::Behind));
            let stays = matches!(step, Ok(Step::Behind | Step::Drained));
            if !stays {
                steps.push(step);
            }
            !stays
        });
        let gone: Vec<_> = gone.collect();
        self.drain_ended(requests);
        for (ring, step) in gone.into_iter().zip(steps) {
            match step {
                Ok(Step::Ended) => self.keep_ended(ring, requests.now_ns),
                step => {
                    // A live thread gets files even if they stay empty.
                    let needs_files = requests.is_last && !ring.drain.is_abandoned();
                    self.close(ring, step, needs_files);
                }
            }
        }
        self.release_ended();
        is_behind
    }

    /// Begins the next segment if the current one is over. If the next one cannot be created, the
    /// current one continues.
    fn change_segment(&mut self) {
        if let Some(mut segments) = self.segments.take() {
            let writers = self.all_rings().filter_map(|ring| ring.output.existing());
            let is_over = segments.is_over(writers, self.shared.options.capacity.events);
            if is_over && !segments.must_wait() {
                match self.create_segment(&mut segments) {
                    Ok(next) => self.begin_segment(&mut segments, next),
                    Err(error) => segments.fail(error),
                }
            }
            self.segments = Some(segments);
        }
    }

    /// Creates the next segment with an output for each ring. On failure, removes everything that
    /// was created.
    fn create_segment(&self, segments: &mut Segments) -> Result<NextSegment> {
        let session = Arc::new(segments.create(&self.session)?);
        session.take_over(&self.shared.session);
        let threads: Vec<_> = self.all_rings().map(Ring::thread_id).collect();
        session.take_names(&self.shared.session, threads.iter().copied());
        self.shared.options.declare_unwritten(&session);
        let outputs = threads.iter().map(|thread_id| {
            let mut output = Output::new(&session, *thread_id);
            if !self.is_flight() {
                output.writer()?;
            }
            Ok(output)
        });
        // The manifest lists all threads, so if it cannot be written, their writers are dropped
        // here.
        let created = outputs.collect::<Result<_>>().and_then(|outputs| {
            Ok(NextSegment {
                manifest_size: session.store_manifest()?,
                session: Arc::clone(&session),
                outputs,
            })
        });
        created.inspect_err(|_| {
            // Ignore an error here, because the first error is returned.
            let _ = session.files_of(threads).delete();
        })
    }

    /// Finalizes the current segment and begins the next one, even if finalizing fails.
    fn begin_segment(&mut self, segments: &mut Segments, next: NextSegment) {
        let mut finalized = Ok(());
        let rings = self.rings.iter_mut().chain(self.ended.rings_mut());
        for (ring, output) in rings.zip(next.outputs) {
            finalized = finalized.and(ring.output.finalize());
            ring.count_unwritten();
            ring.output = output;
        }
        self.ended.recount();
        self.shared.pass_losses(true);
        // Copy the thread names that were set in the meantime.
        let threads = self.all_rings().map(Ring::thread_id);
        next.session.take_names(&self.shared.session, threads);
        if finalized.is_ok() {
            // Events still in the rings go to the next segment.
            self.session.set_unwritten_events(None);
        }
        let ended = std::mem::replace(&mut self.session, Arc::clone(&next.session));
        self.manifest_size = next.manifest_size;
        self.listed_threads = self.session.thread_count();
        let finished = ended.finalize();
        let totals = ended.totals();
        let deleted = segments.end(&ended, &totals);
        self.shared.lock().segment = Some(next.session);
        if finished.is_err() {
            segments.unfinished.push(ended);
        }
        // The recording continues, even if an old segment could not be deleted.
        if let Err(error) = finalized.and(finished.map(drop)).and(deleted) {
            self.shared.fail(error);
        }
    }

    /// Updates the manifest before threads that wait for triggers continue, because the process may
    /// then end. Clears `unwritten_events` if all requested events have been passed to the system.
    fn prepare_end(&mut self, requests: &Requests) {
        let triggers = &self.shared.triggers;
        let is_asked = triggers.is_ending() && requests.triggers > triggers.served();
        // Without windows, every later event is recorded.
        let windows = self.windows.as_ref();
        let asks = windows.is_none_or(|windows| windows.ask_for_later(now_ns()));
        let is_over = self.is_flight() && !asks;
        if is_asked {
            self.shared.update();
        }
        if is_asked && is_over && self.shared.lock().error.is_none() {
            self.session.set_unwritten_events(None);
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    /// Writes the manifest if it does not list all threads with files, unless it is very large.
    fn list_new_threads(&mut self) {
        let is_complete = self.session.thread_count() == self.listed_threads;
        if !is_complete && self.manifest_size <= MOST_LISTED_AT_ONCE {
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    /// Updates metadata if an update is due.
    fn update(&mut self) {
        let now = Instant::now();
        if self.updates.are_due(now) {
            self.shared.update();
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
            self.updates.took(now.elapsed());
        }
    }

    /// Returns whether threads get their files only once a trigger requests their events.
    fn is_flight(&self) -> bool {
        let windows = self.windows.as_ref();
        windows.is_some_and(|windows| windows.lanes() == Lanes::Both)
    }

    fn all_rings(&self) -> impl Iterator<Item = &Ring> {
        self.rings.iter().chain(self.ended.rings())
    }

    /// Writes the manifest if a write was requested or is due.
    fn write_manifest(&mut self, requests: &Requests) {
        let is_ending = self.shared.triggers.is_ending();
        let interval = if is_ending {
            MANIFEST_INTERVAL
        } else {
            self.manifest_interval
        };
        let is_due = self.manifest_time.elapsed() >= interval && !requests.is_last;
        let triggers = &self.shared.triggers;
        // Do not assume that a process that waits for a trigger will keep running.
        let is_waiting = triggers.fired() > triggers.served();
        if is_due && !is_waiting && triggers.live_on() {
            self.shared.options.declare_unwritten(&self.session);
        }
        if requests.is_manifest || is_due {
            // Any error is reported when the recording stops.
            let _ = self.store_manifest();
        }
    }

    fn store_manifest(&mut self) -> Result<()> {
        let start = Instant::now();
        self.listed_threads = self.session.thread_count();
        self.shared.pass_losses(false);
        let stored = self.session.store_manifest();
        self.manifest_time = Instant::now();
        let took = start.elapsed().saturating_mul(MANIFEST_REST);
        self.manifest_interval = MANIFEST_INTERVAL.max(took);
        self.is_manifest_stored = stored.is_ok();
        self.manifest_size = stored.inspect_err(|error| self.shared.fail(error.clone()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
