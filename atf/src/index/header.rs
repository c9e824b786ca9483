//! The header of `index.atf`.

use super::event::EVENT_SIZE;
use crate::error::{ErrorKind, Result};
use crate::header::{check_events_offset, error, wire};
use crate::rules::of_file::INDEX;
use crate::rules::table as rules;
use crate::wire::{Field, HEADER_SIZE, IndexFlags, Record, Wire, in_each, offset};

pub use crate::wire::decoded::IndexHeader;

impl IndexHeader {
    /// Creates the placeholder for a file without events. Fields that are not known yet are 0.
    #[must_use]
    pub const fn new(wire: Wire, thread_id: u32) -> Self {
        Self {
            thread_id,
            events_offset: HEADER_SIZE as u64,
            ..Self::blank(wire)
        }
    }

    /// Decodes and checks the header of a file of `file_size` bytes.
    ///
    /// # Errors
    ///
    /// [`BadMagic`](ErrorKind::BadMagic), [`BadEndian`](ErrorKind::BadEndian),
    /// [`UnknownVersion`](ErrorKind::UnknownVersion), [`BadEventSize`](ErrorKind::BadEventSize),
    /// [`BadEventsOffset`](ErrorKind::BadEventsOffset), each pointing at its field, and
    /// [`WrongLayoutForVersion`](ErrorKind::WrongLayoutForVersion), pointing at `version`. Without
    /// this last check, a version 2 header with 32 events could be mistaken for a version 1
    /// placeholder.
    pub fn decode(bytes: &[u8; Self::SIZE], file_size: u64) -> Result<Self> {
        let this = Self::from_bytes(wire(bytes, Self::MAGIC, INDEX.identity)?, bytes);
        this.check_layout(bytes)?;
        let event_size = event_size(this.wire);
        let found = event_size.number(bytes);
        if found != u64::from(Self::EVENT_SIZE) {
            let kind = ErrorKind::BadEventSize {
                found,
                expected: Self::EVENT_SIZE,
            };
            let (field, rule) = ("header.event_size", &rules::ATF_IHDR_006);
            return Err(error(kind, field, event_size.offset, rule));
        }
        let offset = offset!(this.wire, IndexHeader.events_offset);
        check_events_offset(this.events_offset, file_size, offset, &INDEX)?;
        Ok(this)
    }

    /// Encodes the header, with reserved bytes set to 0: the inverse of [`decode`](Self::decode).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](ErrorKind::OutOfRange) at `header.event_count`, if the count exceeds version
    /// 1's 32 bits.
    pub fn encode(&self) -> Result<[u8; Self::SIZE]> {
        self.check_fits()?;
        Ok(self.bytes())
    }

    /// Returns whether the header looks like a placeholder: flags, count and times are 0, and
    /// `footer_offset` is 0 or the end of the header. The header of a finalized file without events
    /// can look the same.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        u32::from(self.flags) == 0
            && self.event_count == 0
            && self.time_start_ns == 0
            && self.time_end_ns == 0
            && (self.footer_offset == 0 || self.footer_offset == Self::SIZE as u64)
    }

    /// Returns whether `flags` states that there is a `detail.atf` next to the file. The flag is
    /// meaningless in an unfinalized file.
    #[must_use]
    pub fn has_detail_file(&self) -> bool {
        self.flags.contains(IndexFlags::HAS_DETAIL_FILE)
    }

    /// Returns where the events end, if the header was rewritten and its count matches its
    /// `footer_offset`. If so, only a footer can be at that offset, never an event. A count of 0
    /// proves nothing, because a placeholder whose flags were set early looks the same.
    pub(crate) fn stated_end(&self) -> Option<u64> {
        let bytes = self.event_count.checked_mul(EVENT_SIZE);
        let end = bytes.and_then(|bytes| bytes.checked_add(self.events_offset));
        end.filter(|end| self.event_count > 0 && *end == self.footer_offset)
    }

    /// Detects a header in the layout of one wire version with the `version` byte of the other: the
    /// bytes do not fit the stated version, and the fields that distinguish the two versions fit
    /// the other.
    fn check_layout(&self, bytes: &[u8; Self::SIZE]) -> Result<()> {
        let has_event_size = |wire| event_size(wire).number(bytes) == u64::from(Self::EVENT_SIZE);
        let is_other = |other: Wire| {
            let stated = self.wire;
            let fits = has_event_size(stated) && has_zeros(stated, other, bytes) != Some(false);
            !fits && has_zeros(other, stated, bytes).unwrap_or_else(|| has_event_size(other))
        };
        match Wire::ALL.iter().copied().find(|wire| is_other(*wire)) {
            None => Ok(()),
            Some(layout) => {
                let version = self.wire;
                let kind = ErrorKind::WrongLayoutForVersion { version, layout };
                let offset = offset!(IndexHeader.version);
                Err(error(kind, "header.version", offset, &rules::ATF_IHDR_005))
            }
        }
    }
}

/// Returns the field that contains the number of bytes per event.
fn event_size(wire: Wire) -> Field {
    wire.pick(const { in_each(Record::IndexHeader, "event_size") })
}

/// Returns whether the reserved fields that another wire version's layout does not have are 0;
/// `None` if there are no such fields.
fn has_zeros(wire: Wire, other: Wire, bytes: &[u8; IndexHeader::SIZE]) -> Option<bool> {
    let [own, others] = [wire, other].map(|wire| Record::IndexHeader.fields(wire));
    let own = own.iter();
    let own = own.filter(|field| field.is_reserved && !others.contains(field));
    own.map(|field| field.number(bytes) == 0)
        .reduce(|zeros, more| zeros && more)
}
