//! Rewrites one thread, event by event.

mod cut;
mod detail;
mod notes;
mod orphans;

use std::path::Path;

use super::bits::Bits;
use super::depth::Depth;
use super::ends::{self, Seen};
use super::job::{Details, Failure, Job, Progress};
use super::report::{NoteKind, ThreadReport};
use super::salvage::SalvagedDetails;
use crate::check::end::Times;
use crate::check::{self, link};
use crate::completeness::Completeness;
use crate::detail::{DetailCursor, DetailEvent, DetailReader};
use crate::error::Error;
use crate::index::{IndexEvent, IndexReader, Pass, timestamp_ns};
use crate::manifest::Cut;
use crate::reader::FileReader;
use crate::rules::{ReaderDoes, Rule, table as rules};
use crate::thread::Ring;
use crate::wire::{Clock, Wire};
use crate::write::{ThreadWriter, WriteOptions};
use cut::{Cutting, Part};

const EVENT_SIZE: u64 = IndexEvent::SIZE as u64;
/// The number of index events read at once (64 KiB).
const BLOCK: usize = 2048;

/// A thread's files, open for reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) index: &'a IndexReader,
    pub(super) detail: Option<&'a DetailReader>,
    /// The bytes that `ring.atf` added to the files.
    pub(super) ring: Ring,
    /// Whether readers, and therefore the checker, ignore the ring.
    pub(super) is_ring_salvaged: bool,
    /// How much the checker sees of each of the two files.
    pub(super) seen: [Seen; 2],
    /// Whether the checker compares the links of the two files, if neither must be rejected.
    pub(super) has_comparable_links: bool,
    pub(super) folder_id: Option<u32>,
    /// The part of a longer trace that an earlier cut kept.
    pub(super) earlier_cut: Option<Cut>,
    /// The thread's state at the end of the previous segment.
    pub(super) before: Option<&'a Carry>,
}

/// A thread's state at the end of a segment, from which the next one continues.
#[derive(Debug)]
pub(super) struct Carry {
    depth: Depth,
    cutting: Option<Cutting>,
}

/// Information about a rewritten thread that its session needs.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) time_range: Option<(u64, u64)>,
    pub(super) clock: Clock,
    /// The original's times; unknown if not all of its events were read.
    pub(super) times: Times,
    /// The facts about the original that its manifest repeats; `None` if its index cannot be read.
    pub(super) original: Option<check::thread::Facts>,
    /// `None` if events are missing at the end, so the next segment starts over.
    pub(super) carry: Option<Carry>,
}

/// Rewrites a thread into the folder `out`, which must not contain any thread files.
pub(super) fn rewrite(
    job: &Job<'_>,
    pair: Pair<'_>,
    out: &Path,
    report: &mut ThreadReport,
    progress: &mut Progress<'_>,
) -> Result<Rewritten, Failure> {
    let salvaged = match pair.detail {
        Some(detail) if job.salvage || !detail.input.unreadable().is_empty() => {
            SalvagedDetails::find(pair.index, detail)?
        }
        _ => SalvagedDetails::default(),
    };
    let walk = Walk::new(job, pair, &salvaged, out, report, progress)?;
    walk.run()
}

/// The next step after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Event,
    /// The event is the first one in a hole.
    Hole,
    /// The event is after the end of the cut.
    PastCut,
}

