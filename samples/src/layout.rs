//! The fields of all records, written by hand from the tables in S0, S1, S2 and S4.
//!
//! The spec, the structs and the kit's expected results are compared with these tables, because a mistake in the spec
//! would affect every reader and no other test would reveal it.

/// A record of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    IndexHeader,
    IndexEvent,
    IndexFooter,
    DetailHeader,
    DetailEventHeader,
    DetailFunctionPayload,
    DetailFooter,
    /// A record that no source describes.
    RingHeader,
}

/// A field of a record.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// The offset in bytes from the start of the record.
    pub offset: usize,
    /// The size in bytes.
    pub size: usize,
    pub is: FieldKind,
}

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Four ASCII characters.
    Magic,
    /// Bytes without meaning.
    Reserved,
    /// A number.
    Number,
    /// A position, shown as a string in both wire versions.
    Seq,
    /// A position, or all ones if there is none.
    Link,
    /// Eight 64-bit numbers.
    Registers,
}

const fn field(name: &'static str, offset: usize, size: usize, is: FieldKind) -> Field {
    Field {
        name,
        offset,
        size,
        is,
    }
}

const fn number(name: &'static str, offset: usize, size: usize) -> Field {
    field(name, offset, size, FieldKind::Number)
}

const fn reserved(name: &'static str, offset: usize, size: usize) -> Field {
    field(name, offset, size, FieldKind::Reserved)
}

/// From S0 and S1.
const INDEX_HEADER_1: [Field; 16] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("endian", 4, 1),
    number("version", 5, 1),
    number("arch", 6, 1),
    number("os", 7, 1),
    number("flags", 8, 4),
    number("thread_id", 12, 4),
    number("clock_type", 16, 1),
    reserved("_reserved1", 17, 3),
    reserved("_reserved2", 20, 4),
    number("event_size", 24, 4),
    number("event_count", 28, 4),
    number("events_offset", 32, 8),
    number("footer_offset", 40, 8),
    number("time_start_ns", 48, 8),
    number("time_end_ns", 56, 8),
];

/// From S2.
const INDEX_HEADER_2: [Field; 15] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("endian", 4, 1),
    number("version", 5, 1),
    number("arch", 6, 1),
    number("os", 7, 1),
    number("flags", 8, 4),
    number("thread_id", 12, 4),
    number("clock_type", 16, 1),
    reserved("_reserved1", 17, 3),
    number("event_size", 20, 4),
    number("event_count", 24, 8),
    number("events_offset", 32, 8),
    number("footer_offset", 40, 8),
    number("time_start_ns", 48, 8),
    number("time_end_ns", 56, 8),
];

/// From S0, S1 and S3.
const INDEX_EVENT_1: [Field; 6] = [
    number("timestamp_ns", 0, 8),
    number("function_id", 8, 8),
    number("thread_id", 16, 4),
    number("event_kind", 20, 4),
    number("call_depth", 24, 4),
    field("detail_seq", 28, 4, FieldKind::Link),
];

/// From S2.
const INDEX_EVENT_2: [Field; 5] = [
    number("timestamp_ns", 0, 8),
    number("function_id", 8, 8),
    field("detail_seq", 16, 8, FieldKind::Link),
    number("event_kind", 24, 1),
    reserved("_reserved", 25, 7),
];

/// From S0, S1 and S2. The order is start, end, bytes, unlike in the detail footer.
const INDEX_FOOTER: [Field; 7] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("checksum", 4, 4),
    number("event_count", 8, 8),
    number("time_start_ns", 16, 8),
    number("time_end_ns", 24, 8),
    number("bytes_written", 32, 8),
    reserved("reserved", 40, 24),
];

/// From S1, S2 and S4.
const DETAIL_HEADER: [Field; 14] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("endian", 4, 1),
    number("version", 5, 1),
    number("arch", 6, 1),
    number("os", 7, 1),
    number("flags", 8, 4),
    number("thread_id", 12, 4),
    reserved("_reserved1", 16, 4),
    number("events_offset", 20, 8),
    number("event_count", 28, 8),
    number("bytes_length", 36, 8),
    field("index_seq_start", 44, 8, FieldKind::Seq),
    field("index_seq_end", 52, 8, FieldKind::Seq),
    reserved("_reserved2", 60, 4),
];

