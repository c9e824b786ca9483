//! Code shared by both kinds of file.

use serde_json::{Value, json};

use crate::layout::View;

/// The values of a document that a reader derives from a file.
pub(crate) struct Derived {
    pub(crate) event_count: usize,
    /// Where the count comes from if there is no footer.
    pub(crate) count_source: &'static str,
    pub(crate) trailing_bytes: u64,
}

impl Derived {
    pub(crate) fn document(&self, footer: Option<&View<'_>>) -> Value {
        let checksum = match footer.map(|footer| footer.number("checksum")) {
            None => "not_checked",
            Some(0) => "absent",
            Some(_) => "good",
        };
        json!({
            "event_count": self.event_count.to_string(),
            "count_source": footer.map_or(self.count_source, |_| "footer"),
            "checksum": checksum,
            "trailing_bytes": self.trailing_bytes.to_string(),
        })
    }
}

/// Returns the bytes between two offsets.
pub(crate) fn between(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Returns whether the checksum matches the section, or is 0, which means that it was not computed.
pub(crate) fn is_checksum_good(footer: &View<'_>, section: &[u8]) -> bool {
    let checksum = footer.number("checksum");
    checksum == 0 || checksum == u64::from(crc32c(section))
}

/// Computes the CRC-32C bit by bit. For "123456789", the result is 0xE3069283.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            crc = crc >> 1 ^ carry;
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_has_the_check_value_of_crc_32c() {
        assert_eq!(super::crc32c(b"123456789"), 0xe306_9283);
    }
}
