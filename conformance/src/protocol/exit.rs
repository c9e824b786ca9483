//! The exit codes of an implementation under test.

use serde_json::Value;

use super::is_rejected;

/// The implementation completed its task. A reader or validator accepted or recovered the subject,
/// as its document states.
pub const DONE: u8 = 0;
/// A reader or validator rejected the subject. It also prints a document with this verdict.
pub const REJECTED: u8 = 1;
/// The implementation does not support the case, so the kit skips it.
pub const UNSUPPORTED: u8 = 77;

/// Returns the exit code of a reader or validator that prints this document.
#[must_use]
pub fn code_of(document: &Value) -> u8 {
    if is_rejected(document) {
        REJECTED
    } else {
        DONE
    }
}
