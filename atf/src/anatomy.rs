//! The regions of a file, from the first byte to the last.

use crate::completeness::Completeness;
use crate::footer::FOOTER_SIZE;
use crate::rules::Rule;
use crate::rules::of_file::FileRules;
use crate::wire::HEADER_SIZE;

/// A region of a file. The regions of a file follow each other without gaps. This struct is
/// exhaustive: a byte range needs only an offset and a size.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    /// The kind of bytes.
    pub kind: RegionKind,
    /// The offset in bytes from the start of the file.
    pub offset: u64,
    /// The size in bytes, which is not 0.
    pub size: u64,
    /// The rule that these bytes break, if they do not belong there.
    pub rule: Option<&'static Rule>,
}

impl Region {
    /// Returns the offset after the region.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// The kind of a region's bytes. The variants are in the order of the regions in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RegionKind {
    /// The header.
    Header,
    /// Bytes between the header and `events_offset`.
    Gap,
    /// The readable events, including holes: finding holes would take a pass over the events
    /// ([`IndexReader::holes`](crate::index::IndexReader::holes)).
    Events,
    /// Bytes after the last event that do not form a complete event.
    NoEvent,
    /// A verified footer.
    Footer,
    /// A footer that contradicts the file.
    DamagedFooter,
    /// The part of a footer that reached the disk.
    TornFooter,
    /// Zeros at the end of an unfinalized file: preallocated space, or blocks that never reached
    /// the disk.
    ZeroTail,
    /// Bytes after the footer, where nothing belongs.
    AfterFooter,
}

/// The findings of a reader, from which the regions follow.
pub(crate) struct Found<'a> {
    pub(crate) rules: &'static FileRules,
    pub(crate) events_offset: u64,
    pub(crate) events_end: u64,
    pub(crate) file_size: u64,
    pub(crate) completeness: &'a Completeness,
    /// The offset of the verified footer.
    pub(crate) footer: Option<u64>,
    /// The rule broken by bytes between the last event and a verified footer.
    pub(crate) no_event: Option<&'static Rule>,
}

impl Found<'_> {
    pub(crate) fn regions(&self) -> Vec<Region> {
        let rules = self.rules;
        let mut regions = Regions(Vec::new());
        regions.up_to(HEADER_SIZE as u64, RegionKind::Header, None);
        regions.up_to(self.events_offset, RegionKind::Gap, None);
        regions.up_to(self.events_end, RegionKind::Events, None);
        match self.completeness {
            Completeness::Finalized | Completeness::HeaderNotUpdated => {
                let footer = self.footer.unwrap_or(self.events_end);
                regions.up_to(footer, RegionKind::NoEvent, self.no_event);
                regions.add(FOOTER_SIZE as u64, RegionKind::Footer, None);
                let after = Some(rules.nothing_after);
                regions.up_to(self.file_size, RegionKind::AfterFooter, after);
            }
            Completeness::DamagedFooter {
                offset, problems, ..
            } => {
                regions.up_to(*offset, RegionKind::NoEvent, Some(rules.whole_event));
                let size = self.file_size.saturating_sub(*offset);
                let rule = problems.first().and_then(crate::Error::rule);
                let size = size.min(FOOTER_SIZE as u64);
                regions.add(size, RegionKind::DamagedFooter, rule);
                regions.up_to(self.file_size, RegionKind::AfterFooter, None);
            }
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
            } => {
                let rule = Some(rules.whole_event);
                regions.add(*trailing_bytes, RegionKind::NoEvent, rule);
                if let Some(partial) = partial_footer {
                    let rule = Some(rules.whole_footer);
                    regions.add(partial.size, RegionKind::TornFooter, rule);
                }
                let rule = Some(rules.zero_tail);
                regions.add(*zero_tail_bytes, RegionKind::ZeroTail, rule);
            }
        }
        regions.0
    }
}

struct Regions(Vec<Region>);

impl Regions {
    fn end(&self) -> u64 {
        self.0.last().map_or(0, Region::end)
    }

    fn up_to(&mut self, end: u64, kind: RegionKind, rule: Option<&'static Rule>) {
        self.add(end.saturating_sub(self.end()), kind, rule);
    }

    fn add(&mut self, size: u64, kind: RegionKind, rule: Option<&'static Rule>) {
        if size > 0 {
            let offset = self.end();
            self.0.push(Region {
                kind,
                offset,
                size,
                rule,
            });
        }
    }
}
