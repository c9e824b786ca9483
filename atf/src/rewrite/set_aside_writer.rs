//! Writes the files for events that were set aside: they are part of a trace, but belong in neither
//! `index.atf` nor `detail.atf`.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;

use super::stage::at;
use crate::checksum::Crc32c;
use crate::detail::{DetailEvent, DetailFooter, DetailHeader};
use crate::error::Result;
use crate::index::{IndexEvent, IndexFooter, IndexHeader};
use crate::platform::Output;
use crate::wire::IndexFlags;
use crate::write::Durability;

/// The buffer size in bytes per file.
const BUFFER_SIZE: usize = 0x1_0000;
const HEADER_SIZE: u64 = IndexHeader::SIZE as u64;

/// A writer for details that no index event refers to: copies them byte for byte to a finalized
/// file in detail format.
#[derive(Debug)]
pub(super) struct OrphansWriter {
    section: Section,
    header: DetailHeader,
    times: Option<(u64, u64)>,
}

impl OrphansWriter {
    /// Creates the file. `source` is the header of the file that the details come from.
    pub(super) fn create(path: PathBuf, source: &DetailHeader) -> Result<Self> {
        let header = DetailHeader {
            flags: 0,
            events_offset: HEADER_SIZE,
            event_count: 0,
            bytes_length: 0,
            index_seq_start: u64::MAX,
            index_seq_end: 0,
            ..source.clone()
        };
        Ok(Self {
            section: Section::create(path)?,
            header,
            times: None,
        })
    }

    /// Begins a detail; [`write`](Self::write) adds its bytes.
    pub(super) fn begin(&mut self, event: &DetailEvent) {
        let (time, seq) = (event.header.timestamp, event.header.index_seq);
        let header = &mut self.header;
        header.index_seq_start = header.index_seq_start.min(seq);
        header.index_seq_end = header.index_seq_end.max(seq);
        header.event_count = header.event_count.saturating_add(1);
        let size = event.header.total_length.into();
        header.bytes_length = header.bytes_length.saturating_add(size);
        self.times = Some((self.times.map_or(time, |(first, _)| first), time));
    }

    /// Adds bytes to the current detail.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.section.write(bytes)
    }

    pub(super) fn finalize(self, durability: Durability) -> Result<()> {
        let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();
        let footer = DetailFooter {
            checksum: self.section.crc.finish(),
            event_count: self.header.event_count,
            bytes_length: self.header.bytes_length,
            time_start_ns,
            time_end_ns,
        };
        let wire = self.header.wire;
        let header = self.header.encode();
        self.section
            .finalize(&footer.encode(wire), &header, durability)
    }
}

/// A writer for index events after a hole: copies them byte for byte to a finalized file in index
/// format.
#[derive(Debug)]
pub(super) struct SalvagedWriter {
    section: Section,
    source: IndexHeader,
    count: u64,
    times: Option<(u64, u64)>,
}

impl SalvagedWriter {
    /// Creates the file. `source` is the header of the file that the events come from.
    pub(super) fn create(path: PathBuf, source: &IndexHeader) -> Result<Self> {
        Ok(Self {
            section: Section::create(path)?,
            source: source.clone(),
            count: 0,
            times: None,
        })
    }

    /// Adds an event; `bytes` is the whole event.
    pub(super) fn write(
        &mut self,
        event: &IndexEvent,
        bytes: &[u8; IndexEvent::SIZE],
    ) -> Result<()> {
        let time = event.timestamp_ns;
        self.times = Some((self.times.map_or(time, |(first, _)| first), time));
        self.count = self.count.saturating_add(1);
        self.section.write(bytes)
    }

    pub(super) fn finalize(self, durability: Durability) -> Result<()> {
        let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();
        let bytes_written = self.count.saturating_mul(IndexEvent::SIZE as u64);
        let mut footer = IndexFooter::blank();
        footer.checksum = self.section.crc.finish();
        footer.event_count = self.count;
        footer.time_start_ns = time_start_ns;
        footer.time_end_ns = time_end_ns;
        footer.bytes_written = bytes_written;
        let wire = self.source.wire;
        let header = IndexHeader {
            flags: IndexFlags(0),
            event_count: self.count,
            events_offset: HEADER_SIZE,
            footer_offset: HEADER_SIZE.saturating_add(bytes_written),
            time_start_ns,
            time_end_ns,
            ..self.source
        };
        let header = header.encode()?;
        self.section
            .finalize(&footer.encode(wire), &header, durability)
    }
}

/// A file being written: header, events, checksum.
#[derive(Debug)]
struct Section {
    path: PathBuf,
    file: BufWriter<Output>,
    crc: Crc32c,
}

impl Section {
    /// Creates the file with a header of zeros.
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).map(Output).map_err(at(&path))?;
        let mut file = BufWriter::with_capacity(BUFFER_SIZE, file);
        file.write_all(&[0; IndexHeader::SIZE]).map_err(at(&path))?;
        Ok(Self {
            path,
            file,
            crc: Crc32c::new(),
        })
    }

    fn write(&mut self, event: &[u8]) -> Result<()> {
        self.crc.update(event);
        self.file.write_all(event).map_err(at(&self.path))
    }

    /// Writes the footer, then the header: the order in which every file is finalized.
    fn finalize(
        mut self,
        footer: &[u8],
        header: &[u8; IndexHeader::SIZE],
        durability: Durability,
    ) -> Result<()> {
        let mut finish = || -> io::Result<()> {
            self.file.write_all(footer)?;
            self.file.rewind()?;
            self.file.write_all(header)?;
            self.file.flush()?;
            match durability {
                Durability::None => Ok(()),
                Durability::Finalize | Durability::EachFlush => self.file.get_ref().0.sync_all(),
            }
        };
        finish().map_err(at(&self.path))
    }
}
