//! One thread: what is read, event by event, and what becomes of it.

use std::mem::offset_of;
use std::path::Path;

use super::bits::Bits;
use super::depth::Depth;
use super::ends;
use super::job::{Details, Failure, Job, Progress};
use super::report::{Place, SetAside, ThreadReport, What, Why};
use super::salvage::SalvagedDetails;
use super::side::{OrphansWriter, SalvagedWriter};
use super::stage::free_path;
use crate::detail::{DetailCursor, DetailEvent, DetailReader, FunctionPayload};
use crate::index::{IndexEvent, IndexReader};
use crate::thread::{DETAIL_FILE, INDEX_FILE};
use crate::wire::{self, Clock, DetailEventType, EventKind, Wire, offset, v1};
use crate::write::{ThreadWriter, WriteOptions};

/// The name of the file with details that no event refers to.
pub(super) const ORPHANS: (&str, &str) = ("orphans", ".atf");
/// The name of the file with index events from behind a hole.
pub(super) const SALVAGED: (&str, &str) = ("salvaged", ".atf");

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;

/// A thread's files, open for reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) index: &'a IndexReader,
    pub(super) detail: Option<&'a DetailReader>,
    /// The id in the name of the folder.
    pub(super) folder_id: Option<u32>,
}

/// What the session must know of a thread that was rewritten.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) has_detail: bool,
    pub(super) time_range: Option<(u64, u64)>,
    pub(super) clock: Clock,
}

/// Rewrites a thread into `out`, which must hold none of its files yet.
pub(super) fn rewrite(
    job: &Job<'_>,
    pair: Pair<'_>,
    out: &Path,
    report: &mut ThreadReport,
    progress: &mut Progress<'_>,
) -> Result<Rewritten, Failure> {
    let salvaged = match pair.detail {
        Some(detail) if job.salvage => SalvagedDetails::find(pair.index, detail)?,
        _ => SalvagedDetails::default(),
    };
    let walk = Walk::new(job, pair, &salvaged, out, report, progress)?;
    walk.run()
}

/// Where one is in a thread, and what has been found there.
struct Walk<'a, 'b> {
    job: &'a Job<'a>,
    pair: Pair<'a>,
    salvaged: &'a SalvagedDetails,
    out: &'a Path,
    report: &'a mut ThreadReport,
    progress: &'a mut Progress<'b>,
    writer: ThreadWriter,
    target: Wire,
    thread_id: u32,
    depth: Depth,
    details: Option<DetailCursor<'a>>,
    /// The details that are in the new file.
    used: Bits,
    /// The same of those that were found behind damage.
    used_salvaged: Bits,
    /// What the next link would be if links counted along the index.
    next_link: u64,
    last_timestamp: u64,
    /// The bytes of a detail: its header and its payload.
    bytes: Vec<u8>,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(
        job: &'a Job<'a>,
        pair: Pair<'a>,
        salvaged: &'a SalvagedDetails,
        out: &'a Path,
        report: &'a mut ThreadReport,
        progress: &'a mut Progress<'b>,
    ) -> Result<Self, Failure> {
        let header = pair.index.header();
        let thread_id = thread_id(pair, report)?;
        let target = job.wire.unwrap_or(header.wire);
        let options = WriteOptions {
            wire: target,
            arch: header.arch,
            os: header.os,
            clock_type: header.clock_type,
            durability: job.durability,
            verbatim: true,
            ..WriteOptions::default()
        };
        let writer = ThreadWriter::create(out, thread_id, &options).map_err(Failure::Write)?;
        Ok(Self {
            job,
            pair,
            salvaged,
            out,
            report,
            progress,
            writer,
            target,
            thread_id,
            depth: Depth::default(),
            details: pair.detail.map(DetailReader::cursor),
            used: Bits::new(pair.detail.map_or(0, DetailReader::event_count)),
            used_salvaged: Bits::new(salvaged.count()),
            next_link: 0,
            last_timestamp: 0,
            bytes: Vec::new(),
        })
    }

