//! Writes headers and footers.

use super::{ThreadWriter, sync_names};
use crate::detail::{DetailFooter, DetailHeader};
use crate::error::Result;
use crate::index::{IndexFooter, IndexHeader};
use crate::wire::IndexFlags;
use crate::write::{Durability, WriteOptions};

impl ThreadWriter {
    /// Writes the remaining events, the footers and finally the headers. The index file's header
    /// comes last, because it marks everything else as complete.
    pub(super) fn write_ends(&mut self) -> Result<()> {
        self.flush_buffers()?;
        let wire = self.options.wire;
        let index_footer = self.index_footer();
        if let Some(detail) = &mut self.detail {
            let footer = DetailFooter {
                checksum: detail.checksum(),
                event_count: self.detail_count,
                bytes_length: detail.events_size(),
                time_start_ns: self.detail_times.0,
                time_end_ns: self.detail_times.1,
            };
            detail.write_footer(&footer.encode(wire))?;
        }
        self.index.write_footer(&index_footer.encode(wire))?;
        self.sync_files()?;
        if let Some(detail) = &mut self.detail {
            let header = DetailHeader {
                event_count: self.detail_count,
                bytes_length: detail.events_size(),
                index_seq_start: self.detail_index_seqs.0,
                index_seq_end: self.detail_index_seqs.1,
                ..detail_header(&self.options, self.thread_id)
            };
            detail.rewrite_header(&header.encode())?;
        }
        let flags = match self.detail {
            Some(_) => IndexFlags::HAS_DETAIL_FILE,
            None => IndexFlags(0),
        };
        let header = IndexHeader {
            flags,
            event_count: self.next_index_seq,
            footer_offset: self.index.size(),
            time_start_ns: index_footer.time_start_ns,
            time_end_ns: index_footer.time_end_ns,
            ..index_header(&self.options, self.thread_id)
        };
        self.index.rewrite_header(&header.encode()?)?;
        self.sync_files()?;
        if let Some(journal) = &mut self.journal {
            journal.remove(&*self.storage);
        }
        match self.options.durability {
            Durability::None => Ok(()),
            _ => sync_names(&*self.storage, &self.folder, self.is_new_folder),
        }
    }

    pub(super) fn index_footer(&self) -> IndexFooter {
        let mut footer = IndexFooter::blank();
        footer.checksum = self.index.checksum();
        footer.event_count = self.next_index_seq;
        footer.time_start_ns = self.first_timestamp.unwrap_or(0);
        footer.time_end_ns = self.last_timestamp;
        footer.bytes_written = self.index.events_size();
        footer
    }

    pub(super) fn sync_files(&mut self) -> Result<()> {
        if self.options.durability == Durability::None {
            return Ok(());
        }
        if let Some(detail) = &mut self.detail {
            detail.sync()?;
        }
        self.index.sync()
    }
}

/// Returns the header that the file has until it is finalized.
pub(super) fn index_header(options: &WriteOptions, thread_id: u32) -> IndexHeader {
    IndexHeader {
        arch: options.arch,
        os: options.os,
        clock_type: options.clock_type,
        ..IndexHeader::new(options.wire, thread_id)
    }
}

/// Returns the header that the file has until it is finalized.
pub(super) fn detail_header(options: &WriteOptions, thread_id: u32) -> DetailHeader {
    DetailHeader {
        arch: options.arch,
        os: options.os,
        ..DetailHeader::new(options.wire, thread_id)
    }
}
