//! The exit codes of an implementation under test.

/// Done. A reader's or validator's verdict is accept or recover, as its document says.
pub const DONE: u8 = 0;
/// Rejected. A reader or validator also prints a document with this verdict.
pub const REJECTED: u8 = 1;
/// Unsupported. The case is skipped.
pub const UNSUPPORTED: u8 = 77;
