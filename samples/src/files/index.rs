//! Builds `index.atf`.

use super::{Bytes, crc32c};

/// An event to write.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    pub timestamp_ns: u64,
    pub function_id: u64,
    pub kind: u8,
    pub depth: u32,
    pub detail_seq: Option<u64>,
}

impl EventRecord {
    /// Returns an event at depth 1.
    pub fn new(timestamp_ns: u64, function_id: u64, kind: u8, detail_seq: Option<u64>) -> Self {
        Self {
            timestamp_ns,
            function_id,
            kind,
            depth: 1,
            detail_seq,
        }
    }
}

/// An index file to write; its fields need not be consistent.
#[derive(Debug, Clone)]
pub struct IndexFile {
    pub version: u8,
    pub arch: u8,
    pub os: u8,
    pub flags: u32,
    pub thread_id: u32,
    pub header_count: u64,
    pub events_offset: u64,
    pub footer_offset: u64,
    pub header_times: (u64, u64),
    pub events: Vec<EventRecord>,
    pub checksum: u32,
    pub footer_count: u64,
    pub footer_times: (u64, u64),
    pub bytes_written: u64,
}

impl IndexFile {
    /// Returns a finalized file of `count` events; every third event links to a detail.
    pub fn finalized(version: u8, count: u64) -> Self {
        let event = |seq: u64| EventRecord {
            timestamp_ns: 0x0004_62d5_3c8a_0000 + seq * 1000,
            function_id: 0x0644_4fc1_0000_0001 + seq,
            kind: if seq.is_multiple_of(2) { 1 } else { 2 },
            depth: 1 + u32::try_from(seq).unwrap() / 2 % 5,
            detail_seq: seq.is_multiple_of(3).then_some(seq / 3),
        };
        Self::new(version, (0..count).map(event).collect())
    }

    /// Returns a finalized file that contains these events.
    pub fn new(version: u8, events: Vec<EventRecord>) -> Self {
        let count = events.len() as u64;
        let times = match (events.first(), events.last()) {
            (Some(first), Some(last)) => (first.timestamp_ns, last.timestamp_ns),
            _ => (0, 0),
        };
        let mut this = Self {
            version,
            arch: 1,
            os: 4,
            flags: 1,
            thread_id: 7,
            header_count: count,
            events_offset: 64,
            footer_offset: 64 + 32 * count,
            header_times: times,
            events,
            checksum: 0,
            footer_count: count,
            footer_times: times,
            bytes_written: 32 * count,
        };
        this.checksum = crc32c(&this.section());
        this
    }

    /// Returns the file with a header that was never rewritten.
    pub fn placeholder(mut self) -> Self {
        self.flags = 0;
        self.header_count = 0;
        self.footer_offset = 64;
        self.header_times = (0, 0);
        self
    }

    pub fn header(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.raw(b"ATI2");
        out.raw(&[1, self.version, self.arch, self.os]);
        out.u32(self.flags).u32(self.thread_id);
        out.u8(3).raw(&[0; 3]);
        match self.version {
            2 => out.u32(32).u64(self.header_count),
            _ => out
                .u32(0)
                .u32(32)
                .u32(u32::try_from(self.header_count).unwrap()),
        };
        out.u64(self.events_offset).u64(self.footer_offset);
        out.u64(self.header_times.0).u64(self.header_times.1);
        out.0
    }

    pub fn section(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        for event in &self.events {
            out.u64(event.timestamp_ns).u64(event.function_id);
            if self.version == 2 {
                out.u64(event.detail_seq.unwrap_or(u64::MAX))
                    .u8(event.kind)
                    .raw(&[0; 7]);
            } else {
                let detail_seq = event
                    .detail_seq
                    .map_or(u32::MAX, |s| u32::try_from(s).unwrap());
                out.u32(self.thread_id)
                    .u32(event.kind.into())
                    .u32(event.depth)
                    .u32(detail_seq);
            }
        }
        out.0
    }

    pub fn footer(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.raw(b"2ITA").u32(self.checksum).u64(self.footer_count);
        out.u64(self.footer_times.0).u64(self.footer_times.1);
        out.u64(self.bytes_written).raw(&[0; 24]);
        out.0
    }

    /// Returns the header and the events.
    pub fn without_footer(&self) -> Vec<u8> {
        [self.header(), self.section()].concat()
    }

    pub fn bytes(&self) -> Vec<u8> {
        [self.without_footer(), self.footer()].concat()
    }
}
