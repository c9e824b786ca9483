//! Formats text for messages.

/// Returns `1 byte` or `2 bytes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the verb after this number of things.
pub(crate) const fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
