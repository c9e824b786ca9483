//! Commands that `atf` and `atf-conformance` share.

pub mod check;
mod distinct;

pub use distinct::repeated;
