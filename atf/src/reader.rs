//! Methods that the readers of both kinds of file share.

/// Implements the methods that do not depend on the kind of file. `$section` is the field that
/// describes the events.
macro_rules! reader_methods {
    ($reader:ident, $header:ident, $footer:ident, $section:ident) => {
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

            pub(crate) fn missing_events_error(&self) -> Option<crate::Error> {
                let missing = self.missing_events();
                let stated = self.event_count().saturating_add(missing);
                let offset = crate::wire::offset!(self.header.wire, $header.event_count);
                (missing > 0).then(|| {
                    self.input
                        .events_missing(self.event_count(), stated, offset)
                })
            }

            /// Returns an error for each of these fields of a rewritten header whose value differs
            /// from the one that the third item states.
            fn disagreeing(&self, facts: &[(&str, u64, &'static str)]) -> Vec<crate::Error> {
                let is_rewritten = !self.header.is_placeholder();
                let facts = facts.iter().filter(|_| is_rewritten);
                let error = |&(name, expected, by): &(&str, u64, &'static str)| {
                    let field = crate::wire::Record::$header.field(self.header.wire, name);
                    let Some(field) = field else {
                        return Some(crate::Error::internal("the header has the field"));
                    };
                    let found = field.number(&self.header_bytes);
                    (found != expected).then(|| {
                        let kind = crate::ErrorKind::Disagrees {
                            found,
                            expected,
                            by,
                        };
                        let error = self.input.error(kind).with_field(format!("header.{name}"));
                        error.with_offset(field.offset as u64)
                    })
                };
                facts.filter_map(error).collect()
            }

            fn placed(&self) -> Option<&crate::footer::Placed<$footer>> {
                self.$section.footer.as_ref()
            }
        }
    };
}

pub(crate) use reader_methods;
