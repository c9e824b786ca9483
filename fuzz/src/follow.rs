//! Follows files that grow by arbitrary amounts.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use atf::detail::{DetailEvent, DetailReader};
use atf::follow::{DetailFollower, IndexFollower, Polled};
use atf::index::{IndexEvent, IndexReader};
use atf::wire::Record;
use atf::{Wire, detail::DetailHeader};

use crate::scratch::scratch;
use crate::whole::is_whole;
use crate::writer::Ops;

/// How a file grows.
#[derive(Debug, Arbitrary)]
struct Growth {
    is_detail: bool,
    /// Whether the file is our writer's output rather than arbitrary bytes.
    is_written: bool,
    /// The size to which the file is preallocated with zeros.
    set_aside: u16,
    /// The numbers of bytes to add between polls, used in turn and then repeated.
    pieces: [u8; 6],
}

/// Follows a file as it grows.
///
/// - Arbitrary bytes: nothing panics, and the returned events are in the file, in order. If the
///   complete file is finalized, consistent, and consistent with these events, they are a prefix of
///   the events that a reader returns.
/// - A writer's output: the follower returns every event once, in order, and then reports the end,
///   even if space was preallocated.
pub fn follow(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(growth) = Growth::arbitrary(&mut input) else {
        return;
    };
    if !growth.is_written {
        return growth.check_any(input.take_rest());
    }
    let Ok(ops) = Ops::arbitrary_take_rest(input) else {
        return;
    };
    let written = ops.run(7);
    let [index, detail] = written.grown(7);
    let Some((placeholder, last)) = (if growth.is_detail { detail } else { index }) else {
        return;
    };
    growth.check_written(&placeholder, &last, written.is_finalized);
}

/// A follower of either kind of file, and all events that it has returned.
enum Follower {
    Index(Box<IndexFollower>, Vec<IndexEvent>),
    Detail(Box<DetailFollower>, Vec<DetailEvent>),
}

impl Follower {
    fn new(path: &Path, is_detail: bool) -> Self {
        if is_detail {
            Self::Detail(Box::new(DetailFollower::new(path)), Vec::new())
        } else {
            Self::Index(Box::new(IndexFollower::new(path)), Vec::new())
        }
    }

    /// Polls until nothing new is returned. Returns whether the follower reports the end.
    fn drain(&mut self) -> atf::Result<bool> {
        match self {
            Self::Index(follower, events) => loop {
                assert_eq!(follower.next_seq(), events.len() as u64);
                match follower.poll()? {
                    Polled::New(new) => {
                        assert!(!new.is_empty());
                        events.extend(new.iter());
                    }
                    Polled::NotYet => return Ok(false),
                    Polled::Finalized => return Ok(true),
                }
            },
            Self::Detail(follower, events) => loop {
                assert_eq!(follower.next_seq(), events.len() as u64);
                match follower.poll()? {
                    Polled::New(event) => events.push(event),
                    Polled::NotYet => return Ok(false),
                    Polled::Finalized => return Ok(true),
                }
            },
        }
    }

    /// Checks that the returned events are a prefix of a reader's events, or all of them.
    fn compare(&self, bytes: &[u8], is_all: bool) {
        match self {
            Self::Index(_, given) => {
                let start = events_offset(bytes);
                for (seq, event) in given.iter().enumerate() {
                    let at = start + seq * IndexEvent::SIZE;
                    let time = &bytes[at..at + IndexEvent::SIZE][..8];
                    assert_eq!(time, event.timestamp_ns.to_le_bytes());
                }
                let Ok(reader) = IndexReader::from_bytes(bytes) else {
                    assert!(!is_all, "a reader refuses the followed file");
                    return;
                };
                if is_all || is_whole(reader.completeness(), &reader.disagreements()) {
                    assert_beginning(given, reader.events_in(..), is_all);
                }
            }
            Self::Detail(_, given) => {
                let mut end = events_offset(bytes) as u64;
                for event in given {
                    assert_eq!(event.offset, end, "event {}", event.seq);
                    end = event.payload_offset() + event.payload_size();
                }
                assert!(given.is_empty() || end <= bytes.len() as u64);
                let Ok(reader) = DetailReader::from_bytes(bytes) else {
                    assert!(!is_all, "a reader refuses the followed file");
                    return;
                };
                if is_all || is_whole(reader.completeness(), &reader.disagreements()) {
                    assert_beginning(given, reader.events_in(..), is_all);
                }
            }
        }
    }
}

