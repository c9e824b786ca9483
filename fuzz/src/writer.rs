//! Runs arbitrary sequences of writer operations, reads the files back and compares them.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::write::{Detail, Event, Memory, ThreadWriter, WriteOptions};
use atf::{Completeness, DetailEventType, EventKind, Wire};

/// A writer's options and operations.
#[derive(Debug, Arbitrary)]
pub(crate) struct Ops<'a> {
    is_version_2: bool,
    small_buffer: bool,
    verbatim: bool,
    ops: Vec<Op<'a>>,
    end: End,
}

#[derive(Debug, Arbitrary)]
enum Op<'a> {
    Write(Made),
    WithDetail(Made, u16, u16, &'a [u8]),
    Reserve(Made),
    WriteDetail(u16, &'a [u8]),
    Many(Made, u8),
    Flush,
    Drop(u8),
}

#[derive(Debug, Default, Clone, Copy, Arbitrary)]
struct Made {
    later_ns: u16,
    back: bool,
    function_id: u64,
    kind: u8,
    depth: u32,
}

#[derive(Debug, Arbitrary)]
enum End {
    Finalize,
    Drop,
}

/// The state of an event's detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    None,
    /// The detail was reserved but not written, or it was dropped.
    Gone,
    Written,
}

/// A writer's files and the events that it accepted.
pub(crate) struct Written {
    pub(crate) index: Vec<u8>,
    pub(crate) detail: Option<Vec<u8>>,
    pub(crate) wire: Wire,
    /// Whether the files have headers and footers.
    pub(crate) is_finalized: bool,
    events: Vec<(Event, Link)>,
    /// Written details, including details without a payload, but not the placeholders of dropped
    /// details.
    details: Vec<(u64, u16, u16, Vec<u8>)>,
}

impl Ops<'_> {
    pub(crate) fn run(&self, thread_id: u32) -> Written {
        let memory = Memory::new();
        let wire = Wire::ALL[usize::from(self.is_version_2)];
        let options = WriteOptions::default()
            .wire(wire)
            .verbatim(self.verbatim)
            .buffer_size(if self.small_buffer { 1 } else { 64 << 10 });
        let storage = Arc::new(memory.clone());
        let mut writer =
            ThreadWriter::create_on(storage, "t", thread_id, &options).expect("memory never fails");
        let (mut events, mut details) = (Vec::new(), Vec::new());
        let (mut now, mut reserved) = (0_u64, std::collections::VecDeque::new());
        let mut dropped = 0;
        for op in &self.ops {
            let mut event = |made: &Made| {
                now = if made.back {
                    now.saturating_sub(made.later_ns.into())
                } else {
                    now.saturating_add(made.later_ns.into())
                };
                Event::new(
                    now,
                    made.function_id,
                    EventKind(made.kind.into()),
                    made.depth,
                )
            };
            match op {
                Op::Write(made) => {
                    let event = event(made);
                    if let Ok(seq) = writer.write(&event) {
                        assert_eq!(seq, events.len() as u64);
                        events.push((event, Link::None));
                    }
                }
                Op::Many(made, count) => {
                    for _ in 0..*count {
                        let event = event(made);
                        if writer.write(&event).is_ok() {
                            events.push((event, Link::None));
                        }
                    }
                }
                Op::WithDetail(made, event_type, flags, payload) => {
                    let event = event(made);
                    let detail = detail(*event_type, *flags, payload);
                    if let Ok(link) = writer.write_with_detail(&event, &detail) {
                        assert_eq!(link.index_seq, events.len() as u64);
                        assert!(link.detail_seq >= details.len() as u64);
                        details.push((link.index_seq, *event_type, *flags, payload.to_vec()));
                        events.push((event, Link::Written));
                    }
                }
                Op::Reserve(made) => {
                    let event = event(made);
                    let seq = writer.next_detail_seq();
                    if let Ok(index_seq) = writer.write_index(&event, Some(seq)) {
                        reserved.push_back((seq, index_seq, event.timestamp_ns));
                        events.push((event, Link::Gone));
                    }
                }
                Op::Drop(at) if !reserved.is_empty() => {
                    let at = usize::from(*at) % reserved.len();
                    let (seq, ..) = reserved.remove(at).expect("`at` is in range");
                    writer.drop_detail(seq).expect("it is reserved");
                    dropped += 1;
                }
                Op::Drop(_) => {}
                Op::WriteDetail(event_type, payload) => {
                    let (_, index_seq, time) = reserved.front().copied().unwrap_or_default();
                    let detail = detail(*event_type, 0, payload);
                    let written = writer.write_detail(index_seq, time, &detail);
                    assert_eq!(written.is_ok(), !reserved.is_empty());
                    if let Ok(seq) = written {
                        assert!(seq >= details.len() as u64);
                        details.push((index_seq, *event_type, 0, payload.to_vec()));
                        let (_, link) =
                            &mut events[usize::try_from(index_seq).expect("a position")];
                        *link = Link::Written;
                        reserved.pop_front();
                    }
                }
                Op::Flush => writer.flush().expect("memory never fails"),
            }
        }
        let is_finalized = matches!(self.end, End::Finalize);
        if is_finalized {
            let summary = writer.finalize().expect("memory never fails");
            let lost = dropped + reserved.len() as u64;
            assert_eq!(summary.dropped_details, lost);
        }
        drop(writer);
        Written {
            index: memory.bytes("t/index.atf").expect("it was created"),
            detail: memory.bytes("t/detail.atf"),
            wire,
            is_finalized,
            events,
            details,
        }
    }
}

