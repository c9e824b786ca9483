//! Compares windows with a simple model: a list that is searched linearly.

use std::collections::VecDeque;
use std::time::Duration;

use atf::manifest::Loss;
use atf_record::{Lanes, Window};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::recording::{DEADLINE, manifest, start_thread};
use crate::windows::{base, call, detail, sleepy, times};

#[derive(Debug, Clone)]
enum Step {
    /// Records an event this many nanoseconds after the previous one, with a payload of this size.
    Record(u64, Option<usize>),
    /// Fires a trigger this many nanoseconds before or after the last event.
    Trigger(i64),
    Drain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..30_u64, proptest::option::weighted(0.8, 0..40_usize)).prop_map(|(after, size)| Step::Record(after, size)),
        1 => (-150..150_i64).prop_map(Step::Trigger),
        1 => Just(Step::Drain),
    ]
}

#[derive(Clone, Copy)]
struct Held {
    time: u64,
    /// The detail's payload size. `None` means that the event has no detail, and `Some(None)` that
    /// the detail did not fit.
    detail: Option<Option<usize>>,
}

#[derive(Default)]
struct Model {
    events: usize,
    payload_size: usize,
    lanes: Lanes,
    pre_roll: u64,
    post_roll: u64,
    held: VecDeque<Held>,
    windows: Vec<(u64, u64)>,
    /// Discarded events or details that no trigger requested.
    let_go: Vec<u64>,
    /// Whether so many events or details were discarded that some of them are only counted.
    is_vague: bool,
    written: Vec<(u64, bool)>,
    /// Lost events and details.
    lost: [Option<Loss>; 2],
}

impl Model {
    fn bytes(&self) -> usize {
        let held = self.held.iter();
        held.filter_map(|held| held.detail.flatten()).sum()
    }

    fn record(&mut self, time: u64, size: Option<usize>) {
        if self.held.len() == self.events {
            return self.lose(0, time);
        }
        let room = self.payload_size - self.bytes();
        // The last quarter of the ring is for events without details.
        let has_slot = self.held.len() + self.events / 4 < self.events;
        let detail = size.map(|size| Some(size).filter(|size| has_slot && *size <= room));
        self.held.push_back(Held { time, detail });
    }

    fn lose(&mut self, lane: usize, time: u64) {
        let loss = Loss::new(1, time, time);
        self.lost[lane] = Some(self.lost[lane].map_or(loss, |lost| lost.plus(loss)));
    }

    fn trigger(&mut self, time: u64) {
        let (start, end) = (time - self.pre_roll, time + self.post_roll);
        self.windows.push((start, end));
    }

    fn drain(&mut self, is_last: bool) {
        for time in std::mem::take(&mut self.let_go) {
            if self.is_asked_for(time) {
                self.lose(usize::from(self.lanes == Lanes::Details), time);
            } else {
                self.let_go.push(time);
            }
        }
        let mut events = self.held.len().saturating_sub(self.events / 2);
        let mut bytes = self.bytes().saturating_sub(self.payload_size / 2);
        while let Some(held) = self.held.front().copied() {
            let is_inside = self.is_asked_for(held.time);
            if !is_inside && !is_last && events == 0 && bytes == 0 {
                break;
            }
            self.held.pop_front();
            events = events.saturating_sub(1);
            bytes = bytes.saturating_sub(held.detail.flatten().unwrap_or(0));
            match (is_inside, held.detail) {
                (true, Some(None)) => {
                    self.written.push((held.time, false));
                    self.lose(1, held.time);
                }
                (true, detail) => self.written.push((held.time, detail.is_some())),
                (false, detail) => {
                    if self.lanes == Lanes::Details {
                        self.written.push((held.time, false));
                    }
                    if self.lanes == Lanes::Both || detail.is_some() {
                        self.let_go.push(held.time);
                        self.is_vague |= self.let_go.len() > self.events;
                    }
                }
            }
        }
    }

    fn is_asked_for(&self, time: u64) -> bool {
        let mut windows = self.windows.iter();
        windows.any(|(start, end)| (*start..=*end).contains(&time))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn windows_behave_like_a_list_that_is_searched_naively(
        events in 1..40_usize,
        payload_size in 0..400_usize,
        lanes in prop_oneof![Just(Lanes::Details), Just(Lanes::Both)],
        (pre_roll, post_roll) in (0..120_u64, 0..120_u64),
        steps in vec(step(), 0..150),
    ) {
        let window = Window::default()
            .lanes(lanes)
            .pre_roll(Duration::from_nanos(pre_roll))
            .post_roll(Duration::from_nanos(post_roll));
        let mut model = Model { events, payload_size, lanes, pre_roll, post_roll, ..Model::default() };
        let (folder, recording, mut thread) = start_thread(&sleepy(events, payload_size, window));
        let payload = [0x5a; 40];
        let mut time = base();
        for step in steps {
            match step {
                Step::Record(after, size) => {
                    time += after;
                    // Ignore lost events and details; the model counts them.
                    let _ = match size {
                        Some(size) => thread.record_with_detail(&call(time), &detail(&payload[..size])).map(drop),
                        None => thread.record(&call(time)).map(drop),
                    };
                    model.record(time, size);
                }
                Step::Trigger(after) => {
                    let at = time.checked_add_signed(after).unwrap();
                    recording.trigger_at(at);
                    model.trigger(at);
                }
                Step::Drain => {
                    recording.flush(DEADLINE).unwrap();
                    model.drain(false);
                }
            }
        }
        let summary = recording.stop().unwrap();
        model.drain(true);
        prop_assert_eq!(times(folder.path(), 0), model.written);
        let lost = [summary.lost_events, summary.lost_details];
        let least = model.lost.map(|loss| loss.map_or(0, |loss| loss.count));
        prop_assert!(lost[0] >= least[0] && lost[1] >= least[1], "{:?} < {:?}", lost, least);
        if !model.is_vague {
            prop_assert_eq!(lost, least);
            let listed = &manifest(folder.path()).threads[0];
            prop_assert_eq!([listed.lost_events, listed.lost_details], model.lost);
        }
    }
}
