//! A tracer without `std`: it writes an `index.atf` of wire version 2 into memory that its caller
//! provides, such as a preallocated mapping, and needs only `atf-derive` and `zerocopy`.
//!
//! After each event, the memory is an unfinalized file from which readers recover that event.

#![no_std]

use zerocopy::{FromZeros, Immutable, IntoBytes};

/// The header.
#[atf_derive::record(index_header, wire = 2)]
pub struct IndexHeader;

/// An event.
#[atf_derive::record(index_event, wire = 2)]
pub struct IndexEvent;

/// The footer.
#[atf_derive::record(index_footer, wire = 2)]
pub struct IndexFooter;

/// The kind of an event.
#[atf_derive::open_enum(event_kind)]
pub struct EventKind;

/// The processor.
#[atf_derive::open_enum(arch)]
pub struct Arch;

/// The operating system.
#[atf_derive::open_enum(os)]
pub struct Os;

/// The clock.
#[atf_derive::open_enum(clock)]
pub struct Clock;

/// A thread's file in memory.
#[derive(Debug)]
pub struct Tracer<'a> {
    memory: &'a mut [u8],
    header: IndexHeader,
    size: usize,
}

/// The memory is full; nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl<'a> Tracer<'a> {
    /// Starts the file of a thread on Linux.
    ///
    /// # Errors
    ///
    /// [`Full`] if a header and a footer do not fit in the memory.
    pub fn start(memory: &'a mut [u8], thread_id: u32) -> Result<Self, Full> {
        let mut header = IndexHeader::new_zeroed();
        header.magic = IndexHeader::MAGIC;
        header.endian = IndexHeader::ENDIAN;
        header.version = IndexHeader::VERSION;
        header.arch = if cfg!(target_arch = "aarch64") {
            Arch::ARM64.0
        } else {
            Arch::X86_64.0
        };
        header.os = Os::LINUX.0;
        header.clock_type = Clock::BOOTTIME.0;
        header.thread_id = thread_id.into();
        header.event_size = IndexHeader::EVENT_SIZE.into();
        header.events_offset = (IndexHeader::SIZE as u64).into();
        let mut this = Self {
            memory,
            header,
            size: 0,
        };
        this.put(&header, IndexFooter::SIZE)?;
        Ok(this)
    }

    /// Adds a call or a return.
    ///
    /// # Errors
    ///
    /// [`Full`] if there is no room left for the event and a footer.
    pub fn event(
        &mut self,
        timestamp_ns: u64,
        function_id: u64,
        event_kind: EventKind,
    ) -> Result<(), Full> {
        let mut event = IndexEvent::new_zeroed();
        event.timestamp_ns = timestamp_ns.into();
        event.function_id = function_id.into();
        event.event_kind = u8::try_from(event_kind.0).unwrap_or(u8::MAX);
        event.detail_seq = IndexEvent::DETAIL_SEQ_NONE.into();
        self.put(&event, IndexFooter::SIZE)?;
        let header = &mut self.header;
        if header.event_count == 0 {
            header.time_start_ns = timestamp_ns.into();
        }
        header.time_end_ns = timestamp_ns.into();
        header.event_count = (header.event_count.get() + 1).into();
        Ok(())
    }

    /// Finalizes the file: writes the footer, then the header again. Returns the file's bytes.
    ///
    /// # Errors
    ///
    /// None: [`event`](Self::event) leaves room for the footer.
    pub fn finish(mut self) -> Result<&'a [u8], Full> {
        let mut footer = IndexFooter::new_zeroed();
        footer.magic = IndexFooter::MAGIC;
        // A checksum of 0 means that none was computed.
        footer.event_count = self.header.event_count;
        footer.time_start_ns = self.header.time_start_ns;
        footer.time_end_ns = self.header.time_end_ns;
        footer.bytes_written = ((self.size - IndexHeader::SIZE) as u64).into();
        self.header.footer_offset = (self.size as u64).into();
        self.put(&footer, 0)?;
        self.memory[..IndexHeader::SIZE].copy_from_slice(self.header.as_bytes());
        Ok(&self.memory[..self.size])
    }

    /// Appends a record if `reserve` bytes are left after it.
    fn put(&mut self, record: &(impl IntoBytes + Immutable), reserve: usize) -> Result<(), Full> {
        let bytes = record.as_bytes();
        let end = self.size + bytes.len();
        if end + reserve > self.memory.len() {
            return Err(Full);
        }
        self.memory[self.size..end].copy_from_slice(bytes);
        self.size = end;
        Ok(())
    }
}
