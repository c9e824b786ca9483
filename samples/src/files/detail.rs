//! Builds `detail.atf`.

use super::{Bytes, crc32c};

/// An event to write.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailRecord {
    pub event_type: u16,
    pub index_seq: u64,
    pub timestamp: u64,
    pub payload: Vec<u8>,
}

impl DetailRecord {
    pub fn new(event_type: u16, index_seq: u64, timestamp: u64, payload: Vec<u8>) -> Self {
        Self {
            event_type,
            index_seq,
            timestamp,
            payload,
        }
    }

    /// Returns the detail of a call, with registers and `stack` bytes of stack.
    pub fn call(index_seq: u64, timestamp: u64, stack: u16) -> Self {
        let mut payload = Bytes::default();
        payload.u64(0x0644_4fc1_0000_0001);
        (0..8).for_each(|register| {
            payload.u64(0x1111 * register);
        });
        payload.u64(0xaaaa).u64(0xbbbb).u64(0xcccc);
        payload.u16(stack).u16(0);
        (0..stack).for_each(|byte| {
            payload.u8(byte.to_le_bytes()[0] | 1);
        });
        Self::new(3, index_seq, timestamp, payload.0)
    }
}

/// A detail file to write, whose fields need not be consistent.
#[derive(Debug, Clone)]
pub struct DetailFile {
    pub version: u8,
    pub arch: u8,
    pub os: u8,
    pub thread_id: u32,
    pub events_offset: u64,
    pub header_count: u64,
    pub header_bytes: u64,
    pub index_seqs: (u64, u64),
    pub events: Vec<DetailRecord>,
    pub checksum: u32,
    pub footer_count: u64,
    pub footer_bytes: u64,
    pub footer_times: (u64, u64),
}

impl DetailFile {
    /// Returns a finalized file of `count` events of different lengths, which belong to every third
    /// index event.
    pub fn finalized(version: u8, count: u64) -> Self {
        let event = |seq: u64| {
            let timestamp = 0x0004_62d5_3c8a_0000 + 3 * seq * 1000;
            match seq % 3 {
                0 => DetailRecord::call(3 * seq, timestamp, 0),
                1 => DetailRecord::call(3 * seq, timestamp, 17),
                _ => DetailRecord::new(9, 3 * seq, timestamp, vec![5; 3]),
            }
        };
        Self::new(version, (0..count).map(event).collect())
    }

    /// Returns a finalized file of these events.
    pub fn new(version: u8, events: Vec<DetailRecord>) -> Self {
        let mut this = Self {
            version,
            arch: 1,
            os: 4,
            thread_id: 7,
            events_offset: 64,
            header_count: events.len() as u64,
            header_bytes: 0,
            index_seqs: (0, 0),
            checksum: 0,
            footer_count: events.len() as u64,
            footer_bytes: 0,
            footer_times: (0, 0),
            events,
        };
        if let (Some(first), Some(last)) = (this.events.first(), this.events.last()) {
            this.index_seqs = (first.index_seq, last.index_seq);
            this.footer_times = (first.timestamp, last.timestamp);
        }
        let section = this.section();
        this.header_bytes = section.len() as u64;
        this.footer_bytes = section.len() as u64;
        this.checksum = crc32c(&section);
        this
    }

    /// Returns the file with a header that was never rewritten.
    pub fn placeholder(mut self) -> Self {
        self.header_count = 0;
        self.header_bytes = 0;
        self.index_seqs = (0, 0);
        self
    }

    pub fn header(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.raw(b"ATD2");
        out.raw(&[1, self.version, self.arch, self.os]);
        out.u32(0).u32(self.thread_id).u32(0);
        out.u64(self.events_offset);
        out.u64(self.header_count).u64(self.header_bytes);
        out.u64(self.index_seqs.0).u64(self.index_seqs.1).u32(0);
        out.0
    }

    pub fn section(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        for event in &self.events {
            out.u32(24 + u32::try_from(event.payload.len()).unwrap());
            out.u16(event.event_type).u16(0);
            if self.version == 1 {
                out.u32(u32::try_from(event.index_seq).unwrap());
                out.u32(self.thread_id);
            } else {
                out.u64(event.index_seq);
            }
            out.u64(event.timestamp).raw(&event.payload);
        }
        out.0
    }

    /// Returns the offset of each event and the end of the last one.
    pub fn places(&self) -> Vec<u64> {
        let mut places = vec![self.events_offset];
        for event in &self.events {
            places.push(places.last().unwrap() + 24 + event.payload.len() as u64);
        }
        places
    }

    pub fn footer(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.raw(b"2DTA").u32(self.checksum);
        out.u64(self.footer_count).u64(self.footer_bytes);
        out.u64(self.footer_times.0).u64(self.footer_times.1);
        out.raw(&[0; 24]);
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
