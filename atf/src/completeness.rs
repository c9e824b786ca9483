//! How a file ends, which shows whether it was finalized.

use crate::error::Error;

/// How a file ends, including any bytes at the end that are neither events nor a footer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Completeness {
    /// A verified footer, and a header that was updated to match.
    Finalized,
    /// A verified footer, but the writer stopped before it updated the header. All events are in
    /// the file.
    HeaderNotUpdated,
    /// No footer: the writer stopped early, or the file was truncated. In a truncated file, the
    /// header may still contain an event count
    /// ([`is_placeholder`](crate::index::IndexHeader::is_placeholder)).
    #[non_exhaustive]
    Unfinalized {
        /// The number of bytes after the last event that belong to a torn event, with any zeros
        /// before it.
        trailing_bytes: u64,
        /// The number of zero bytes at the end, at least one event's worth: preallocated space, or
        /// blocks that never reached the disk.
        zero_tail_bytes: u64,
        /// A torn footer.
        partial_footer: Option<PartialFooter>,
    },
    /// A footer that contradicts the file. The events before it are valid; its numbers are ignored.
    #[non_exhaustive]
    DamagedFooter {
        /// The footer's offset in bytes from the start of the file.
        offset: u64,
        /// The number of bytes between the last complete event and the footer.
        trailing_bytes: u64,
        /// Every field of the footer that cannot be correct.
        problems: Vec<Error>,
    },
}

impl Completeness {
    /// Returns whether the file has a verified footer.
    #[must_use]
    pub fn has_verified_footer(&self) -> bool {
        matches!(self, Self::Finalized | Self::HeaderNotUpdated)
    }

    /// Returns the variant's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Finalized => "finalized",
            Self::HeaderNotUpdated => "header_not_updated",
            Self::Unfinalized { .. } => "unfinalized",
            Self::DamagedFooter { .. } => "damaged_footer",
        }
    }
}

/// A torn footer at the end of a file: its beginning or, after a power loss, zeros followed by its
/// end. This struct is exhaustive: a byte range needs only an offset and a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialFooter {
    /// The footer's offset in bytes from the start of the file.
    pub offset: u64,
    /// How many of the footer's 64 bytes are in the file.
    pub size: u64,
}

/// Where the number of events comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountSource {
    /// A verified footer.
    Footer,
    /// The offset of a damaged footer; the events before it are counted.
    FooterPosition,
    /// The file's size; complete events up to its end are counted (S2, S3).
    FileSize,
    /// A walk from event to event, for detail files without a verified count.
    Framing,
}

impl CountSource {
    /// Returns the variant's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Footer => "footer",
            Self::FooterPosition => "footer_position",
            Self::FileSize => "file_size",
            Self::Framing => "framing",
        }
    }
}
