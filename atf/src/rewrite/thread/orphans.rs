//! Orphans: events after a hole, and details that no event refers to.

use std::ops::Range;

use super::{EVENT_SIZE, Walk};
use crate::check::link;
use crate::error::Error;
use crate::files::{DETAIL_FILE, INDEX_FILE};
use crate::index::{is_zero, timestamp_ns};
use crate::rewrite::job::Failure;
use crate::rewrite::report::DropReason;
use crate::rewrite::set_aside_writer::{ORPHANS, SALVAGED, SetAsideWriter};
use crate::rules::table as rules;

impl Walk<'_, '_> {
    /// Sets aside or drops the bytes after the first hole. The positions of the events there are
    /// unknown.
    pub(super) fn after_hole(&mut self, first: u64) -> Result<(), Failure> {
        let index = self.pair.index;
        let mut events = index.cursor();
        let mut salvaged: Option<SetAsideWriter> = None;
        let mut run: Option<(DropReason, Range<u64>)> = None;
        for seq in first..index.event_count() {
            let (Some(bytes), Some(offset)) = (events.bytes(seq)?, index.event_offset(seq)) else {
                break;
            };
            self.progress.advance(EVENT_SIZE);
            if !index.is_readable(seq) {
                continue;
            }
            let why = if is_zero(&bytes) {
                DropReason::Hole
            } else if self.job.salvage {
                let writer =
                    SetAsideWriter::get_or_create(&mut salvaged, self.out, SALVAGED, INDEX_FILE);
                let writer = writer.map_err(Failure::Write)?;
                writer.begin(seq, offset, timestamp_ns(&bytes), None);
                writer.write(&bytes).map_err(Failure::Write)?;
                continue;
            } else {
                DropReason::AfterHole
            };
            let end = offset.saturating_add(EVENT_SIZE);
            match &mut run {
                Some((last, range)) if *last == why && range.end == offset => range.end = end,
                _ => self.dropped(run.replace((why, offset..end))),
            }
        }
        self.dropped(run);
        if let Some(writer) = salvaged {
            let aside = writer.finalize_index(index.header(), self.job.durability);
            let aside = aside.map_err(Failure::Write)?;
            self.report.events.salvaged = aside.count;
            self.report.set_aside.push(aside);
        }
        Ok(())
    }

    fn dropped(&mut self, run: Option<(DropReason, Range<u64>)>) {
        if let Some((why, range)) = run {
            let rule = match why {
                DropReason::Hole => self.pair.seen[0].end_rule(Some(&rules::ATF_IEVT_006)),
                _ => None,
            };
            self.report.drop(INDEX_FILE, (why, rule), range);
        }
    }

    /// Sets aside or drops the details that no event refers to.
    pub(super) fn orphans(&mut self) -> Result<(), Failure> {
        // The checker reads the files without a ring that only a recovery uses.
        let proves_links = !self.pair.is_ring_salvaged && self.proves_links()?;
        // Without a detail file, there are no details.
        let (Some(reader), Some(details)) = (self.pair.detail, &mut self.details) else {
            return Ok(());
        };
        let mut orphans: Option<SetAsideWriter> = None;
        let salvaged = self.salvaged.iter().zip(0..);
        let salvaged = salvaged.filter(|(_, place)| !self.used_salvaged.is_set(*place));
        let hopped = (0..reader.event_count()).filter(|seq| !self.used.is_set(*seq));
        let mut window = reader.cursor();
        let pair = link::Pair::new(self.pair.index, self.pair.detail);
        let mut events = self.pair.index.cursor();
        let hopped = hopped.map(|seq| match details.get(seq)? {
            Some(detail) => Ok((detail, false)),
            None => Err(Error::internal(
                "a detail file has as many details as it counts",
            )),
        });
        let salvaged = salvaged.map(|(detail, _)| Ok((*detail, true)));
        for detail in hopped.chain(salvaged) {
            let (detail, is_salvaged) = detail?;
            let size = detail.header.total_length.into();
            self.progress.advance(size);
            let cutting = self.cutting.as_ref();
            if cutting.is_some_and(|cutting| !cutting.contains(detail.header.index_seq)) {
                continue;
            }
            if !reader.is_readable(&detail) {
                continue;
            }
            let mut gaps = self.salvaged.gaps(detail.place()).peekable();
            if !is_salvaged && gaps.peek() != Some(&detail.place()) {
                for gap in gaps {
                    let why = (DropReason::Overlap, None);
                    self.report.drop(DETAIL_FILE, why, gap);
                }
                continue;
            }
            let rule = if proves_links {
                let event = pair.event(&mut events, detail.header.index_seq)?;
                pair.orphan_rule(&detail, event.as_ref())
            } else {
                None
            };
            if !self.job.keeps_rest {
                let why = (DropReason::Orphans, rule);
                self.report.drop(DETAIL_FILE, why, detail.place());
                continue;
            }
            let writer =
                SetAsideWriter::get_or_create(&mut orphans, self.out, ORPHANS, DETAIL_FILE);
            let writer = writer.map_err(Failure::Write)?;
            writer.begin_detail(&detail, rule);
            let mut start = 0_u64;
            while start < size {
                let chunk = window.chunk(&detail, start)?;
                writer.write(chunk).map_err(Failure::Write)?;
                start = start.saturating_add(chunk.len() as u64);
            }
        }
        if let Some(writer) = orphans {
            let aside = writer.finalize_detail(reader.header(), self.job.durability);
            self.report.set_aside.push(aside.map_err(Failure::Write)?);
        }
        Ok(())
    }
}
