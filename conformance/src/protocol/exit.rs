//! The exit codes of an implementation under test.

/// Done. For readers and validators: accept or recover, as the document says.
pub const DONE: u8 = 0;
/// Rejected. Readers and validators also print a document with this verdict.
pub const REJECTED: u8 = 1;
/// Unsupported: the case is skipped.
pub const UNSUPPORTED: u8 = 77;
