//! Commands that `atf` and `atf-conformance` share.

pub mod check;
