//! The regions of a file, from the first byte to the last.

use crate::rules::Rule;

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

/// The regions of a file, up to the last one added.
#[derive(Default)]
pub(crate) struct Regions(pub(crate) Vec<Region>);

impl Regions {
    fn end(&self) -> u64 {
        self.0.last().map_or(0, Region::end)
    }

    /// Adds a region that ends at `end`, if the last one ends before.
    pub(crate) fn up_to(&mut self, end: u64, kind: RegionKind, rule: Option<&'static Rule>) {
        self.add(end.saturating_sub(self.end()), kind, rule);
    }

    /// Adds a region of this size after the last one, unless the size is 0.
    pub(crate) fn add(&mut self, size: u64, kind: RegionKind, rule: Option<&'static Rule>) {
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