/// The state of a rewrite.
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
    /// The details already in the new file.
    used: Bits,
    /// The details found past damage that are already in the new file.
    used_salvaged: Bits,
    /// The next link, if links are numbered in the order of the index; `None` after unreadable
    /// events.
    next_link: Option<u64>,
    cutting: Option<Cutting>,
    before: Option<IndexEvent>,
    /// Whether broken links prove that a rule is broken; `None` before the first broken link.
    proves_links: Option<bool>,
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
        let target = job.wire.unwrap_or(header.wire);
        let thread_id = notes::thread_id(pair, target, report)?;
        let options = WriteOptions {
            wire: target,
            arch: header.arch,
            os: header.os,
            clock_type: header.clock_type,
            durability: job.durability,
            verbatim: true,
            ..WriteOptions::default()
        };
        let bits = |count| {
            let path = pair.detail.and_then(|detail| detail.input.path());
            Bits::new(count).map_err(|error| error.with_path(path))
        };
        let used = bits(pair.detail.map_or(0, DetailReader::event_count))?;
        let used_salvaged = bits(salvaged.count())?;
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
            depth: pair
                .before
                .map_or_else(Depth::default, |before| before.depth.clone()),
            details: pair.detail.map(DetailReader::cursor),
            used,
            used_salvaged,
            next_link: Some(0),
            cutting: job.cut.map(|range| {
                let before = pair.before.and_then(|before| before.cutting.as_ref());
                before.map_or_else(|| Cutting::new(range), Cutting::in_next_file)
            }),
            before: None,
            proves_links: None,
        })
    }

    fn run(mut self) -> Result<Rewritten, Failure> {
        let index = self.pair.index;
        let mut records = vec![[0; IndexEvent::SIZE]; BLOCK];
        let mut pass = Pass::new(index);
        let mut seq = 0_u64;
        let mut next = Next::Event;
        while next == Next::Event {
            let count = index.read_records(seq, &mut records)?;
            // Read the last event of a full block again, together with the event after it.
            let whole = count.min(BLOCK.saturating_sub(1));
            let (block, next_records) = (records.get(..whole), records.get(1..count));
            let (block, next_records) =
                (block.unwrap_or_default(), next_records.unwrap_or_default());
            if block.is_empty() {
                break;
            }
            if let Some(pass) = &mut pass {
                pass.add(index, block);
            }
            let mut next_times = next_records.iter().map(timestamp_ns);
            for bytes in block {
                next = self.step(seq, bytes, next_times.next())?;
                if next != Next::Event {
                    break;
                }
                seq = seq.saturating_add(1);
                self.progress.advance(EVENT_SIZE);
            }
        }
        if let Some(pass) = pass {
            pass.complete(index)?;
        }
        let summary = self.writer.finalize().map_err(Failure::Write)?;
        self.report.events.kept = summary.event_count;
        self.report.details.kept = summary.detail_count;
        if next != Next::PastCut {
            self.after_hole(seq)?;
        }
        self.orphans()?;
        let is_read = next == Next::Event && index.input.unreadable().is_empty();
        let times = match summary.time_range {
            Some((first, last)) if is_read => Times::Range(first, last),
            None if is_read => Times::None,
            _ => Times::Unknown,
        };
        let [index_seen, detail_seen] = self.pair.seen;
        ends::index(index, index_seen, times, self.report)?;
        if let Some(detail) = self.pair.detail {
            let hides_details = self.hides_details(detail)?;
            ends::detail(
                detail,
                detail_seen,
                self.salvaged,
                hides_details,
                self.report,
            )?;
        }
        let earlier = self.pair.earlier_cut.as_ref();
        let cutting = self.cutting.as_ref();
        self.report.cut = cutting.map(|cutting| cutting.describe(earlier, index.event_count()));
        let is_whole = index.completeness().has_verified_footer() && index.missing_events() == 0;
        Ok(Rewritten {
            times,
            original: None,
            carry: is_whole.then_some(Carry {
                depth: self.depth,
                cutting: self.cutting,
            }),
            time_range: summary.time_range,
            clock: index.header().clock_type,
        })
    }

    /// Returns whether an apparently torn detail contains details that events link to, which means
    /// that its length is wrong.
    fn hides_details(&self, detail: &DetailReader) -> Result<bool, Failure> {
        let is_torn = matches!(
            detail.completeness(),
            Completeness::Unfinalized { trailing_bytes, .. } if *trailing_bytes > 0
        );
        let notes = &self.report.notes;
        let dangling = [NoteKind::LinkToNothing, NoteKind::DetailMissing];
        let is_linked = dangling.iter().any(|kind| notes.count(*kind) > 0);
        Ok(is_torn
            && is_linked
            && !self.job.salvage
            && SalvagedDetails::find(self.pair.index, detail)?.count() > 0)
    }

    /// Processes event `seq`, and returns the next step. `next_ns` is the timestamp of the next
    /// event.
    fn step(
        &mut self,
        seq: u64,
        bytes: &[u8; IndexEvent::SIZE],
        next_ns: Option<u64>,
    ) -> Result<Next, Failure> {
        let index = self.pair.index;
        if !index.is_readable(seq) {
            (self.next_link, self.before) = (None, None);
            return Ok(Next::Event);
        }
        if index.is_hole(bytes)? {
            return Ok(Next::Hole);
        }
        let event = index.decode(bytes);
        match self.cut(seq, &event, next_ns)? {
            Part::Before => {}
            Part::Inside => {
                let offset = index.offset_of(seq);
                self.event(seq, offset, &event)?;
                self.count_from_ring(offset);
                self.before = Some(event);
            }
            Part::After => return Ok(Next::PastCut),
        }
        Ok(Next::Event)
    }

    /// Counts an event at this offset if part of it comes from `ring.atf`.
    fn count_from_ring(&mut self, offset: u64) {
        if self.pair.is_from_ring(offset) {
            let kept = &mut self.report.events;
            kept.from_ring = kept.from_ring.saturating_add(1);
        }
    }

    /// Writes an event with its detail.
    fn event(&mut self, seq: u64, offset: u64, event: &IndexEvent) -> Result<(), Failure> {
        notes::event(self, seq, offset, event);
        let converted = self.in_target(seq, event);
        let event = converted.as_ref().unwrap_or(event);
        if let Some(detail) = self.linked(seq, event)? {
            return self.with_detail(event, &detail);
        }
        let written = self.writer.write_decoded(event, None);
        written.map(drop).map_err(Failure::Write)
    }

    /// Returns the thread id that an event must have to agree with the new header. If events do not
    /// contain an id, any id agrees.
    fn expected_thread_id(&self, found: u32) -> u32 {
        if self.pair.index.wire().records_thread_id() {
            self.thread_id
        } else {
            found
        }
    }

    /// Converts an event to the new wire version. Returns `None` if the event stays the same.
    fn in_target(&mut self, seq: u64, event: &IndexEvent) -> Option<IndexEvent> {
        let index = self.pair.index;
        let at = || notes::event_place(index, seq, "call_depth");
        match (self.target.records_call_depth(), event.call_depth) {
            (true, None) => {
                self.report.notes.tally(NoteKind::CallDepthDerived, at);
                Some(IndexEvent {
                    call_depth: Some(self.depth.next(event.event_kind)),
                    thread_id: self.thread_id,
                    ..*event
                })
            }
            (false, Some(_)) => {
                self.report.notes.tally(NoteKind::CallDepthLost, at);
                None
            }
            (true, Some(depth)) => {
                self.depth.follow(event.event_kind, depth);
                None
            }
            (false, None) => None,
        }
    }

    /// Returns the detail that the event links to, if it links back.
    fn linked(&mut self, seq: u64, event: &IndexEvent) -> Result<Option<DetailEvent>, Failure> {
        let Some(link) = event.detail_seq else {
            return Ok(None);
        };
        let index = self.pair.index;
        let at = || notes::event_place(index, seq, "detail_seq").found(link.to_string());
        if self.next_link.is_some_and(|next| next != link) {
            let rule = self.link_rule(seq, |_| &rules::ATF_LINK_005)?;
            self.report.notes.add(NoteKind::LinkOutOfOrder, rule, at);
        }
        self.next_link = Some(link.saturating_add(1));
        let found = match &mut self.details {
            Some(details) => details.get(link)?,
            None => None,
        };
        let is_readable = |detail: &DetailEvent| {
            let reader = self.pair.detail;
            reader.is_some_and(|reader| reader.is_readable(detail))
        };
        let found = found.filter(is_readable);
        let mut detail = found.filter(|detail| detail.header.index_seq == seq);
        if detail.is_some() {
            self.used.set(link);
        } else if let Some((place, found)) = self.salvaged.get(link)
            && found.header.index_seq == seq
            && is_readable(&found)
        {
            self.used_salvaged.set(place);
            let kept = &mut self.report.details;
            kept.salvaged = kept.salvaged.saturating_add(1);
            let place = || notes::detail_place(&found, "", 0);
            self.report.notes.add(NoteKind::DetailSalvaged, None, place);
            detail = Some(found);
        }
        match (&detail, found) {
            (Some(_), _) if self.job.details == Details::Drop => {
                self.report.notes.tally(NoteKind::DetailDropped, at);
                return Ok(None);
            }
            (Some(_), _) => {}
            (None, Some(_)) => {
                let rule = self.link_rule(seq, |_| &rules::ATF_LINK_001)?;
                self.report.notes.add(NoteKind::LinkNotReturned, rule, at);
            }
            (None, None) => {
                // A writer finalizes its details before its index.
                let had_details = match index.completeness() {
                    Completeness::Finalized => index.header().has_detail_file(),
                    Completeness::HeaderNotUpdated => true,
                    _ => false,
                };
                let is_noted = self.report.notes.count(NoteKind::DetailFileUnreadable) > 0;
                let is_missing = match self.pair.detail {
                    Some(detail) if detail.input.unreadable().is_empty() => {
                        let is_whole = detail.completeness().has_verified_footer();
                        had_details && !is_whole && detail.missing_events() == 0
                    }
                    Some(_) => true,
                    None => had_details && !is_noted,
                };
                let what = if is_missing {
                    NoteKind::DetailMissing
                } else {
                    NoteKind::LinkToNothing
                };
                let rule = self.link_rule(seq, |pair| pair.dangling_rule())?;
                self.report.notes.add(what, rule, at);
            }
        }
        Ok(detail)
    }

    /// Returns the rule broken by an event's link, if links prove that a rule is broken.
    fn link_rule(
        &mut self,
        seq: u64,
        rule: impl FnOnce(link::Pair<'_>) -> &'static Rule,
    ) -> Result<Option<&'static Rule>, Failure> {
        let pair = self.pair;
        let is_proof = !pair.is_unseen(seq) && self.proves_links()?;
        Ok(is_proof.then(|| rule(link::Pair::new(pair.index, pair.detail))))
    }

    /// Returns whether broken links prove that a rule is broken. A file that readers must reject
    /// proves nothing about links.
    fn proves_links(&mut self) -> Result<bool, Failure> {
        if let Some(known) = self.proves_links {
            return Ok(known);
        }
        let Pair { index, detail, .. } = self.pair;
        let proves = self.pair.has_comparable_links && {
            let mut problems = FileReader::problems(index)?;
            if let Some(detail) = detail {
                problems.extend(detail.problems()?);
            }
            let mut rules = problems.iter().filter_map(Error::rule);
            rules.all(|rule| rule.reader != ReaderDoes::Reject)
        };
        self.proves_links = Some(proves);
        Ok(proves)
    }
}

impl Pair<'_> {
    /// Returns whether part of an event at this offset comes from `ring.atf`.
    fn is_from_ring(&self, offset: u64) -> bool {
        let end = offset.saturating_add(EVENT_SIZE);
        let in_file = self.index.file_size();
        end > in_file.saturating_sub(self.ring.index_bytes)
    }

    /// Returns whether an event is invisible to the checker.
    fn is_unseen(&self, seq: u64) -> bool {
        self.is_ring_salvaged && self.is_from_ring(self.index.offset_of(seq))
    }
}