    fn run(mut self) -> Result<Rewritten, Failure> {
        let index = self.pair.index;
        let mut events = index.cursor();
        let mut seq = 0_u64;
        while let Some(bytes) = events.bytes(seq)? {
            if is_hole(&bytes) {
                break;
            }
            let event = IndexEvent::decode(index.wire(), index.header().thread_id, &bytes);
            self.event(seq, event)?;
            seq = seq.saturating_add(1);
            self.progress.advance(EVENT_SIZE);
        }
        let summary = self.writer.finalize().map_err(Failure::Write)?;
        self.report.events.kept = summary.event_count;
        self.report.details.kept = summary.detail_count;
        self.behind_hole(seq)?;
        self.orphans()?;
        ends::index(index, self.report)?;
        if let Some(detail) = self.pair.detail {
            ends::detail(detail, self.salvaged, self.report)?;
        }
        Ok(Rewritten {
            has_detail: summary.detail_count > 0,
            time_range: summary.time_range,
            clock: index.header().clock_type,
        })
    }

    /// Writes an event with the detail that belongs to it.
    fn event(&mut self, seq: u64, event: IndexEvent) -> Result<(), Failure> {
        self.note_event(seq, &event);
        let event = self.in_target(seq, event);
        let written = match self.linked(seq, &event)? {
            Some(detail) => self.pair_of(&event, &detail),
            None => self.writer.write_decoded(&event, None).map(drop),
        };
        written.map_err(Failure::Write)
    }

    /// Notes what is wrong with an event's content; it stays.
    fn note_event(&mut self, seq: u64, event: &IndexEvent) {
        let (index, thread_id, last) = (self.pair.index, self.thread_id, self.last_timestamp);
        let at = |field: &str| event_place(index, seq, field);
        let notes = &mut self.report.notes;
        if seq > 0 && event.timestamp_ns < last {
            notes.add(What::TimeGoesBack, || {
                at("timestamp_ns").found(format!("{} after {last}", event.timestamp_ns))
            });
        }
        self.last_timestamp = event.timestamp_ns;
        if event.event_kind.name().is_none() {
            let kind = event.event_kind.0;
            notes.add(What::UnknownKind, || {
                at("event_kind").found(kind.to_string())
            });
        }
        if event.thread_id != thread_id && index.wire() == Wire::V1 {
            let what = match self.target {
                Wire::V1 => What::OtherThreadId,
                Wire::V2 => What::ThreadIdLost,
            };
            notes.add(what, || at("thread_id").found(event.thread_id.to_string()));
        }
    }

    /// The event as the new wire version can hold it.
    fn in_target(&mut self, seq: u64, event: IndexEvent) -> IndexEvent {
        let index = self.pair.index;
        let at = || event_place(index, seq, "call_depth");
        match (self.target, event.call_depth) {
            (Wire::V1, None) => {
                self.report.notes.tally(What::CallDepthDerived, at);
                IndexEvent {
                    call_depth: Some(self.depth.next(event.event_kind)),
                    thread_id: self.thread_id,
                    ..event
                }
            }
            (Wire::V2, Some(_)) => {
                self.report.notes.tally(What::CallDepthLost, at);
                IndexEvent {
                    call_depth: None,
                    ..event
                }
            }
            _ => event,
        }
    }

