//! Formats text for messages.

/// Returns `1 byte` or `2 bytes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
