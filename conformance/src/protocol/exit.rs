//! The exit codes of an implementation under test.

/// Done. For a reader or validator, the verdict in the document is accept or recover.
pub const DONE: u8 = 0;
/// Rejected. A reader or validator also prints a document with this verdict.
pub const REJECTED: u8 = 1;
/// Unsupported. The case is skipped.
pub const UNSUPPORTED: u8 = 77;