    /// The detail whose links agree with the event's in both directions.
    fn linked(&mut self, seq: u64, event: &IndexEvent) -> Result<Option<DetailEvent>, Failure> {
        let Some(link) = event.detail_seq else {
            return Ok(None);
        };
        let index = self.pair.index;
        let at = || event_place(index, seq, "detail_seq").found(link.to_string());
        let found = match &mut self.details {
            Some(details) => details.get(link)?,
            None => None,
        };
        let mut detail = found.filter(|detail| detail.header.index_seq == seq);
        if detail.is_some() {
            self.used.set(link);
        } else if let Some((place, found)) = self.salvaged.get(link)
            && found.header.index_seq == seq
        {
            self.used_salvaged.set(place);
            let kept = &mut self.report.details;
            kept.salvaged = kept.salvaged.saturating_add(1);
            let place = || detail_place(&found, "", 0);
            self.report.notes.add(What::DetailSalvaged, place);
            detail = Some(found);
        }
        match (&detail, found) {
            (Some(_), _) if self.job.details == Details::Drop => {
                self.report.notes.tally(What::DetailDropped, at);
                return Ok(None);
            }
            (Some(_), _) => {
                if link != self.next_link {
                    self.report.notes.add(What::LinkOutOfOrder, at);
                }
                self.next_link = link.saturating_add(1);
            }
            (None, Some(_)) => self.report.notes.add(What::LinkNotReturned, at),
            (None, None) => self.report.notes.add(What::LinkToNothing, at),
        }
        Ok(detail)
    }

    /// Writes an event and its detail.
    fn pair_of(&mut self, event: &IndexEvent, detail: &DetailEvent) -> crate::Result<()> {
        if let Some(details) = &mut self.details {
            details.read(detail, &mut self.bytes)?;
        }
        self.progress.advance(self.bytes.len() as u64);
        let payload = self.bytes.get(HEADER..).unwrap_or_default();
        let function = FunctionPayload::decode(payload);
        note_detail(
            self.report,
            self.thread_id,
            event,
            detail,
            function.as_ref(),
        );
        let scrubbed: Vec<u8>;
        let payload: &[u8] = match (self.job.details, &function) {
            (Details::Scrub, Some(_)) => {
                let at = || detail_place(detail, "payload", HEADER);
                self.report.notes.tally(What::PayloadScrubbed, at);
                scrubbed = scrub(event.function_id)?;
                &scrubbed
            }
            (Details::Scrub, None) => {
                let at = || detail_place(detail, "payload", HEADER);
                self.report.notes.tally(What::PayloadEmptied, at);
                &[]
            }
            (Details::Keep | Details::Drop, _) => payload,
        };
        let written = self
            .writer
            .write_decoded(event, Some((&detail.header, payload)));
        written.map(drop)
    }

    /// What stands behind the first hole: its events have lost their place in the order.
    fn behind_hole(&mut self, first: u64) -> Result<(), Failure> {
        let index = self.pair.index;
        let mut events = index.cursor();
        let mut salvaged: Option<(SalvagedWriter, SetAside)> = None;
        let mut run: Option<(Why, u64, u64)> = None;
        for seq in first..index.event_count() {
            let (Some(bytes), Some(offset)) = (events.bytes(seq)?, index.event_offset(seq)) else {
                break;
            };
            self.progress.advance(EVENT_SIZE);
            let why = match is_hole(&bytes) {
                true => Why::Hole,
                false if self.job.salvage && self.job.keeps_rest => {
                    let event = IndexEvent::decode(index.wire(), index.header().thread_id, &bytes);
                    let (writer, aside) = match &mut salvaged {
                        Some(open) => open,
                        None => salvaged.insert(self.open_salvaged()?),
                    };
                    writer.write(&event, &bytes).map_err(Failure::Write)?;
                    aside.add(seq, offset);
                    continue;
                }
                false => Why::BehindHole,
            };
            match &mut run {
                Some((last, start, size))
                    if *last == why && start.saturating_add(*size) == offset =>
                {
                    *size = size.saturating_add(EVENT_SIZE);
                }
                _ => {
                    self.dropped(run);
                    run = Some((why, offset, EVENT_SIZE));
                }
            }
        }
        self.dropped(run);
        if let Some((writer, aside)) = salvaged {
            writer
                .finalize(self.job.durability)
                .map_err(Failure::Write)?;
            self.report.events.salvaged = aside.count;
            self.report.set_aside.push(aside);
        }
        Ok(())
    }

