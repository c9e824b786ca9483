//! Orphans: events after a hole, and details that no event refers to.

use std::ops::Range;
use std::path::Path;

use super::{EVENT_SIZE, ORPHANS, SALVAGED, Walk};
use crate::check::link;
use crate::error::Error;
use crate::files::{DETAIL_FILE, INDEX_FILE};
use crate::index::is_zero;
use crate::rewrite::job::Failure;
use crate::rewrite::report::{DropReason, SetAside};
use crate::rewrite::set_aside_writer::{OrphansWriter, SalvagedWriter};
use crate::rewrite::stage::free_path;
use crate::rules::table as rules;

impl Walk<'_, '_> {
    /// Sets aside or drops the bytes after the first hole. The positions of the events there are
    /// unknown.
    pub(super) fn after_hole(&mut self, first: u64) -> Result<(), Failure> {
        let index = self.pair.index;
        let mut events = index.cursor();
        let mut salvaged: Option<(SalvagedWriter, SetAside)> = None;
        let mut run: Option<(DropReason, u64, u64)> = None;
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
                let event = index.decode(&bytes);
                let (writer, aside) = match &mut salvaged {
                    Some(open) => open,
                    None => salvaged.insert(self.open_salvaged()?),
                };
                writer.write(&event, &bytes).map_err(Failure::Write)?;
                aside.add(seq, offset, None);
                continue;
            } else {
                DropReason::AfterHole
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

    fn dropped(&mut self, run: Option<(DropReason, u64, u64)>) {
        if let Some((why, offset, size)) = run {
            let rule = match why {
                DropReason::Hole => self.pair.seen[0].end_rule(Some(&rules::ATF_IEVT_006)),
                _ => None,
            };
            self.report.drop(INDEX_FILE, (why, rule), offset, size);
        }
    }

    fn open_salvaged(&self) -> Result<(SalvagedWriter, SetAside), Failure> {
        let path = free_path(self.out, SALVAGED.0, SALVAGED.1).map_err(Failure::Write)?;
        let aside = SetAside::new(name(&path), INDEX_FILE);
        let writer = SalvagedWriter::create(path, self.pair.index.header());
        Ok((writer.map_err(Failure::Write)?, aside))
    }

    /// Sets aside or drops the details that no event refers to.
    pub(super) fn orphans(&mut self) -> Result<(), Failure> {
        // The checker reads the files without a ring that only a recovery uses.
        let proves_links = !self.pair.is_ring_salvaged && self.proves_links()?;
        // Without a detail file, there are no details.
        let (Some(reader), Some(details)) = (self.pair.detail, &mut self.details) else {
            return Ok(());
        };
        let mut orphans: Option<(OrphansWriter, SetAside)> = None;
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
            let (offset, size) = (detail.offset, detail.header.total_length.into());
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
                for Range { start, end } in gaps {
                    let size = end.saturating_sub(start);
                    let why = (DropReason::Overlap, None);
                    self.report.drop(DETAIL_FILE, why, start, size);
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
                self.report.drop(DETAIL_FILE, why, offset, size);
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
            writer.begin(&detail);
            let mut start = 0_u64;
            while start < size {
                let chunk = window.chunk(&detail, start)?;
                writer.write(chunk).map_err(Failure::Write)?;
                start = start.saturating_add(chunk.len() as u64);
            }
            aside.add(detail.seq, offset, rule);
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

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
