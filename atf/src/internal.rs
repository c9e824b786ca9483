//! What `atf-record` uses of this crate's private modules. Items that are hidden in the documentation
//! are not part of the API: crates that use them depend on this crate's exact version.

pub use crate::sys::{Origin, Turns, uncancelled};