    fn dropped(&mut self, run: Option<(Why, u64, u64)>) {
        if let Some((why, offset, size)) = run {
            self.report.drop(INDEX_FILE, why, offset, size);
        }
    }

    fn open_salvaged(&self) -> Result<(SalvagedWriter, SetAside), Failure> {
        let path = free_path(self.out, SALVAGED.0, SALVAGED.1).map_err(Failure::Write)?;
        let aside = SetAside::new(name(&path), INDEX_FILE);
        let writer = SalvagedWriter::create(path, self.pair.index.header());
        Ok((writer.map_err(Failure::Write)?, aside))
    }

    /// The details that no event refers to.
    fn orphans(&mut self) -> Result<(), Failure> {
        let (Some(reader), Some(details)) = (self.pair.detail, &mut self.details) else {
            return Ok(());
        };
        let mut orphans: Option<(OrphansWriter, SetAside)> = None;
        let salvaged = self.salvaged.iter().zip(0..);
        let salvaged = salvaged.filter(|(_, place)| !self.used_salvaged.is_set(*place));
        let hopped = (0..reader.event_count()).filter(|seq| !self.used.is_set(*seq));
        let mut window = reader.cursor();
        let hopped = hopped.map_while(|seq| details.get(seq).transpose());
        for detail in hopped.chain(salvaged.map(|(detail, _)| Ok(*detail))) {
            let detail = detail?;
            let (offset, size) = (detail.offset, detail.header.total_length.into());
            self.progress.advance(size);
            let is_found = self
                .salvaged
                .get(detail.seq)
                .is_some_and(|(_, f)| f == detail);
            if !is_found && self.salvaged.overlaps(&detail) {
                self.report.drop(DETAIL_FILE, Why::Overlap, offset, size);
                continue;
            }
            if !self.job.keeps_rest {
                self.report.drop(DETAIL_FILE, Why::Orphans, offset, size);
                continue;
            }
            let (writer, aside) = match &mut orphans {
                Some(open) => open,
                None => {
                    let path = free_path(self.out, ORPHANS.0, ORPHANS.1).map_err(Failure::Write)?;
                    let aside = SetAside::new(name(&path), DETAIL_FILE);
                    let writer = OrphansWriter::create(path, reader.header());
                    orphans.insert((writer.map_err(Failure::Write)?, aside))
                }
            };
            window.read(&detail, &mut self.bytes)?;
            writer.write(&detail, &self.bytes).map_err(Failure::Write)?;
            aside.add(detail.seq, offset);
        }
        if let Some((writer, aside)) = orphans {
            writer
                .finalize(self.job.durability)
                .map_err(Failure::Write)?;
            self.report.set_aside.push(aside);
        }
        Ok(())
    }
}

const HEADER: usize = crate::detail::DetailEventHeader::SIZE;

/// The id for the new header. It is the old one's, unless the folder's name and a second witness,
/// an event of version 1 or the detail file, agree on another: then the old one is damaged.
fn thread_id(pair: Pair<'_>, report: &mut ThreadReport) -> crate::Result<u32> {
    let found = pair.index.header().thread_id;
    let Some(folder_id) = pair.folder_id.filter(|id| *id != found) else {
        return Ok(found);
    };
    let first = pair.index.get(0)?.filter(|_| pair.index.wire() == Wire::V1);
    let witness = match first {
        Some(event) => Some(event.thread_id),
        None => pair.detail.map(|detail| detail.header().thread_id),
    };
    let offset = offset!(pair.index.wire(), IndexHeader.thread_id) as u64;
    let place = || {
        let found = format!("{found}, the folder is thread_{folder_id}");
        Place::new(INDEX_FILE, "header.thread_id", Some(offset)).found(found)
    };
    if witness == Some(folder_id) {
        report.notes.add(What::HeaderDisagrees, place);
        return Ok(folder_id);
    }
    report.notes.add(What::OtherFolder, place);
    Ok(found)
}