/// Asserts that `given` is a prefix of a reader's events, or equal to them.
fn assert_beginning<T: PartialEq + Debug>(
    given: &[T],
    read: impl Iterator<Item = atf::Result<T>>,
    is_all: bool,
) {
    let read: Vec<T> = read.map(|event| event.expect("in memory")).collect();
    assert!(read.starts_with(given), "given {given:#?}\nread {read:#?}");
    let (count, most) = (given.len(), read.len());
    assert!(!is_all || count == most, "{count} of {most}");
}

impl Growth {
    /// Returns the sizes at which the file is polled, one per added piece.
    fn ends(&self, size: usize) -> Vec<usize> {
        // Limit the number of polls per file.
        let least = size / 200 + 1;
        let mut ends = Vec::new();
        let mut end = 0;
        for piece in self.pieces.iter().cycle() {
            end = (end + usize::from(*piece).max(least)).min(size);
            ends.push(end);
            if end == size {
                break;
            }
        }
        ends
    }

    fn check_any(&self, bytes: &[u8]) {
        let scratch = scratch();
        let path = scratch.path().join("file");
        let mut follower = Follower::new(&path, self.is_detail);
        let file = create(&path);
        let mut start = 0;
        for end in self.ends(bytes.len()) {
            patch(&file, start, &bytes[start..end]);
            start = end;
            // An error means that the file contradicts itself so far. The next poll tries again.
            let _ = follower.drain();
        }
        if follower.drain().is_ok() {
            follower.compare(bytes, false);
        }
    }

    fn check_written(&self, placeholder: &[u8], last: &[u8], is_finalized: bool) {
        let scratch = scratch();
        let path = scratch.path().join("file");
        let mut follower = Follower::new(&path, self.is_detail);
        let mut drain = || {
            let is_over = follower.drain();
            is_over.expect("the file is consistent with the events returned")
        };
        drain();
        let file = create(&path);
        file.set_len(self.set_aside.into()).expect("room");
        // The follower must see the preallocated space before events are written to it. Otherwise,
        // it could not tell whether the last event in that space is only half-written.
        drain();
        let whole = [placeholder, &last[placeholder.len()..]].concat();
        let mut start = 0;
        for end in self.ends(whole.len()) {
            patch(&file, start, &whole[start..end]);
            start = end;
            drain();
        }
        file.set_len(whole.len() as u64).expect("room");
        drain();
        // The header is written last.
        patch(&file, 0, &last[..placeholder.len()]);
        if is_finalized {
            // One poll may see a half-written header; the next one sees all of it.
            drain();
            assert!(drain(), "the end is not reported");
        }
        follower.compare(last, is_finalized);
    }
}

/// Returns the offset of the first event according to the header.
fn events_offset(bytes: &[u8]) -> usize {
    let record = if bytes.starts_with(&DetailHeader::MAGIC) {
        Record::DetailHeader
    } else {
        Record::IndexHeader
    };
    // The field is the same in every wire version.
    let at = record
        .field(Wire::V1, "events_offset")
        .map_or(0, |field| field.offset);
    let offset = bytes.get(at..).and_then(|rest| rest.first_chunk());
    let offset = offset.map_or(0, |offset| u64::from_le_bytes(*offset));
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn create(path: &Path) -> File {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true);
    options.open(path).expect("we own this folder")
}

fn patch(mut file: &File, offset: usize, bytes: &[u8]) {
    let sought = file.seek(SeekFrom::Start(offset as u64));
    let done = sought.and_then(|_| file.write_all(bytes));
    done.expect("we own this folder");
}
