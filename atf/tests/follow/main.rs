//! Tests followers of growing files.

#[path = "../support/events.rs"]
mod support_events;
#[path = "../support/written.rs"]
mod support_written;

mod any_growth;
mod detail;
mod faults;
mod index;
mod session;
mod thread;

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use atf::detail::DetailEvent;
use atf::follow::{DetailFollower, IndexFollower, Polled};
use atf::index::IndexEvent;
use atf_samples::files::DetailRecord;
use tempfile::NamedTempFile;

/// A file that a test writes in pieces.
struct Written(NamedTempFile);

impl Written {
    fn new() -> Self {
        Self(NamedTempFile::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn size(&self) -> u64 {
        self.0.as_file().metadata().unwrap().len()
    }

    fn append(&self, bytes: &[u8]) {
        self.patch(self.size(), bytes);
    }

    fn patch(&self, offset: u64, bytes: &[u8]) {
        let mut file = self.0.as_file();
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn resize(&self, size: u64) {
        self.0.as_file().set_len(size).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }
}

/// A file that a test writes, its follower, and the events returned so far.
struct Followed<F, E> {
    written: Written,
    follower: F,
    events: Vec<E>,
}

impl<F, E> Followed<F, E> {
    /// Adds bytes to the file.
    fn with(self, bytes: &[u8]) -> Self {
        self.written.append(bytes);
        self
    }
}

type FollowedIndex = Followed<IndexFollower, IndexEvent>;
/// Each event has its payload.
type FollowedDetail = Followed<DetailFollower, (DetailEvent, Vec<u8>)>;

impl FollowedIndex {
    fn new() -> Self {
        let written = Written::new();
        Self {
            follower: IndexFollower::new(written.path()),
            written,
            events: Vec::new(),
        }
    }

    /// Takes all events that are certain.
    fn try_drain(&mut self) -> atf::Result<Polled<()>> {
        loop {
            assert_eq!(self.follower.next_seq(), self.events.len() as u64);
            match self.follower.poll()? {
                Polled::New(new) => {
                    assert!(!new.is_empty());
                    self.events.extend(new.iter());
                }
                Polled::NotYet => return Ok(Polled::NotYet),
                Polled::Finalized => return Ok(Polled::Finalized),
            }
        }
    }

    fn drain(&mut self) -> Polled<()> {
        self.try_drain().unwrap()
    }
}

impl FollowedDetail {
    fn new() -> Self {
        let written = Written::new();
        Self {
            follower: DetailFollower::new(written.path()),
            written,
            events: Vec::new(),
        }
    }

    /// Takes all events that are certain, with their payloads.
    fn try_drain(&mut self) -> atf::Result<Polled<()>> {
        loop {
            assert_eq!(self.follower.next_seq(), self.events.len() as u64);
            match self.follower.poll()? {
                Polled::New(event) => {
                    let mut payload = vec![0; usize::try_from(event.payload_size()).unwrap()];
                    let read = self.follower.read_payload(&event, 0, &mut payload)?;
                    assert_eq!(read, payload.len());
                    self.events.push((event, payload));
                }
                Polled::NotYet => return Ok(Polled::NotYet),
                Polled::Finalized => return Ok(Polled::Finalized),
            }
        }
    }

    fn drain(&mut self) -> Polled<()> {
        self.try_drain().unwrap()
    }

    fn records(&self) -> Vec<DetailRecord> {
        let events = self.events.iter();
        events
            .map(|(event, payload)| support_events::record(event, payload.clone()))
            .collect()
    }
}