/// Notes what a detail and its event do not agree on; it stays.
fn note_detail(
    report: &mut ThreadReport,
    thread_id: u32,
    event: &IndexEvent,
    detail: &DetailEvent,
    function: Option<&FunctionPayload>,
) {
    let header = &detail.header;
    let notes = &mut report.notes;
    if header.timestamp != event.timestamp_ns {
        notes.add(What::TimestampsDiffer, || {
            let place = detail_place(
                detail,
                "timestamp",
                offset_of!(v1::DetailEventHeader, timestamp),
            );
            place.found(format!("{}, {}", header.timestamp, event.timestamp_ns))
        });
    }
    let expected = match event.event_kind {
        EventKind::CALL => DetailEventType::FUNCTION_CALL,
        EventKind::RETURN => DetailEventType::FUNCTION_RETURN,
        _ => header.event_type,
    };
    if header.event_type != expected {
        notes.add(What::TypeDoesNotFit, || {
            let place = detail_place(
                detail,
                "event_type",
                offset_of!(v1::DetailEventHeader, event_type),
            );
            place.found(format!("{}, expected {}", header.event_type.0, expected.0))
        });
    }
    if header.thread_id != thread_id {
        notes.add(What::OtherThreadId, || {
            let place = detail_place(
                detail,
                "thread_id",
                offset_of!(v1::DetailEventHeader, thread_id),
            );
            place.found(header.thread_id.to_string())
        });
    }
    let Some(function) = function else {
        return;
    };
    if function.function_id != event.function_id {
        notes.add(What::FunctionsDiffer, || {
            let offset = offset_of!(wire::DetailFunctionPayload, function_id);
            let place = detail_place(detail, "payload.function_id", HEADER.saturating_add(offset));
            place.found(format!(
                "{:#018x}, {:#018x}",
                function.function_id, event.function_id
            ))
        });
    }
    if function.stack.len() > usize::from(wire::DetailFunctionPayload::STACK_SIZE_MAX) {
        notes.add(What::StackTooLong, || {
            let offset = offset_of!(wire::DetailFunctionPayload, stack_size);
            let place = detail_place(detail, "payload.stack_size", HEADER.saturating_add(offset));
            place.found(function.stack.len().to_string())
        });
    }
}

/// The payload of a call or return that tells nothing but its function.
fn scrub(function_id: u64) -> crate::Result<Vec<u8>> {
    let payload = FunctionPayload {
        function_id,
        x_regs: [0; 8],
        lr: 0,
        fp: 0,
        sp: 0,
        reserved: 0,
        stack: Vec::new(),
    };
    payload.encode()
}

/// A field of an index event.
fn event_place(index: &IndexReader, seq: u64, field: &str) -> Place {
    let wire = index.wire();
    let offset = match field {
        "event_kind" => offset!(wire, IndexEvent.event_kind),
        "detail_seq" => offset!(wire, IndexEvent.detail_seq),
        "thread_id" => offset_of!(v1::IndexEvent, thread_id),
        "call_depth" if wire == Wire::V1 => offset_of!(v1::IndexEvent, call_depth),
        _ => 0,
    };
    let start = index.event_offset(seq).unwrap_or_default();
    let offset = start.saturating_add(offset as u64);
    Place::new(INDEX_FILE, format!("events[{seq}].{field}"), Some(offset))
}

/// A field of a detail event.
fn detail_place(detail: &DetailEvent, field: &str, offset: usize) -> Place {
    let offset = detail.offset.saturating_add(offset as u64);
    let dot = if field.is_empty() { "" } else { "." };
    let field = format!("events[{}]{dot}{field}", detail.seq);
    Place::new(DETAIL_FILE, field, Some(offset))
}

fn is_hole(bytes: &[u8; IndexEvent::SIZE]) -> bool {
    *bytes == [0; IndexEvent::SIZE]
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
