//! Reserves details, writes or drops them in any order, and compares the result with a simple
//! model.

use std::collections::VecDeque;
use std::path::Path;

use atf::detail::DetailReader;
use atf::thread::ThreadReader;
use atf::write::{ThreadWriter, WriteOptions};
use atf::{Completeness, ErrorKind, Wire};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{created, detail, event};

fn options(wire: Wire, survive_kill: bool) -> WriteOptions {
    WriteOptions::default()
        .wire(wire)
        .survive_kill(survive_kill)
        // The buffer holds 128 events, so it is flushed several times.
        .buffer_size(4 << 10)
}

/// What happens to an event's detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    None,
    Open,
    Written,
    Dropped,
}

#[derive(Debug, Clone)]
enum Op {
    /// Writes this many events without details.
    Plain(u8),
    Joined,
    Reserve,
    /// Writes the oldest outstanding detail.
    Write,
    /// Drops an outstanding detail.
    Drop(prop::sample::Index),
    /// Drops all details before an outstanding one.
    DropBefore(prop::sample::Index),
    /// Skips the next detail number.
    Skip,
    Flush,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => any::<u8>().prop_map(Op::Plain),
        1 => Just(Op::Joined),
        6 => Just(Op::Reserve),
        4 => Just(Op::Write),
        2 => any::<prop::sample::Index>().prop_map(Op::Drop),
        1 => any::<prop::sample::Index>().prop_map(Op::DropBefore),
        1 => Just(Op::Skip),
        1 => Just(Op::Flush),
    ]
}

/// A thread's events and the numbers of its outstanding details.
#[derive(Debug, Default)]
struct Model {
    fates: Vec<Fate>,
    open: VecDeque<(u64, usize)>,
    numbers: u64,
    skipped: u64,
}

/// Returns the payload of an event's detail, which is never empty.
fn payload(seq: usize) -> Vec<u8> {
    vec![u8::try_from(seq % 251).unwrap(); 1 + seq % 40]
}

impl Model {
    fn carry_out(&mut self, op: &Op, writer: &mut ThreadWriter) {
        let seq = self.fates.len();
        match op {
            Op::Plain(count) => {
                for seq in seq..seq + usize::from(*count) {
                    writer.write(&event(seq as u64)).unwrap();
                    self.fates.push(Fate::None);
                }
            }
            Op::Joined => {
                let payload = payload(seq);
                let of = detail(seq as u64, &payload);
                let written = writer.write_with_detail(&event(seq as u64), &of);
                assert_eq!(written.is_ok(), self.open.is_empty());
                if written.is_ok() {
                    self.fates.push(Fate::Written);
                    self.numbers += 1;
                }
            }
            Op::Reserve => {
                let number = writer.next_detail_seq();
                assert_eq!(number, self.numbers);
                let written = writer.write_index(&event(seq as u64), Some(number));
                assert_eq!(written.unwrap(), seq as u64);
                self.fates.push(Fate::Open);
                self.open.push_back((number, seq));
                self.numbers += 1;
            }
            Op::Write => {
                if let Some((_, seq)) = self.open.pop_front() {
                    let payload = payload(seq);
                    let time = event(seq as u64).timestamp_ns;
                    let of = detail(seq as u64, &payload);
                    writer.write_detail(seq as u64, time, &of).unwrap();
                    self.fates[seq] = Fate::Written;
                }
            }
            Op::Drop(at) if !self.open.is_empty() => {
                let (number, seq) = self.open.remove(at.index(self.open.len())).unwrap();
                let open = writer.reserved_detail(seq as u64).unwrap();
                assert_eq!(open.detail_seq, number);
                writer.drop_detail(number).unwrap();
                self.fates[seq] = Fate::Dropped;
                assert_eq!(writer.reserved_detail(seq as u64), None);
                let again = writer.drop_detail(number).unwrap_err();
                assert_eq!(again.kind(), &ErrorKind::NotReserved);
            }
            Op::DropBefore(at) if !self.open.is_empty() => {
                let count = at.index(self.open.len());
                let seq = self.open[count].1;
                let dropped = writer.drop_details_before(seq as u64).unwrap();
                assert_eq!(dropped, count as u64);
                for (_, seq) in self.open.drain(..count) {
                    self.fates[seq] = Fate::Dropped;
                }
            }
            Op::Drop(_) | Op::DropBefore(_) => {}
            Op::Skip => {
                writer.drop_detail(self.numbers).unwrap();
                self.numbers += 1;
                self.skipped += 1;
            }
            Op::Flush => writer.flush().unwrap(),
        }
    }

