//! Tests that a ring behaves like two queues of fixed size.

use std::collections::VecDeque;
use std::sync::Arc;

use atf::DetailEventType;
use atf::index::IndexReader;
use atf::write::{Detail, Memory, ThreadWriter, WriteOptions};
use atf_record::{Drained, Lost, Overflow};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{event, ring_with};

#[derive(Debug, Clone)]
enum Step {
    Record,
    RecordWithDetail(usize),
    Drain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Record),
        4 => (0..40_usize).prop_map(Step::RecordWithDetail),
        1 => Just(Step::Drain),
    ]
}

/// Two fixed-size queues.
#[derive(Default)]
struct Model {
    events: usize,
    payload_size: usize,
    /// The number of each event and the size of its payload.
    queue: VecDeque<(u64, Option<usize>)>,
    overflow: Overflow,
    /// The `seq` of the next event and of the next detail.
    next: (u64, u64),
    /// Events and details lost since the last drain.
    lost: (u64, u64),
}

impl Model {
    fn record(&mut self, n: u64, size: Option<usize>) -> Result<(u64, Option<u64>), Lost> {
        let used: usize = self.queue.iter().filter_map(|(_, size)| *size).sum();
        let reserved = match self.overflow {
            Overflow::DropDetail => self.events / 4,
            _ => 0,
        };
        let has_slot = self.queue.len() + reserved < self.events;
        let fits = size.filter(|size| has_slot && used + size <= self.payload_size);
        let is_dropped = fits != size && self.overflow == Overflow::DropNewest;
        if self.queue.len() == self.events || is_dropped {
            self.lost.0 += 1;
            return Err(Lost::Event);
        }
        self.queue.push_back((n, fits));
        let link = (self.next.0, fits.map(|_| self.next.1));
        self.next.0 += 1;
        self.next.1 += u64::from(fits.is_some());
        if fits == size {
            return Ok(link);
        }
        self.lost.1 += 1;
        Err(Lost::Detail)
    }

    fn drain(&mut self, written: &mut Vec<(u64, bool)>) -> Drained {
        let events = self.queue.drain(..);
        let taken: Vec<_> = events.map(|(n, size)| (n, size.is_some())).collect();
        let details = taken.iter().filter(|(_, detail)| *detail).count() as u64;
        let (events, details_lost) = std::mem::take(&mut self.lost);
        let drained = crate::drained(taken.len() as u64, details, events, details_lost);
        written.extend(taken);
        drained
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_ring_behaves_like_two_queues_of_fixed_sizes(
        events in 1..17_usize,
        payload_size in 0..120_usize,
        overflow in prop_oneof![Just(Overflow::DropDetail), Just(Overflow::DropNewest)],
        steps in vec(step(), 0..200),
    ) {
        let memory = Memory::new();
        let options = WriteOptions::default();
        let storage = Arc::new(memory.clone());
        let mut writer = ThreadWriter::create_on(storage, "t", 0, &options).unwrap();
        let (mut recorder, mut drain) = ring_with(events, payload_size, overflow);
        let mut model = Model { events, payload_size, overflow, ..Model::default() };
        let mut written = Vec::new();
        let payload = [0x5a; 40];
        for (n, step) in (0..).zip(&steps) {
            match step {
                Step::Record => {
                    let recorded = recorder.record(&event(n)).map(|seq| (seq, None));
                    prop_assert_eq!(recorded, model.record(n, None));
                }
                Step::RecordWithDetail(size) => {
                    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &payload[..*size]);
                    let recorded = recorder.record_with_detail(&event(n), &detail);
                    let recorded = recorded.map(|link| (link.index_seq, Some(link.detail_seq)));
                    prop_assert_eq!(recorded, model.record(n, Some(*size)));
                }
                Step::Drain => {
                    let drained = drain.drain_into(&mut writer).unwrap();
                    prop_assert_eq!(drained, model.drain(&mut written));
                    prop_assert!(!drain.is_finished() && !recorder.is_abandoned());
                }
            }
        }
        drop(recorder);
        // The ring is not finished until its events are drained.
        prop_assert!(!drain.is_finished());
        let drained = drain.drain_into(&mut writer).unwrap();
        prop_assert_eq!(drained, model.drain(&mut written));
        prop_assert!(drain.is_finished());
        writer.finalize().unwrap();
        let bytes = memory.bytes("t/index.atf").unwrap();
        let reader = IndexReader::from_bytes(bytes).unwrap();
        let read = reader.events_in(..).map(|read| {
            let read = read.unwrap();
            (read.timestamp_ns - 5_000, read.detail_seq.is_some())
        });
        prop_assert_eq!(read.collect::<Vec<_>>(), written);
    }
}