/// A file's placeholder header, and the complete final file.
pub(crate) type Grown = (Vec<u8>, Vec<u8>);

impl Written {
    /// Returns the index and detail files as they were before their headers were updated.
    pub(crate) fn grown(&self, thread_id: u32) -> [Option<Grown>; 2] {
        let unfinished = Ops {
            is_version_2: self.wire == Wire::V2,
            small_buffer: true,
            verbatim: false,
            ops: vec![Op::WithDetail(Made::default(), 0, 0, &[])],
            end: End::Drop,
        };
        let unfinished = unfinished.run(thread_id);
        let header = |bytes: &[u8]| bytes[..HEADER_SIZE].to_vec();
        let detail = unfinished.detail.as_ref().zip(self.detail.as_ref());
        [
            Some((header(&unfinished.index), self.index.clone())),
            detail.map(|(unfinished, detail)| (header(unfinished), detail.clone())),
        ]
    }
}

/// The size of either header in bytes.
pub(crate) const HEADER_SIZE: usize = 64;

fn detail(event_type: u16, flags: u16, payload: &[u8]) -> Detail<'_> {
    Detail::new(DetailEventType(event_type), payload).flags(flags)
}

/// Runs a sequence of operations. Readers must return exactly what the writer accepted.
pub fn writer(data: &[u8]) {
    let Ok(ops) = Ops::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    let written = ops.run(7);
    let index = IndexReader::from_bytes(written.index).expect("our own output can be read");
    let is_finalized = matches!(index.completeness(), Completeness::Finalized);
    assert_eq!(is_finalized, written.is_finalized);
    let count = written.events.len() as u64;
    if written.is_finalized {
        assert_eq!(index.event_count(), count);
    } else {
        // At the end of an unfinalized file, neither zeros nor an event of kind 0 before them
        // count as events. Events written verbatim can look like either.
        let from_end = written.events.iter().rev();
        let no_kinds = from_end.take_while(|(event, _)| event.event_kind.0 == 0);
        let least = count - no_kinds.count() as u64;
        assert!((least..=count).contains(&index.event_count()));
    }
    let mut places = 0;
    for (found, (event, link)) in index.events_in(..).zip(&written.events) {
        let found = found.expect("bytes in memory can be read");
        assert_eq!(found.timestamp_ns, event.timestamp_ns);
        assert_eq!(found.function_id, event.function_id);
        assert_eq!(found.event_kind, event.event_kind);
        assert_eq!(found.thread_id, 7);
        match (link, found.detail_seq) {
            (Link::None | Link::Gone, None) => {}
            (Link::None, Some(_)) | (Link::Written, None) => panic!("{link:?}"),
            (Link::Written | Link::Gone, Some(place)) => {
                assert_eq!(place, places);
                places += 1;
            }
        }
        let depth = (written.wire == Wire::V1).then_some(event.call_depth);
        assert_eq!(found.call_depth, depth);
    }
    let Some(bytes) = written.detail else {
        assert!(written.details.is_empty());
        return;
    };
    let detail = DetailReader::from_bytes(bytes).expect("our own output can be read");
    if written.is_finalized {
        assert_eq!(detail.event_count(), places);
    } else {
        // In an unfinalized file, trailing events that consist of zeros do not count, although
        // their details exist.
        let links = written.events.iter();
        let links = links.filter(|(_, link)| !matches!(link, Link::None));
        assert!(detail.event_count() <= links.count() as u64);
    }
    // If a detail is dropped after its event was written, a placeholder without a payload takes its
    // place.
    let mut found_details = Vec::new();
    for found in detail.events_in(..) {
        let found = found.expect("bytes in memory can be read");
        let at = usize::try_from(found.header.index_seq).expect("a position");
        match written.events[at].1 {
            Link::Written => found_details.push(found),
            link => assert_eq!((link, found.payload_size()), (Link::Gone, 0)),
        }
    }
    assert_eq!(found_details.len(), written.details.len());
    for (found, (index_seq, event_type, flags, payload)) in
        found_details.iter().zip(&written.details)
    {
        assert_eq!(found.header.index_seq, *index_seq);
        assert_eq!(found.header.event_type, DetailEventType(*event_type));
        assert_eq!(found.header.flags, *flags);
        assert_eq!(detail.payload_bytes(found), Some(payload.as_slice()));
    }
}