    /// Compares the files with the model. In unfinalized files, a link may be dangling only if it
    /// refers to a detail that is still outstanding.
    fn hold(&self, folder: &Path) {
        let thread = ThreadReader::open(folder).unwrap();
        let index = thread.index();
        let is_finalized = matches!(index.completeness(), Completeness::Finalized);
        assert!(thread.ring_error().is_none());
        assert_eq!(index.event_count(), self.fates.len() as u64);
        let details: Vec<_> = match thread.detail() {
            Some(detail) => detail.events_in(..).map(Result::unwrap).collect(),
            None => Vec::new(),
        };
        let mut places = 0;
        for (seq, found) in index.events_in(..).enumerate() {
            let found = found.unwrap();
            assert_eq!(found.timestamp_ns, event(seq as u64).timestamp_ns);
            let fate = self.fates[seq];
            let Some(place) = found.detail_seq else {
                assert_ne!(fate, Fate::Written, "event {seq}");
                continue;
            };
            assert_ne!(fate, Fate::None, "event {seq}");
            // In the order of the index, the events' links are 0, 1, 2 and so on.
            assert_eq!(place, places, "event {seq}");
            places += 1;
            let Some(of) = details.get(usize::try_from(place).unwrap()) else {
                assert!(!is_finalized && fate != Fate::Written, "event {seq}");
                continue;
            };
            assert_eq!(of.header.index_seq, seq as u64);
            assert_eq!(of.header.timestamp, found.timestamp_ns);
            let written = detail(seq as u64, &[]);
            assert_eq!(of.header.event_type, written.event_type);
            let bytes = thread.detail().unwrap().payload(of, 100).unwrap();
            match fate {
                Fate::Written => assert_eq!(bytes, payload(seq)),
                _ => assert!(bytes.is_empty(), "event {seq}: {fate:?}"),
            }
        }
        assert!(details.len() as u64 <= places);
        if is_finalized {
            assert_eq!(details.len() as u64, places);
        }
    }

    fn lost(&self) -> u64 {
        let lost = self.fates.iter();
        let lost = lost.filter(|fate| matches!(fate, Fate::Dropped | Fate::Open));
        lost.count() as u64 + self.skipped
    }
}

fn copy(from: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn files_are_finalized_with_valid_links_whichever_details_are_dropped(
        ops in vec(op(), 0..60),
        wire in prop::sample::select(Wire::ALL),
        survive_kill in any::<bool>(),
    ) {
        let (folder, mut writer) = created(&options(wire, survive_kill));
        let mut model = Model::default();
        for op in &ops {
            model.carry_out(op, &mut writer);
            if survive_kill {
                // Check the files that would be left if the process were killed at this point.
                model.hold(copy(folder.path()).path());
            }
        }
        let summary = writer.finalize().unwrap();
        prop_assert_eq!(summary.dropped_details, model.lost());
        prop_assert_eq!(summary.event_count, model.fates.len() as u64);
        drop(writer);
        model.hold(folder.path());
        let thread = ThreadReader::open(folder.path()).unwrap();
        prop_assert!(matches!(thread.index().completeness(), Completeness::Finalized));
        let written = thread.detail().map_or(0, DetailReader::event_count);
        prop_assert_eq!(summary.detail_count, written);
    }
}

#[test]
fn a_dropped_detail_leaves_no_link_and_those_after_it_move_up() {
    let wires = Wire::ALL.iter();
    for (wire, survive_kill) in wires.flat_map(|wire| [(*wire, false), (*wire, true)]) {
        let (folder, mut writer) = created(&options(wire, survive_kill));
        for seq in 0..4 {
            writer.write_index(&event(seq), Some(seq)).unwrap();
        }
        let write = |writer: &mut ThreadWriter, byte: u8| {
            let seq = byte.into();
            let time = event(seq).timestamp_ns;
            let written = writer.write_detail(seq, time, &detail(seq, &[byte]));
            written.unwrap()
        };
        assert_eq!(write(&mut writer, 0), 0);
        writer.drop_detail(1).unwrap();
        assert_eq!(writer.next_detail_seq(), 4);
        write(&mut writer, 2);
        write(&mut writer, 3);
        let summary = writer.finalize().unwrap();
        assert_eq!((summary.event_count, summary.dropped_details), (4, 1));

        let thread = ThreadReader::open(folder.path()).unwrap();
        let events = thread.index().events_in(..);
        let links: Vec<_> = events.map(|event| event.unwrap().detail_seq).collect();
        assert_eq!(links, [Some(0), None, Some(1), Some(2)]);
        let detail = thread.detail().unwrap();
        let payloads = detail
            .events_in(..)
            .map(|of| detail.payload(&of.unwrap(), 100).unwrap());
        assert_eq!(payloads.collect::<Vec<_>>(), [[0_u8], [2], [3]]);
    }
}
