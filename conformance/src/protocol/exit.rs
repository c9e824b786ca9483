//! Exit codes of an implementation under test.

/// Done. From readers and validators: accept or recover, as in the document.
pub const DONE: u8 = 0;
/// Rejected. From readers and validators, with a document that has this verdict.
pub const REJECTED: u8 = 1;
/// Unsupported: the case is skipped.
pub const UNSUPPORTED: u8 = 77;
