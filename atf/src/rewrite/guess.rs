//! Reconstructs unreadable headers from the rest of the thread's files.

use std::io;
use std::path::Path;

use crate::detail::{DetailHeader, DetailReader};
use crate::error::Result;
use crate::index::{IndexEvent, IndexFooter, IndexHeader, IndexReader};
use crate::source::{Input, OpenOptions, ReadAt};
use crate::wire::{Arch, Clock, Os, Record, Wire};

/// The number of events, or fewer in a shorter file, that must be valid in a wire version to identify it.
const SAMPLE: u64 = 64;
const HEADER_SIZE: u64 = IndexHeader::SIZE as u64;
const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// A file whose header is replaced.
struct Patched {
    file: Input,
    header: [u8; IndexHeader::SIZE],
}

impl ReadAt for Patched {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match usize::try_from(offset)
            .ok()
            .and_then(|at| self.header.get(at..))
        {
            Some(mut rest) if !rest.is_empty() => io::Read::read(&mut rest, buffer),
            _ => self.file.read(offset, buffer).map_err(io::Error::other),
        }
    }
}

/// Opens an index file with a header reconstructed from its events, or returns `None` if they fit no
/// wire version. `id` is the id in the folder's name, `detail` the header of the other file.
pub(super) fn index(
    path: &Path,
    id: Option<u32>,
    detail: Option<&DetailHeader>,
) -> Result<Option<IndexReader>> {
    let file = Input::open_in_session(path, OpenOptions::new())?;
    let sample = Sample::read(&file)?;
    let wires = detail
        .map(|detail| detail.wire)
        .into_iter()
        .chain(Wire::ALL.iter().copied());
    let Some((wire, thread_id)) = wires.filter_map(|wire| sample.fits(wire)).next() else {
        return Ok(None);
    };
    let damaged = IndexHeader::from_bytes(wire, &sample.header);
    let (arch, os, clock) = (damaged.arch, damaged.os, damaged.clock_type);
    let header = IndexHeader {
        arch: known(arch, arch.name()).unwrap_or(detail.map_or(Arch(0), |detail| detail.arch)),
        os: known(os, os.name()).unwrap_or(detail.map_or(Os(0), |detail| detail.os)),
        thread_id: thread_id
            .or(detail.map(|detail| detail.thread_id))
            .or(id)
            .unwrap_or(0),
        clock_type: known(clock, clock.name()).unwrap_or(Clock(0)),
        footer_offset: HEADER_SIZE,
        ..IndexHeader::new(wire, 0)
    };
    let header = header.encode()?;
    IndexReader::from_source(Patched { file, header }).map(Some)
}

/// Opens a detail file with a header that matches its index.
pub(super) fn detail(path: &Path, index: &IndexHeader) -> Result<DetailReader> {
    let file = Input::open_in_session(path, OpenOptions::new())?;
    let header = DetailHeader::new(index.wire, index.thread_id)
        .arch(index.arch)
        .os(index.os)
        .encode();
    DetailReader::from_source(Patched { file, header })
}

/// Describes a reconstructed header.
pub(super) fn describe(header: &IndexHeader) -> String {
    let known = |name: Option<&'static str>| name.unwrap_or("unknown");
    format!(
        "assumed wire version {}, thread_id {}, arch {}, os {}, clock {}",
        header.wire.version(),
        header.thread_id,
        known(header.arch.name()),
        known(header.os.name()),
        known(header.clock_type.name()),
    )
}

fn known<T>(value: T, name: Option<&str>) -> Option<T> {
    name.map(|_| value)
}

/// The damaged header and the first events.
struct Sample {
    header: [u8; IndexHeader::SIZE],
    events: Vec<[u8; IndexEvent::SIZE]>,
}

impl Sample {
    /// Reads the sample. Missing bytes are 0.
    fn read(file: &Input) -> Result<Self> {
        let mut header = [0; IndexHeader::SIZE];
        file.read(0, &mut header)?;
        let mut events = Vec::new();
        let count = file.size().saturating_sub(HEADER_SIZE) / EVENT_SIZE;
        for seq in 0..count.min(SAMPLE) {
            let mut event = [0; IndexEvent::SIZE];
            let offset = HEADER_SIZE.saturating_add(seq.saturating_mul(EVENT_SIZE));
            file.read(offset, &mut event)?;
            // After the last event comes a footer or unwritten space.
            if event.starts_with(&IndexFooter::MAGIC) || event == [0; IndexEvent::SIZE] {
                break;
            }
            events.push(event);
        }
        Ok(Self { header, events })
    }

    /// Returns the wire version if all events are valid in it: known kinds, reserved bytes 0, and a
    /// single thread id if the version records one, which is returned too.
    fn fits(&self, wire: Wire) -> Option<(Wire, Option<u32>)> {
        let first = self.events.first()?;
        let thread_id = IndexEvent::decode(wire, 0, first).thread_id;
        let fits = self.events.iter().all(|bytes| {
            let event = IndexEvent::decode(wire, 0, bytes);
            let mut nonzero = Record::IndexEvent.nonzero_reserved(wire, bytes);
            event.event_kind.name().is_some()
                && event.thread_id == thread_id
                && nonzero.next().is_none()
        });
        fits.then_some((wire, wire.records_thread_id().then_some(thread_id)))
    }
}
