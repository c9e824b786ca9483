//! Methods that the readers of both kinds of file share.

use crate::anatomy::{Region, RegionKind, Regions};
use crate::checksum::Checksum;
use crate::completeness::Completeness;
use crate::error::{Error, ErrorKind, Result};
use crate::footer::FOOTER_SIZE;
use crate::rules::Rule;
use crate::rules::of_file::FileRules;
use crate::source::Input;
use crate::wire::{HEADER_SIZE, Record, Wire};

/// A reader of either kind of file, for code that treats both alike.
pub(crate) trait FileReader {
    /// The file's name in a thread's folder.
    const NAME: &'static str;
    const HEADER: Record;
    const FOOTER: Record;
    const RULES: &'static FileRules;

    fn input(&self) -> &Input;
    fn wire(&self) -> Wire;
    fn header_bytes(&self) -> &[u8];
    fn events_offset(&self) -> u64;
    fn completeness(&self) -> &Completeness;
    fn checksum(&self) -> Result<Checksum>;
    /// Returns every known reason why the readable events may differ from what was written.
    fn problems(&self) -> Result<Vec<Error>>;
    fn disagreements(&self) -> Vec<Error>;
    fn event_count(&self) -> u64;
    fn events_end(&self) -> u64;
    fn missing_events(&self) -> u64;
    fn found_footer(&self) -> Option<FoundFooter<'_>>;
    /// Returns the event count in the header, unless the header is a placeholder.
    fn stated_count(&self) -> Option<u64>;
    /// Returns where the events end according to a header that shows that the file was finalized.
    fn stated_end(&self) -> Option<u64>;
    /// Returns why the bytes after a detail file's last event are not an event.
    fn framing(&self) -> Option<&Error>;

