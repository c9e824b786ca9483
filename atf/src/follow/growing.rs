//! A growing file that is reopened whenever it is examined, and its header: missing, a placeholder,
//! or rewritten.

use std::path::{Path, PathBuf};

use crate::detail::DetailHeader;
use crate::error::{Error, ErrorKind, Result, at};
use crate::header;
use crate::index::IndexHeader;
use crate::platform::Identity;
use crate::rules::of_file::{DETAIL, FileRules, INDEX};
use crate::source::{Input, OpenOptions, source_in_session};
use crate::wire::{HEADER_SIZE, Record, Wire, offset};

/// The fields that do not change when a writer rewrites the header. A detail header has no clock.
const LASTING: [&str; 6] = [
    "version",
    "arch",
    "os",
    "thread_id",
    "clock_type",
    "events_offset",
];

/// The header of a kind of file that can be followed.
pub(super) trait Header: Sized + Clone {
    const MAGIC: [u8; 4];

    const RECORD: Record;

    const RULES: &'static FileRules;

    /// The offset of `events_offset`, the last field that is never 0 in a placeholder.
    const EVENTS_OFFSET: usize;

    /// Returns the header, its wire version and its events offset.
    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<(Self, Wire, u64)>;
}

/// A file at a path, which need not exist yet.
///
/// The file is open only while it is examined, so that thousands of files can be followed at once.
#[derive(Debug)]
pub(super) struct Growing<H> {
    path: PathBuf,
    options: OpenOptions,
    identity: Option<Identity>,
    /// The header as it was last read, and its bytes.
    read: Option<(H, [u8; HEADER_SIZE])>,
    /// The size of the file when it last ended in zeros.
    pub(super) zeros_end: u64,
}

impl<H: Header> Growing<H> {
    /// Creates a source for the file at this path. Symlinks are followed only to a standalone file:
    /// in a session, they could lead out of it.
    pub(super) fn new(path: PathBuf, is_standalone: bool) -> Self {
        Self {
            path,
            options: OpenOptions::new().follow_links(is_standalone),
            identity: None,
            read: None,
            zeros_end: 0,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn header(&self) -> Option<&H> {
        self.read.as_ref().map(|(header, _)| header)
    }

    /// Opens the file with its current size and reads its header. Returns them and whether the
    /// header is unchanged; `None` if the file never existed or has no header yet. Fails if the
    /// file no longer exists, and with [`ErrorKind::Replaced`] if the path now refers to a
    /// different file.
    pub(super) fn look(&mut self) -> Result<Option<(Input, H, bool)>> {
        let (input, identity) = match self.open() {
            Ok(opened) => opened,
            Err(error) if self.identity.is_none() && error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.identity = Some(identity);
        let header = self.read(&input)?;
        if header.is_none() {
            self.zeros_end = input.size();
        }
        Ok(header.map(|(header, is_same)| (input, header, is_same)))
    }

    /// Opens the same file again. Fails like [`look`](Self::look), and also if the file never
    /// existed.
    pub(super) fn again(&self) -> Result<Input> {
        self.open().map(|(input, _)| input)
    }

    fn open(&self) -> Result<(Input, Identity)> {
        let file = source_in_session(&self.path, self.options)?;
        let metadata = file.file.metadata().map_err(at(&self.path))?;
        let found = Identity::new(&metadata);
        if self.identity.is_some_and(|identity| identity != found) {
            return Err(Error::new(ErrorKind::Replaced).with_path(Some(&self.path)));
        }
        Ok((Input::at(&self.path, file), found))
    }

    /// Reads the header and returns whether it is unchanged. Returns `None` while the header or its
    /// events offset still reads as zeros.
    fn read(&mut self, input: &Input) -> Result<Option<(H, bool)>> {
        if input.size() < HEADER_SIZE as u64 && self.read.is_none() {
            return Ok(None);
        }
        let bytes = header::read(input, H::RULES)?;
        if self.read.is_none() && is_unwritten::<H>(&bytes) {
            return Ok(None);
        }
        let decoded = H::decode(&bytes).map_err(|error| error.with_path(input.path()));
        let (header, wire, events_offset) = decoded?;
        let mut is_same = false;
        if let Some((_, bytes_before)) = &self.read {
            for field in LASTING
                .iter()
                .filter_map(|name| H::RECORD.field(wire, name))
            {
                let [found, before] = [&bytes, bytes_before].map(|bytes| field.number(bytes));
                if found != before {
                    let error = input.error(ErrorKind::Changed { found, before });
                    let error = error.with_field(format!("header.{}", field.name));
                    return Err(error.with_offset(field.offset as u64));
                }
            }
            is_same = bytes == *bytes_before;
        }
        self.read = Some((header.clone(), bytes));
        let is_there = events_offset <= input.size();
        Ok(is_there.then_some((header, is_same)))
    }
}

/// Returns whether the space for the header is allocated but the header is not yet fully written.
fn is_unwritten<H: Header>(bytes: &[u8; HEADER_SIZE]) -> bool {
    let events_offset = bytes
        .get(H::EVENTS_OFFSET..)
        .and_then(|rest| rest.first_chunk());
    let mut magic = bytes.iter().zip(H::MAGIC);
    magic.all(|(found, magic)| *found == magic || *found == 0) && events_offset == Some(&[0; 8])
}

impl Header for IndexHeader {
    const MAGIC: [u8; 4] = Self::MAGIC;
    const RECORD: Record = Record::IndexHeader;
    const RULES: &'static FileRules = &INDEX;
    const EVENTS_OFFSET: usize = offset!(IndexHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<(Self, Wire, u64)> {
        let header = Self::decode(bytes, u64::MAX)?;
        let (wire, events_offset) = (header.wire, header.events_offset);
        Ok((header, wire, events_offset))
    }
}

impl Header for DetailHeader {
    const MAGIC: [u8; 4] = Self::MAGIC;
    const RECORD: Record = Record::DetailHeader;
    const RULES: &'static FileRules = &DETAIL;
    const EVENTS_OFFSET: usize = offset!(DetailHeader.events_offset);

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<(Self, Wire, u64)> {
        let header = Self::decode(bytes, u64::MAX)?;
        let (wire, events_offset) = (header.wire, header.events_offset);
        Ok((header, wire, events_offset))
    }
}
