//! The layouts once more, typed by hand from the tables of S0, S1, S2 and S4.
//!
//! What a writer wrote is held against these places and not against those that the library was
//! made from: a mistake in the spec would be a mistake of the library's writer and of its reader,
//! and neither would see it.

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    /// As in the reference.
    pub(super) name: &'static str,
    /// Bytes from the record's first.
    pub(super) offset: usize,
    /// Bytes.
    pub(super) size: usize,
}

const fn field(name: &'static str, offset: usize, size: usize) -> Field {
    Field { name, offset, size }
}

/// Both headers and both footers.
pub(super) const END_SIZE: usize = 64;
/// An event of `index.atf`.
pub(super) const EVENT_SIZE: usize = 32;
/// What an event of `detail.atf` has before its payload.
pub(super) const DETAIL_SIZE: usize = 24;

const INDEX_HEADER_1: &[Field] = &[
    field("magic", 0, 4),
    field("endian", 4, 1),
    field("version", 5, 1),
    field("arch", 6, 1),
    field("os", 7, 1),
    field("flags", 8, 4),
    field("thread_id", 12, 4),
    field("clock_type", 16, 1),
    field("_reserved1", 17, 3),
    field("_reserved2", 20, 4),
    field("event_size", 24, 4),
    field("event_count", 28, 4),
    field("events_offset", 32, 8),
    field("footer_offset", 40, 8),
    field("time_start_ns", 48, 8),
    field("time_end_ns", 56, 8),
];

const INDEX_HEADER_2: &[Field] = &[
    field("magic", 0, 4),
    field("endian", 4, 1),
    field("version", 5, 1),
    field("arch", 6, 1),
    field("os", 7, 1),
    field("flags", 8, 4),
    field("thread_id", 12, 4),
    field("clock_type", 16, 1),
    field("_reserved1", 17, 3),
    field("event_size", 20, 4),
    field("event_count", 24, 8),
    field("events_offset", 32, 8),
    field("footer_offset", 40, 8),
    field("time_start_ns", 48, 8),
    field("time_end_ns", 56, 8),
];

const INDEX_EVENT_1: &[Field] = &[
    field("timestamp_ns", 0, 8),
    field("function_id", 8, 8),
    field("thread_id", 16, 4),
    field("event_kind", 20, 4),
    field("call_depth", 24, 4),
    field("detail_seq", 28, 4),
];

const INDEX_EVENT_2: &[Field] = &[
    field("timestamp_ns", 0, 8),
    field("function_id", 8, 8),
    field("detail_seq", 16, 8),
    field("event_kind", 24, 1),
    field("_reserved", 25, 7),
];

/// The same in both wire versions.
pub(super) const INDEX_FOOTER: &[Field] = &[
    field("magic", 0, 4),
    field("checksum", 4, 4),
    field("event_count", 8, 8),
    field("time_start_ns", 16, 8),
    field("time_end_ns", 24, 8),
    field("bytes_written", 32, 8),
    field("reserved", 40, 24),
];

/// The same in both wire versions; five of its fields stand at odd multiples of 4.
pub(super) const DETAIL_HEADER: &[Field] = &[
    field("magic", 0, 4),
    field("endian", 4, 1),
    field("version", 5, 1),
    field("arch", 6, 1),
    field("os", 7, 1),
    field("flags", 8, 4),
    field("thread_id", 12, 4),
    field("_reserved1", 16, 4),
    field("events_offset", 20, 8),
    field("event_count", 28, 8),
    field("bytes_length", 36, 8),
    field("index_seq_start", 44, 8),
    field("index_seq_end", 52, 8),
    field("_reserved2", 60, 4),
];

const DETAIL_EVENT_1: &[Field] = &[
    field("total_length", 0, 4),
    field("event_type", 4, 2),
    field("flags", 6, 2),
    field("index_seq", 8, 4),
    field("thread_id", 12, 4),
    field("timestamp", 16, 8),
];

const DETAIL_EVENT_2: &[Field] = &[
    field("total_length", 0, 4),
    field("event_type", 4, 2),
    field("flags", 6, 2),
    field("index_seq", 8, 8),
    field("timestamp", 16, 8),
];

/// The same in both wire versions; the length comes before the times here.
pub(super) const DETAIL_FOOTER: &[Field] = &[
    field("magic", 0, 4),
    field("checksum", 4, 4),
    field("event_count", 8, 8),
    field("bytes_length", 16, 8),
    field("time_start_ns", 24, 8),
    field("time_end_ns", 32, 8),
    field("reserved", 40, 24),
];

pub(super) fn index_header(wire: u8) -> &'static [Field] {
    by_wire(wire, INDEX_HEADER_1, INDEX_HEADER_2)
}

pub(super) fn index_event(wire: u8) -> &'static [Field] {
    by_wire(wire, INDEX_EVENT_1, INDEX_EVENT_2)
}

pub(super) fn detail_event(wire: u8) -> &'static [Field] {
    by_wire(wire, DETAIL_EVENT_1, DETAIL_EVENT_2)
}

fn by_wire(wire: u8, one: &'static [Field], two: &'static [Field]) -> &'static [Field] {
    match wire {
        1 => one,
        _ => two,
    }
}

/// The number that stands for "no details".
pub(super) fn no_detail(wire: u8) -> u64 {
    match wire {
        1 => 0xffff_ffff,
        _ => 0xffff_ffff_ffff_ffff,
    }
}

/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and final XOR of ones.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        crc >> 8 ^ TABLE[usize::from(low ^ byte)]
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256_u32 {
        let (mut crc, mut bit) = (byte, 0);
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_has_the_check_value_of_the_sources() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn each_record_is_covered_by_its_fields_one_behind_the_other() {
        let records = [
            (INDEX_HEADER_1, END_SIZE),
            (INDEX_HEADER_2, END_SIZE),
            (INDEX_EVENT_1, EVENT_SIZE),
            (INDEX_EVENT_2, EVENT_SIZE),
            (INDEX_FOOTER, END_SIZE),
            (DETAIL_HEADER, END_SIZE),
            (DETAIL_EVENT_1, DETAIL_SIZE),
            (DETAIL_EVENT_2, DETAIL_SIZE),
            (DETAIL_FOOTER, END_SIZE),
        ];
        for (fields, size) in records {
            let end = fields.iter().fold(0, |end, field| {
                assert_eq!(field.offset, end, "{}", field.name);
                end + field.size
            });
            assert_eq!(end, size);
        }
    }
}
