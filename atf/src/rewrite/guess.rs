//! Reconstructs unreadable headers from the rest of the thread's files.

use crate::detail::{DetailHeader, DetailReader};
use crate::error::Result;
use crate::index::{IndexEvent, IndexFooter, IndexHeader, IndexReader, is_zero};
use crate::session::{Presence, SessionReader};
use crate::source::Input;
use crate::wire::{Arch, Clock, Os, Record, Wire};

/// How many events must be valid in a wire version before that version is assumed; fewer in a
/// shorter file.
const SAMPLE: usize = 64;
/// The maximum number of events to look at. The first ones may be in a block that never reached the
/// disk.
const LOOK: usize = 1 << 15;
const HEADER_SIZE: u64 = IndexHeader::SIZE as u64;
const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// Returns whether a file's header is in one of its unreadable ranges.
pub(super) fn is_unreadable(file: &Input) -> bool {
    file.unreadable().overlaps(&(0..HEADER_SIZE))
}

/// Opens an index file with a header reconstructed from its events, or returns `None` if the events
/// do not fit any wire version. `id` is the id in the folder's name, `clock` the manifest's clock,
/// `detail` the detail file's header, and `of_siblings` returns the other threads' machine.
pub(super) fn index(
    file: Input,
    id: Option<u32>,
    clock: Option<Clock>,
    detail: Option<&DetailHeader>,
    of_siblings: Machine<'_>,
) -> Result<Option<IndexReader>> {
    let sample = Sample::read(&file)?;
    let wires = detail
        .map(|detail| detail.wire)
        .into_iter()
        .chain(Wire::ALL.iter().copied());
    let Some((wire, thread_id)) = wires.filter_map(|wire| sample.fits(wire)).next() else {
        return Ok(None);
    };
    let damaged = IndexHeader::from_bytes(wire, &sample.header);
    let own = [
        Some((damaged.arch, damaged.os)),
        detail.map(|it| (it.arch, it.os)),
    ];
    let arch = own.iter().flatten().find_map(|it| known(it.0, it.0.name()));
    let os = own.iter().flatten().find_map(|it| known(it.1, it.1.name()));
    let header = IndexHeader {
        arch: arch.or_else(|| Some(of_siblings()?.0)).unwrap_or(Arch(0)),
        os: os.or_else(|| Some(of_siblings()?.1)).unwrap_or(Os(0)),
        thread_id: thread_id
            .or(detail.map(|detail| detail.thread_id))
            .or(id)
            .unwrap_or(0),
        clock_type: known(damaged.clock_type, damaged.clock_type.name())
            .or(clock)
            .unwrap_or(Clock(0)),
        footer_offset: HEADER_SIZE,
        ..IndexHeader::new(wire, 0)
    };
    let header = header.encode()?;
    IndexReader::new(file.with_header(header)).map(Some)
}

/// A function that returns the architecture and operating system of a session's threads, if known.
pub(super) type Machine<'a> = &'a dyn Fn() -> Option<(Arch, Os)>;

/// Returns the architecture and operating system in the intact headers of a session's threads,
/// unless these differ. All threads were recorded on one machine.
pub(super) fn machine(session: &SessionReader) -> Option<(Arch, Os)> {
    let threads = session.threads().iter();
    let threads = threads.filter(|entry| entry.presence() == Presence::Folder);
    let machines = threads.filter_map(|entry| {
        let index = entry.open_index().ok()?;
        let (arch, os) = (index.header().arch, index.header().os);
        (arch.name().is_some() && os.name().is_some()).then_some((arch, os))
    });
    let mut machines = machines.peekable();
    let first = *machines.peek()?;
    machines.all(|other| other == first).then_some(first)
}

/// Opens a detail file with a header derived from its index.
pub(super) fn detail(file: Input, index: &IndexHeader) -> Result<DetailReader> {
    let header = DetailHeader {
        arch: index.arch,
        os: index.os,
        ..DetailHeader::new(index.wire, index.thread_id)
    };
    DetailReader::new(file.with_header(header.encode()))
}

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

/// A damaged header and the first readable events.
struct Sample {
    header: [u8; IndexHeader::SIZE],
    events: Vec<[u8; IndexEvent::SIZE]>,
}

impl Sample {
    /// Reads the sample, with zeros for missing bytes.
    fn read(file: &Input) -> Result<Self> {
        let mut header = [0; IndexHeader::SIZE];
        file.read(0, &mut header)?;
        let mut events = Vec::new();
        let count = file.size().saturating_sub(HEADER_SIZE) / EVENT_SIZE;
        let offset = |seq: u64| HEADER_SIZE.saturating_add(seq.saturating_mul(EVENT_SIZE));
        let is_readable = |seq: &u64| {
            let place = offset(*seq)..offset(seq.saturating_add(1));
            !file.unreadable().overlaps(&place)
        };
        for seq in (0..count).filter(is_readable).take(LOOK) {
            let mut event = [0; IndexEvent::SIZE];
            file.read(offset(seq), &mut event)?;
            let is_written = !is_zero(&event);
            // The last event is followed by a footer or unwritten space.
            if event.starts_with(&IndexFooter::MAGIC) || !is_written && !events.is_empty() {
                break;
            }
            events.extend(is_written.then_some(event));
            if events.len() >= SAMPLE {
                break;
            }
        }
        Ok(Self { header, events })
    }

    /// Returns the wire version if all events are valid in it: their kinds are known, their
    /// reserved bytes are 0, and they share one thread id if the version records it. Also returns
    /// that id.
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
