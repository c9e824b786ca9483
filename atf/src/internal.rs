//! Parts of this crate's private modules, for `atf-record` and this crate's tests. Items that are
//! hidden in the documentation are not part of the API: crates that use them depend on this crate's
//! exact version.

#[cfg(feature = "testing")]
pub use crate::ring::look_at;
#[cfg(feature = "testing")]
pub use crate::sys::watch;
pub use crate::sys::{JournalArea, Origin, Spare, Turns, uncancelled, write_zeros};
