//! Checks that precede every write.

use super::{State, ThreadWriter};
use crate::detail::DetailEventHeader;
use crate::error::{Error, ErrorKind, Result};
use crate::index::IndexEvent;
use crate::wire::EventKind;

impl ThreadWriter {
    pub(super) fn total_length(&self, payload: &[u8]) -> Result<u32> {
        let found = (payload.len() as u64).saturating_add(DetailEventHeader::SIZE as u64);
        u32::try_from(found).map_err(|_| {
            let (min, max) = (DetailEventHeader::SIZE as u64, u32::MAX.into());
            self.refusal(ErrorKind::OutOfRange { found, min, max }, "total_length")
        })
    }

    /// Checks that an event meets the format's requirements for tracers and fits the wire version.
    #[inline]
    pub(super) fn check(&self, timestamp_ns: u64, event_kind: EventKind) -> Result<()> {
        if self.is_plain(timestamp_ns, event_kind) {
            Ok(())
        } else {
            self.check_slowly(timestamp_ns, event_kind)
        }
    }

    /// Returns whether an event is in order and of a known kind.
    #[inline]
    pub(super) fn is_plain(&self, timestamp_ns: u64, event_kind: EventKind) -> bool {
        timestamp_ns >= self.last_timestamp && event_kind.name().is_some()
    }

    #[cold]
    pub(super) fn check_slowly(&self, timestamp_ns: u64, event_kind: EventKind) -> Result<()> {
        self.check_open()?;
        if self.options.verbatim {
            return IndexEvent::check_kind_fits(self.wire, event_kind);
        }
        if timestamp_ns < self.last_timestamp {
            let kind = ErrorKind::TimeGoesBack {
                found: timestamp_ns,
                last: self.last_timestamp,
            };
            return Err(self.refusal(kind, "timestamp_ns"));
        }
        let [min, .., max] = EventKind::MEMBERS else {
            return Err(Error::internal("the format has kinds of events"));
        };
        let kind = ErrorKind::OutOfRange {
            found: u32::from(event_kind).into(),
            min: u32::from(*min).into(),
            max: u32::from(*max).into(),
        };
        Err(self.refusal(kind, "event_kind"))
    }

    pub(super) fn check_open(&self) -> Result<()> {
        match &self.state {
            State::Open => Ok(()),
            State::Failed(error) => Err(error.clone()),
            State::Finalized => {
                let error = Error::new(ErrorKind::AlreadyFinalized);
                Err(error.with_path(Some(self.index.path())))
            }
        }
    }

    pub(super) fn check_no_reservations(&self) -> Result<()> {
        let count = self.reserved.open();
        match count {
            0 => Ok(()),
            _ => Err(self.refusal(ErrorKind::DetailsMissing { count }, "detail_count")),
        }
    }

    pub(super) fn check_detail_limit(&self) -> Result<()> {
        // The number after the last addressable detail marks an event without a link.
        let limit = self.wire.no_detail_seq();
        if self.next_detail_place() < limit {
            Ok(())
        } else {
            Err(self.refusal(ErrorKind::LimitReached { limit }, "detail_count"))
        }
    }

    pub(super) fn compare(
        &self,
        field: &'static str,
        found: u64,
        expected: u64,
        by: &'static str,
    ) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let kind = ErrorKind::Disagrees {
            found,
            expected,
            by,
        };
        Err(self.refusal(kind, field))
    }

    /// Returns an error about a rejected value.
    #[cold]
    pub(super) fn refusal(&self, kind: ErrorKind, field: &'static str) -> Error {
        Error::new(kind)
            .with_field(field)
            .with_path(Some(self.index.path()))
    }
}

/// The trusted sources that errors about a detail refer to.
pub(super) const COUNTER: &str = "the writer's counter";
pub(super) const RESERVATION: &str = "the oldest reservation";
pub(super) const EVENT: &str = "its index event";
