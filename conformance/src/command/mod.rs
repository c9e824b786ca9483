//! Commands that `atf` and `atf-conformance` share.

mod allowed;
pub mod check;
mod distinct;

pub use distinct::repeated;
