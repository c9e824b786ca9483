//! Parts of this crate's private modules, for `atf-record`. Items that are hidden in the documentation
//! are not part of the API: crates that use them depend on this crate's exact version.

pub use crate::sys::{Origin, Turns, uncancelled};
