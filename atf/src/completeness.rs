//! How a file ends: what tells a finalized file from one that was cut off.

use crate::error::{Error, ErrorKind};
use crate::source::Input;

/// How a file ends, and what stands there that is neither event nor footer.
#[derive(Debug, Clone)]
pub enum Completeness {
    /// A verified footer, and a header that was rewritten for it.
    Finalized,
    /// A verified footer under a header that was never rewritten: the writer stopped in between.
    /// All events are there.
    FooterUnderPlaceholder,
    /// No footer: the writer was cut off, or the file was. The header may still say otherwise
    /// ([`is_placeholder`](crate::index::IndexHeader::is_placeholder)).
    Unfinalized {
        /// Bytes of an event that is not whole.
        trailing_bytes: u64,
        /// Bytes of zeros at the end, at least one event's worth: space that was set aside, or
        /// blocks that never reached the disk.
        zero_tail_bytes: u64,
        /// A footer that is not whole.
        partial_footer: Option<PartialFooter>,
    },
    /// A footer that contradicts the file. The events up to it stand, its numbers do not count.
    DamagedFooter {
        /// The footer's place, bytes from the start of the file.
        offset: u64,
        /// Bytes between the last whole event and the footer.
        trailing_bytes: u64,
        /// Each of its fields that cannot be true.
        problems: Vec<Error>,
    },
}

impl Completeness {
    /// What is wrong with the events for all that the file's end shows: `missing` events that a
    /// header counts are not there, and the last one ends at `events_end`. `is_cut` where the header
    /// says that the file was finalized.
    pub(crate) fn problems(
        &self,
        input: &Input,
        events_end: u64,
        missing: Option<Error>,
        is_cut: bool,
    ) -> Vec<Error> {
        match self {
            Self::Finalized | Self::FooterUnderPlaceholder => Vec::new(),
            Self::DamagedFooter { problems, .. } => {
                problems.iter().cloned().chain(missing).collect()
            }
            Self::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
            } => {
                let partial = partial_footer.map_or(0, |partial| partial.size);
                let error = input.error(ErrorKind::NotFinalized {
                    is_cut,
                    trailing_bytes: trailing_bytes.saturating_add(partial),
                    zero_tail_bytes: *zero_tail_bytes,
                });
                let error = error.with_field("footer").with_offset(events_end);
                [error].into_iter().chain(missing).collect()
            }
        }
    }

    /// Whether a verified footer stands in the file.
    #[must_use]
    pub fn has_verified_footer(&self) -> bool {
        matches!(self, Self::Finalized | Self::FooterUnderPlaceholder)
    }
}

/// The beginning of a footer at the end of a file, or after a loss of power zeros and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialFooter {
    /// Its place, bytes from the start of the file.
    pub offset: u64,
    /// How many of its 64 bytes are there.
    pub size: u64,
}

/// What the number of events rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountSource {
    /// A verified footer.
    Footer,
    /// The place of a damaged footer: what stands before it.
    FooterPosition,
    /// The file's size: whole events up to its end (S2, S3).
    FileSize,
    /// The events themselves, hopped from one to the next (detail files without verified count).
    Framing,
}
