//! Writes the files for events that were set aside: they are part of a trace, but belong in neither
//! `index.atf` nor `detail.atf`.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use super::report::SetAside;
use super::stage::{at, free_path};
use crate::checksum::Crc32c;
use crate::detail::{DetailEvent, DetailFooter, DetailHeader};
use crate::error::Result;
use crate::index::{IndexFooter, IndexHeader};
use crate::platform::Output;
use crate::rules::Rule;
use crate::wire::IndexFlags;
use crate::write::Durability;

/// The name of the file for details that no event refers to.
pub(super) const ORPHANS: (&str, &str) = ("orphans", ".atf");
/// The name of the file for index events after a hole.
pub(super) const SALVAGED: (&str, &str) = ("salvaged", ".atf");

/// The buffer size in bytes per file.
const BUFFER_SIZE: usize = 0x1_0000;
const HEADER_SIZE: u64 = IndexHeader::SIZE as u64;

/// A writer for events of one file that were set aside: copies them byte for byte to a finalized
/// file in the same format.
#[derive(Debug)]
pub(super) struct SetAsideWriter {
    aside: SetAside,
    path: PathBuf,
    file: BufWriter<Output>,
    crc: Crc32c,
    /// The size of the events in bytes.
    size: u64,
    /// The times of the first and the last event.
    times: Option<(u64, u64)>,
    /// The smallest and the largest `index_seq` of the details.
    index_seqs: (u64, u64),
}

impl SetAsideWriter {
    /// Returns the writer, creating its file in `folder` before the first event. The events come
    /// from the file `from`.
    pub(super) fn get_or_create<'a>(
        this: &'a mut Option<Self>,
        folder: &Path,
        name: (&str, &str),
        from: &'static str,
    ) -> Result<&'a mut Self> {
        match this {
            Some(open) => Ok(open),
            None => Ok(this.insert(Self::create(folder, name, from)?)),
        }
    }

    /// Creates the file with a header of zeros.
    fn create(folder: &Path, (stem, extension): (&str, &str), from: &'static str) -> Result<Self> {
        let path = free_path(folder, stem, extension)?;
        let file = File::create_new(&path).map(Output).map_err(at(&path))?;
        let mut file = BufWriter::with_capacity(BUFFER_SIZE, file);
        file.write_all(&[0; IndexHeader::SIZE]).map_err(at(&path))?;
        let name = path.file_name().unwrap_or_default();
        Ok(Self {
            aside: SetAside::new(name.to_string_lossy().into_owned(), from),
            path,
            file,
            crc: Crc32c::new(),
            size: 0,
            times: None,
            index_seqs: (u64::MAX, 0),
        })
    }

    /// Begins an event at this place in the original file, and records the rule that it breaks.
    /// [`write`](Self::write) adds its bytes.
    pub(super) fn begin(
        &mut self,
        seq: u64,
        offset: u64,
        time_ns: u64,
        rule: Option<&'static Rule>,
    ) {
        self.aside.add(seq, offset, rule);
        self.times = Some((self.times.map_or(time_ns, |(first, _)| first), time_ns));
    }

    /// Like [`begin`](Self::begin), for a detail.
    pub(super) fn begin_detail(&mut self, event: &DetailEvent, rule: Option<&'static Rule>) {
        let header = &event.header;
        let (least, greatest) = self.index_seqs;
        self.index_seqs = (least.min(header.index_seq), greatest.max(header.index_seq));
        self.begin(event.seq, event.offset, header.timestamp, rule);
    }

    /// Adds bytes to the current event.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.size = self.size.saturating_add(bytes.len() as u64);
        self.file.write_all(bytes).map_err(at(&self.path))
    }

    /// Finalizes a file in index format. `source` is the header of the file that the events come
    /// from.
    pub(super) fn finalize_index(
        self,
        source: &IndexHeader,
        durability: Durability,
    ) -> Result<SetAside> {
        let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();
        let mut footer = IndexFooter::blank();
        footer.checksum = self.crc.finish();
        footer.event_count = self.aside.count;
        footer.time_start_ns = time_start_ns;
        footer.time_end_ns = time_end_ns;
        footer.bytes_written = self.size;
        let header = IndexHeader {
            flags: IndexFlags(0),
            event_count: self.aside.count,
            events_offset: HEADER_SIZE,
            footer_offset: HEADER_SIZE.saturating_add(self.size),
            time_start_ns,
            time_end_ns,
            ..source.clone()
        };
        let (footer, header) = (footer.encode(source.wire), header.encode()?);
        self.finalize(&footer, &header, durability)
    }

    /// Finalizes a file in detail format. `source` is the header of the file that the details come
    /// from.
    pub(super) fn finalize_detail(
        self,
        source: &DetailHeader,
        durability: Durability,
    ) -> Result<SetAside> {
        let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();
        let footer = DetailFooter {
            checksum: self.crc.finish(),
            event_count: self.aside.count,
            bytes_length: self.size,
            time_start_ns,
            time_end_ns,
        };
        let (index_seq_start, index_seq_end) = self.index_seqs;
        let header = DetailHeader {
            flags: 0,
            events_offset: HEADER_SIZE,
            event_count: self.aside.count,
            bytes_length: self.size,
            index_seq_start,
            index_seq_end,
            ..source.clone()
        };
        self.finalize(&footer.encode(source.wire), &header.encode(), durability)
    }

    /// Writes the footer, then the header: the order in which every file is finalized.
    fn finalize(
        mut self,
        footer: &[u8],
        header: &[u8; IndexHeader::SIZE],
        durability: Durability,
    ) -> Result<SetAside> {
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
        finish().map_err(at(&self.path))?;
        Ok(self.aside)
    }
}
