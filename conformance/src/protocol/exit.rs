//! Exit codes of a testee.

/// Done; for readers and validators: accept or recover, as the document says.
pub const DONE: u8 = 0;
/// Readers and validators, with a document that says so: rejected.
pub const REJECTED: u8 = 1;
/// The case is left out.
pub const UNSUPPORTED: u8 = 77;