/// From S1, S3 and S4.
const DETAIL_EVENT_HEADER_1: [Field; 6] = [
    number("total_length", 0, 4),
    number("event_type", 4, 2),
    number("flags", 6, 2),
    field("index_seq", 8, 4, FieldKind::Seq),
    number("thread_id", 12, 4),
    number("timestamp", 16, 8),
];

/// From S2.
const DETAIL_EVENT_HEADER_2: [Field; 5] = [
    number("total_length", 0, 4),
    number("event_type", 4, 2),
    number("flags", 6, 2),
    field("index_seq", 8, 8, FieldKind::Seq),
    number("timestamp", 16, 8),
];

/// From S1 and S4. The stack follows.
const DETAIL_FUNCTION_PAYLOAD: [Field; 7] = [
    number("function_id", 0, 8),
    field("x_regs", 8, 64, FieldKind::Registers),
    number("lr", 72, 8),
    number("fp", 80, 8),
    number("sp", 88, 8),
    number("stack_size", 96, 2),
    reserved("_reserved", 98, 2),
];

/// From S1, S2 and S4. The order is bytes, start, end, unlike in the index footer.
const DETAIL_FOOTER: [Field; 7] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("checksum", 4, 4),
    number("event_count", 8, 8),
    number("bytes_length", 16, 8),
    number("time_start_ns", 24, 8),
    number("time_end_ns", 32, 8),
    reserved("reserved", 40, 24),
];

/// From the page on `ring.atf` in the reference.
const RING_HEADER: [Field; 15] = [
    field("magic", 0, 4, FieldKind::Magic),
    number("endian", 4, 1),
    number("version", 5, 1),
    reserved("_reserved1", 6, 2),
    number("thread_id", 8, 4),
    reserved("_reserved2", 12, 4),
    number("index_capacity", 16, 8),
    number("index_start", 24, 8),
    number("index_size", 32, 8),
    number("index_checksum", 40, 4),
    number("detail_checksum", 44, 4),
    number("detail_capacity", 48, 8),
    number("detail_start", 56, 8),
    number("detail_size", 64, 8),
    reserved("_reserved3", 72, 56),
];

impl Record {
    /// All records, in file order.
    pub const ALL: [Self; 8] = [
        Self::IndexHeader,
        Self::IndexEvent,
        Self::IndexFooter,
        Self::DetailHeader,
        Self::DetailEventHeader,
        Self::DetailFunctionPayload,
        Self::DetailFooter,
        Self::RingHeader,
    ];

    /// Returns the record's name in the spec.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IndexHeader => "index_header",
            Self::IndexEvent => "index_event",
            Self::IndexFooter => "index_footer",
            Self::DetailHeader => "detail_header",
            Self::DetailEventHeader => "detail_event_header",
            Self::DetailFunctionPayload => "detail_function_payload",
            Self::DetailFooter => "detail_footer",
            Self::RingHeader => "ring_header",
        }
    }

    /// Returns the record's fields in a wire version, in order.
    #[must_use]
    pub const fn fields(self, wire: u8) -> &'static [Field] {
        match (self, wire) {
            (Self::IndexHeader, 1) => &INDEX_HEADER_1,
            (Self::IndexHeader, 2) => &INDEX_HEADER_2,
            (Self::IndexEvent, 1) => &INDEX_EVENT_1,
            (Self::IndexEvent, 2) => &INDEX_EVENT_2,
            (Self::IndexFooter, 1 | 2) => &INDEX_FOOTER,
            (Self::DetailHeader, 1 | 2) => &DETAIL_HEADER,
            (Self::DetailEventHeader, 1) => &DETAIL_EVENT_HEADER_1,
            (Self::DetailEventHeader, 2) => &DETAIL_EVENT_HEADER_2,
            (Self::DetailFunctionPayload, 1 | 2) => &DETAIL_FUNCTION_PAYLOAD,
            (Self::DetailFooter, 1 | 2) => &DETAIL_FOOTER,
            (Self::RingHeader, 1 | 2) => &RING_HEADER,
            // A test fails if a wire version has no tables.
            _ => &[],
        }
    }

    /// Returns the record's size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::IndexEvent => 32,
            Self::DetailEventHeader => 24,
            Self::DetailFunctionPayload => 100,
            Self::RingHeader => 128,
            _ => 64,
        }
    }
}

/// Decodes up to 8 bytes as a little-endian number.
#[must_use]
pub fn little_endian(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    (number.iter_mut().zip(bytes)).for_each(|(place, byte)| *place = *byte);
    u64::from_le_bytes(number)
}