    /// Returns the regions of the file, from the first byte to the last.
    fn regions(&self) -> Vec<Region> {
        let (rules, file_size) = (Self::RULES, self.input().size());
        let mut regions = Regions::default();
        regions.up_to(HEADER_SIZE as u64, RegionKind::Header, None);
        regions.up_to(self.events_offset(), RegionKind::Gap, None);
        regions.up_to(self.events_end(), RegionKind::Events, None);
        match self.completeness() {
            Completeness::Finalized | Completeness::HeaderNotUpdated => {
                if let Some(footer) = self.found_footer() {
                    let rule = self.framing().and_then(Error::rule);
                    regions.up_to(footer.offset, RegionKind::NoEvent, rule);
                }
                regions.add(FOOTER_SIZE as u64, RegionKind::Footer, None);
                let after = Some(rules.nothing_after);
                regions.up_to(file_size, RegionKind::AfterFooter, after);
            }
            Completeness::DamagedFooter {
                offset, problems, ..
            } => {
                regions.up_to(*offset, RegionKind::NoEvent, Some(rules.whole_event));
                let size = file_size.saturating_sub(*offset).min(FOOTER_SIZE as u64);
                let rule = problems.first().and_then(Error::rule);
                regions.add(size, RegionKind::DamagedFooter, rule);
                regions.up_to(file_size, RegionKind::AfterFooter, None);
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

    /// Returns the problems with the events that the file's end reveals.
    fn end_problems(&self) -> Vec<Error> {
        let missing = self.missing_events_error();
        match self.completeness() {
            Completeness::Finalized | Completeness::HeaderNotUpdated => Vec::new(),
            Completeness::DamagedFooter { problems, .. } => {
                problems.iter().cloned().chain(missing).collect()
            }
            Completeness::Unfinalized {
                trailing_bytes,
                zero_tail_bytes,
                partial_footer,
            } => {
                let partial = partial_footer.map_or(0, |partial| partial.size);
                let error = self.input().error(ErrorKind::NotFinalized {
                    is_cut: self.stated_end().is_some(),
                    trailing_bytes: trailing_bytes.saturating_add(partial),
                    zero_tail_bytes: *zero_tail_bytes,
                });
                let error = error.with_field("footer").with_offset(self.events_end());
                let error = error.with_rule(Self::RULES.finalized);
                [error].into_iter().chain(missing).collect()
            }
        }
    }

    /// Returns the error for events that are counted in the header but missing from the file. Bytes
    /// that are not an event may contain them.
    fn missing_events_error(&self) -> Option<Error> {
        let missing = match self.framing() {
            None => self.missing_events(),
            Some(_) => 0,
        };
        let found = self.event_count();
        let stated = found.saturating_add(missing);
        let kind = ErrorKind::EventsMissing { found, stated };
        self.header_error("event_count", Self::RULES.count, |_| {
            (missing > 0).then_some(kind)
        })
    }

    /// Returns an error for each of these fields of a rewritten header that is wrong.
    fn disagreeing(&self, facts: &[Fact]) -> Vec<Error> {
        match self.stated_count() {
            Some(_) => self.differing(facts),
            None => Vec::new(),
        }
    }

    /// Returns an error for each of these fields of the header that is wrong.
    fn differing(&self, facts: &[Fact]) -> Vec<Error> {
        let error = |&(name, rule, expected, by): &Fact| {
            self.header_error(name, rule, |found| {
                let kind = ErrorKind::Disagrees {
                    found,
                    expected,
                    by,
                };
                (found != expected).then_some(kind)
            })
        };
        facts.iter().filter_map(error).collect()
    }

    /// Checks that a verified footer confirms the events offset if the events do not begin at the
    /// end of the header.
    fn check_proven(&self) -> Result<()> {
        let is_proven = self.found_footer().is_some();
        let error = self.header_error("events_offset", Self::RULES.events_offset, |found| {
            let kind = ErrorKind::UnprovenEventsOffset { found };
            (!is_proven && found != HEADER_SIZE as u64).then_some(kind)
        });
        error.map_or(Ok(()), Err)
    }

    /// Returns the error about a field of the header, if `wrong` returns one for its value.
    fn header_error(
        &self,
        name: &str,
        rule: &'static Rule,
        wrong: impl FnOnce(u64) -> Option<ErrorKind>,
    ) -> Option<Error> {
        let Some(field) = Self::HEADER.field(self.wire(), name) else {
            return Some(Error::internal("the header has the field"));
        };
        let kind = wrong(field.number(self.header_bytes()))?;
        let error = self
            .input()
            .error(kind)
            .with_field(format!("header.{name}"));
        Some(error.with_offset(field.offset as u64).with_rule(rule))
    }
}

/// A verified footer.
pub(crate) struct FoundFooter<'a> {
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) times: (u64, u64),
}

/// A header field, the rule that a wrong value breaks, the correct value, and its source.
pub(crate) type Fact = (&'static str, &'static Rule, u64, &'static str);

/// Implements the methods that do not depend on the kind of file. `$section` is the field that
/// describes the events.
macro_rules! reader_methods {
    ($reader:ident, $header:ident, $footer:ident, $section:ident, $name:expr) => {
        impl crate::reader::FileReader for $reader {
            const NAME: &'static str = $name;
            const HEADER: crate::wire::Record = crate::wire::Record::$header;
            const FOOTER: crate::wire::Record = crate::wire::Record::$footer;
            const RULES: &'static crate::rules::of_file::FileRules =
                <$footer as crate::footer::Footer>::RULES;

            fn input(&self) -> &crate::source::Input {
                &self.input
            }
            fn wire(&self) -> crate::Wire {
                self.wire()
            }
            fn header_bytes(&self) -> &[u8] {
                &self.header_bytes
            }
            fn events_offset(&self) -> u64 {
                self.header.events_offset
            }
            fn completeness(&self) -> &crate::Completeness {
                self.completeness()
            }
            fn checksum(&self) -> crate::Result<crate::Checksum> {
                self.checksum()
            }
            fn problems(&self) -> crate::Result<Vec<crate::Error>> {
                self.all_problems()
            }
            fn disagreements(&self) -> Vec<crate::Error> {
                self.disagreements()
            }
            fn event_count(&self) -> u64 {
                self.event_count()
            }
            fn events_end(&self) -> u64 {
                self.events_end()
            }
            fn missing_events(&self) -> u64 {
                self.missing_events()
            }
            fn found_footer(&self) -> Option<crate::reader::FoundFooter<'_>> {
                let placed = self.placed()?;
                Some(crate::reader::FoundFooter {
                    offset: placed.offset,
                    bytes: &placed.bytes,
                    times: (placed.footer.time_start_ns, placed.footer.time_end_ns),
                })
            }
            fn stated_count(&self) -> Option<u64> {
                (!self.header.is_placeholder()).then_some(self.header.event_count)
            }
            fn stated_end(&self) -> Option<u64> {
                self.header.stated_end()
            }
            fn framing(&self) -> Option<&crate::Error> {
                self.framing()
            }
        }

        impl $reader {
            /// Opens a file for positioned reads, without mapping it.
            ///
            /// # Errors
            ///
            /// The errors of [`FileSource::open`](crate::FileSource::open) and
            /// [`from_source`](Self::from_source).
            pub fn open(path: impl AsRef<std::path::Path>) -> crate::Result<Self> {
                Self::open_with(path, crate::OpenOptions::new())
            }

            /// Opens a file with `options`.
            ///
            /// # Errors
            ///
            /// The errors of [`open`](Self::open).
            pub fn open_with(
                path: impl AsRef<std::path::Path>,
                options: crate::OpenOptions,
            ) -> crate::Result<Self> {
                Self::new(crate::source::Input::open(path.as_ref(), options)?)
            }

            /// Reads bytes in memory.
            ///
            /// # Errors
            ///
            /// The errors of [`from_source`](Self::from_source).
            pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> crate::Result<Self> {
                Self::new(crate::source::Input::from_bytes(bytes.into()))
            }

            /// Reads from any source that supports positioned reads.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::NothingWritten`](crate::ErrorKind::NothingWritten) for an empty source,
            /// [`ErrorKind::TooShort`](crate::ErrorKind::TooShort) at the source's end,
            #[doc = concat!("those of [`", stringify!($header), "::decode`],")]
            /// [`ErrorKind::UnprovenEventsOffset`](crate::ErrorKind::UnprovenEventsOffset) at
            /// `header.events_offset`, and [`ErrorKind::Io`](crate::ErrorKind::Io) or
            /// [`ErrorKind::UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) if a read fails.
            pub fn from_source(source: impl crate::ReadAt + 'static) -> crate::Result<Self> {
                Self::new(crate::source::Input::new(source))
            }

            /// Returns the header.
            #[must_use]
            pub fn header(&self) -> &$header {
                &self.header
            }

            /// Returns the bytes of the header, including reserved bytes.
            #[must_use]
            pub fn header_bytes(&self) -> &[u8; $header::SIZE] {
                &self.header_bytes
            }

            /// Returns the wire version.
            #[must_use]
            pub fn wire(&self) -> crate::Wire {
                self.header.wire
            }

            /// Returns the verified footer.
            #[must_use]
            pub fn footer(&self) -> Option<&$footer> {
                self.placed().map(|placed| &placed.footer)
            }

            /// Returns the bytes of the verified footer, including reserved bytes.
            #[must_use]
            pub fn footer_bytes(&self) -> Option<&[u8; $footer::SIZE]> {
                self.placed().map(|placed| &placed.bytes)
            }

            /// Returns the offset of the verified footer in bytes from the start of the file.
            #[must_use]
            pub fn footer_offset(&self) -> Option<u64> {
                self.placed().map(|placed| placed.offset)
            }

            /// Returns the number of bytes after the verified footer, where there should be none.
            #[must_use]
            pub fn bytes_after_footer(&self) -> u64 {
                self.placed()
                    .map_or(0, |placed| self.input.size().saturating_sub(placed.end()))
            }

            /// Returns the size in bytes that the file had when it was opened.
            #[must_use]
            pub fn file_size(&self) -> u64 {
                self.input.size()
            }

            /// Returns where [`event_count`](Self::event_count) comes from.
            #[must_use]
            pub fn count_source(&self) -> crate::CountSource {
                self.$section.count_source
            }

            /// Returns how the file ends.
            #[must_use]
            pub fn completeness(&self) -> &crate::Completeness {
                &self.$section.completeness
            }

            /// Returns the regions of the file, from the first byte to the last. Bytes that
            /// `ring.atf` adds count as part of the file.
            #[must_use]
            pub fn regions(&self) -> Vec<crate::Region> {
                crate::reader::FileReader::regions(self)
            }

            /// Returns how many events are missing according to a rewritten header, because the
            /// file was truncated or damaged after it was finalized. Returns 0 if a verified footer
            /// contains the count.
            #[must_use]
            pub fn missing_events(&self) -> u64 {
                if self.completeness().has_verified_footer() || self.header.is_placeholder() {
                    0
                } else {
                    self.header.event_count.saturating_sub(self.event_count())
                }
            }

            fn placed(&self) -> Option<&crate::footer::Placed<$footer>> {
                self.$section.footer.as_ref()
            }
        }
    };
}

pub(crate) use reader_methods;
